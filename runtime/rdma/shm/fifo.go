package shm

import (
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
)

// fifo is a queue of fixed room between one goroutine that puts and one that
// takes. Who they are may change under a lock.
type fifo[T any] struct {
	buf  []T
	head atomic.Uint64 // taken, ever
	_    [56]byte      // the two sides on cache lines of their own
	tail atomic.Uint64 // put, ever
}

// init gives it room for n, at least.
func (f *fifo[T]) init(n int) { f.buf = make([]T, ceilPow2(n)) }

// put adds v, unless there is no room.
func (f *fifo[T]) put(v *T) bool {
	t := f.tail.Load()
	if t-f.head.Load() == uint64(len(f.buf)) {
		return false
	}
	f.buf[t&uint64(len(f.buf)-1)] = *v
	release.Store(&f.tail, t+1)
	return true
}

// first is the oldest, nil if there is none. It is good until drop.
func (f *fifo[T]) first() *T {
	h := f.head.Load()
	if h == f.tail.Load() {
		return nil
	}
	return &f.buf[h&uint64(len(f.buf)-1)]
}

// drop takes the oldest away, which exists.
func (f *fifo[T]) drop() { release.Store(&f.head, f.head.Load()+1) }

// len is how many there are.
func (f *fifo[T]) len() int { return int(f.tail.Load() - f.head.Load()) }
