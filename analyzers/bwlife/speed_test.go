package bwlife

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"
)

// synthetic writes a package of functions that have so many regions each, all alive at once, with an error path
// for each call. (bench/cmd/benchvet measures the time that the same takes.)
func synthetic(functions, handles int) string {
	var b strings.Builder
	b.WriteString(`package synthetic

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)
`)
	for f := range functions {
		fmt.Fprintf(&b, "\nfunc F%d(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem help.Rem, flag bool) (err error) {\n", f)
		for h := range handles {
			fmt.Fprintf(&b, "\tm%d, err := help.Open(dom)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer func() { err = errors.Join(err, m%d.Close()) }()\n", h, h)
		}
		for h := range handles {
			fmt.Fprintf(&b, "\tif flag {\n\t\top, err := help.Start(c, m%d, rem)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n\t\tif err := op.Wait(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n", h)
		}
		b.WriteString("\treturn nil\n}\n")
	}
	return b.String()
}

// cost is how many steps the analyzer takes for a synthetic package.
func cost(t *testing.T, functions, handles int) (steps int) {
	t.Helper()
	dir := filepath.Join("..", "testdata", fmt.Sprintf("synthetic%dx%d", functions, handles))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.WriteFile(filepath.Join(dir, "s.go"), []byte(synthetic(functions, handles)), 0o644); err != nil {
		t.Fatal(err)
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadAllSyntax}, "./"+dir)
	if err != nil {
		t.Fatal(err)
	}
	counting := *Analyzer
	counting.Run = func(pass *analysis.Pass) (any, error) {
		a := newAnalyzer(pass)
		a.analyze()
		if pass.Pkg == pkgs[0].Types {
			if steps = a.steps; a.capped > 0 {
				t.Errorf("%d runs were given up", a.capped)
			}
		}
		return nil, nil
	}
	graph, err := checker.Analyze([]*analysis.Analyzer{&counting}, pkgs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range graph.Roots[0].Diagnostics {
		t.Errorf("%s: %s", pkgs[0].Fset.Position(d.Pos), d.Message)
	}
	return steps
}

// TestGrowth: the cost grows as the functions do, and as the handles of one function.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	few, many := cost(t, 1, 5), cost(t, 10, 5)
	if many != 10*few {
		t.Errorf("one function takes %d steps, 10 of the same take %d", few, many)
	}
	for _, n := range []int{10, 20, 40} {
		steps := cost(t, 1, n)
		t.Logf("%2d handles: %d steps, %d for each", n, steps, steps/n)
		if steps*5 > few*n*11/10 { // a tenth is for what is not quite so
			t.Errorf("a function with 5 handles takes %d steps, with %d it takes %d", few, n, steps)
		}
	}
}
