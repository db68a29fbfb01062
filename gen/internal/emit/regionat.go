package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// elements writes what reaches the elements of an open region: views of them
// where the type has one, else the bytes of slots, and values.
func elements(_ *emitter, g *gocode.Code, t *plan.Type) {
	if t.Region == nil || !t.Region.Host {
		return
	}
	if t.HasRegion(plan.AtIndex) {
		viewAt(g, t)
		allOf(g, t)
	}
	if t.HasRegion(plan.SlotAt) {
		slotAt(g, t)
	}
	if t.HasRegion(plan.LoadAt) {
		valueAt(g, t)
	}
	if t.HasRegion(plan.ViewAt) {
		slotViewAt(g, t)
	}
}

// inWindow is the signature of a function that reaches the element i of w.
func inWindow(t *plan.Type, name, more string) string { return inWindowOf("Access", t, name, more) }

// inWindowOf is the same for windows of certain accesses only.
func inWindowOf(access string, t *plan.Type, name, more string) string {
	return fmt.Sprintf("%s[A barewire.%s](w barewire.Window[%s, A], i int%s)", name, access, t.Go, more)
}

// elementAt is a pointer to the bytes of the element i of w.
func elementAt(t *plan.Type) string {
	return fmt.Sprintf("(*[%d]byte)(barewire.Element(w, i, uintptr(i)*%d))", t.Region.Size, t.Region.Size)
}

// viewOver is the view of an element over a pointer to its bytes.
func viewOver(t *plan.Type, array string) string {
	view := t.Name(plan.View)
	if t.Kind == resolve.FixedList {
		return fmt.Sprintf("%s(wire.PackedOf(%s[:]))", view, array)
	}
	return fmt.Sprintf("%s{%s}", view, array)
}

// viewAt writes
//
//	func TickAt[A barewire.Access](w barewire.Window[Tick, A], i int) TickView
func viewAt(g *gocode.Code, t *plan.Type) {
	name := t.Name(plan.AtIndex)
	effect(g, t, "views=0 of w at i")
	g.Func(name+" is a view of the element with index i, good as long as w is open. It panics\nas a slice does if there is none.",
		inWindow(t, name, "")+" "+t.Name(plan.View), func(b *gocode.Body) {
			b.P("return %s", viewOver(t, elementAt(t)))
		})
}

// allOf writes the iterator over all elements, which checks once. Its loop is inlined where
// it ranges, and is then as short as one over a slice: it counts bytes alone, so that who
// wants no index counts none, and it counts them on the line that yields. The compiler marks
// where an inlined call came from by an instruction of that line, and adds one that does
// nothing where the line has none.
func allOf(g *gocode.Code, t *plan.Type) {
	name, view := t.Name(plan.AllOf), t.Name(plan.View)
	effect(g, t, "views=0 of w at all")
	g.Func(name+" iterates over views of all elements with their indices.",
		fmt.Sprintf("%s[A barewire.Access](w barewire.Window[%s, A]) iter.Seq2[int, %s]", name, t.Go, view), func(b *gocode.Body) {
			b.Block("return func(yield func(int, %s) bool)", view)
			b.P("first, n := barewire.Elements(w)")
			b.P("at, end := uintptr(0), uintptr(n)*%d", t.Region.Size)
			b.Block("for i := 0; at < end; i++")
			b.P("p := (*[%d]byte)(barewire.Step(first, at))", t.Region.Size)
			b.Block("if at += %d; !yield(i, %s)", t.Region.Size, viewOver(t, "p"))
			b.P("return")
			b.End()
			b.End()
			b.End()
		})
}

// slotAt writes what gives a slot's bytes.
func slotAt(g *gocode.Code, t *plan.Type) {
	name := t.Name(plan.SlotAt)
	doc := fmt.Sprintf("%s is the slot with index i: %d bytes, a length (u32), a message, zeros.\nThey are good as long as w is open. It panics as a slice does if there is none.", name, t.Region.Size)
	effect(g, t, "views=0 of w at i")
	g.Func(doc, inWindow(t, name, "")+" []byte", func(b *gocode.Body) {
		b.P("return %s[:]", elementAt(t))
	})
}

// valueAt writes what decodes and encodes an element as a whole.
func valueAt(g *gocode.Code, t *plan.Type) {
	load, put := t.Name(plan.LoadAt), t.Name(plan.PutAt)
	ptr := ", x *" + t.Go
	failed := "they are partly written"
	if t.Region.Slot {
		failed = "the slot is empty: its length is 0"
	}
	g.Func(load+" decodes the element with index i into x.", inWindow(t, load, ptr)+" error", func(b *gocode.Body) {
		noNil(b, "x", "")
		if !t.Region.Slot {
			b.P("return x.UnmarshalBinary(%s[:])", elementAt(t))
			return
		}
		b.P("m, err := wire.SlotMessage(%s, %d)", slotOf(t), t.Region.Size)
		b.Block("if err != nil")
		b.P("return err")
		b.End()
		b.P("return x.UnmarshalBinary(m)")
	})
	g.Func(put+" encodes x over the element with index i. After an error "+failed+".", inWindow(t, put, ptr)+" error", func(b *gocode.Body) {
		noNil(b, "x", "")
		if !t.Region.Slot {
			b.P("_, err := x.AppendBinary(%s[:0])", elementAt(t))
			b.P("return err")
			return
		}
		b.P("slot := %s", slotOf(t))
		b.P("m, err := wire.BeginSlot(slot, %d)", t.Region.Size)
		b.Block("if err == nil")
		b.P("m, err = x.AppendBinary(m)")
		b.End()
		b.P("return wire.EndSlot(slot, %d, m, err)", t.Region.Size)
	})
}

// noNil returns an error where a pointer that the user gave is nil: others say what the others are.
func noNil(b *gocode.Body, ptr, others string) {
	b.Block("if %s == nil", ptr)
	b.P("return %sbarewire.ErrNoValue", others)
	b.End()
}

// slotOf is the slot i of w.
func slotOf(t *plan.Type) string { return t.Name(plan.SlotAt) + "(w, i)" }

// slotViewAt writes what gives a view of a slot's message.
func slotViewAt(g *gocode.Code, t *plan.Type) {
	name, of := t.Name(plan.ViewAt), t.Name(plan.SlotViewOf)
	effect(g, t, "views=0 of w at i on ok")
	g.Func(name+" is a view of the message in the slot with index i, as "+of+" gives it.",
		inWindow(t, name, ", ix *wire.Index")+fmt.Sprintf(" (v %s, err error)", t.Name(plan.View)), func(b *gocode.Body) {
			noNil(b, "ix", "v, ")
			b.P("return %s(%s, ix)", of, slotOf(t))
		})
}
