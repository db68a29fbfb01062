package verbs

import (
	"sync"
	"sync/atomic"
)

// done is an entry of a ring of completions.
type done struct {
	id   uint64
	err  error
	n    int
	verb uint8
}

// hand is what a program would write for itself, for one goroutine that writes
// and one that looks: a copy with its bounds checked, and a ring of completions.
type hand struct {
	from, to []byte
	ring     [128]done
	head     atomic.Uint64
	_        [56]byte
	tail     atomic.Uint64
}

func newHand(n int) *hand { return &hand{from: make([]byte, n), to: make([]byte, n)} }

// write copies n bytes, and notes that it did.
//
//go:noinline
func (h *hand) write(to, from, n int) bool {
	if n <= 0 || from < 0 || from > len(h.from)-n || to < 0 || to > len(h.to)-n {
		return false
	}
	tail := h.tail.Load()
	if tail-h.head.Load() == uint64(len(h.ring)) {
		return false
	}
	copy(h.to[to:to+n], h.from[from:from+n])
	h.ring[tail%uint64(len(h.ring))] = done{id: tail, n: n, verb: 1}
	h.tail.Store(tail + 1)
	return true
}

// poll takes what is noted, and reports how many succeeded.
//
//go:noinline
func (h *hand) poll() (ok int) {
	head, tail := h.head.Load(), h.tail.Load()
	for ; head < tail; head++ {
		if h.ring[head%uint64(len(h.ring))].err == nil {
			ok++
		}
	}
	h.head.Store(head)
	return ok
}

// locked is hand for any number of goroutines, as connections are.
type locked struct {
	post, take sync.Mutex
	h          *hand
}

//go:noinline
func (l *locked) write(to, from, n int) bool {
	l.post.Lock()
	defer l.post.Unlock()
	return l.h.write(to, from, n)
}

//go:noinline
func (l *locked) poll() int {
	l.take.Lock()
	defer l.take.Unlock()
	return l.h.poll()
}
