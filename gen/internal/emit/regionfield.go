package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// fieldAccess writes the functions for single fields: atomic access to
// #@atomic ones, and references to each.
func fieldAccess(_ *emitter, g *gocode.Code, t *plan.Type) {
	if t.Region == nil {
		return
	}
	for _, p := range t.Region.Parts {
		if p.Field.Wire.Atomic && t.Region.Host {
			atomics(g, t, p)
		}
	}
	for _, p := range t.Region.Parts {
		remoteField(g, t, p)
		localField(g, t, p)
	}
}

// atomics writes what reaches an #@atomic field of an element. Whoever else
// reaches the memory, loading is sound; changing is where this processor's atomics are
// enough, or where a device says that they are atomic together with its own.
//
//	func TickSeqAtomic[A barewire.CanLocalAtomic](w barewire.Window[Tick, A], i int) barewire.Atomic64
//	func TickSeqLoad[A barewire.Access](w barewire.Window[Tick, A], i int) uint64
//	func TickSeqGlobal[A barewire.CanRemoteAtomic](w barewire.Window[Tick, A], i int, g barewire.GlobalAtomics) (barewire.Atomic64, error)
func atomics(g *gocode.Code, t *plan.Type, p *plan.Part) {
	bits := 8 * p.Field.Val.Layout.Min
	word := fmt.Sprintf("w, i, %d, %d", t.Region.Size, p.Offset)
	atomic, load, global := p.Name(plan.FieldAtomic), p.Name(plan.FieldLoad), p.Name(plan.FieldGlobal)
	what := p.Schema + " of the element with index i"
	if p.Field.Val.Kind == resolve.I32 || p.Field.Val.Kind == resolve.I64 {
		what += fmt.Sprintf(", the int%d as a uint%d", bits, bits)
	}
	g.Func(fmt.Sprintf("%s is %s, for\natomic operations of this processor. It is good as long as w is open.", atomic, what),
		inWindowOf("CanLocalAtomic", t, atomic, "")+fmt.Sprintf(" barewire.Atomic%d", bits), func(b *gocode.Body) {
			b.P("return barewire.Word%d(%s)", bits, word)
		})
	g.Func(fmt.Sprintf("%s loads %s of the element with index i atomically, whoever changes it.", load, p.Schema),
		inWindow(t, load, "")+" "+p.Field.Val.Go, func(b *gocode.Body) {
			x := fmt.Sprintf("barewire.Load%d(%s)", bits, word)
			if p.Field.Val.Go != fmt.Sprintf("uint%d", bits) {
				x = p.Field.Val.Go + "(" + x + ")"
			}
			b.P("return %s", x)
		})
	if global == "" {
		return
	}
	doc := fmt.Sprintf("%s is %s, which\npeers change atomically too. The error is barewire.ErrNotGlobal where g is no\nwitness that this processor's atomics and theirs are atomic together.", global, what)
	g.Func(doc, inWindowOf("CanRemoteAtomic", t, global, ", g barewire.GlobalAtomics")+fmt.Sprintf(" (barewire.Atomic%d, error)", bits), func(b *gocode.Body) {
		b.P("return barewire.Global%d(%s, g)", bits, word)
	})
}

// remoteField writes the typed reference to a field in the memory of a peer.
//
//	func TickPriceOf[A barewire.RemoteAccess](rem barewire.Remote[Tick, A], i int) barewire.Field[float64, A]
func remoteField(g *gocode.Code, t *plan.Type, p *plan.Part) {
	name := p.Name(plan.FieldOf)
	if name == "" {
		return
	}
	doc := fmt.Sprintf("%s refers to %s of the element with index i. If there is none, the\noperation that gets it fails.", name, p.Schema)
	sig := fmt.Sprintf("%s[A barewire.RemoteAccess](rem barewire.Remote[%s, A], i int) barewire.Field[%s, A]", name, t.Go, p.Field.Val.Go)
	g.Func(doc, sig, func(b *gocode.Body) {
		b.P("return barewire.FieldOf[%s](rem, i, %d, %d)", p.Field.Val.Go, p.Offset, p.Field.Val.Layout.Min)
	})
}

// localField writes the typed reference to a field in registered memory of this
// process.
//
//	func TickPriceIn[A barewire.Registered](s barewire.Span[Tick, A], i int) barewire.LocalField[float64]
func localField(g *gocode.Code, t *plan.Type, p *plan.Part) {
	name := p.Name(plan.FieldIn)
	if name == "" {
		return
	}
	doc := fmt.Sprintf("%s refers to %s of the element with index i of a span. If there is\nnone, the operation that gets it fails.", name, p.Schema)
	sig := fmt.Sprintf("%s[A barewire.Registered](s barewire.Span[%s, A], i int) barewire.LocalField[%s]", name, t.Go, p.Field.Val.Go)
	g.Func(doc, sig, func(b *gocode.Body) {
		b.P("return barewire.FieldIn[%s](s, i, %d, %d)", p.Field.Val.Go, p.Offset, p.Field.Val.Layout.Min)
	})
}
