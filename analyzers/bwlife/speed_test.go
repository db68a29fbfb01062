//go:build unix

package bwlife_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/packages"

	"github.com/fidelityframework/barewire-gen/analyzers/bwlife"
)

// synthetic writes a package of functions that have so many regions each, all alive at once, with an error path
// for each call.
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

// cost is the processor time that the analyzer takes for a synthetic package and what that imports. Loading is no part of it.
func cost(t testing.TB, functions, handles int) time.Duration {
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
	start := processor()
	graph, err := checker.Analyze([]*analysis.Analyzer{bwlife.Analyzer}, pkgs, nil)
	spent := processor() - start
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range graph.Roots[0].Diagnostics {
		t.Errorf("%s: %s", line(pkgs[0].Fset, d.Pos), d.Message)
	}
	return spent
}

// processor is the processor time that this process has taken: other load on the machine does not count.
func processor() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestGrowth: four times as many functions cost about four times as much. With the regions of one function the cost grows
// faster, since each way out runs through the deferred closes of all: not faster than their third power.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it analyzes a thousand functions")
	}
	base := cost(t, 1, 1)
	again := []time.Duration{cost(t, 200, 3), cost(t, 200, 3), cost(t, 200, 3)}
	slices.Sort(again)
	some, more := again[1]-base, cost(t, 800, 3)-base
	large := cost(t, 50, 10) - base
	t.Logf("what is imported %v; a function with 3 regions %v, one of 800 such %v, with 10 regions %v", base, some/200, more/800, large/50)
	if more > 12*some { // the square of 4 is 16; the collector and what else goes on have room
		t.Errorf("800 functions take %v, 200 of the same take %v", more, some)
	}
	if large/50 > 2*37*some/200 { // (10/3)^3 = 37
		t.Errorf("a function with 10 regions takes %v, with 3 it takes %v", large/50, some/200)
	}
}
