package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// sequences writes what reads and writes whole elements beside others who do
// so, for types with an #@atomic(sequence) field.
//
//	func TickSnapshot[A barewire.Access](w barewire.Window[Tick, A], i int, x *Tick) (seq uint64, err error)
//	func TickPublish[A barewire.Access](w barewire.Window[Tick, A], i int, x *Tick) error
func sequences(e *emitter, g *gocode.Code, t *plan.Type) {
	if !t.HasRegion(plan.Snapshot) {
		return
	}
	if e.shapes == nil {
		e.shapes = newShapes()
	}
	// A value's own memory will do where each of its bytes is the message's, whatever it is.
	plain := castable(t) && !e.shapes.typeChecks(t)
	snapshot(g, t, plain)
	publish(g, t, plain && !hasPads(t))
}

// snapshot writes the copy out.
func snapshot(g *gocode.Code, t *plan.Type, direct bool) {
	name, seq, size := t.Name(plan.Snapshot), t.Region.Sequence.Schema, t.Region.Size
	doc := fmt.Sprintf("%s copies the element with index i to x as it was at one time, while\nothers publish it. It returns %s, which grows by two with each of them. The error\nis barewire.ErrUnstable where each try met a writer; x is then no element.", name, seq)
	g.Func(doc, inWindow(t, name, ", x *"+t.Go)+" (seq uint64, err error)", func(b *gocode.Body) {
		noNil(b, "x", "0, ")
		if direct {
			b.Block("if wire.LittleEndian")
			b.P("return barewire.Snapshot(w, i, %s)", memory(t))
			b.End()
		}
		b.P("var b [%d]byte", size)
		b.Block("if seq, err = barewire.Snapshot(w, i, b[:]); err != nil")
		b.P("return 0, err")
		b.End()
		b.P("return seq, x.UnmarshalBinary(b[:])")
	})
}

// publish writes the copy in.
func publish(g *gocode.Code, t *plan.Type, direct bool) {
	name, seq, size := t.Name(plan.Publish), t.Region.Sequence.Schema, t.Region.Size
	doc := fmt.Sprintf("%s copies x to the element with index i, so that no snapshot gets a part\nof it. It counts %s itself, by two: that of x does not matter. The error is that\nof AppendBinary, or barewire.ErrUnstable where other writers never ended.", name, seq)
	g.Func(doc, inWindow(t, name, ", x *"+t.Go)+" error", func(b *gocode.Body) {
		noNil(b, "x", "")
		if direct {
			b.Block("if wire.LittleEndian")
			b.P("return barewire.Publish(w, i, %s)", memory(t))
			b.End()
		}
		b.P("var b [%d]byte", size)
		b.P("m, err := x.AppendBinary(b[:0])")
		b.Block("if err != nil")
		b.P("return err")
		b.End()
		b.P("return barewire.Publish(w, i, m)")
	})
}

// memory is the bytes of x.
func memory(t *plan.Type) string {
	return fmt.Sprintf("unsafe.Slice((*byte)(unsafe.Pointer(x)), %d)", t.Region.Size)
}

// hasPads reports whether there is padding in the type, which messages have zero.
func hasPads(t *plan.Type) bool {
	return plan.Fact(t, "pads", func() bool {
		for _, f := range t.Fields {
			v := f.Val
			for v.Kind == resolve.FixedList {
				v = v.Elem
			}
			if f.Pad || v.Kind == resolve.Struct && hasPads(v.Type) {
				return true
			}
		}
		return false
	})
}
