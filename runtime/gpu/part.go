package gpu

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// Part is elements of a region, for operations: checked when it is made, and refused by the operation if the check failed. Unlike a
// [barewire.Span] its type says where the memory lives, which decides the direction of a copy. It is good as long as the region is.
//
//barewire:type view
type Part[T barewire.Fixed[T], R barewire.Residency, A barewire.Access] struct {
	_    [0]func(T, R, A)
	span barewire.Span[T, A]
}

// All is all elements of a region.
//
//barewire:effect views=0 of r at all
func All[T barewire.Fixed[T], R barewire.Residency, A barewire.Access](r *barewire.Region[T, R, A]) Part[T, R, A] {
	return Part[T, R, A]{span: r.Span(0, r.Len())}
}

// Some is the n elements of a region from the element i on.
//
//barewire:effect views=0 of r at i count n
func Some[T barewire.Fixed[T], R barewire.Residency, A barewire.Access](r *barewire.Region[T, R, A], i, n int) Part[T, R, A] {
	return Part[T, R, A]{span: r.Span(i, n)}
}

// Len is how many elements they are.
func (p Part[T, R, A]) Len() int { return p.span.Len() }

// String says which elements of which region, for logs.
func (p Part[T, R, A]) String() string { return p.span.String() }
