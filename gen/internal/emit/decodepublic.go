package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// unmarshal writes UnmarshalBinary, DecodeBinary and DecodeStream. What a
// decoder refuses is explained by the type's description.
func unmarshal(g *gocode.Code, t *plan.Type) {
	v := *t.Under
	v.Type, v.Go = t, t.Go
	desc := typeVar(t)

	doc := "UnmarshalBinary decodes a message, which is all of b. Data, lists, maps and what\n" +
		"pointers point to get memory of their own. An error is a *wire.Error, and the\n" +
		"value is then partly decoded."
	g.Func(doc, fmt.Sprintf("(x *%s) UnmarshalBinary(b []byte) error", t.Go), func(b *gocode.Body) {
		if flat(&v) {
			size := v.Layout.Min
			bad := fmt.Sprintf("return %s.Refuse(b)", desc)
			b.Block("if len(b) != %d", size)
			b.P("%s", bad)
			b.End()
			c := &decoder{fail: bad}
			c.whole(&v, "b", "return nil")
			c.into(b)
			return
		}
		b.P("d := wire.Begin(b, wire.Options{})")
		b.Block("if x.decodeBARE(&d, 0) != len(b)")
		b.P("return %s.Refuse(b)", desc)
		b.End()
		b.P("return nil")
	})

	doc = "DecodeBinary decodes the message at the front of b and returns its size in bytes.\nThe options say whose memory the value uses."
	g.Func(doc, fmt.Sprintf("(x *%s) DecodeBinary(b []byte, o wire.Options) (int, error)", t.Go), func(b *gocode.Body) {
		if flat(&v) && v.Layout.Min == 0 {
			b.P("return 0, nil")
			return
		}
		b.P("d := wire.Begin(b, o)")
		if flat(&v) {
			size := v.Layout.Min
			bad := fmt.Sprintf("return 0, %s.Explain(b, o, false)", desc)
			b.Block("if len(d.Buf) < %d", size)
			b.P("%s", bad)
			b.End()
			c := &decoder{fail: bad}
			c.whole(&v, "d.Buf", fmt.Sprintf("return %d, nil", size))
			c.into(b)
			return
		}
		b.P("n := x.decodeBARE(&d, 0)")
		b.Block("if n < 0")
		b.P("return 0, %s.Explain(b, o, false)", desc)
		b.End()
		b.P("return n, nil")
	})

	doc = "DecodeStream reads a message without a length before it, and no byte more. At the\nend of the stream the error is io.EOF; inside a message it is io.ErrUnexpectedEOF too."
	g.Func(doc, fmt.Sprintf("(x *%s) DecodeStream(r *wire.Reader) error", t.Go), func(b *gocode.Body) {
		b.P("b, err := r.Next(&%s)", desc)
		b.Block("if err != nil")
		b.P("return err")
		b.End()
		b.P("return x.UnmarshalBinary(b)")
	})
	if !flat(&v) && !called(&v, t) {
		leafDecoder(g, t)
	}
}

// whole reads a flat value that is all of some bytes.
func (c *decoder) whole(v *plan.Val, bytes, done string) {
	t, size := v.Type, v.Layout.Min
	array := fmt.Sprintf("(*[%d]byte)(%s)", size, bytes)
	switch {
	case !reads(v):
	case v.Kind == resolve.Struct && leaves(v) <= publicLeaves:
		// As getBARE: a call would cost as much as a few fields.
		c.P("p := %s", array)
		c.getStruct(t, done)
		return
	case v.Kind == resolve.Struct && refusable(v):
		c.refuse("!x.getBARE(%s)", array)
	case v.Kind == resolve.Struct:
		c.P("x.getBARE(%s)", array)
	default:
		c.P("p := %s", array)
		c.get(v, "(*x)", "p", "0", 0)
	}
	c.P("%s", done)
}

// leafDecoder writes decodeBARE for a named type that is read in line
// everywhere else, such as a str.
func leafDecoder(g *gocode.Code, t *plan.Type) {
	v := *t.Under
	v.Type, v.Go = t, t.Go
	c := &decoder{fail: "return -1", buf: true}
	c.inline(&v, "(*x)", 0)
	c.P("return p")
	g.Func("", fmt.Sprintf("(x *%s) decodeBARE(d *wire.Decoder, p int) int", t.Go), c.into)
}
