package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// casts writes what looks at memory as a Go value, for castable types, and the
// proof that the value's layout is the message's.
func casts(_ *emitter, g *gocode.Code, t *plan.Type) {
	if !hasCasts(t) {
		return
	}
	proof(g, t)
	over, slice := t.Name(plan.Over), t.Name(plan.SliceOver)
	doc := fmt.Sprintf("%s returns the first %d bytes of b as a %s, without a copy. It is an error\n(wire.ErrBigEndian, wire.ErrAlign, wire.ErrCastSize) if that cannot be. It does\nnot validate.", over, t.Layout().Min, t.Go)
	effect(g, t, "views=0 of b on ok")
	g.Func(doc, fmt.Sprintf("%s(b []byte) (*%s, error)", over, t.Go), func(b *gocode.Body) {
		b.P("return wire.Over[%s](b)", t.Go)
	})
	doc = fmt.Sprintf("%s is %s for as many values as b holds; its length must be a\nmultiple of %d.", slice, over, t.Layout().Min)
	effect(g, t, "views=0 of b on ok")
	g.Func(doc, fmt.Sprintf("%s(b []byte) ([]%s, error)", slice, t.Go), func(b *gocode.Body) {
		b.P("return wire.SliceOver[%s](b)", t.Go)
	})
}

// hasCasts reports whether a type's memory may be looked at as its value.
func hasCasts(t *plan.Type) bool {
	return t.Named && t.Layout().Class == layout.Castable && t.Kind != resolve.Enum
}

// proofNodes is how many fields, counted through all structs inside, a type may
// have for its size to be asserted: the compiler's type checker works such a constant
// out field by field, and does not remember what it knows of the parts.
const proofNodes = 4096

// proof writes the assertion of the size: an array whose length is not 0 does
// not compile here. The size proves the offsets: Go keeps the order of fields, so
// they lie elsewhere only behind a gap, and then the struct is larger. The parts
// have proofs of their own, which is all there is for a type too large for one.
//
//	var _ [0]struct{} = [unsafe.Sizeof(*(*Tick)(nil)) - 64]struct{}{}
func proof(g *gocode.Code, t *plan.Type) {
	if nodes(t) > proofNodes {
		return
	}
	g.Line(t.Go+"'s memory is its message.", "var _ [0]struct{} = [unsafe.Sizeof(*(*%s)(nil)) - %d]struct{}{}", t.Go, t.Layout().Min)
}

// nodes counts the fields in a type, through all structs inside, up to one
// more than a proof can have.
func nodes(t *plan.Type) int {
	return plan.Fact(t, "nodes", func() int {
		n := 1
		for _, f := range t.Fields {
			v := f.Val
			for v.Kind == resolve.FixedList {
				v = v.Elem
			}
			if v.Kind == resolve.Struct {
				n += nodes(v.Type)
			}
			n = min(n+1, proofNodes+1)
		}
		return n
	})
}
