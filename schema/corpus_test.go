package schema_test

import (
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// accepted are files that bare-ts refuses and we take.
var accepted = map[string]string{
	"alias-anonymous-struct-legacy": "old dialect",
	"enum-legacy":                   "old dialect",
	"enum-pedantic-partial-val":     "wrong only with bare-ts --pedantic",
	"enum-too-big-val":              "beyond JavaScript's whole numbers, not beyond BARE's",
	"enum-unsorted":                 "order matters from draft 12 on: --spec 12 refuses it",
	"enum-val-lowercase":            "vbare's dialect, in use: --spec refuses it",
	"list-fixed-legacy":             "old dialect",
	"list-legacy":                   "old dialect",
	"map-legacy":                    "old dialect",
	"struct-field-uppercase":        "the drafts allow it",
	"union-legacy":                  "old dialect",
	"union-tag-unsorted":            "order matters from draft 12 on: --spec 12 refuses it",
	"union-too-big-tag":             "beyond JavaScript's whole numbers, not beyond BARE's",
}

func compileFile(f corpus.File, spec int) (ok bool, list diag.List) {
	s, list := schema.Compile([]*source.File{source.NewFile(f.Name, f.Text)}, schema.Options{Spec: spec})
	return s != nil, list
}

// TestCorpusCompiles holds that every schema of others compiles, but those that
// are listed with a code.
func TestCorpusCompiles(t *testing.T) {
	used := 0
	for _, f := range corpus.Meant(t) {
		ok, list := compileFile(f, 0)
		code, listed := corpus.Refused[f.Key()]
		switch {
		case listed:
			used++
			if ok || !strings.Contains(say(list), "["+code+"]") {
				t.Errorf("%s is listed as refused with %s, got:\n%s", f.Key(), code, say(list))
			}
		case !ok:
			t.Errorf("%s:\n%s", f.Key(), say(list))
		}
	}
	if used != len(corpus.Refused) {
		t.Errorf("%d of %d files that are listed as refused were found", used, len(corpus.Refused))
	}
}

// TestCorpusRefused holds that every schema that bare-ts refuses is refused,
// but those that are listed with a reason.
func TestCorpusRefused(t *testing.T) {
	used := 0
	for _, f := range corpus.Wrong(t) {
		name := strings.TrimPrefix(f.Name, "bare-ts+bare__tests-corpus_invalid-bare-schema_")
		name = strings.TrimSuffix(name, "_schema.bare")
		ok, list := compileFile(f, 0)
		reason, listed := accepted[name]
		switch {
		case listed:
			used++
			if !ok {
				t.Errorf("%s is refused, and is listed as accepted: %s\n%s", name, reason, say(list))
			}
			if strict, _ := compileFile(f, 12); strict && (strings.Contains(reason, "--spec") || reason == "old dialect") {
				t.Errorf("%s: --spec 12 accepts it", name)
			}
		case ok:
			t.Errorf("%s compiles", name)
		}
	}
	if used != len(accepted) {
		t.Errorf("%d of %d files that are listed as accepted were found", used, len(accepted))
	}
}
