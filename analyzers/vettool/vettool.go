// Package vettool makes a program one that `go vet -vettool` and `go fix -fixtool` run. The go
// command starts it once for each package, dependencies first:
//
//	tool -V=full        what it is, for the cache
//	tool -flags         which flags it has
//	tool -json x.cfg    look at the package that the file describes
//
// Most packages of most programs have nothing to do with the runtime: those that
// are looked at for their facts alone are passed over before anything of them is parsed.
package vettool

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Called reports whether a command line is the go command's: `-V=full`, `-flags`, or flags and a file
// x.cfg at the end.
func Called(args []string) bool {
	if len(args) == 1 && (args[0] == "-V=full" || args[0] == "-flags") {
		return true
	}
	if len(args) == 0 || !strings.HasSuffix(args[len(args)-1], ".cfg") {
		return false
	}
	for _, a := range args[:len(args)-1] {
		if !strings.HasPrefix(a, "-") {
			return false
		}
	}
	return true
}

// Main does what the go command asks for, with os.Args, and ends the process.
func Main(analyzers ...*analysis.Analyzer) {
	if last := os.Args[len(os.Args)-1]; strings.HasSuffix(last, ".cfg") {
		u, err := readUnit(last)
		done := false
		if err == nil {
			done, err = u.pass()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "barewire-gen:", err)
			os.Exit(1)
		}
		if done {
			os.Exit(0)
		}
	}
	collectLate()
	guarded := make([]*analysis.Analyzer, len(analyzers))
	for i, a := range analyzers {
		guarded[i] = coded(guard(a))
	}
	unitchecker.Main(guarded...)
}

// startingHeap is how large the heap may get before it is collected for the first time.
const startingHeap = 64 << 20

// collectLate keeps the collector from running while the heap is small: most packages are done before it would be of use. The
// compiler does the same. From the first time on the heap may have three times the size of what is live.
func collectLate() {
	if os.Getenv("GOGC") != "" {
		return
	}
	const smallest = 4 << 20 // the runtime begins with that heap, at 100 percent
	debug.SetGCPercent(startingHeap / smallest * 100)
	runtime.SetFinalizer(new([2]*int), func(*[2]*int) { debug.SetGCPercent(200) })
}

// coded writes the code behind each message: what the go command prints has no other place for it, and who reads it needs it to have a
// finding explained, or ignored. (It prints what the tool gives as JSON, so that cannot be without.)
func coded(a *analysis.Analyzer) *analysis.Analyzer {
	c := *a
	c.Run = func(p *analysis.Pass) (any, error) {
		report := p.Report
		p.Report = func(d analysis.Diagnostic) {
			if d.Category != "" {
				d.Message += Code(d.Category)
			}
			report(d)
		}
		return a.Run(p)
	}
	return &c
}

// Code is what stands behind a message with that code.
func Code(code string) string { return " [" + code + "]" }

// Bug begins what is written when an analyzer failed.
const Bug = "internal error: "

// guard ends the process when an analyzer panics or fails. If it went on, the go command would keep what there is
// in its cache, and the next run would look as if all was well: it asks nobody for errors where only facts
// are wanted, and writes an error of the rest once only.
func guard(a *analysis.Analyzer) *analysis.Analyzer {
	g := *a
	g.Run = func(p *analysis.Pass) (result any, err error) {
		defer func() {
			trace := ""
			if r := recover(); r != nil {
				err, trace = fmt.Errorf("%v", r), "\n"+string(debug.Stack())
			}
			if err != nil {
				fmt.Fprintf(os.Stderr, "%s%s over %s: %v [%s]%s\n", Bug, a.Name, p.Pkg.Path(), err, diag.Internal, trace)
				os.Exit(1)
			}
		}()
		return a.Run(p)
	}
	return &g
}
