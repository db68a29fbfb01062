//barewire:trust tests make zero values, and misuse what they have, to see the errors
package barewire_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/golden"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
)

// module is a scratch module that has the sample types as a package of its own.
func module(t *testing.T) *scratch.Module {
	t.Helper()
	if testing.Short() {
		t.Skip("builds a module")
	}
	m := scratch.New(t, "", "")
	code, err := os.ReadFile("internal/sample/sample_bare.go")
	if err != nil {
		t.Fatal(err)
	}
	m.Write("sample/sample_bare.go", code)
	return m
}

// TestMisuse compiles what must not, and holds each of the compiler's errors to
// the line and the word that the program says. What a user reads in full is in
// testdata/misuse.txt, which is compared where the compiler is the one that wrote it.
func TestMisuse(t *testing.T) {
	got := map[string]string{}
	for _, r := range module(t).Refused("testdata/misuse/*.go") {
		got[fmt.Sprintf("%s:%d", r.File, r.Line)] = r.Text + "\n"
	}
	forPeople(t, got)
}

// forPeople compares the errors with those that are written down.
func forPeople(t *testing.T, got map[string]string) {
	t.Helper()
	const name = "testdata/misuse.txt"
	var s strings.Builder
	fmt.Fprintf(&s, "What the compiler of %s says to the programs beside this file.\n\n", runtime.Version())
	for _, where := range slices.Sorted(maps.Keys(got)) {
		fmt.Fprintf(&s, "%s: %s", where, got[where])
	}
	if os.Getenv(golden.UpdateVar) != "" {
		if err := os.WriteFile(name, []byte(s.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Errorf("%s is written; run again without %s", name, golden.UpdateVar)
		return
	}
	old, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	head, _, _ := strings.Cut(s.String(), "\n")
	if bytes.HasPrefix(old, []byte(head+"\n")) && string(old) != s.String() {
		t.Errorf("the compiler's words are not those of %s; refresh it with %s='*'\n%s", name, golden.UpdateVar, s.String())
	}
}

// TestCopies: go vet as it is finds a region that is copied.
func TestCopies(t *testing.T) {
	m := module(t)
	m.Write("copies/copies.go", []byte(`package copies

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

func assign(r *sample.TickCPU[barewire.Local]) {
	c := *r
	_ = c.Len()
}

func pass(r sample.TickCPU[barewire.Local]) int { return r.Len() }
`))
	out, err := m.Go(nil, "vet", "./copies")
	if err == nil {
		t.Fatal("vet finds nothing")
	}
	for _, want := range []string{"copies.go:9:", "assignment copies lock value to c", "copies.go:13:", "pass passes lock by value", "sample.TickCPU["} {
		if !strings.Contains(out, want) {
			t.Errorf("vet does not say %q:\n%s", want, out)
		}
	}
}

// TestInlined: what a loop over a window calls for each element is inlined into it, with
// one check of the index, or none where the loop's bounds are the window's.
func TestInlined(t *testing.T) {
	m := module(t)
	m.Write("loop/loop.go", []byte(`package loop

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

func index(w sample.TickWindow[barewire.Local], is []int) (s float64) {
	for _, i := range is {
		s += sample.TickAt(w, i).Price() // one check
	}
	return s
}

func all(w sample.TickWindow[barewire.Local]) (s float64) {
	for i := range w.Len() {
		s += sample.TickAt(w, i).Price()
	}
	for _, v := range sample.TickAll(w) {
		s += v.Price()
	}
	return s
}

func atomics(w sample.TickWindow[barewire.Local], i int) uint64 {
	sample.TickHitsAtomic(w, i).Add(1) // one check for both
	return sample.TickSeqLoad(w, i)
}
`))
	out, err := m.Go(nil, "build", "-gcflags=-m -d=ssa/check_bce", "./loop")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"loop.go:10:21: inlining call to sample.TickAt[", "loop.go:10:21: inlining call to barewire.Element[", "inlining call to sample.TickView.Price",
		"loop.go:17:21: inlining call to barewire.Element[", "loop.go:19:34: inlining call to sample.TickAll[",
		"loop.go:26:23: inlining call to barewire.Word32[", "loop.go:27:27: inlining call to barewire.Load64[",
		"loop.go:10:21: Found IsInBounds",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the compiler does not say %q", want)
		}
	}
	// The second access of atomics has the index that the first checked.
	checks := regexp.MustCompile(`loop/loop\.go:\d+:\d+: Found IsInBounds`).FindAllString(out, -1)
	if len(checks) != 2 {
		t.Errorf("indices are checked at %q, want 2 places", checks)
	}
}
