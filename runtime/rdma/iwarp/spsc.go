package iwarp

import "sync/atomic"

// pipe hands things from one goroutine to another without a lock: one puts, one takes.
type pipe[T any] struct {
	buf        []T // as many as a power of two, so that the counts may wrap around
	limit      int
	put, taken atomic.Uint32
}

func newPipe[T any](limit int) pipe[T] {
	return pipe[T]{buf: make([]T, powerOfTwo(limit)), limit: limit}
}

// powerOfTwo is the least power of two that is n or more.
func powerOfTwo(n int) int {
	p := 1
	for p < n {
		p <<= 1
	}
	return p
}

// n is how many there are. Who puts sees at most too many, who takes at most too few.
func (p *pipe[T]) n() int { return int(p.put.Load() - p.taken.Load()) }

func (p *pipe[T]) full() bool { return p.n() >= p.limit }

// add puts one more, for which there is room.
func (p *pipe[T]) add(v T) {
	at := p.put.Load()
	p.buf[at&uint32(len(p.buf)-1)] = v
	p.put.Store(at + 1)
}

// first is the oldest, which exists. It stays until drop.
func (p *pipe[T]) first() *T { return &p.buf[p.taken.Load()&uint32(len(p.buf)-1)] }

func (p *pipe[T]) drop() { p.taken.Store(p.taken.Load() + 1) }
