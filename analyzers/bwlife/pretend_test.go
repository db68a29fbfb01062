package bwlife

import (
	"fmt"
	"go/types"
	"strings"
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

// TestNeverPanics runs over the standard library and all of x/tools. Every package is looked at, or the test says
// which was not and why, and fails unless what it needs is in no module of ours.
func TestNeverPanics(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, "std", "golang.org/x/tools/...")
	if err != nil {
		t.Fatal(err)
	}
	var ran, empty, functions, capped, most, found int
	start := time.Now()
	for _, p := range pkgs {
		if p.PkgPath == "unsafe" || len(p.GoFiles) == 0 && len(p.Errors) == 0 {
			empty++ // it has tests only
			continue
		}
		if why := unloadable(p); why != "" {
			if t.Logf("left out: %s: %s", p.PkgPath, why); !othersModule(why) {
				t.Errorf("%s cannot be looked at", p.PkgPath)
			}
			continue
		}
		a := pretended(p)
		a.pass.Report = func(analysis.Diagnostic) { found++ }
		a.functions()
		a.flush()
		ran++
		functions += len(a.shapes)
		capped += a.capped
		if most = max(most, a.most); a.most > maxFacts*11/10 {
			t.Errorf("%s: a run kept %d facts", p.PkgPath, a.most)
		}
	}
	t.Logf("%d of %d packages, and %d without code but tests; %d functions, %d findings, %d runs given up, %d facts at most, %v", ran, len(pkgs), empty, functions, found, capped, most, time.Since(start).Round(time.Millisecond))
	if ran < 450 || functions < 1000 {
		t.Error("these are not the packages that were asked for")
	}
}

// unloadable says why a package cannot be looked at, "" if it can.
func unloadable(p *packages.Package) (why string) {
	for path, q := range p.Imports {
		for _, e := range q.Errors {
			if othersModule(e.Msg) {
				return fmt.Sprintf("it imports %s: %s", path, e.Msg) // what else is wrong comes from that
			}
		}
	}
	for _, e := range p.Errors {
		return e.Msg
	}
	if p.Types == nil || p.TypesInfo == nil || len(p.Syntax) == 0 {
		return "nothing of it was loaded"
	}
	return ""
}

// othersModule reports whether an error is that a package imports a module which this one does not require.
func othersModule(why string) bool {
	return strings.Contains(why, "no required module provides package") || strings.Contains(why, "missing go.sum entry")
}
