package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/fidelityframework/barewire-gen/internal/golden"
)

// TestMain lets the test binary be the command: scripts run it as a process of
// its own, with real streams and exit codes.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"barewire-gen": main,
		"exits":        exits,
	})
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
