package schema_test

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/fidelityframework/barewire-gen/internal/corpus"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// FuzzCompile compiles anything: it must not panic, must give a schema exactly where
// it gives no error, and what it gives must be whole enough to describe and hash.
func FuzzCompile(f *testing.F) {
	for _, file := range corpus.All(f) {
		f.Add(file.Text, 0)
	}
	goldens, _ := filepath.Glob("testdata/*.txtar")
	for _, path := range goldens {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if filepath.Ext(file.Name) == ".bare" {
				f.Add(file.Data, 14)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, spec int) {
		file := source.NewFile("fuzz.bare", text)
		s, list := schema.Compile([]*source.File{file}, schema.Options{Spec: spec})
		if (s == nil) != list.HasErrors() {
			t.Fatalf("schema is nil: %v, errors: %v", s == nil, list.HasErrors())
		}
		for _, d := range list {
			at := d.Primary.Span
			if at.File != file || at.Start < 0 || at.End < at.Start || at.End > len(text) {
				t.Fatalf("%s: no place in the file", d)
			}
			for _, fix := range d.Fixes {
				for _, e := range fix.Edits {
					if e.Span.Start < 0 || e.Span.End < e.Span.Start || e.Span.End > len(text) {
						t.Fatalf("%s: an edit outside of the file", d)
					}
				}
			}
		}
		if s == nil {
			return
		}
		for n, d := range s.Order {
			if i := s.Layouts.Of(d.Type); i.IsFixed() && i.Min != i.Max || i.Align == 0 || i.Need == 0 {
				t.Fatalf("%s: %+v", d.Name, i)
			}
			s.Layouts.Describe(d)
			if n < 20 {
				schema.Hash(d)
			}
		}
	})
}
