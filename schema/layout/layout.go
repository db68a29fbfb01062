// Package layout works out how a type lies in memory, which is how it lies on
// the wire: there is one layout, BARE's.
package layout

import (
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Class is what can be done with a type in place.
type Class uint8

const (
	Variable Class = iota // no greatest size
	Bounded               // a greatest size known through #@max
	Fixed                 // always the same size
	Castable              // fixed, and Go's own layout of the struct equals the wire's
)

// Info is the layout of one type.
type Info struct {
	Class Class
	Min   uint64 // smallest encoding in bytes, at least 1 but for void and what is made of it
	Max   uint64 // greatest encoding in bytes where Class is not Variable; equals Min for a fixed size
	Align uint64 // natural alignment: the greatest of its parts', 1, 2, 4 or 8
	// WhyNot says why the type is not castable, for people; empty where it is.
	WhyNot string
}

// IsFixed reports whether every value has the same size.
func (i Info) IsFixed() bool { return i.Class >= Fixed }

// Of returns the layout of a type.
func (l *Layouts) Of(t *resolve.Type) Info { return Info{} }

// Layouts computes and keeps layouts. It is not safe for concurrent use until All has run.
type Layouts struct{}
