package iwarp

// ring is a queue of a bounded number of things, first in, first out.
type ring[T any] struct {
	buf  []T
	head int // of the first
	n    int
}

func newRing[T any](size int) ring[T] { return ring[T]{buf: make([]T, size)} }

// push returns the slot for one more, which the caller fills. There is room: what goes in is counted before.
func (r *ring[T]) push() *T {
	at := r.head + r.n
	if at >= len(r.buf) {
		at -= len(r.buf)
	}
	r.n++
	return &r.buf[at]
}

// first is the slot of the first, which exists.
func (r *ring[T]) first() *T { return &r.buf[r.head] }

// pop returns the slot of the first, good until the next push.
func (r *ring[T]) pop() *T {
	p := &r.buf[r.head]
	if r.head++; r.head == len(r.buf) {
		r.head = 0
	}
	r.n--
	return p
}
