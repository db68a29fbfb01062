// Benchcheck measures what `barewire-gen check` takes on the largest real schema of the corpus, as a process of its own: CPU
// time, user and system, from start to end. It prints the median of some runs, and beside it what a process that does nothing takes.
// The aim is 20 ms on a machine that is not busy otherwise; it is no limit that a run fails by.
//
//	go run ./cmd/benchcheck      # in bench/
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	runs := flag.Int("runs", 25, "how often each is run")
	root := flag.String("root", "..", "the repository")
	flag.Parse()
	if err := run(*root, *runs); err != nil {
		fmt.Fprintln(os.Stderr, "benchcheck:", err)
		os.Exit(1)
	}
}

func run(root string, runs int) error {
	if runs < 1 {
		return fmt.Errorf("-runs=%d: at least one", runs)
	}
	dir, err := os.MkdirTemp("", "benchcheck")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	command := filepath.Join(dir, "barewire-gen")
	build := exec.Command("go", "build", "-o", command, "./cmd/barewire-gen")
	build.Dir, build.Stderr = root, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("go build: %w", err)
	}
	schema, size, err := largest(filepath.Join(root, "testdata", "corpus", "real"))
	if err != nil {
		return err
	}
	check, err := median(runs, command, "check", schema)
	if err != nil {
		return err
	}
	nothing, err := median(runs, command, "version")
	if err != nil {
		return err
	}
	fmt.Printf("check of the largest real schema, %d bytes: %.1f ms of CPU time, of which starting a process takes %.1f (medians of %d; the aim is 20)\n",
		size, ms(check), ms(nothing), runs)
	return nil
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// largest is the largest schema that passes check.
func largest(dir string) (name string, size int64, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", 0, err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return "", 0, err
		}
		if filepath.Ext(e.Name()) == ".bare" && info.Size() > size {
			name, size = filepath.Join(dir, e.Name()), info.Size()
		}
	}
	if name == "" {
		return "", 0, fmt.Errorf("%s: no schemas", dir)
	}
	return name, size, nil
}

// median runs a command several times, and returns the middle one of its CPU times.
func median(runs int, command string, args ...string) (time.Duration, error) {
	var all []time.Duration
	for range runs {
		cmd := exec.Command(command, args...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s %v: %w\n%s", filepath.Base(command), args, err, out)
		}
		all = append(all, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime())
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
