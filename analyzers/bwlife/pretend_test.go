package bwlife

import (
	"go/types"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// pretend lets the analyzer loose on packages that never heard of the runtime: whatever is a pointer to a
// struct is a handle, whatever gives one makes it, and Close ends it. What it finds then means nothing; but it has to come
// to an end, and must not fail.
func pretend(a *analyzer) {
	a.kinds = func(t types.Type) string {
		p, ok := types.Unalias(t).(*types.Pointer)
		if !ok {
			return ""
		}
		if n, ok := types.Unalias(p.Elem()).(*types.Named); ok {
			if _, ok := n.Underlying().(*types.Struct); ok {
				return directive.Handle
			}
		}
		return ""
	}
	a.guess = func(f *types.Func) *facts.Func {
		sum := &facts.Func{}
		sig := f.Signature()
		last := sig.Results().Len() - 1
		for i := range sig.Results().Len() {
			if a.kinds(sig.Results().At(i).Type()) == "" {
				continue
			}
			fresh := facts.Fresh{Result: i}
			if last > i && isError(sig.Results().At(last).Type()) {
				fresh.When = []facts.Cond{{Result: true, Index: last, Is: facts.Nil}}
			}
			sum.Fresh = append(sum.Fresh, fresh)
		}
		n := sig.Params().Len()
		if sig.Recv() != nil {
			n++
		}
		for i := range n {
			c := facts.Case{Uses: true}
			if i == 0 && sig.Recv() != nil && f.Name() == "Close" {
				c.Post, c.How = facts.Released, "Close"
			}
			sum.Params = append(sum.Params, facts.Param{Index: i, Cases: []facts.Case{c}})
		}
		return sum
	}
}

// pretended is an analyzer that is let loose on a package.
func pretended(p *packages.Package) *analyzer {
	a := newAnalyzer(&analysis.Pass{
		Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo, TypesSizes: p.TypesSizes,
		Report:            func(analysis.Diagnostic) {},
		ImportObjectFact:  func(types.Object, analysis.Fact) bool { return false },
		ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
		ExportObjectFact:  func(types.Object, analysis.Fact) {},
		ExportPackageFact: func(analysis.Fact) {},
	})
	pretend(a)
	a.syntax()
	a.build()
	return a
}

// TestNeverPanics runs over the standard library, and the packages that the analyzer itself is made of.
func TestNeverPanics(t *testing.T) {
	patterns := []string{"std", "golang.org/x/tools/go/ssa/...", "golang.org/x/tools/go/analysis/..."}
	if testing.Short() {
		patterns = []string{"net/http", "go/types", "encoding/json", "golang.org/x/tools/go/ssa"}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	var functions, capped, found int
	start := time.Now()
	for _, p := range pkgs {
		if p.Types == nil || len(p.Errors) > 0 || p.PkgPath == "unsafe" {
			continue
		}
		a := pretended(p)
		a.pass.Report = func(analysis.Diagnostic) { found++ }
		a.functions()
		a.flush()
		functions += len(a.shapes)
		capped += a.capped
	}
	t.Logf("%d packages, %d functions, %d findings, %d runs given up, %v", len(pkgs), functions, found, capped, time.Since(start).Round(time.Millisecond))
	if functions < 1000 {
		t.Error("these are not the packages that were asked for")
	}
}
