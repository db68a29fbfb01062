package bwlife

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
)

// hoard writes a function that puts one handle into so many fields, with a test after each: what a state has to remember grows
// with each line, and it is remembered at each line.
func hoard(fields int) string {
	var b strings.Builder
	b.WriteString("package hoard\n\nimport \"os\"\n\ntype holder struct {\n")
	for i := range fields {
		fmt.Fprintf(&b, "\tm%d *os.File\n", i)
	}
	b.WriteString("}\n\nfunc F() error {\n\tm, err := os.Open(\"x\")\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer m.Close()\n\tvar h holder\n")
	for i := range fields {
		fmt.Fprintf(&b, "\th.m%d = m\n\tif err := h.m%d.Sync(); err != nil {\n\t\tprintln(err)\n\t}\n", i, i)
	}
	b.WriteString("\treturn h.m0.Close()\n}\n")
	return b.String()
}

// straight writes a function with so many tests, which is long rather than hard.
func straight(tests int) string {
	var b strings.Builder
	b.WriteString("package straight\n\nfunc F(flags []bool) (n int) {\n")
	for range tests {
		b.WriteString("\tif flags[n] {\n\t\tn += len(flags)\n\t}\n")
	}
	b.WriteString("\treturn n\n}\n")
	return b.String()
}

// looked runs the analyzer over a source, and says how many bytes it has allocated for what it looked for, SSA form not counted.
func looked(t *testing.T, source string) (a *analyzer, bytes uint64) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	p := &packages.Package{Fset: fset, Syntax: []*ast.File{f}, TypesInfo: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}}
	conf := types.Config{Importer: importer.Default()}
	if p.Types, err = conf.Check("p", fset, p.Syntax, p.TypesInfo); err != nil {
		t.Fatal(err)
	}
	a = pretended(p)
	a.pass.Report = func(analysis.Diagnostic) {}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	a.functions()
	runtime.ReadMemStats(&after)
	return a, after.TotalAlloc - before.TotalAlloc
}

// TestMemory: what a run keeps grows to its bound and no further, however big the function; then nothing is said of it.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	var last uint64
	for _, n := range []int{50, 100, 200, 400, 800, 1600} {
		a, bytes := looked(t, hoard(n))
		t.Logf("%4d fields: %6d facts, %3d KiB for each field, %d given up", n, a.most, bytes/uint64(n)>>10, a.capped)
		switch {
		case a.most > maxFacts+2*n:
			t.Errorf("%d fields: a run kept %d facts", n, a.most)
		case n == 50 && a.capped > 0 || n == 1600 && a.capped == 0:
			t.Errorf("%d fields: %d runs were given up", n, a.capped)
		case n == 1600 && bytes > 4*last:
			t.Errorf("half the fields take %d bytes, all of them %d, although they are given up", last, bytes)
		}
		last = bytes
	}
}

// TestTooBig: a function of which it takes too much memory to say what is live is not looked at, and callers know nothing of it.
func TestTooBig(t *testing.T) {
	if testing.Short() {
		t.Skip(OneGoroutine)
	}
	small, _ := looked(t, straight(1000))
	big, bytes := looked(t, straight(8000))
	t.Logf("%d KiB", bytes>>10)
	if small.capped > 0 || big.capped != 1 {
		t.Errorf("of a function with 1000 tests %d runs were given up, with 8000 it is %d", small.capped, big.capped)
	}
	if most := uint64(maxShape) * 8; bytes > most {
		t.Errorf("a function that is not looked at took %d bytes, more than the %d that one may take which is", bytes, most)
	}
	all := big.all()
	if len(big.shapes) != 0 || len(all) != 1 || !tooBig(all[0]) {
		t.Errorf("%d functions, with %d shapes", len(all), len(big.shapes))
	}
}
