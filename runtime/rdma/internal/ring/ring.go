// Package ring has a bounded queue, first in, first out, for who has a lock on it or is alone with it.
package ring

// Ring is a queue of a bounded number of things. They stay in its memory: what is put in and taken out
// allocates nothing. The zero Ring has no room.
type Ring[T any] struct {
	buf  []T
	head int // of the first
	n    int
}

// New returns an empty ring with room for size.
func New[T any](size int) Ring[T] { return Ring[T]{buf: make([]T, size)} }

// Len is how many are in it.
func (r *Ring[T]) Len() int { return r.n }

// Size is for how many there is room.
func (r *Ring[T]) Size() int { return len(r.buf) }

// Push returns the slot for one more, which the caller fills. There is room: what goes in is counted before.
func (r *Ring[T]) Push() *T {
	at := r.head + r.n
	if at >= len(r.buf) {
		at -= len(r.buf)
	}
	r.n++
	return &r.buf[at]
}

// First is the slot of the first, which exists.
func (r *Ring[T]) First() *T { return &r.buf[r.head] }

// Pop returns the slot of the first, which exists. It is good until the next Push.
func (r *Ring[T]) Pop() *T {
	p := &r.buf[r.head]
	if r.head++; r.head == len(r.buf) {
		r.head = 0
	}
	r.n--
	return p
}

// Clear takes everything out and keeps nothing of it alive.
func (r *Ring[T]) Clear() {
	clear(r.buf)
	r.head, r.n = 0, 0
}
