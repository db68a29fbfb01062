package main

import (
	"fmt"
	"go/types"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers"
	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/internal/golden"
)

// TestMain lets the test binary be the command: scripts run it as a process of
// its own, with real streams and exit codes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"barewire-gen":       main,
		"barewire-gen-fails": fails,
		"exits":              exits,
		"machine":            machine,
	})
}

// fails is the command with an analyzer, whose name is in FAILS, that panics when it asks what the function Doom is, as
// with a bug of ours in the middle of a package.
func fails() {
	if !vettool.Called(os.Args[1:]) {
		main()
		return
	}
	var list []*analysis.Analyzer
	for _, a := range analyzers.All() {
		f := *a
		f.Run = func(p *analysis.Pass) (any, error) {
			ask := p.ImportObjectFact
			p.ImportObjectFact = func(obj types.Object, fact analysis.Fact) bool {
				if obj.Name() == "Doom" && a.Name == os.Getenv("FAILS") {
					panic("the analyzer is wrong")
				}
				return ask(obj, fact)
			}
			return a.Run(p)
		}
		list = append(list, &f)
	}
	vettool.Main(list...)
}

// TestScripts runs testdata/script. Set BAREWIRE_UPDATE_GOLDEN to write what
// cmp finds into the scripts; the run then fails, as golden tests do.
func TestScripts(t *testing.T) {
	update := os.Getenv(golden.UpdateVar) != ""
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       update,
		Condition: func(cond string) (bool, error) {
			if cond == "root" {
				return os.Geteuid() == 0, nil
			}
			return false, fmt.Errorf("unknown condition %q", cond)
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("REPOSITORY", repository)
			env.Setenv("NO_COLOR", "")
			env.Setenv("GOPACKAGE", "")
			// The scratch module builds from the caches of this machine.
			for _, name := range []string{"GOPROXY", "GOSUMDB", "GONOSUMDB", "GOFLAGS", "GOTOOLCHAIN", "GOMODCACHE", "GOCACHE", "GOPATH", "GOROOT"} {
				env.Setenv(name, goEnv(t, name))
			}
			return nil
		},
	})
	if update {
		t.Errorf("%s is set: scripts were refreshed; look at the change and run again without it", golden.UpdateVar)
	}
}
