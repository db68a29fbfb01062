package barewire

import "github.com/fidelityframework/barewire-gen/runtime/internal/region"

// LayoutOf is what a generated type's BareLayout returns. It names the type
// itself, so a struct that embeds a generated type does not pass for one.
type LayoutOf[T any] struct{ _ [0]*T }

// CastableOf is what BareCastable returns, in the same way.
type CastableOf[T any] struct{ _ [0]*T }

// Fixed is a generated type that regions can hold: each element takes the same
// number of bytes. BareLayout is there to be named by this constraint and is never called.
type Fixed[T any] interface{ BareLayout() LayoutOf[T] }

// Castable is a [Fixed] type whose memory as a Go value is its message, on a
// little-endian machine.
type Castable[T any] interface {
	Fixed[T]
	BareCastable() CastableOf[T]
}

// SequenceOf is what BareSequence returns, in the same way.
type SequenceOf[T any] struct{ _ [0]*T }

// Sequenced is a [Fixed] type whose first word is a sequence, by #@atomic(sequence): odd
// while an element is written, so that whole elements can be told from parts of two.
type Sequenced[T any] interface {
	Fixed[T]
	BareSequence() SequenceOf[T]
}

// TypeInfo is what the runtime knows of an element type. Generated code has one
// for each type; it must not change.
type TypeInfo = region.Type
