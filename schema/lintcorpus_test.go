package schema_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestLintOfRealSchemas holds what lint says of the schemas of other projects to what somebody has looked at: three types are
// left over, and eight files have names that peers refuse that follow drafts before 14. Nothing else is to be said of them.
func TestLintOfRealSchemas(t *testing.T) {
	want := []string{
		"actor-persist_schemas_v3.bare:3 BW1401", "actor-persist_schemas_v4.bare:3 BW1401", "pegboard.runner.metadata.v1.bare:1 BW1401",
		"poolparty__README_inline.bare:11 BW1023", "poolparty__README_inline.bare:19 BW1023", // no BARE, in a page about another format
	}
	files, err := filepath.Glob("../testdata/corpus/real/*.bare")
	if err != nil || len(files) != 37 {
		t.Fatal(len(files), err)
	}
	var got []string
	names := 0
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, list := schema.CompileAndLint([]*source.File{source.NewFile(path, text)}, schema.Options{})
		for _, d := range list {
			if d.Code == diag.FieldSpelling {
				names++
				continue
			}
			base := filepath.Base(path)
			for _, cut := range []string{"rivetkit-rust_packages_", "schemas_data_"} {
				if _, after, ok := strings.Cut(base, cut); ok {
					base = after
				}
			}
			got = append(got, fmt.Sprintf("%s:%d %s", base, d.Primary.Span.Pos().Line, d.Code))
		}
	}
	if slices.Sort(got); !slices.Equal(got, want) || names != 8 {
		t.Errorf("%d files with names before draft 14, and\n%s\nwant\n%s", names, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestLintOfExamples finds nothing in our own examples.
func TestLintOfExamples(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.bare")
	if err != nil || len(files) < 3 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, list := schema.CompileAndLint([]*source.File{source.NewFile(path, text)}, schema.Options{}); len(list) > 0 {
			t.Errorf("%v", list)
		}
	}
}
