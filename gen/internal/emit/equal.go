package emit

import (
	"fmt"
	"strconv"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// equal writes Equal: whether two values are one message. Nil and empty are one
// thing, floats compare by their bits, and what an absent optional still holds
// does not count.
func equal(_ *emitter, g *gocode.Code, t *plan.Type) {
	if !t.Named && t.Kind == resolve.Enum {
		return // == does
	}
	h := &helpers{g: g, inline: inlineDepth}
	const doc = "Equal reports whether x and y are the same on the wire."
	if !t.Pointer() {
		g.Func(doc, "(x "+t.Go+") Equal(y "+t.Go+") bool", func(b *gocode.Body) {
			switch {
			case t.Alias != nil && !t.Under.Comparable:
				b.P("return %s(x).Equal(%s(y))", t.Alias.Go, t.Alias.Go)
			case t.Under.Comparable:
				b.P("return x == y")
			case t.Kind == resolve.F32:
				b.P("return math.Float32bits(float32(x)) == math.Float32bits(float32(y))")
			case t.Kind == resolve.F64:
				b.P("return math.Float64bits(float64(x)) == math.Float64bits(float64(y))")
			default:
				h.equal(b, t.Under, place{"x", false}, place{"y", false})
				b.P("return true")
			}
		})
		h.flush()
		return
	}
	g.Func(doc, "(x *"+t.Go+") Equal(y *"+t.Go+") bool", func(b *gocode.Body) {
		if t.Alias != nil {
			b.P("return (*%s)(x).Equal((*%s)(y))", t.Alias.Go, t.Alias.Go)
			return
		}
		b.Block("if x == nil || y == nil")
		b.P("return x == y")
		b.End()
		switch {
		case t.Under.Comparable:
			b.P("return *x == *y")
		case t.Kind == resolve.Union:
			h.equalUnion(b, t)
		default:
			for _, f := range t.Fields {
				if !f.Pad {
					h.equal(b, f.Val, place{"x." + f.Go, false}, place{"y." + f.Go, false})
				}
			}
			b.P("return true")
		}
	})
	h.flush()
}

// equalUnion writes the rest of a union's Equal. A nil of a member's type is
// equal to another such nil; what is no member is equal to nothing.
//
//	switch a := x.Value.(type) {
//	case nil:
//		return y.Value == nil
//	case *Customer:
//		b, ok := y.Value.(*Customer)
//		return ok && a.Equal(b)
//	}
//	return false
func (h *helpers) equalUnion(b *gocode.Body, t *plan.Type) {
	b.Block("switch a := x.Value.(type)")
	b.P("case nil:\nreturn y.Value == nil")
	for _, m := range t.Members {
		b.P("case *%s:", m.Go)
		b.P("b, ok := y.Value.(*%s)", m.Go)
		if !m.Wrapper && m.Val.Type.Pointer() {
			b.P("return ok && a.Equal(b)")
			continue
		}
		b.Block("if !ok || a == nil || b == nil")
		b.P("return ok && a == b")
		b.End()
		x, y := place{"a", true}, place{"b", true}
		if m.Wrapper {
			x, y = place{"a.Value", false}, place{"b.Value", false}
		}
		h.equal(b, m.Val, x, y)
		b.P("return true")
	}
	b.End()
	b.P("return false")
}

// place is Go text for where a value stands: a variable, or a pointer to it.
type place struct {
	text    string
	pointer bool
}

// value is the value itself, fit for an operand.
func (p place) value() string {
	if p.pointer {
		return "*" + p.text
	}
	return p.text
}

// part is the value where something follows: an index, a selector of a type
// that has no methods on pointers.
func (p place) part() string {
	if p.pointer {
		return "(*" + p.text + ")"
	}
	return p.text
}

// addr is the value's address.
func (p place) addr() string {
	if p.pointer {
		return p.text
	}
	return "&" + p.text
}

// inlineDepth is how many loops one function writes into each other. What is
// deeper gets a function of its own, so that deep types give code in
// proportion.
const inlineDepth = 2

// helpers collects the functions that a declaration needs besides.
type helpers struct {
	g      *gocode.Code
	inline int
	depth  int
	queue  []func()
}

// flush writes them, and those that they need.
func (h *helpers) flush() {
	for len(h.queue) > 0 {
		next := h.queue[0]
		h.queue = h.queue[1:]
		next()
	}
}

// v names a variable of the loop that is being written.
func (h *helpers) v(name string) string {
	if h.depth == 0 {
		return name
	}
	return name + strconv.Itoa(h.depth)
}

func isNumber(k resolve.Kind) bool { return k >= resolve.Uint && k <= resolve.F64 }

// equal writes statements that return false where x and y differ.
func (h *helpers) equal(b *gocode.Body, v *plan.Val, x, y place) {
	switch {
	case v.Kind == resolve.Void:
	case v.Comparable:
		differ(b, "%s != %s", x.value(), y.value())
	case v.Kind == resolve.F32, v.Kind == resolve.F64:
		bits := "math.Float64bits"
		if v.Kind == resolve.F32 {
			bits = "math.Float32bits"
		}
		differ(b, "%s(%s) != %s(%s)", bits, plainFloat(v, x), bits, plainFloat(v, y))
	case v.Kind == resolve.Data:
		differ(b, "!bytes.Equal(%s, %s)", x.value(), y.value())
	case v.Type != nil && v.Type.Pointer():
		differ(b, "!%s.Equal(%s)", x.text, y.addr())
	case v.Type != nil:
		differ(b, "!%s.Equal(%s)", x.part(), y.value())
	case v.Kind == resolve.List && v.Elem.Comparable:
		differ(b, "!slices.Equal(%s, %s)", x.value(), y.value())
	case v.Kind == resolve.List && isNumber(v.Elem.Kind):
		differ(b, "!bytes.Equal(wire.Memory(%s), wire.Memory(%s))", x.value(), y.value())
	case v.Kind == resolve.Map && v.Elem.Comparable:
		differ(b, "!maps.Equal(%s, %s)", x.value(), y.value())
	case h.depth >= h.inline:
		h.equalCall(b, v, x, y)
	default:
		h.equalParts(b, v, x, y)
	}
}

// plainFloat is a float without its name.
func plainFloat(v *plan.Val, p place) string {
	switch {
	case v.Type == nil:
		return p.value()
	case v.Kind == resolve.F32:
		return "float32(" + p.value() + ")"
	}
	return "float64(" + p.value() + ")"
}

// differ writes
//
//	if x.Name != y.Name {
//		return false
//	}
func differ(b *gocode.Body, cond string, args ...any) {
	b.Block("if "+cond, args...)
	b.P("return false")
	b.End()
}

// equalCall calls a function for a type that is nested deeply, and has it
// written.
//
//	func equalCustomerOrdersItem(x, y *[][]float32) bool
func (h *helpers) equalCall(b *gocode.Body, v *plan.Val, x, y place) {
	name := "equal" + v.Path
	differ(b, "!%s(%s, %s)", name, x.addr(), y.addr())
	h.queue = append(h.queue, func() {
		h.depth = 0
		h.g.Func("", fmt.Sprintf("%s(x, y *%s) bool", name, v.Go), func(b *gocode.Body) {
			h.equalParts(b, v, place{"x", true}, place{"y", true})
			b.P("return true")
		})
	})
}

// equalParts writes the comparison of optionals, lists and maps part by part.
func (h *helpers) equalParts(b *gocode.Body, v *plan.Val, x, y place) {
	switch v.Kind {
	case resolve.Optional:
		h.equalOptional(b, v, x, y)
	case resolve.List:
		differ(b, "len(%s) != len(%s)", x.value(), y.value())
		h.equalElements(b, v, x, y)
	case resolve.FixedList:
		h.equalElements(b, v, x, y)
	case resolve.Map:
		differ(b, "len(%s) != len(%s)", x.value(), y.value())
		h.equalEntries(b, v, x, y)
	default:
		panic("emit: no Equal for " + v.Go)
	}
}

// equalOptional writes
//
//	if x.Age.Valid != y.Age.Valid {
//		return false
//	}
//	if x.Age.Valid {
//		…
//	}
//
// or the same with pointers.
func (h *helpers) equalOptional(b *gocode.Body, v *plan.Val, x, y place) {
	there := func(p place) string { return p.part() + ".Valid" }
	inner := func(p place) place { return place{p.part() + ".Value", false} }
	if v.Form != plan.OptValue {
		inner = func(p place) place { return pointerOf(v, p) }
		there = func(p place) string { return "(" + inner(p).text + " != nil)" }
	}
	differ(b, "%s != %s", there(x), there(y))
	if v.Elem.Kind == resolve.Void {
		return
	}
	b.Block("if %s", trimParens(there(x)))
	h.depth++
	h.equal(b, v.Elem, inner(x), inner(y))
	h.depth--
	b.End()
}

// pointerOf is the pointer that an optional of a large value is.
func pointerOf(v *plan.Val, p place) place {
	if v.Form == plan.OptBox {
		return place{p.part() + ".Value", true}
	}
	return place{p.part(), true}
}

func trimParens(s string) string {
	if s[0] == '(' && s[len(s)-1] == ')' {
		return s[1 : len(s)-1]
	}
	return s
}

// equalElements writes
//
//	for i := range x.Orders {
//		…
//	}
func (h *helpers) equalElements(b *gocode.Body, v *plan.Val, x, y place) {
	i := h.v("i")
	b.Block("for %s := range %s", i, x.value())
	h.depth++
	h.equal(b, v.Elem, place{x.part() + "[" + i + "]", false}, place{y.part() + "[" + i + "]", false})
	h.depth--
	b.End()
}

// equalEntries writes
//
//	for k, v := range x.Remarks {
//		w, ok := y.Remarks[k]
//		if !ok {
//			return false
//		}
//		…
//	}
func (h *helpers) equalEntries(b *gocode.Body, v *plan.Val, x, y place) {
	key, one, two, ok := h.v("k"), h.v("v"), h.v("w"), h.v("ok")
	b.Block("for %s, %s := range %s", key, one, x.value())
	b.P("%s, %s := %s[%s]", two, ok, y.part(), key)
	differ(b, "!%s", ok)
	h.depth++
	h.equal(b, v.Elem, place{one, false}, place{two, false})
	h.depth--
	b.End()
}
