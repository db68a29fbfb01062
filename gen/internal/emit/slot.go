package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// slots writes the slot of a type with a greatest size: memory of a fixed size
// that holds the message's length, the message, and zeros.
func slots(_ *emitter, g *gocode.Code, t *plan.Type) {
	if !t.Named || t.Layout().Class != layout.Bounded || !hasView(t) {
		return
	}
	size, put, load := t.Name(plan.SlotSize), t.Name(plan.PutSlot), t.Name(plan.LoadSlot)
	view, check := t.Name(plan.SlotViewOf), t.Name(plan.CheckSlot)
	g.Line(size+" is the size of a slot for a "+t.Go+" in bytes: a length (u32), at most\n"+
		fmt.Sprintf("%d bytes of message, zeros.", t.Layout().Max), "const %s = %d", size, slotSize(t))
	g.Func(put+" encodes x into a slot, with zeros behind it. After an error the slot is\nempty: its length is 0.",
		fmt.Sprintf("%s(slot []byte, x *%s) error", put, t.Go), func(b *gocode.Body) {
			b.P("m, err := wire.BeginSlot(slot, %s)", size)
			b.Block("if err == nil")
			b.P("m, err = x.AppendBinary(m)")
			b.End()
			b.P("return wire.EndSlot(slot, %s, m, err)", size)
		})
	g.Func(load+" decodes the message in a slot into x.",
		fmt.Sprintf("%s(slot []byte, x *%s) error", load, t.Go), func(b *gocode.Body) {
			b.P("m, err := wire.SlotMessage(slot, %s)", size)
			b.Block("if err != nil")
			b.P("return err")
			b.End()
			b.P("return x.UnmarshalBinary(m)")
		})
	effect(g, t, "views=0 of slot on ok")
	g.Func(view+" returns a view of the message in a slot, as "+t.Name(plan.ViewOf)+" does.",
		fmt.Sprintf("%s(slot []byte, ix *wire.Index) (v %s, err error)", view, t.Name(plan.View)), func(b *gocode.Body) {
			b.P("m, err := wire.SlotMessage(slot, %s)", size)
			b.Block("if err != nil")
			b.P("return v, err")
			b.End()
			b.P("return %s(m, ix)", t.Name(plan.ViewOf))
		})
	g.Func(check+" checks a slot's message, and that the bytes behind it are zero, which\nreading does not.",
		fmt.Sprintf("%s(slot []byte, ix *wire.Index) error", check), func(b *gocode.Body) {
			b.Block("if _, err := %s(slot, ix); err != nil", view)
			b.P("return err")
			b.End()
			b.P("return wire.SlotTail(slot, %s)", size)
		})
}

// slotSize is 4 and the greatest size, rounded up to 8 or #@align.
func slotSize(t *plan.Type) uint64 {
	align := uint64(8)
	if t.Decl != nil && t.Decl.Align != 0 {
		align = t.Decl.Align
	}
	return (4 + t.Layout().Max + align - 1) / align * align
}
