package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// sizing writes
//
//	const CustomerBinarySize = 64                 for types of fixed size
//	func (x *Customer) BinarySize() int { … }
//	func (x *Customer) sizeBARE() int { … }       for types of variable size
func sizing(_ *emitter, g *gocode.Code, t *plan.Type) {
	v := *t.Under
	v.Type, v.Go = t, t.Go
	fixed := v.Layout.IsFixed()
	if called(&v, t) && !fixed {
		c := &sizer{}
		c.method(t)
		g.Func("", fmt.Sprintf("(x *%s) sizeBARE() int", t.Go), c.into)
	}
	if !t.Named {
		return
	}
	doc := "BinarySize returns the size of the value's message in bytes."
	sig := fmt.Sprintf("(x %s) BinarySize() int", t.Recv())
	if fixed {
		name := t.Name(plan.BinarySize)
		g.Line(name+" is the size of every "+t.Go+"'s message in bytes.", "const %s = %d", name, v.Layout.Min)
		g.Func(doc, sig, func(b *gocode.Body) { b.P("return %s", name) })
		return
	}
	g.Func(doc, sig, func(b *gocode.Body) {
		if called(&v, t) {
			b.P("return x.sizeBARE()")
			return
		}
		c := &sizer{}
		if x := c.expr(&v, "x"); x != "" {
			b.P("return %s", x)
		}
	})
}

// sizer writes the body of a function that adds up sizes.
type sizer struct{ code }

func (c *sizer) method(t *plan.Type) {
	v := t.Under
	if t.Alias != nil {
		c.P("return (*%s)(x).sizeBARE()", t.Alias.Go)
		return
	}
	switch t.Kind {
	case resolve.Struct:
		fixed := uint64(0)
		for _, f := range t.Fields {
			if f.Val.Layout.IsFixed() {
				fixed += f.Val.Layout.Min
			}
		}
		c.P("size := %d", fixed)
		for _, f := range t.Fields {
			if !f.Val.Layout.IsFixed() {
				c.add(f.Val, "x."+f.Go)
			}
		}
	case resolve.Union:
		c.P("size := 0")
		c.Block("switch m := x.Value.(type)")
		for _, m := range t.Members {
			c.P("case *%s:", m.Go)
			c.Block("if m != nil")
			if m.Val.Layout.IsFixed() {
				c.P("size += %d", m.Val.Layout.Min+uint64(uvarintSize(m.Tag)))
			} else {
				c.P("size += %d", uvarintSize(m.Tag))
				c.add(m.Val, memberValue(m))
			}
			c.End()
		}
		c.End()
	case resolve.Optional:
		c.P("size := 0")
		c.optional(v, "x", "(*x)")
	default:
		c.P("size := 0")
		w := *v
		w.Type = nil
		c.add(&w, "(*x)")
	}
	c.P("return size")
}

// expr is a value's size as one expression, or empty where there is none.
func (c *sizer) expr(v *plan.Val, x string) string {
	switch {
	case v.Layout.IsFixed():
		return fmt.Sprint(v.Layout.Min)
	case called(v, v.Type):
		return x + ".sizeBARE()"
	}
	switch v.Kind {
	case resolve.Uint:
		return "wire.SizeUint(" + convTo(v, "uint64", x) + ")"
	case resolve.Enum:
		return "wire.SizeUint(uint64(" + x + "))"
	case resolve.Int:
		return "wire.SizeInt(" + convTo(v, "int64", x) + ")"
	case resolve.Str, resolve.Data:
		return "wire.SizeLen(len(" + x + "))"
	}
	return ""
}

// add adds a value's size.
func (c *sizer) add(v *plan.Val, x string) {
	if e := c.expr(v, x); e != "" {
		c.P("size += %s", e)
		return
	}
	switch v.Kind {
	case resolve.Optional:
		c.optional(v, x, x)
	case resolve.List:
		c.P("size += wire.SizeUint(uint64(len(%s)))", x)
		c.elements(v, x)
	case resolve.FixedList:
		c.elements(v, x)
	case resolve.Map:
		c.mapping(v, x)
	}
}

func (c *sizer) optional(v *plan.Val, owner, x string) {
	there, inner := x+" != nil", "(*"+x+")"
	switch v.Form {
	case plan.OptValue:
		there, inner = owner+".Valid", owner+".Value"
	case plan.OptBox:
		there, inner = owner+".Value != nil", "(*"+owner+".Value)"
	}
	c.P("size++")
	c.Block("if %s", there)
	c.add(v.Elem, inner)
	c.End()
}

func (c *sizer) elements(v *plan.Val, x string) {
	if n, fixed := v.Elem.Size(); fixed {
		c.P("size += len(%s) * %d", x, n)
		return
	}
	i := c.name("i")
	c.Block("for %s := range %s", i, x)
	c.add(v.Elem, x+"["+i+"]")
	c.End()
}

// mapping adds what is fixed at once and walks over the entries for the rest.
func (c *sizer) mapping(v *plan.Val, x string) {
	c.P("size += wire.SizeUint(uint64(len(%s)))", x)
	k, kFixed := v.Key.Size()
	e, eFixed := v.Elem.Size()
	fixed := uint64(0)
	if kFixed {
		fixed += k
	}
	if eFixed {
		fixed += e
	}
	if fixed > 0 {
		c.P("size += len(%s) * %d", x, fixed)
	}
	key, elem := c.name("k"), c.name("v")
	switch {
	case kFixed && eFixed:
		return
	case eFixed:
		c.Block("for %s := range %s", key, x)
	case kFixed:
		c.Block("for _, %s := range %s", elem, x)
	default:
		c.Block("for %s, %s := range %s", key, elem, x)
	}
	if !kFixed {
		c.add(v.Key, key)
	}
	if !eFixed {
		c.add(v.Elem, elem)
	}
	c.End()
}
