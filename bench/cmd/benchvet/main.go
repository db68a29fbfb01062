// Command benchvet measures what the vet pass costs: over a program that has little to do with the runtime, beside an analyzer that
// does nothing; and over functions full of handles.
//
// Times are CPU time, user and system, of the processes that are named, medians over runs that are
// interleaved. Nothing is asserted. It must run in the bench module's directory.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
)

func main() {
	runs := flag.Int("runs", 3, "runs of each")
	cold := flag.String("cold", "golang.org/x/tools/go/... golang.org/x/tools/internal/...", "packages to vet cold, of this module and what it requires; empty: none")
	functions := flag.Bool("functions", true, "measure functions full of handles")
	flag.Parse()
	if err := run(*runs, *functions, *cold); err != nil {
		fmt.Fprintln(os.Stderr, "benchvet:", err)
		os.Exit(1)
	}
}

// bench has the two tools, and where to work.
type bench struct {
	root  string // of the module
	dir   string
	tools map[string]string
}

const (
	ours  = "barewire-gen"
	empty = "an empty analyzer"
)

func run(runs int, functions bool, cold string) error {
	root, err := filepath.Abs("..")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchvet")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	b := bench{root: root, dir: dir, tools: map[string]string{ours: filepath.Join(dir, "ours"), empty: filepath.Join(dir, "empty")}}
	if err := b.build(); err != nil {
		return err
	}
	fmt.Printf("%s; medians of %d runs\n\n", figures.Machine(), runs)
	if functions {
		if err := b.growth(runs); err != nil {
			return err
		}
	}
	if cold == "" {
		return nil
	}
	return b.cold(runs, strings.Fields(cold))
}

// build makes the tools. The empty analyzer has facts, so that it is asked about each package, as ours is.
func (b bench) build() error {
	for name, pkg := range map[string]string{ours: "./cmd/barewire-gen", empty: "./analyzers/internal/empty"} {
		cmd := exec.Command("go", "build", "-o", b.tools[name], pkg)
		cmd.Dir = b.root
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	return nil
}

// cost is what one run took.
type cost struct {
	cpu  time.Duration
	peak int64 // bytes
}

// vet runs go vet with a tool over packages of the module. Its CPU time is that of the go command and all that it started.
func (b bench) vet(tool string, env []string, patterns ...string) (cost, error) {
	cmd := exec.Command("go", append([]string{"vet", "-vettool=" + tool}, patterns...)...)
	cmd.Dir, cmd.Env = b.root, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	cpu, peak := cputime.Of(cmd.ProcessState)
	return cost{cpu, peak}, nil
}

// median sorts.
func median(list []cost) cost {
	slices.SortFunc(list, func(x, y cost) int { return int(x.cpu - y.cpu) })
	return list[len(list)/2]
}
