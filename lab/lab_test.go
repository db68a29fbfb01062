package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/testsum/summary"
	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

func TestChoose(t *testing.T) {
	all := len(suites())
	for _, c := range []struct {
		words string
		boots int
	}{
		{"", all}, {"6.1", all / 2}, {"rdma", 4}, {"rdma 6.12", 2}, {"rdma numa 6.12", 3}, {"perf", 2}, {"perf 6.12", 1}, {"perf numa", 0}, {"siw pair 6.1", 2}, {"iwarp rdma", 2},
		{"./lab/guest rdma", 2}, {"guest numa", 2}, {"nothing", 0}, {"6.2", 0}, {"numa ./runtime/rdma/iwarp", 0},
	} {
		boots, err := choose(strings.Fields(c.words))
		var usage usageError
		if len(boots) != c.boots || errors.As(err, &usage) != (c.boots == 0) {
			t.Errorf("%q: %d boots, %v; want %d", c.words, len(boots), err, c.boots)
		}
		for _, b := range boots {
			if len(b.jobs) == 0 {
				t.Errorf("%q: a boot for nothing: %+v", c.words, b)
			}
		}
	}
}

// TestList wants a list narrowed as tests are, and help that is no wrong usage.
func TestList(t *testing.T) {
	boots, err := choose([]string{"siw", "6.1"})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	list(&out, boots)
	if _, s, _ := strings.Cut(out.String(), "suites:"); !strings.Contains(s, "siw    6.1 ") || strings.Contains(s, "6.12") || strings.Contains(s, "numa") {
		t.Errorf("of siw with 6.1:\n%s", s)
	}
	for words, want := range map[string]int{"help": 0, "-h": 0, "list": 0, "list siw 6.1": 0, "list nothing": statusUsage, "list -j 0": statusUsage} {
		status := 0
		if err := command(t.Context(), strings.Fields(words)); err != nil {
			status = statusOf(err)
		}
		if status != want {
			t.Errorf("lab %s: %d, want %d", words, status, want)
		}
	}
}

// TestStatuses are those that the command's documentation has.
func TestStatuses(t *testing.T) {
	for err, want := range map[error]int{
		errFailed:                             1,
		usageError("so"):                      2,
		errors.New("out of order"):            3,
		debian.ErrCannot:                      4,
		fmt.Errorf("x: %w", machine.ErrDied):  3,
		fmt.Errorf("x: %w", debian.ErrCannot): 4,
	} {
		if got := statusOf(err); got != want {
			t.Errorf("%v: %d, want %d", err, got, want)
		}
	}
}

// TestPlan has a shell do what a guest would be told.
func TestPlan(t *testing.T) {
	dir := t.TempDir()
	l := &lab{options: &options{timeout: time.Minute}}
	b := boot{preset: &machine.Preset{Name: "some", Setup: "echo prepared as $guest"}, kernel: "6.1", jobs: []job{
		{command: []string{"echo", "it's", "$HOME", "a  b"}},
		{pkg: "./some/package", args: []string{"-test.run=^A|B$"}},
	}}
	plan := l.plan(b, &machine.Guest{Number: 2, Nonce: "@@N"})
	text := `prepare() { echo "prepare: $($*)"; }
run() { echo "run: $*"; }
mkdir() { :; }
` + plan + `echo "$nonce $BAREWIRE_LAB $BAREWIRE_LAB_KERNEL $BAREWIRE_LAB_GUEST $CI"`
	cmd := exec.Command("sh", "-eu")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(text)
	out, err := cmd.CombinedOutput()
	want := `prepare: prepared as 2
run: 80 /src echo it's $HOME a  b
run: 80 /src/some/package /lab/some-package.test -test.v=test2json -test.timeout=1m0s -test.run=^A|B$
@@N some 6.1 2 true
`
	if err != nil || string(out) != want {
		t.Errorf("%v:\n%swant\n%s", err, out, want)
	}
}

// guest is a report of one that is to run a package's tests and a command.
func guest(t *testing.T, out *strings.Builder) *report {
	t.Helper()
	l := &lab{options: &options{}, sum: summary.New(out)}
	b := boot{preset: &machine.Preset{Name: "some", Guests: 1}, kernel: "6.1", jobs: []job{{pkg: "./p"}, {command: []string{"ls", "-l"}}}}
	return &report{l: l, b: b, g: &machine.Guest{Number: 1, Dir: t.TempDir()}}
}

const mark = "\x16" // of lines that are the testing package's. Source: go doc test2json

func TestReport(t *testing.T) {
	const pass = mark + "=== RUN   TestA\n" + mark + "--- PASS: TestA (0.00s)\n"
	const skip = mark + "=== RUN   TestB\n    b_test.go:1: no such thing\n" + mark + "--- SKIP: TestB (0.00s)\n"
	const fail = mark + "=== RUN   TestC\n    c_test.go:1: wrong\n" + mark + "--- FAIL: TestC (0.00s)\n"
	const passed, failed = mark + "PASS\n", mark + "FAIL\n"
	for _, c := range []struct {
		name, said   string
		status, then int // of the tests and of the command
		fine         bool
		want         []string
	}{
		{"pass", pass + passed, 0, 0, true, []string{"2 passed, 0 failed, 0 skipped"}},
		{"skip", pass + skip + passed, 0, 0, true, []string{"p (some, 6.1) TestB: b_test.go:1: no such thing", "2 passed, 0 failed, 1 skipped"}},
		{"fail", pass + fail + failed, 1, 0, false, []string{"c_test.go:1: wrong", "FAIL p (some, 6.1) TestC"}},
		{"a crash", pass + mark + "=== RUN   TestD\npanic: so\n", 2, 0, false, []string{"panic: so", "it ended with 2"}},
		{"no test", "testing: warning: no tests to run\n" + passed, 0, 0, false, []string{"it ran no test"}},
		{"a status alone", pass + passed, 7, 0, false, []string{"it ended with 7, and no test had failed", "the last that it said", "=== RUN   TestA"}},
		{"a command", pass + passed, 0, 3, false, []string{"FAIL ls (some, 6.1) ls -l"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out strings.Builder
			r := guest(t, &out)
			r.Begin()
			for line := range strings.Lines(c.said) {
				r.Output([]byte(line))
			}
			r.End(c.status)
			r.Begin()
			r.End(c.then)
			if fine := r.l.sum.End(); fine != c.fine {
				t.Errorf("fine: %v", fine)
			}
			for _, want := range c.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("does not say %q:\n%s", want, out.String())
				}
			}
		})
	}
}

