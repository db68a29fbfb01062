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
	if !t.Named || t.Layout().Class != layout.Castable || t.Kind == resolve.Enum {
		return
	}
	proof(g, t)
	over, slice := t.Name(plan.Over), t.Name(plan.SliceOver)
	doc := fmt.Sprintf("%s returns the first %d bytes of b as a %s, without a copy. It is an error\n(wire.ErrBigEndian, wire.ErrAlign, wire.ErrCastSize) if that cannot be. It does\nnot validate.", over, t.Layout().Min, t.Go)
	g.Func(doc, fmt.Sprintf("%s(b []byte) (*%s, error)", over, t.Go), func(b *gocode.Body) {
		b.P("return wire.Over[%s](b)", t.Go)
	})
	doc = fmt.Sprintf("%s is %s for as many values as b holds; its length must be a\nmultiple of %d.", slice, over, t.Layout().Min)
	g.Func(doc, fmt.Sprintf("%s(b []byte) ([]%s, error)", slice, t.Go), func(b *gocode.Body) {
		b.P("return wire.SliceOver[%s](b)", t.Go)
	})
}

// proof writes the assertions of size and offsets: an array whose length is
// not 0 does not compile here.
//
//	var _ = [0]struct{}(  [unsafe.Sizeof(Tick{}) - 64]struct{}{} )
func proof(g *gocode.Code, t *plan.Type) {
	g.Var(t.Go+"'s memory is its message.", func(b *gocode.Body) {
		b.P("_ [0]struct{} = [unsafe.Sizeof(*(*%s)(nil)) - %d]struct{}{}", t.Go, t.Layout().Min)
		for _, f := range t.Fields {
			if f.Go != "_" {
				b.P("_ [0]struct{} = [unsafe.Offsetof((*%s)(nil).%s) - %d]struct{}{}", t.Go, f.Go, f.Offset)
			}
		}
	})
}
