package bench

import (
	"os"
	"testing"

	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

func TestMain(m *testing.M) {
	verbs.Peer() // the other process of a row, if this is one
	os.Exit(m.Run())
}

// TestVerbs runs each row of both commands for a moment, two processes where it has two, and
// holds those that promise it to no allocation. What counts is both
// sides' goroutines in this process, so a stray one of the Go runtime's is let pass.
func TestVerbs(t *testing.T) {
	for _, r := range append(verbs.All(), verbs.OverTCP()...) {
		t.Run(r.Table+"/"+r.Name, func(t *testing.T) {
			l, err := r.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}()
			n := 200
			if r.Bytes > 0 {
				n = 8
			}
			run := func() {
				if err := l.Run(n); err != nil {
					t.Fatal(err)
				}
			}
			run() // what is made once is made here
			if got := testing.AllocsPerRun(5, run); r.NoAlloc && got > 2 {
				t.Errorf("%v allocations in %d operations, want none", got, n)
			}
		})
	}
}

// TestGoals holds the wanted proportions to rows that there are.
func TestGoals(t *testing.T) {
	have := map[string]bool{}
	for _, r := range append(verbs.All(), verbs.OverTCP()...) {
		name := r.Table + "/" + r.Name
		if have[name] {
			t.Errorf("there are two rows %s", name)
		}
		have[name] = true
	}
	for _, g := range append(verbs.Goals(), verbs.TCPGoals()...) {
		for _, name := range append(g.Of, g.To...) {
			if !have[g.Table+"/"+name] {
				t.Errorf("%s: there is no row %q", g.What, name)
			}
		}
	}
}
