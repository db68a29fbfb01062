package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// clone writes Clone, a copy that shares no memory. It copies the value as it
// is and then replaces what it refers to, in place (unshareBARE), so that
// nested structs need no memory of their own.
func clone(_ *emitter, g *gocode.Code, t *plan.Type) {
	if !t.Named && t.Kind == resolve.Enum {
		return
	}
	h := &helpers{g: g, inline: inlineDepth}
	const doc = "Clone returns a copy that shares no memory with x."
	if !t.Pointer() {
		g.Func(doc, "(x "+t.Go+") Clone() "+t.Go, func(b *gocode.Body) {
			if t.Alias != nil && !t.Under.Flat {
				b.P("return %s(%s(x).Clone())", t.Go, t.Alias.Go)
				return
			}
			h.unshare(b, t.Under, place{"x", false})
			b.P("return x")
		})
		h.flush()
		return
	}
	g.Func(doc, "(x *"+t.Go+") Clone() *"+t.Go, func(b *gocode.Body) {
		b.P("if x == nil {\nreturn nil\n}")
		b.P("y := new(%s)\n*y = *x", t.Go)
		if !t.Under.Flat {
			b.P("y.unshareBARE()")
		}
		b.P("return y")
	})
	if !t.Under.Flat {
		unshareMethod(g, h, t)
	}
	h.flush()
}

// unshareMethod writes the method that replaces all memory that a struct or
// union refers to by copies.
//
//	func (x *Customer) unshareBARE() {
//		x.Photo = slices.Clone(x.Photo)
//	}
func unshareMethod(g *gocode.Code, h *helpers, t *plan.Type) {
	g.Func("", "(x *"+t.Go+") unshareBARE()", func(b *gocode.Body) {
		switch {
		case t.Alias != nil:
			b.P("(*%s)(x).unshareBARE()", t.Alias.Go)
		case t.Kind == resolve.Union:
			h.unshareUnion(b, t)
		default:
			for _, f := range t.Fields {
				if !f.Pad {
					h.unshare(b, f.Val, place{"x." + f.Go, false})
				}
			}
		}
	})
}

// unshareUnion writes
//
//	switch a := x.Value.(type) {
//	case *Customer:
//		x.Value = a.Clone()
//	case *PersonU8:
//		if a != nil {
//			w := *a
//			x.Value = &w
//		}
//	}
func (h *helpers) unshareUnion(b *gocode.Body, t *plan.Type) {
	b.Block("switch a := x.Value.(type)")
	for _, m := range t.Members {
		b.P("case *%s:", m.Go)
		if !m.Wrapper && m.Val.Type.Pointer() {
			b.P("x.Value = a.Clone()")
			continue
		}
		b.Block("if a != nil")
		b.P("w := *a") // not c, which the parts of a value call their copies
		if m.Wrapper {
			h.unshare(b, m.Val, place{"w.Value", false})
		} else {
			h.unshare(b, m.Val, place{"w", false})
		}
		b.P("x.Value = &w")
		b.End()
	}
	b.End()
}

// unshare writes statements that replace the memory that a value refers to.
// The value is a shallow copy already.
func (h *helpers) unshare(b *gocode.Body, v *plan.Val, x place) {
	switch {
	case v.Flat:
	case v.Kind == resolve.Data:
		b.P("%s = slices.Clone(%s)", x.value(), x.value())
	case v.Type != nil && v.Type.Pointer():
		b.P("%s.unshareBARE()", x.text)
	case v.Type != nil:
		b.P("%s = %s.Clone()", x.value(), x.part())
	case v.Kind == resolve.List && v.Elem.Flat:
		b.P("%s = slices.Clone(%s)", x.value(), x.value())
	case v.Kind == resolve.Map && v.Elem.Flat:
		b.P("%s = maps.Clone(%s)", x.value(), x.value())
	case h.depth >= h.inline:
		h.unshareCall(b, v, x)
	default:
		h.unshareParts(b, v, x)
	}
}

// unshareCall calls a function for a type that is nested deeply, and has it
// written.
//
//	func unshareCustomerOrdersItem(x *[][]byte)
func (h *helpers) unshareCall(b *gocode.Body, v *plan.Val, x place) {
	name := "unshare" + v.Path
	b.P("%s(%s)", name, x.addr())
	h.queue = append(h.queue, func() {
		h.depth = 0
		h.g.Func("", fmt.Sprintf("%s(x *%s)", name, v.Go), func(b *gocode.Body) {
			h.unshareParts(b, v, place{"x", true})
		})
	})
}

func (h *helpers) unshareParts(b *gocode.Body, v *plan.Val, x place) {
	switch v.Kind {
	case resolve.Optional:
		h.unshareOptional(b, v, x)
	case resolve.List:
		b.P("%s = slices.Clone(%s)", x.value(), x.value())
		h.unshareElements(b, v, x)
	case resolve.FixedList:
		h.unshareElements(b, v, x)
	case resolve.Map:
		h.unshareEntries(b, v, x)
	default:
		panic("emit: no Clone for " + v.Go)
	}
}

// unshareOptional writes
//
//	if x.Home != nil {
//		c := *x.Home
//		…
//		x.Home = &c
//	}
//
// for a pointer, and the same without a copy for a value.
func (h *helpers) unshareOptional(b *gocode.Body, v *plan.Val, x place) {
	if v.Form == plan.OptValue {
		b.Block("if %s.Valid", x.part())
		h.depth++
		h.unshare(b, v.Elem, place{x.part() + ".Value", false})
		h.depth--
		b.End()
		return
	}
	p, c := pointerOf(v, x), h.v("c")
	target := x.value()
	if v.Form == plan.OptBox {
		target = p.text
	}
	b.Block("if %s != nil", p.text)
	b.P("%s := %s", c, p.value())
	h.depth++
	h.unshare(b, v.Elem, place{c, false})
	h.depth--
	b.P("%s = &%s", target, c)
	b.End()
}

// unshareElements writes
//
//	for i := range x.Orders {
//		x.Orders[i].unshareBARE()
//	}
func (h *helpers) unshareElements(b *gocode.Body, v *plan.Val, x place) {
	i := h.v("i")
	b.Block("for %s := range %s", i, x.value())
	h.depth++
	h.unshare(b, v.Elem, place{x.part() + "[" + i + "]", false})
	h.depth--
	b.End()
}

// unshareEntries writes
//
//	if x.Parts != nil {
//		m := make(map[string][]byte, len(x.Parts))
//		for k, v := range x.Parts {
//			…
//			m[k] = v
//		}
//		x.Parts = m
//	}
func (h *helpers) unshareEntries(b *gocode.Body, v *plan.Val, x place) {
	m, key, val := h.v("m"), h.v("k"), h.v("v")
	b.Block("if %s != nil", x.value())
	b.P("%s := make(%s, len(%s))", m, v.Go, x.value())
	b.Block("for %s, %s := range %s", key, val, x.value())
	h.depth++
	h.unshare(b, v.Elem, place{val, false})
	h.depth--
	b.P("%s[%s] = %s", m, key, val)
	b.End()
	b.P("%s = %s", x.value(), m)
	b.End()
}
