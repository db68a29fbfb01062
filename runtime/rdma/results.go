package rdma

import "sync"

// results are the places for what words were before atomics. One that somebody waited
// for is used again; one that nobody waits for any more is the garbage collector's, so none
// is lost while there is an AtomicOp that may be waited for.
type results struct {
	mu   sync.Mutex
	free []*result
}

// result is what a word was before an atomic. The lock of results guards it.
type result struct {
	seq   uint64 // of the operation
	word  uint64
	there bool // the operation has ended
	taken bool // the place is free, or will be nobody's
}

// init makes n places, as many as are kept at most when they are free.
func (t *results) init(n int) {
	all := make([]result, n)
	t.free = make([]*result, n)
	for i := range all {
		t.free[i] = &all[i]
	}
}

// begin gives the operation seq a place.
func (t *results) begin(seq uint64) *result {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.free)
	if n == 0 {
		return &result{seq: seq}
	}
	p := t.free[n-1]
	t.free[n-1], t.free = nil, t.free[:n-1]
	*p = result{seq: seq}
	return p
}

// end puts in what the operation seq gave.
func (t *results) end(p *result, seq, word uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.seq == seq {
		p.word, p.there = word, true
	}
}

// take gives what the operation seq gave, and frees its place. The result stays there until the
// place is needed.
func (t *results) take(p *result, seq uint64) (word uint64, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.seq != seq || !p.there {
		return 0, false
	}
	if !p.taken && len(t.free) < cap(t.free) {
		t.free = append(t.free, p)
	}
	p.taken = true
	return p.word, true
}
