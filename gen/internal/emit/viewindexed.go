package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// indexedType writes the view of a type of variable size, the pass that makes
// it, and its accessors.
func (e *viewer) indexedType(t *plan.Type) {
	name := t.Name(plan.View)
	doc := name + " reads a " + t.Go + " in place, through an index of its message.\n" +
		"Strings and data that it gives are the message's own memory: they change\n" +
		"with it and keep it from being collected. A view is good until its index is\n" +
		"used for another message."
	switch t.Kind {
	case resolve.Struct:
		e.g.Line(doc, "type %s wire.View", name)
		e.structGetters(t, name)
	case resolve.Union:
		e.g.Line(doc, "type %s wire.View", name)
		e.unionGetters(t, name)
	case resolve.Optional:
		e.g.Line(doc, "type %s wire.View", name)
		viewsOf(e.g, t, t.Under.Elem, "v")
		e.g.Func("Get returns the value and whether there is one.", fmt.Sprintf("(v %s) Get() (value %s, ok bool)", name, e.viewGo(t.Under.Elem)), func(b *gocode.Body) {
			b.P("return wire.Opt(wire.View(v), %s)", e.getFunc(t.Under))
		})
	default:
		e.listView(t.Under, name, doc)
	}
	e.s.index(e.g, t)
	if t.Named {
		e.viewOf(t, name)
	}
}

// viewOf writes what makes the view.
//
//	func CustomerViewOf(b []byte, ix *wire.Index) (v CustomerView, err error)
func (e *viewer) viewOf(t *plan.Type, name string) {
	of := t.Name(plan.ViewOf)
	doc := of + " returns a view of the message b, which must be one " + t.Go + " and nothing\n" +
		"behind it. It validates all of b as UnmarshalBinary does, with the same\n" +
		"errors, in one pass that allocates nothing but what ix lacks."
	effect(e.g, t, "views=0 of b on ok")
	e.g.Func(doc, fmt.Sprintf("%s(b []byte, ix *wire.Index) (v %s, err error)", of, name), func(b *gocode.Body) {
		b.Block("if !ix.Begin(b, %d, %d)", e.s.typeFrame(t), e.s.typePerByte(t))
		b.P("return v, wire.ErrIndexSize")
		b.End()
		b.Block("if %s(ix, b, 0, 1) != len(b)", indexFunc(t))
		b.P("return v, ix.Refused(&%s)", typeVar(t))
		b.End()
		root := "ix.Root()"
		if t.Kind == resolve.List {
			if size, ok := fixedSize(t.Under.Elem); ok {
				root += fmt.Sprintf(".Packed(%d)", size)
			}
		}
		b.P("return %s(%s), nil", name, root)
	})
}

// structGetters writes a getter for each field.
func (e *viewer) structGetters(t *plan.Type, name string) {
	places := e.s.of(t).places
	for i, f := range t.Fields {
		if f.Pad {
			continue
		}
		get := f.View(plan.Get)
		doc := getterDoc(get, f)
		if f.Capability != nil {
			e.g.Directive("%s", accessOf(f))
		}
		viewsOf(e.g, t, f.Val, "v")
		if f.Val.Kind == resolve.Optional {
			e.g.Func(doc, fmt.Sprintf("(v %s) %s() (value %s, ok bool)", name, get, e.viewGo(f.Val.Elem)), func(b *gocode.Body) {
				e.optional(b, f.Val, places[i])
			})
			continue
		}
		e.g.Func(doc, fmt.Sprintf("(v %s) %s() %s", name, get, e.viewGo(f.Val)), func(b *gocode.Body) {
			b.P("return %s", e.field(f.Val, places[i]))
		})
	}
}

// getterDoc is a getter's comment.
func getterDoc(name string, f *plan.Field) string {
	doc := name + " reads " + f.Schema + "."
	if f.Val.Kind == resolve.Optional {
		doc = name + " reads " + f.Schema + " and whether it is there."
	}
	return doc
}

