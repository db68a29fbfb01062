package iwarp

import (
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// TestGate shuts a gate with somebody inside, and without.
func TestGate(t *testing.T) {
	var g gate
	for range 2 {
		if !g.enter() {
			t.Fatal("an open gate lets nobody in")
		}
	}
	if g.leave() {
		t.Fatal("an open gate does not count")
	}
	if g.shut() {
		t.Error("a gate with somebody inside is idle")
	}
	if g.enter() || g.leave() {
		t.Error("a shut gate let somebody in, or was left idle by whom it did not let in")
	}
	if !g.leave() {
		t.Error("the last who left was not told")
	}
	var empty gate
	if !empty.shut() {
		t.Error("an empty gate is not idle when it is shut")
	}
}

// TestPipe hands things over, through the place where its counts wrap around.
func TestPipe(t *testing.T) {
	p := newPipe[int](3)
	p.put.Store(1<<32 - 2)
	p.taken.Store(1<<32 - 2)
	for i := range 100 {
		for p.n() < 3 {
			p.add(i + p.n())
		}
		if !p.full() || *p.first() != i {
			t.Fatalf("the first of %d is %d, want %d", p.n(), *p.first(), i)
		}
		for range 3 {
			p.drop()
		}
		if p.n() != 0 || p.full() {
			t.Fatal("an empty pipe is not empty")
		}
	}
}

// TestSegmentsKeepWords cuts long messages into segments: each ends where a word of the memory does.
func TestSegmentsKeepWords(t *testing.T) {
	for _, mulpdu := range []int{24, 128, 1442, 65400, 65535} {
		for to := uint64(0xfffffffffffffff0); to != 0x40; to++ {
			for _, total := range []int{1, 8, 100, 70000} {
				at := to
				for left := total; left > 0; {
					n := tagged(mulpdu, at, left)
					if n < 1 || n > left || n > mulpdu-fpdu.TaggedSize {
						t.Fatalf("a segment of %d bytes of %d, with room for %d", n, left, mulpdu-fpdu.TaggedSize)
					}
					at += uint64(n)
					if left -= n; left > 0 && at&7 != 0 {
						t.Fatalf("a segment ends at %#x, within a word", at)
					}
				}
			}
		}
	}
}

// TestTurns shares a connection between answers and own requests: a small write is not held up by large reads.
func TestTurns(t *testing.T) {
	a, b := connectEnds(t, shapes["tcp, large, sums"])
	done := make(chan bool)
	go func() {
		defer close(done)
		reads := repeat(b.request(rdma.VerbRead, 0, 0, endBytes, a, 0), 8)
		for range 30 {
			if n, err := b.q.Post(reads); n != len(reads) {
				t.Error(err)
				return
			}
			for range reads {
				if c, err := poll(b.q); err != nil {
					t.Errorf("completed %+v: %v", c, err)
					return
				}
			}
		}
	}()
	small := a.request(rdma.VerbWrite, 1, 0, 64, b, upper)
	for n := 0; ; n++ {
		select {
		case <-done:
			return
		default:
		}
		start := time.Now()
		a.post(small, flushOf(2))
		a.done(1)
		a.done(2)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("a small write took %v beside large reads", d)
		}
	}
}

func repeat[T any](v T, n int) (vs []T) {
	for range n {
		vs = append(vs, v)
	}
	return vs
}
