// Package emit writes the Go that the plan describes: one file per construct.
// A function writes one declaration and shows it in its comment.
package emit

import (
	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// emitter is what a worker holds while it writes: the plan, which all workers
// share and nobody changes, and notes of its own that save work but never
// change what is written. Each worker has one, so it needs no locks.
type emitter struct {
	pkg    *plan.Package
	shapes *shapes // of views; nil until the first
}

func newEmitter(p *plan.Package) *emitter { return &emitter{pkg: p} }

// aspect writes one side of a type's Go: its values, its codec, its views.
// It writes nothing for a type that it does not concern.
type aspect func(e *emitter, g *gocode.Code, t *plan.Type)

// aspects are written for each type in this order, so that all that belongs to
// a type stands together.
var aspects = []aspect{
	declare,
	equal,
	clone,
	encoding,
	sizing,
	decoding,
	capabilities,
	regions,
}

// viewAspects follow where views are wanted.
var viewAspects = []aspect{
	views,
	casts,
	slots,
	viewCapabilities,
}

// regionAspects follow last: they stand on views where there are any.
var regionAspects = []aspect{
	elements,
	sequences,
	fieldAccess,
}