// reach is the view of a part of v.
func reach(p fieldAt) string {
	switch {
	case p.slot >= 0:
		return fmt.Sprintf("wire.View(v).After(%d, %d, %d)", p.slot, p.off, p.frame)
	case p.off == 0 && p.frame == 0:
		return "wire.View(v)"
	}
	return fmt.Sprintf("wire.View(v).In(%d, %d)", p.off, p.frame)
}

// field is the expression that reads a field.
func (e *viewer) field(v *plan.Val, p fieldAt) string {
	if p.slot >= 0 {
		// One call instead of a step and a call, or it would not be inlined.
		switch v.Kind {
		case resolve.Uint, resolve.Int, resolve.Str, resolve.Data:
			return conv(v, fmt.Sprintf("wire.View(v).%sAfter(%d, %d)", viewLoad[v.Kind], p.slot, p.off))
		case resolve.Enum:
			if enumLoad(v) == "Uint" {
				return fmt.Sprintf("%s(wire.View(v).UintAfter(%d, %d))", v.Go, p.slot, p.off)
			}
		}
	}
	if v.Kind == resolve.List && p.slot >= 0 {
		if size, ok := fixedSize(v.Elem); ok {
			return packedList(e.viewGo(v), fmt.Sprintf("wire.View(v).PackedAfter(%d, %d, %d)", p.slot, p.off, size))
		}
	}
	return e.indexed(v, reach(p))
}

// optional writes the body of an optional field's getter.
func (e *viewer) optional(b *gocode.Body, v *plan.Val, p fieldAt) {
	if v.Elem.Kind == resolve.Optional || viewCall(v.Elem) != "" {
		if p.slot >= 0 {
			b.P("return wire.OptAfter(wire.View(v), %d, %d, %d, %s)", p.slot, p.off, p.frame, e.getFunc(v))
		} else {
			b.P("return wire.Opt(%s, %s)", reach(p), e.getFunc(v))
		}
		return
	}
	inside := "u.In(1, 0)"
	if e.s.far(v) {
		inside = "u.Far(1)"
	}
	b.P("u := %s", reach(p))
	b.Block("if u.U8() == 0")
	b.P("return value, false")
	b.End()
	b.P("return %s, true", e.indexed(v.Elem, inside))
}

// unionGetters writes a union's Kind and a getter for each member.
func (e *viewer) unionGetters(t *plan.Type, name string) {
	kind, load := t.Name(plan.KindType), "Uint"
	if tagSize(t) == 1 {
		load = "U8"
	}
	e.g.Func("Kind returns which member it is.", fmt.Sprintf("(v %s) Kind() %s", name, kind), func(b *gocode.Body) {
		b.P("return %s(wire.View(v).%s())", kind, load)
	})
	far := e.s.of(t).widest > 1
	for _, m := range t.Members {
		as := t.MemberView(m, plan.As)
		cond := fmt.Sprintf("wire.View(v).%s() == %d", load, m.Tag)
		if m.Val.Kind == resolve.Void {
			e.g.Func(as+" reports whether it is "+m.Schema+".", fmt.Sprintf("(v %s) %s() bool", name, as), func(b *gocode.Body) {
				b.P("return %s", cond)
			})
			continue
		}
		u := fmt.Sprintf("wire.View(v).In(%d, 0)", uvarintSize(m.Tag))
		if far && e.s.frame(m.Val) > 0 {
			u = fmt.Sprintf("wire.View(v).Far(%d)", uvarintSize(m.Tag))
		}
		doc := as + " returns the value if it is " + m.Schema + ", and whether it is."
		viewsOf(e.g, t, m.Val, "v")
		e.g.Func(doc, fmt.Sprintf("(v %s) %s() (value %s, ok bool)", name, as, e.viewGo(m.Val)), func(b *gocode.Body) {
			if get := viewCall(m.Val); get != "" {
				b.P("return wire.Member(wire.View(v), %d, %d, wire.View.%s)", m.Tag, uvarintSize(m.Tag), get)
				return
			}
			b.Block("if %s", cond)
			b.P("return %s, true", e.indexed(m.Val, u))
			b.End()
			b.P("return value, false")
		})
	}
}
