package compat_test

import (
	"slices"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func compiled(t testing.TB, name, text string) *schema.Schema {
	t.Helper()
	s, list := schema.Compile([]*source.File{source.NewFile(name, []byte(text))}, schema.Options{})
	if s == nil {
		t.Fatalf("%s: %v\n%s", name, list.Err(), text)
	}
	return s
}

func side(s *schema.Schema) compat.Side { return compat.Side{Schema: s.Schema, Layouts: s.Layouts} }

var options = compat.Options{GoName: gen.GoName}

// TestCells compares the two versions of each cell.
func TestCells(t *testing.T) {
	for _, c := range compat.Cells {
		t.Run(c.Kind+"/"+c.Change, func(t *testing.T) {
			old, now := compiled(t, "old.bare", c.Old), compiled(t, "new.bare", c.New)
			r := compat.Compare(side(old), side(now), options)
			var got []diag.Code
			for _, d := range r.Findings {
				got = append(got, d.Code)
				if len(d.Related) != 1 || d.Primary.Span.File.Name() != "new.bare" || d.Related[0].Span.File.Name() != "old.bare" {
					t.Errorf("not both places: %v", d)
				}
				if len(d.Help) == 0 {
					t.Errorf("without advice: %v", d)
				}
			}
			want := slices.Clone(c.Codes)
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", r.Findings, c.Codes)
			}
			if r.Verdict != c.Verdict {
				t.Errorf("%+v, want %+v", r.Verdict, c.Verdict)
			}
			if same := compat.Compare(side(now), side(now), options); len(same.Findings) > 0 {
				t.Errorf("against itself: %v", same.Findings)
			}
		})
	}
}

// TestEveryCodeHasACell holds the registry and the table together.
func TestEveryCodeHasACell(t *testing.T) {
	have := map[diag.Code]bool{}
	for _, c := range compat.Cells {
		for _, code := range c.Codes {
			have[code] = true
		}
	}
	for _, r := range diag.Rules() {
		if r.Code > "BW4000" && r.Code < "BW4100" && !have[r.Code] {
			t.Errorf("%s %s has no cell", r.Code, r.Name)
		}
	}
}

// root is the type T of a cell.
func root(s *schema.Schema) *resolve.Decl { return s.Namespaces[0].Types["T"] }
