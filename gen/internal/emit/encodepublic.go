package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// publicLeaves is how many scalars a flat struct may have for its exported
// methods to have the body of the unexported ones.
const publicLeaves = 32

// marshal writes AppendBinary and MarshalBinary.
func marshal(g *gocode.Code, t *plan.Type) {
	v := *t.Under
	v.Type, v.Go = t, t.Go
	g.Func(appendDoc(&v), fmt.Sprintf("(x %s) AppendBinary(b []byte) ([]byte, error)", t.Recv()), func(b *gocode.Body) {
		switch {
		case flat(&v) && v.Kind == resolve.Struct && leaves(&v) <= publicLeaves:
			// As putBARE: a call would cost as much as a few fields.
			c := &encoder{fails: true, ret: "b, "}
			c.putStruct(t, "return out, nil", in(t.Schema, nil))
			b.P("n := len(b)")
			b.P("out := wire.Extend(b, %d)", v.Layout.Min)
			b.P("p := (*[%d]byte)(out[n:])", v.Layout.Min)
			c.into(b)
		case called(&v, t) && flat(&v):
			b.P("n := len(b)")
			b.P("out := wire.Extend(b, %d)", v.Layout.Min)
			if v.CanFail {
				b.Block("if err := x.putBARE((*[%d]byte)(out[n:])); err != nil", v.Layout.Min)
				b.P("return b, err.In(%q)", t.Schema)
				b.End()
			} else {
				b.P("x.putBARE((*[%d]byte)(out[n:]))", v.Layout.Min)
			}
			b.P("return out, nil")
		case called(&v, t) && v.CanFail:
			b.P("out, err := x.appendBARE(b)")
			b.Block("if err != nil")
			b.P("return b, err.In(%q)", t.Schema)
			b.End()
			b.P("return out, nil")
		case called(&v, t):
			b.P("return x.appendBARE(b), nil")
		default:
			c := &encoder{fails: true, ret: "in, "}
			if v.CanFail {
				c.P("in := b")
			}
			c.value(&v, "x", in(t.Schema, nil))
			c.P("return b, nil")
			c.into(b)
		}
	})
	g.Func("MarshalBinary returns the value's message, in memory of exactly its size.",
		fmt.Sprintf("(x %s) MarshalBinary() ([]byte, error)", t.Recv()), func(b *gocode.Body) {
			if v.CanFail {
				b.P("b, err := x.AppendBinary(make([]byte, 0, x.BinarySize()))")
				b.Block("if err != nil")
				b.P("return nil, err")
				b.End()
				b.P("return b, nil")
				return
			}
			b.P("return x.AppendBinary(make([]byte, 0, x.BinarySize()))")
		})
}

func appendDoc(v *plan.Val) string {
	doc := "AppendBinary appends the value's message to b."
	if v.CanFail {
		return doc + " Where the value has no message,\nit returns b as it was and a *wire.Error that names the field."
	}
	return doc + " The error is always nil."
}
