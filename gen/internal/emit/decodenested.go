package emit

import (
	"math"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Here is how values that are made of others are read: optionals, lists, maps and
// unions. Structs, and the runs that their fields form, are in decode.go.

// optional reads an optional; owner is what a named optional's field is
// selected from.
func (c *decoder) optional(v *plan.Val, owner, x string, then uint64) {
	first := c.first()
	c.Block("switch %s", first)
	c.P("case 0:")
	c.P("p++")
	switch v.Form {
	case plan.OptValue:
		c.P("%s = %s{}", x, v.Go)
	case plan.OptBox:
		c.P("%s.Value = nil", owner)
	default:
		c.P("%s = nil", x)
	}
	c.P("case 1:")
	c.P("p++")
	c.avail = 0
	e := v.Elem
	if v.Form == plan.OptValue {
		c.value(e, owner+".Value", 0)
		c.P("%s.Valid = true", owner)
	} else {
		target := x
		if v.Form == plan.OptBox {
			target = owner + ".Value"
		}
		c.room(e)
		c.P("%s = wire.New(d, %s)", target, target)
		c.value(e, "(*"+target+")", 0)
	}
	c.P("default:")
	c.P("%s", c.fail)
	c.End()
	c.avail, c.lead = 0, ""
}

// room refuses a value whose least bytes are not there, before memory is taken
// for it.
func (c *decoder) room(v *plan.Val) {
	if v.Layout.Min > 0 {
		c.need(min(v.Layout.Min, math.MaxInt32))
	}
	if !flat(v) && !leads(v) {
		c.avail = 0
	}
}

// claims reports whether a value has lists or maps in it, which take memory
// for what they claim.
func claims(v *plan.Val) bool {
	switch v.Kind {
	case resolve.List, resolve.Map:
		return true
	case resolve.Optional, resolve.FixedList:
		return claims(v.Elem)
	case resolve.Struct:
		for _, f := range v.Type.Fields {
			if claims(f.Val) {
				return true
			}
		}
	case resolve.Union:
		for _, m := range v.Type.Members {
			if claims(m.Val) {
				return true
			}
		}
	}
	return false
}

// count reads the count of elements that take at least least bytes each.
func (c *decoder) count(v *plan.Val, least uint64) {
	c.use("n", "int")
	c.avail, c.lead = 0, ""
	c.refuse("n, p = d.Count(p, %d); p < 0", max(1, min(least, math.MaxInt32)))
	c.maxCheck(v, "n")
}

// list reads a list: numbers and memory that is its own message in one copy.
func (c *decoder) list(v *plan.Val, x string) {
	e := v.Elem
	size := e.Layout.Min
	c.count(v, size)
	switch {
	case e.Kind == resolve.U8:
		if e.Go == "uint8" {
			c.P("%s = d.Data(%s, b[p:p+n])", x, x)
		} else {
			c.P("%s = wire.Slice(d, %s, n)", x, x)
			c.P("wire.LoadNumbers(%s, b[p:p+n])", x)
		}
		c.P("p += n")
	case isFixedNumber(e.Kind):
		c.P("%s = wire.Slice(d, %s, n)", x, x)
		c.P("wire.LoadNumbers(%s, b[p:p+n*%d])", x, size)
		c.P("p += n * %d", size)
	case flat(e) && copies(e) && !refusable(e):
		c.P("%s = wire.Slice(d, %s, n)", x, x)
		c.Block("if wire.LittleEndian")
		c.P("copy(wire.Memory(%s), b[p:p+n*%d])", x, size)
		c.P("p += n * %d", size)
		c.P("} else {")
		c.flatElements(e, x)
		c.End()
	case flat(e) && size > 0:
		c.P("%s = wire.Slice(d, %s, n)", x, x)
		c.flatElements(e, x)
	default:
		c.P("%s = wire.Slice(d, %s, n)", x, x)
		held := claims(e) && size > 0
		if held {
			c.P("d.Held += n * %d", size)
		}
		i := c.name("i")
		c.Block("for %s := range %s", i, x)
		if held {
			c.P("d.Held -= %d", size)
		}
		c.value(e, x+"["+i+"]", 0)
		c.End()
	}
	c.avail, c.lead = 0, ""
}

// flatElements reads elements that are known to be there.
func (c *decoder) flatElements(e *plan.Val, x string) {
	if !reads(e) {
		c.P("p += len(%s) * %d", x, e.Layout.Min)
		return
	}
	i, p := c.name("i"), c.name("p")
	c.Block("for %s := range %s", i, x)
	c.P("%s := (*[%d]byte)(b[p:])", p, e.Layout.Min)
	c.get(e, x+"["+i+"]", p, "0", 0)
	c.P("p += %d", e.Layout.Min)
	c.End()
}

// elements reads the elements of a list of fixed length that is not flat.
func (c *decoder) elements(v *plan.Val, x string) {
	c.avail, c.lead = 0, ""
	i := c.name("i")
	c.Block("for %s := range %s", i, x)
	c.value(v.Elem, x+"["+i+"]", 0)
	c.End()
	c.avail, c.lead = 0, ""
}

// mapping reads a map. A key that comes twice leaves it smaller than its count.
func (c *decoder) mapping(v *plan.Val, x string) {
	least := v.Key.Layout.Min + v.Elem.Layout.Min
	c.count(v, least)
	m, size := c.name("m"), c.name("size")
	c.P("%s, %s := wire.Map(d, %s, n), n", m, size, x)
	held := claims(v.Elem)
	if held {
		c.P("d.Held += n * %d", least)
	}
	c.Block("for range %s", size)
	if held {
		c.P("d.Held -= %d", least)
	}
	k, e := c.name("k"), c.name("v")
	c.P("var %s %s", k, v.Key.Go)
	c.value(v.Key, k, 0)
	c.lead, c.avail = "", 0
	c.P("var %s %s", e, v.Elem.Go)
	c.value(v.Elem, e, 0)
	c.lead, c.avail = "", 0
	c.P("%s[%s] = %s", m, k, e)
	c.End()
	c.refuse("len(%s) != %s", m, size)
	c.P("%s = %s", x, m)
	c.avail, c.lead = 0, ""
}

// union reads a tag and the member.
func (c *decoder) union(t *plan.Type) {
	c.use("u", "uint64")
	c.P("u = uint64(%s)", c.first())
	c.Block("if p++; u >= 0x80")
	c.refuse("u, p = wire.Uint(b, p-1); p < 0")
	c.End()
	c.Block("switch u")
	for _, m := range t.Members {
		c.P("case %d:", m.Tag)
		c.avail, c.lead = 0, ""
		c.room(m.Val)
		c.P("m, _ := x.Value.(*%s)", m.Go)
		c.P("m = wire.New(d, m)")
		c.value(m.Val, memberValue(m), 0)
		c.P("x.Value = m")
	}
	c.P("default:")
	c.P("%s", c.fail)
	c.End()
	c.avail, c.lead = 0, ""
}

// addr is the address of what x says.
func addr(x string) string {
	if x == "(*x)" {
		return "x"
	}
	return "&" + x
}
