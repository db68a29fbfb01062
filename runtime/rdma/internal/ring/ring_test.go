package ring

import (
	"math/rand/v2"
	"testing"
)

// TestRing compares rings of all small sizes with a slice, in random steps.
func TestRing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for size := range 9 {
		r := New[int](size)
		if r.Size() != size {
			t.Fatalf("a ring for %d has room for %d", size, r.Size())
		}
		var want []int
		for i := range 1000 {
			switch {
			case rnd.IntN(100) == 0:
				r.Clear()
				want = nil
			case rnd.IntN(2) == 0 && len(want) < size:
				*r.Push() = i
				want = append(want, i)
			case len(want) > 0:
				if first := *r.First(); first != want[0] {
					t.Fatalf("size %d, step %d: the first is %d, want %d", size, i, first, want[0])
				}
				if got := *r.Pop(); got != want[0] {
					t.Fatalf("size %d, step %d: popped %d, want %d", size, i, got, want[0])
				}
				want = want[1:]
			}
			if r.Len() != len(want) {
				t.Fatalf("size %d, step %d: %d are in it, want %d", size, i, r.Len(), len(want))
			}
		}
	}
}

// TestClear keeps nothing.
func TestClear(t *testing.T) {
	r := New[*int](3)
	for range 3 {
		*r.Push() = new(int)
	}
	r.Pop()
	r.Clear()
	for range 3 {
		if p := *r.Push(); p != nil {
			t.Fatal("a slot has what was in it before Clear")
		}
	}
}

func TestAllocations(t *testing.T) {
	r := New[[8]uint64](4)
	if n := testing.AllocsPerRun(100, func() {
		r.Push()[0] = 1
		r.Push()[0] = 2
		r.Pop()
		r.Clear()
	}); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}
