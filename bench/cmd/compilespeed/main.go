// Command compilespeed measures how fast schemas become Go: barewire-gen beside
// go-bare's generator, on the same schema in the syntax of each, all in one run.
//
// Times are CPU time of the child processes, medians over the runs. Nothing is
// asserted. It must run in the bench module's directory.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/synth"
)

func main() {
	runs := flag.Int("runs", 5, "runs of each tool")
	buildMost := flag.Int("build", 1000, "build the Go of schemas of at most this many types (0: none)")
	flag.Parse()
	if err := run(*runs, *buildMost); err != nil {
		fmt.Fprintln(os.Stderr, "compilespeed:", err)
		os.Exit(1)
	}
}

var sizes = []int{1000, 10000}

func run(runs, buildMost int) error {
	// Inside the module, so that generated code finds what it imports; the
	// underscore keeps it out of ./... patterns.
	dir, err := os.MkdirTemp(".", "_synth")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	t := tools{dir: dir, ours: filepath.Join(dir, "barewire-gen"), gobare: filepath.Join(dir, "gobare")}
	if err := t.build(); err != nil {
		return err
	}
	fmt.Printf("%s; medians of %d runs\n\n", figures.Machine(), runs)
	all := map[int][]result{}
	for _, n := range sizes {
		rs, err := t.measure(n, runs, n <= buildMost)
		if err != nil {
			return err
		}
		all[n] = rs
	}
	report(all)
	return nil
}

type tools struct{ dir, ours, gobare string }

// build makes the tools' binaries, so that what is measured is them alone.
func (t tools) build() error {
	for _, b := range []struct {
		in  string
		arg []string
	}{
		{"..", []string{"build", "-o", t.ours, "./cmd/barewire-gen"}},
		{".", []string{"build", "-o", t.gobare, "git.sr.ht/~sircmpwn/go-bare/cmd/gen"}},
	} {
		cmd := exec.Command("go", b.arg...)
		cmd.Dir = b.in
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", b.arg, err, out)
		}
	}
	return nil
}

// result is what one tool took for one schema.
type result struct {
	what string
	in   int64 // bytes of schema
	out  int64 // bytes of Go; 0 where none is written
	cpu  time.Duration
	wall time.Duration
	peak int64 // bytes
}

// measure runs all tools on a schema of n types, in turns, so that changes of
// the machine's load meet all of them.
func (t tools) measure(n, runs int, build bool) ([]result, error) {
	work := filepath.Join(t.dir, fmt.Sprint(n))
	newFile, oldFile := filepath.Join(work, "synth.bare"), filepath.Join(work, "old.bare")
	oursDir, gobareDir := filepath.Join(work, "ours"), filepath.Join(work, "gobare")
	for _, d := range []string{oursDir, gobareDir} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			return nil, err
		}
	}
	newText, oldText := synth.Schema(n, synth.New), synth.Schema(n, synth.Old)
	if err := errors.Join(os.WriteFile(newFile, newText, 0o666), os.WriteFile(oldFile, oldText, 0o666)); err != nil {
		return nil, err
	}
	jobs := []job{
		{what: "barewire-gen check", in: len(newText), argv: []string{t.ours, "check", newFile}},
		{what: "barewire-gen generate", in: len(newText), argv: []string{t.ours, "generate", "--package", "synth", "--out", oursDir, newFile}, out: oursDir},
		{what: "go-bare gen", in: len(oldText), argv: []string{t.gobare, "-p", "synth", oldFile, filepath.Join(gobareDir, "old.go")}, out: gobareDir},
	}
	if build {
		jobs = append(jobs,
			job{what: "go build of ours", in: len(newText), argv: []string{"go", "build", oursDir}, touch: oursDir, out: oursDir},
			job{what: "go build of go-bare's", in: len(oldText), argv: []string{"go", "build", gobareDir}, touch: gobareDir, out: gobareDir})
	}
	for pass := range runs {
		for i := range jobs {
			if pass > 0 && jobs[i].touch != "" {
				continue // a build takes long: once is enough
			}
			if err := jobs[i].run(); err != nil {
				return nil, err
			}
		}
	}
	var rs []result
	for _, j := range jobs {
		r, err := j.result()
		if err != nil {
			return nil, err
		}
		rs = append(rs, r)
	}
	return rs, nil
}

// job is a command that is run several times.
type job struct {
	what  string
	in    int
	argv  []string
	out   string // directory with the Go that it wrote, or builds
	touch string // directory whose Go must look new, since go build remembers

	cpu, wall []time.Duration
	peak      []int64
}

func (j *job) run() error {
	if j.touch != "" {
		src := fmt.Sprintf("package synth\n\n// Written at %d.\n", time.Now().UnixNano())
		if err := os.WriteFile(filepath.Join(j.touch, "touch.go"), []byte(src), 0o666); err != nil {
			return err
		}
	}
	cmd := exec.Command(j.argv[0], j.argv[1:]...)
	start := time.Now()
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w\n%.2000s", j.what, err, out)
	}
	j.wall = append(j.wall, time.Since(start))
	cpu, peak := cputime.Of(cmd.ProcessState)
	j.cpu, j.peak = append(j.cpu, cpu), append(j.peak, peak)
	return nil
}

func (j *job) result() (result, error) {
	r := result{what: j.what, in: int64(j.in), cpu: middle(j.cpu), wall: middle(j.wall), peak: middle(j.peak)}
	if j.out == "" {
		return r, nil
	}
	files, err := filepath.Glob(filepath.Join(j.out, "*.go"))
	if err != nil {
		return r, err
	}
	for _, f := range files {
		info, err := os.Stat(f)
		if err != nil {
			return r, err
		}
		if filepath.Base(f) != "touch.go" {
			r.out += info.Size()
		}
	}
	return r, nil
}

func middle[T int64 | time.Duration](v []T) T {
	v = slices.Sorted(slices.Values(v))
	return v[len(v)/2]
}