// TestDead wants what a guest's death leaves undone to have failed, with the end of its console.
func TestDead(t *testing.T) {
	for at, want := range map[string]string{"before": "2 failed", "in the midst": "2 failed", "between": "1 passed, 1 failed", "after": "1 passed, 1 failed"} {
		t.Run(at, func(t *testing.T) {
			var out strings.Builder
			r := guest(t, &out)
			if err := os.WriteFile(r.g.Console(), []byte("first\r\nKernel panic - not syncing\r\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			if at != "before" {
				r.Begin()
				r.Output([]byte(mark + "=== RUN   TestA\n"))
			}
			if at == "between" || at == "after" {
				r.Output([]byte(mark + "--- PASS: TestA (0.00s)\n" + mark + "PASS\n"))
				r.End(0)
			}
			if at == "after" {
				r.Begin()
			}
			r.died(machine.ErrDied)
			if r.l.sum.End() || !strings.Contains(out.String(), want) || !strings.Contains(out.String(), "Kernel panic") {
				t.Errorf("want %q:\n%s", want, out.String())
			}
		})
	}
}

// TestSplit takes what lab run is given apart.
func TestSplit(t *testing.T) {
	for args, want := range map[string]string{
		"./a ./b": "./a ./b|", "./a -run X": "./a|-test.run X", "./a -test.run=X --count=2 -own": "./a|-test.run=X -test.count=2 -own",
		"-run X": "|-test.run X", "./a -preset numa": "", "./a -run X -v": "",
	} {
		patterns, rest, err := split(strings.Fields(args))
		if got := strings.Join(patterns, " ") + "|" + strings.Join(rest, " "); (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%s: %q, %v; want %q", args, got, err, want)
		}
	}
}

// TestPackages: what patterns stand for has tests, and is in the module that the lab is run in.
func TestPackages(t *testing.T) {
	for args, want := range map[string]int{".": 1, "./guest": 1, "./internal/...": 3, "./nothing": 0, "fmt": 0, "github.com/fidelityframework/barewire-gen/schema/diag": 1} {
		jobs, err := (&lab{}).packages(t.Context(), []string{args})
		var usage usageError
		if len(jobs) != want || errors.As(err, &usage) != (want == 0) {
			t.Errorf("%s: %+v, %v; want %d", args, jobs, err, want)
		}
	}
	t.Chdir(t.TempDir())
	if _, err := (&lab{}).packages(t.Context(), []string{"."}); err == nil || !strings.Contains(err.Error(), "in no module") {
		t.Errorf("outside of modules: %v", err)
	}
}

// TestFigures: of a job that measures, lines for whoever reads figures are told, and no others.
func TestFigures(t *testing.T) {
	j := &job{figures: true}
	for line, want := range map[string]bool{"# 1 µs\n": true, "    # 1 µs\n": true, "#1\n": false, "=== RUN   Test#\n": false, "\n": false} {
		if got := j.isFigure([]byte(line)); got != want {
			t.Errorf("%q: %v", line, got)
		}
		if (&job{}).isFigure([]byte(line)) {
			t.Errorf("%q of a job that does not measure", line)
		}
	}
}

// TestLanes: boots run side by side as many as may, those that measure alone, and all of them unless the lab fails.
func TestLanes(t *testing.T) {
	quiet := boot{jobs: []job{{figures: true}}}
	loud := boot{jobs: []job{{}}}
	boots := []boot{loud, quiet, loud, loud, quiet, loud}
	var now, most, done atomic.Int32
	l := &lab{options: &options{lanes: 3}}
	err := l.inLanes(t.Context(), boots, func(_ context.Context, i int) error {
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		time.Sleep(5 * time.Millisecond)
		if boots[i].figures() && now.Load() != 1 {
			t.Errorf("boot %d measures and is not alone", i)
		}
		done.Add(1)
		return nil
	})
	if err != nil || most.Load() > 3 || done.Load() != 6 {
		t.Errorf("%v, %d at once, %d done", err, most.Load(), done.Load())
	}
	broken := errors.New("broken")
	l.lanes = 1
	done.Store(0)
	err = l.inLanes(t.Context(), boots, func(ctx context.Context, i int) error {
		done.Add(1)
		return broken
	})
	if !errors.Is(err, broken) || done.Load() != 1 {
		t.Errorf("%v after %d boots", err, done.Load())
	}
}

// TestSuites wants the packages of suites to be there.
func TestSuites(t *testing.T) {
	for _, s := range suite {
		if _, err := os.Stat(filepath.Join("..", s.job.pkg)); err != nil {
			t.Error(err)
		}
		for _, p := range strings.Fields(s.presets) {
			if _, err := machine.ByName(p); err != nil {
				t.Error(err)
			}
		}
	}
}
