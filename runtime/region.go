package barewire

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

type noCopy struct{}

func (*noCopy) Lock()   {}
func (*noCopy) Unlock() {}

// Region is memory for elements of T that lives where R says and grants what A
// says. It is always used by pointer, and whoever has it closes it. Registering
// it gives another Region for the same memory and ends this one: [ErrMoved].
// The zero value is no region: [ErrNoRegion].
//
//barewire:type handle
type Region[T Fixed[T], R Residency, A Access] struct {
	_   [0]func(T, R, A) // first: then it takes no room, and nothing converts or compares
	_   noCopy
	h   *region.Handle
	gen uint32
}

// Core is for the runtime's device packages: the handle and the generation that r is good for.
func Core[T Fixed[T], R Residency, A Access](f seal.Friend, r *Region[T, R, A]) (*region.Handle, uint32, error) {
	if r == nil || r.h == nil || !f.OK() {
		return nil, 0, ErrNoRegion
	}
	return r.h, r.gen, nil
}

// Mint is for the runtime's allocators and device packages: the typed region
// for a generation of a handle.
func Mint[T Fixed[T], R Residency, A Access](f seal.Friend, h *region.Handle, gen uint32) *Region[T, R, A] {
	if !f.OK() {
		return nil
	}
	return &Region[T, R, A]{h: h, gen: gen}
}

// Span is a range of a region's elements, for operations: checked when it is
// made, and refused by the operation if the check failed. It may be copied, and is good as long as
// the region is.
//
//barewire:type view
type Span[T Fixed[T], A Access] struct {
	_ [0]func(T, A)
	span
}

// span is a Span without its types, in four words: so much the compiler keeps in registers.
type span struct {
	h  *region.Handle
	r  state
	at int // the first element
	n  int
}

// state is the region that a span is of.
type state struct {
	gen uint32
	bad bool // the range is not in the region; then at and n are what was asked
}

// Span is the n elements of r from the element i on. A range that is not in
// the region is an error of the operation that is asked to use it.
//
//barewire:effect views=0 of r at i count n
func (r *Region[T, R, A]) Span(i, n int) Span[T, A] {
	if r == nil || r.h == nil {
		return Span[T, A]{}
	}
	count := r.h.Count()
	return Span[T, A]{span: span{r.h, state{r.gen, i < 0 || n < 0 || i > count || n > count-i}, i, n}}
}

// Len is the number of elements.
//
//barewire:effect looks=r, counts=0 of r
func (r *Region[T, R, A]) Len() int {
	if r == nil || r.h == nil {
		return 0
	}
	return r.h.Count()
}

// String names the region as errors do: its type, and where it was made.
//
//barewire:effect looks=r
func (r *Region[T, R, A]) String() string {
	if r == nil || r.h == nil {
		return "no region"
	}
	return r.h.Name()
}

// Close gives the memory back, ending its registration first. It fails, and the
// region stays as it is, while windows are open ([ErrBorrowed]) or operations
// have not ended ([ErrInFlight]), and if it was moved ([ErrMoved]) or closed ([ErrReleased]).
// Where the device does not end the registration within 10 seconds, because a peer that has stopped is
// in the memory perhaps, it is [ErrRegistered], and the region is not closed: what it grants has
// ended, and Close may be called again, until it succeeds; closing the domain does so, too.
// Any other error is the system's, and comes after it was closed.
//
//barewire:effect releases=r on ok
func (r *Region[T, R, A]) Close() error {
	if r == nil || r.h == nil {
		return ErrNoRegion
	}
	return region.Doing("close", r.h.Close(r.gen))
}

// hold keeps the memory where it is until r.h.Drop, if the region is current: it is neither
// closed nor copied elsewhere meanwhile.
func (r *Region[T, R, A]) hold(op string) error {
	if r == nil || r.h == nil {
		return ErrNoRegion
	}
	return region.Doing(op, r.h.Hold(r.gen))
}

// SpanParts is for the runtime's device packages: the handle and generation, and
// the range in bytes. Who uses it holds the handle with that generation first, and
// then asks it where the memory is. The error is [ErrNoRegion] or names the region and what was asked.
func SpanParts[T Fixed[T], A Access](f seal.Friend, s Span[T, A]) (h *region.Handle, gen uint32, off, bytes int, err error) {
	if s.h == nil || !f.OK() {
		return nil, 0, 0, 0, ErrNoRegion
	}
	if s.r.bad {
		return nil, 0, 0, 0, s.h.Range(s.at, s.n)
	}
	size := int(s.h.Type().Size)
	return s.h, s.r.gen, s.at * size, s.n * size, nil
}

// Len is the number of elements of the span.
func (s Span[T, A]) Len() int { return s.n }

// String says which elements of which region the span is, for logs.
func (s Span[T, A]) String() string {
	if s.h == nil {
		return "no region"
	}
	return fmt.Sprintf("%s from %d on of %s", region.Elements(s.n), s.at, s.h.Name())
}
