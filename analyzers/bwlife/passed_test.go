package bwlife

import (
	"go/types"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// TestPassedOver: a package that neither has directives nor imports one that knows the runtime costs a look at its comments. No SSA form is
// made of it, and it has no facts.
func TestPassedOver(t *testing.T) {
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax}, "net/http", "go/types", "golang.org/x/tools/go/ssa")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pkgs {
		pass := &analysis.Pass{
			Fset: p.Fset, Files: p.Syntax, Pkg: p.Types, TypesInfo: p.TypesInfo, TypesSizes: p.TypesSizes,
			Report:            func(d analysis.Diagnostic) { t.Errorf("%s: %s", p.PkgPath, d.Message) },
			ImportPackageFact: func(*types.Package, analysis.Fact) bool { return false },
			ExportPackageFact: func(f analysis.Fact) { t.Errorf("%s: a fact: %v", p.PkgPath, f) },
		} // without functions for facts of objects: to ask for one panics
		if _, err := analyze(pass); err != nil {
			t.Fatal(err)
		}
	}
}
