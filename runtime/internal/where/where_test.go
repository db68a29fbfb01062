package where

import (
	"slices"
	"strings"
	"testing"
)

type marks struct{ here, quick Mark }

// mark, and what calls it, is inlined where the compiler likes.
func mark[T any](T) marks { return marks{Here(), Quick()} }

func through[T any](x T) marks { return mark(x) }

//go:noinline
func kept[T any](x T) marks { return through(x) }

type box[T any] struct{ x T }

func (b *box[T]) Mark() marks { return kept(b.x) }

type marker interface{ Mark() marks }

// lines is what addresses stand for, without what this package has in quick.go.
func lines(m Mark) (out []string) {
	for f := range m.frames {
		if line := Line(f.File, f.Line); !strings.HasPrefix(line, "where/quick.go:") {
			out = append(out, line)
		}
	}
	return slices.Compact(out) // wrappers of methods have their line
}

// TestAgree takes both marks through callers that are generic, inlined, methods
// of interfaces, deferred, or in goroutines.
func TestAgree(t *testing.T) {
	check := func(name string, m marks) {
		t.Helper()
		if got, want := m.quick.String(), m.here.String(); got != want || !strings.HasPrefix(want, "where/where_test.go:") {
			t.Errorf("%s: Quick is %s, Here is %s", name, got, want)
		}
		// Either may end early: Here has room for six calls with those that were inlined.
		here, quick := lines(m.here), lines(m.quick)
		n := min(len(here), len(quick))
		if n < 2 || !slices.Equal(here[:n], quick[:n]) {
			t.Errorf("%s: Quick has %v, Here has %v", name, quick, here)
		}
	}
	check("inlined", mark(1))
	check("inlined twice", through("x"))
	check("not inlined", kept(2.5))
	check("a method", (&box[string]{"x"}).Mark())
	check("an interface", marker(&box[int]{1}).Mark())

	var m marks
	func() {
		defer func() { m = mark(1) }()
	}()
	check("deferred", m)
	func() {
		defer func() { m = mark(1); recover() }()
		panic("x")
	}()
	check("while panicking", m)
	got := make(chan marks)
	go func() { got <- kept([3]int{}) }()
	check("a goroutine", <-got)
	deep(100, func() { m = kept(1) })
	check("after the stack grew", m)
}

//go:noinline
func deep(n int, f func()) {
	var room [1024]byte
	room[n] = 1
	if n == 0 {
		f()
		return
	}
	deep(n-1, f)
	room[0]++
}

// TestUnknown: a mark without addresses, or with some that are no code, is an
// unknown place and nothing worse.
func TestUnknown(t *testing.T) {
	for _, m := range []Mark{{}, {1}, {^uintptr(0), 2, 3}} {
		if got := m.String(); got != "an unknown place" {
			t.Errorf("%x is %s", m, got)
		}
	}
}

// TestQuickAllocates nothing.
func TestQuickAllocates(t *testing.T) {
	var m Mark
	if n := testing.AllocsPerRun(100, func() { m = Quick() }); n != 0 {
		t.Errorf("Quick allocates %v times", n)
	}
	if m[0] == 0 {
		t.Error("no address")
	}
	// What a mark had before is not part of it after.
	for i := range m {
		m[i] = m[0]
	}
	done := make(chan bool)
	go func() { m.Fill(); done <- true }()
	<-done
	if got := lines(m); len(got) != 1 {
		t.Errorf("a goroutine's own mark has %v", got)
	}
}

var sink Mark

func BenchmarkQuick(b *testing.B) {
	for b.Loop() {
		sink = Quick()
	}
}

func BenchmarkHere(b *testing.B) {
	for b.Loop() {
		sink = Here()
	}
}
