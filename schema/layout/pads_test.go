package layout_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestFixesTogether applies every fix of a struct at once: the paddings that they
// add must have names of their own, and names that the struct does not have.
func TestFixesTogether(t *testing.T) {
	text := "type Ring struct {\n  a: u8\n  #@atomic\n  b: u64\n  pad1: u8\n  #@atomic\n  c: u64\n}\n"
	_, list := schema.Compile([]*source.File{source.NewFile("in.bare", []byte(text))}, schema.Options{})
	var edits []diag.Edit
	for _, d := range list {
		for _, f := range d.Fixes {
			edits = append(edits, f.Edits...)
		}
	}
	slices.SortFunc(edits, func(a, b diag.Edit) int { return b.Span.Start - a.Span.Start })
	if len(edits) != 2 {
		t.Fatalf("%d edits: %v", len(edits), list)
	}
	fixed := text
	for _, e := range edits {
		fixed = fixed[:e.Span.Start] + e.New + fixed[e.Span.End:]
	}
	for _, name := range []string{"pad0:", "pad1:", "pad2:"} {
		if strings.Count(fixed, name) != 1 {
			t.Errorf("%d of %s in\n%s", strings.Count(fixed, name), name, fixed)
		}
	}
}
