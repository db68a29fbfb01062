package bwsyntax_test

import (
	"bytes"
	"encoding/gob"
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax"
	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/internal/vettest"
)

func TestMain(m *testing.M) {
	vettest.Main(m, func() { vettool.Main(bwsyntax.Analyzer) })
}

// TestBad has functions with mistakes: each is found, and nothing else.
func TestBad(t *testing.T) { vettest.Run(t, "testdata/bad") }

// TestGood has functions that look like mistakes, and are none.
func TestGood(t *testing.T) { vettest.Run(t, "testdata/good") }

// TestTrusted is a package that may make zero values.
func TestTrusted(t *testing.T) { vettest.Run(t, "testdata/trusted") }

// TestIndirect is a package that has regions from another, and does not import the runtime.
func TestIndirect(t *testing.T) { vettest.Run(t, "testdata/indirect") }

// TestFork is a runtime under another name.
func TestFork(t *testing.T) {
	vettest.Run(t, "testdata/fork")
	vettest.Run(t, "testdata/forked")
}

// TestGenerated has generated files, of which only directives are looked at.
func TestGenerated(t *testing.T) { vettest.Run(t, "testdata/generated") }

// TestKnown: what a package hands on is the same bytes each time, in whatever order it is found: the go command makes cache keys of them.
func TestKnown(t *testing.T) {
	if testing.Short() {
		t.Skip(oneGoroutine)
	}
	all := list(t, "github.com/fidelityframework/barewire-gen/runtime/rdma")
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	facts := map[string]*bwsyntax.Known{}
	effects := map[string][]bwsyntax.Effect{}
	var last []byte
	for range 3 {
		for _, p := range all {
			if !strings.Contains(p.ImportPath, "barewire-gen/") {
				continue
			}
			pass, err := load(p, exports)
			if err != nil {
				t.Fatalf("%s does not build: %v", p.ImportPath, err)
			}
			pass.Report = func(d analysis.Diagnostic) { t.Errorf("%s: %s", p.ImportPath, d.Message) }
			pass.ImportPackageFact = func(imp *types.Package, fact analysis.Fact) bool {
				known := facts[imp.Path()]
				if known != nil {
					*fact.(*bwsyntax.Known) = *known
				}
				return known != nil
			}
			pass.ImportObjectFact = func(fn types.Object, fact analysis.Fact) bool {
				list, ok := effects[types.ObjectString(fn, nil)]
				*fact.(*bwsyntax.Effects) = bwsyntax.Effects{List: list}
				return ok
			}
			pass.ExportObjectFact = func(fn types.Object, fact analysis.Fact) {
				old, again := effects[types.ObjectString(fn, nil)]
				if list := fact.(*bwsyntax.Effects).List; again && !slices.Equal(old, list) {
					t.Errorf("the effects of %s change from run to run: %v, %v", fn.Name(), old, list)
				}
				effects[types.ObjectString(fn, nil)] = fact.(*bwsyntax.Effects).List
			}
			pass.ExportPackageFact = func(fact analysis.Fact) { facts[pass.Pkg.Path()] = fact.(*bwsyntax.Known) }
			if _, err := bwsyntax.Analyzer.Run(pass); err != nil {
				t.Fatal(err)
			}
		}
		known := facts["github.com/fidelityframework/barewire-gen/runtime/rdma"]
		if known == nil || len(known.Types) < 10 || len(known.Functions) < 10 || len(known.Markers) != 16 || len(effects) < 10 {
			t.Fatalf("what the runtime says of itself is %v, and %d functions with effects", known, len(effects))
		}
		var buf bytes.Buffer
		if err := gob.NewEncoder(&buf).Encode(known); err != nil {
			t.Fatal(err)
		}
		if last != nil && !bytes.Equal(last, buf.Bytes()) {
			t.Error("the bytes of the fact change from run to run")
		}
		last = buf.Bytes()
	}
}
