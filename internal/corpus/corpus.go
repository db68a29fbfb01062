// Package corpus reads the schemas of others in testdata/corpus, for the tests
// of several packages, and says which of them we refuse.
package corpus

import (
	"os"
	"path/filepath"
	"testing"
)

// Kinds are the folders of the corpus whose schemas are meant to compile, with
// how many files each has, so that none gets lost.
var Kinds = []struct {
	Name  string
	Files int
}{
	{"real", 37}, {"examples", 11}, {"spec", 1}, {"valid", 46}, {"implementations", 17},
}

// Invalid is the folder of the schemas that bare-ts refuses, with its count.
const (
	Invalid      = "invalid"
	InvalidFiles = 47
)

// Refused are the schemas of Kinds that we refuse, and rightly, with the code.
// The drafts forbid recursion by any route, which some implementations accept;
// the others are no schemas in any dialect.
var Refused = map[string]string{
	"real/poolparty__README_inline.bare":                     "BW1023", // a sketch in prose: = between the name and the type
	"examples/c-cube+bare-ocaml__tests_example2.bare":        "BW1103", // recursion
	"examples/c-cube+bare-ocaml__tests_example3.bare":        "BW1103", // recursion
	"examples/rivet-dev+vbare__fixtures_tests_basic_v2.bare": "BW1016", // comments with //
	"examples/rivet-dev+vbare__fixtures_tests_basic_v3.bare": "BW1016", // comments with //
	// Recursion that ends, which bare-ts takes with --legacy.
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_list-union-circular-ref_schema.bare":     "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_map-circular-ref_schema.bare":            "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_optional-union-circular_schema.bare":     "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-circular-ref-allowed_schema.bare": "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_struct-recursive_schema.bare":            "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-circular_schema.bare":              "BW1103",
	"valid/bare-ts+bare__tests-corpus_valid-bare-schema_union-optional-circular_schema.bare":     "BW1103",
}

// File is one schema of the corpus.
type File struct {
	Kind string // the folder: real, valid, …
	Name string // the file's name, with .bare
	Text []byte
}

// Key is the file's name in Refused: kind/name.
func (f File) Key() string { return f.Kind + "/" + f.Name }

// Meant returns the schemas that are meant to compile, Refused included. It
// ends the test if a file is missing, or one is there that is not counted.
func Meant(t testing.TB) (files []File) {
	t.Helper()
	for _, kind := range Kinds {
		files = append(files, folder(t, kind.Name, kind.Files)...)
	}
	return files
}

// Wrong returns the schemas that bare-ts refuses.
func Wrong(t testing.TB) []File {
	t.Helper()
	return folder(t, Invalid, InvalidFiles)
}

// All returns every schema.
func All(t testing.TB) []File {
	t.Helper()
	return append(Meant(t), Wrong(t)...)
}

// Read returns one file of the corpus, named by the parts of its path there.
func Read(t testing.TB, elem ...string) []byte {
	t.Helper()
	data, err := os.ReadFile(path(t, elem...))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func folder(t testing.TB, kind string, count int) (files []File) {
	t.Helper()
	paths, err := filepath.Glob(path(t, kind, "*.bare"))
	if err != nil || len(paths) != count {
		t.Fatalf("the corpus has %d schemas in %s, want %d (%v)", len(paths), kind, count, err)
	}
	for _, p := range paths {
		name := filepath.Base(p)
		files = append(files, File{kind, name, Read(t, kind, name)})
	}
	return files
}

// path finds the corpus from the directory of the test, which lies somewhere
// below the top of the checkout.
func path(t testing.TB, elem ...string) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		corpus := filepath.Join(dir, "testdata", "corpus")
		if _, err := os.Stat(filepath.Join(corpus, "INDEX.tsv")); err == nil {
			return filepath.Join(append([]string{corpus}, elem...)...)
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("no testdata/corpus above this directory")
		}
		dir = up
	}
}
