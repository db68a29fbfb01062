package schema_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// refused are files of the corpus that are schemas for someone and not for us.
var refused = map[string]string{
	"real/poolparty__README_inline":                                                         "a sketch in prose: = and … in a declaration",
	"examples/c-cube+bare-ocaml__tests_example2":                                            "recursive types, which every draft forbids",
	"examples/c-cube+bare-ocaml__tests_example3":                                            "recursive types",
	"examples/rivet-dev+vbare__fixtures_tests_basic_v2":                                     "comments start with //",
	"examples/rivet-dev+vbare__fixtures_tests_basic_v3":                                     "comments start with //",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_list-union-circular-ref_schema":     "recursive types (bare-ts allows them in its legacy mode)",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_map-circular-ref_schema":            "recursive types",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_optional-union-circular_schema":     "recursive types",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-circular-ref-allowed_schema": "recursive types",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-recursive_schema":            "recursive types",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-circular_schema":              "recursive types",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-optional-circular_schema":     "recursive types",
}

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

func corpus(t testing.TB, kind string) []string {
	files, err := filepath.Glob("../testdata/corpus/" + kind + "/*.bare")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of the corpus: %v", err)
	}
	return files
}

func compileFile(t testing.TB, path string, spec int) (ok bool, said string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, list := schema.Compile([]*source.File{source.NewFile(filepath.Base(path), text)}, schema.Options{Spec: spec})
	return s != nil, say(list)
}

// TestCorpusCompiles holds that every schema of others compiles, but those that
// are listed with a reason.
func TestCorpusCompiles(t *testing.T) {
	used := 0
	for _, kind := range []string{"real", "examples", "spec", "valid", "implementations"} {
		for _, path := range corpus(t, kind) {
			name := kind + "/" + strings.TrimSuffix(filepath.Base(path), ".bare")
			ok, said := compileFile(t, path, 0)
			reason, listed := refused[name]
			switch {
			case listed:
				used++
				if ok {
					t.Errorf("%s compiles, and is listed as refused: %s", name, reason)
				}
			case !ok:
				t.Errorf("%s:\n%s", name, said)
			}
		}
	}
	if used != len(refused) {
		t.Errorf("%d of %d files that are listed as refused were found", used, len(refused))
	}
}

// TestCorpusRefused holds that every schema that bare-ts refuses is refused,
// but those that are listed with a reason.
func TestCorpusRefused(t *testing.T) {
	used := 0
	for _, path := range corpus(t, "invalid") {
		name := strings.TrimPrefix(filepath.Base(path), "bare-ts+bare__tests-corpus_invalid-bare-schema_")
		name = strings.TrimSuffix(name, "_schema.bare")
		ok, said := compileFile(t, path, 0)
		reason, listed := accepted[name]
		switch {
		case listed:
			used++
			if !ok {
				t.Errorf("%s is refused, and is listed as accepted: %s\n%s", name, reason, said)
			}
			if strict, _ := compileFile(t, path, 12); strict && (strings.Contains(reason, "--spec") || reason == "old dialect") {
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
