package bwlife

import (
	"go/ast"
	"go/types"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// store has the facts of several packages.
type store struct {
	t       *testing.T
	objects map[types.Object][]analysis.Fact
	pkgs    map[*types.Package]bool
}

// run runs the analyzer over a package, after those that it imports.
func (s *store) run(p *packages.Package) {
	if !strings.Contains(p.PkgPath, "barewire-gen/") || s.pkgs[p.Types] {
		return
	}
	for _, imp := range p.Imports {
		s.run(imp)
	}
	pass := &analysis.Pass{
		Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo, TypesSizes: p.TypesSizes,
		Report: func(d analysis.Diagnostic) { s.t.Errorf("%s: %s", p.Fset.Position(d.Pos), d.Message) },
		ImportObjectFact: func(o types.Object, f analysis.Fact) bool {
			for _, have := range s.objects[o] {
				if reflect.TypeOf(have) == reflect.TypeOf(f) {
					reflect.ValueOf(f).Elem().Set(reflect.ValueOf(have).Elem())
					return true
				}
			}
			return false
		},
		ImportPackageFact: func(p *types.Package, _ analysis.Fact) bool { return s.pkgs[p] },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { s.objects[o] = append(s.objects[o], f) },
		ExportPackageFact: func(analysis.Fact) { s.pkgs[p.Types] = true },
	}
	if _, err := analyze(pass); err != nil {
		s.t.Fatal(err)
	}
}

// inferred has what the functions generated for a Tick and a Note do with windows and spans, as it is inferred from their bodies. The
// window or the span is the first parameter. (TickPriceIn stands for all fields.)
var inferred = map[string]string{
	"NoteLoadAt":     "0:same used[p2 nonnil r0 nonnil]; 0:same used[p2 nonnil]; 0:same[p2 nil r0 nonnil]",
	"NotePutAt":      "0:same used[p2 nonnil]; 0:same[p2 nil r0 nonnil]",
	"NoteSlotAt":     "0:same used view=0[p1+1][]",
	"TickAt":         "0:same used view=0[p1+1][]",
	"TickHitsAtomic": "0:same used view=0[]",
	"TickHitsGlobal": "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
	"TickHitsLoad":   "0:same used[]",
	"TickPriceIn":    "0:same used view=0[]",
	"TickPublish":    "0:same used[p2 nonnil]; 0:same[p2 nil r0 nonnil]",
	"TickSnapshot":   "0:same used[p2 nonnil]; 0:same[p2 nil r1 nonnil]",
}

// directed has those where that does not go far enough, into package wire or the iterator: they have directives.
var directed = map[string]string{
	"(NoteView).Text":  "0:same used view=0[]",
	"(TickView).Bytes": "0:same used view=0[]",
	"(TickView).Rest":  "0:same used view=0[]",
	"NoteSlotViewOf":   "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
	"NoteViewAt":       "0:same used view=0[p1+1][r1 nil]; 0:same used[r1 nonnil]",
	"NoteViewOf":       "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
	"TickAll":          "0:same used view=0[all][]",
	"TickOver":         "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
	"TickSliceOver":    "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
	"TickViewOf":       "0:same used view=0[r1 nil]; 0:same used[r1 nonnil]",
}

// TestWrappers: what generated functions do is known from their bodies, but for what the analyzer does not look into; there they
// have directives, and need no others.
func TestWrappers(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	bare, full := factsOf(t, true), factsOf(t, false)
	for name, want := range inferred {
		if bare[name] != want || full[name] != want {
			t.Errorf("%s: inferred is %q, with its directive it is %q; want %q", name, bare[name], full[name], want)
		}
	}
	for name, want := range directed {
		if full[name] != want {
			t.Errorf("%s: with its directive it is %q, want %q", name, full[name], want)
		}
		if bare[name] == want {
			t.Errorf("%s: its directive says what is inferred", name)
		}
	}
}

// factsOf are what the sample's functions do to their parameters, as text, by their names; bare is without directives.
func factsOf(t *testing.T, bare bool) map[string]string {
	const sample = "github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, sample)
	if err != nil || len(pkgs) != 1 {
		t.Fatalf("%d packages, %v", len(pkgs), err)
	}
	p := pkgs[0]
	if bare {
		for _, f := range p.Syntax {
			undirected(f)
		}
	}
	s := &store{t: t, objects: map[types.Object][]analysis.Fact{}, pkgs: map[*types.Package]bool{}}
	s.run(p)
	list := map[string]string{}
	for o, all := range s.objects {
		for _, f := range all {
			if f, ok := f.(*facts.Func); ok && o.Pkg() == p.Types {
				list[strings.ReplaceAll(o.(*types.Func).FullName(), sample+".", "")] = (&facts.Func{Params: f.Params}).String()
			}
		}
	}
	return list
}

// undirected takes the directives off a file's functions.
func undirected(f *ast.File) {
	for _, d := range f.Decls {
		if d, ok := d.(*ast.FuncDecl); ok {
			d.Doc = nil
		}
	}
}
