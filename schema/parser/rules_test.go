package parser

import (
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestRuleExamples parses the examples that explain shows: the wrong one has
// the fault, the right one has none.
func TestRuleExamples(t *testing.T) {
	parse := func(text string) diag.List {
		_, errs := Parse(source.NewFile("f", []byte(text)))
		return errs
	}
	n := 0
	for _, r := range diag.Rules() {
		if !strings.HasPrefix(string(r.Code), "BW10") {
			continue
		}
		n++
		if r.Title == "" || r.Why == "" {
			t.Errorf("%s is not explained", r.Code)
		}
		if strings.Contains(r.Wrong, "…") || r.Wrong == "" {
			continue // too large to show
		}
		if errs := parse(r.Wrong); len(errs) != 1 || errs[0].Code != r.Code {
			t.Errorf("%s: the wrong example gives %v", r.Code, errs)
		}
		if errs := parse(r.Right); len(errs) != 0 {
			t.Errorf("%s: the right example gives %v", r.Code, errs)
		}
	}
	if n < 20 {
		t.Errorf("only %d syntax rules are registered", n)
	}
}

// TestFixes applies each fix. Where a schema had one mistake, it is gone afterwards.
func TestFixes(t *testing.T) {
	n := 0
	for _, test := range mistakes {
		_, errs := Parse(source.NewFile("f", []byte(test.in)))
		if len(errs) != 1 || len(errs[0].Fixes) == 0 {
			continue
		}
		n++
		mended := apply(test.in, errs[0].Fixes[0].Edits)
		_, left := Parse(source.NewFile("f", []byte(mended)))
		for _, d := range left { // one that it hid, perhaps, but not this one
			if d.Code == errs[0].Code || len(left) > 1 {
				t.Errorf("%q: the fix gives %q: %v", test.in, mended, d)
			}
		}
	}
	if n < 30 {
		t.Errorf("only %d mistakes have a fix", n)
	}
}

// apply makes the edits, which do not overlap.
func apply(text string, edits []diag.Edit) string {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
	for _, e := range edits {
		text = text[:e.Span.Start] + e.New + text[e.Span.End:]
	}
	return text
}
