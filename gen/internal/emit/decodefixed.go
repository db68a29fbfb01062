package emit

import (
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// refusable reports whether some bytes are no value of a flat type.
func refusable(v *plan.Val) bool {
	switch v.Kind {
	case resolve.Bool:
		return true
	case resolve.Enum:
		return notInEnum(v, "x", false) != ""
	case resolve.FixedList:
		return refusable(v.Elem)
	case resolve.Struct:
		return plan.Fact(v.Type, "refusable", func() bool { return anyField(v.Type, refusable) })
	}
	return false
}

// reads reports whether a flat value has bytes that count: all but padding.
func reads(v *plan.Val) bool {
	switch v.Kind {
	case resolve.FixedList:
		return reads(v.Elem)
	case resolve.Struct:
		return plan.Fact(v.Type, "reads", func() bool {
			return slices.ContainsFunc(v.Type.Fields, func(f *plan.Field) bool { return !f.Pad && reads(f.Val) })
		})
	}
	return v.Layout.Min > 0
}

// getStruct writes the body of getBARE, which ends with done: one copy where
// the memory is the message, after what can be refused.
func (c *decoder) getStruct(t *plan.Type, done string) {
	v := *t.Under
	v.Type = t
	if copies(&v) && v.Layout.Min > 8 {
		c.Block("if wire.LittleEndian")
		c.check(&v, "p", "0", 0)
		c.P("copy(wire.MemoryOf(x), p[:])")
		c.P("%s", done)
		c.End()
	}
	off := uint64(0)
	for _, f := range t.Fields {
		if !f.Pad {
			c.get(f.Val, "x."+f.Go, "p", fmt.Sprint(off), off)
		}
		off += f.Val.Layout.Min
	}
	if done != "return" {
		c.P("%s", done)
	}
}

// check refuses bytes of a castable value: enums are all that can be wrong in it.
func (c *decoder) check(v *plan.Val, p, at string, off uint64) {
	if !refusable(v) {
		return
	}
	switch v.Kind {
	case resolve.Enum:
		c.refuse("%s", notInEnum(v, c.enumBits(v, p, at, off), false))
	case resolve.FixedList:
		i, q := c.name("i"), c.name("p")
		c.Block("for %s := range %d", i, v.Len)
		c.P("%s := (*[%d]byte)(%s[%s+%s*%d:])", q, v.Elem.Layout.Min, p, at, i, v.Elem.Layout.Min)
		c.check(v.Elem, q, "0", 0)
		c.End()
	case resolve.Struct:
		for _, f := range v.Type.Fields {
			c.check(f.Val, p, at, off)
			at, off = plus(at, off, f.Val.Layout.Min), off+f.Val.Layout.Min
		}
	}
}

// get reads a flat value from the array p into x, which can be assigned.
func (c *decoder) get(v *plan.Val, x, p, at string, off uint64) {
	size := v.Layout.Min
	rest := p + "[" + at + ":]"
	switch v.Kind {
	case resolve.Void:
	case resolve.U8:
		c.P("%s = %s", x, convFrom(v, "uint8", p+"["+at+"]"))
	case resolve.I8:
		c.P("%s = %s(%s[%s])", x, v.Go, p, at)
	case resolve.Bool:
		c.refuse("%s[%s] > 1", p, at)
		c.P("%s = %s[%s] != 0", x, p, at)
	case resolve.U16, resolve.U32, resolve.U64, resolve.I16, resolve.I32, resolve.I64:
		u := fmt.Sprintf("uint%d", size*8)
		c.P("%s = %s", x, convFrom(v, u, fmt.Sprintf("binary.LittleEndian.Uint%d(%s)", size*8, rest)))
	case resolve.F32, resolve.F64:
		f := fmt.Sprintf("float%d", size*8)
		c.P("%s = %s", x, convFrom(v, f, fmt.Sprintf("math.Float%dfrombits(binary.LittleEndian.Uint%d(%s))", size*8, size*8, rest)))
	case resolve.FixedData:
		if v.Len <= 64 {
			c.P("%s = *(*[%d]byte)(%s)", x, v.Len, rest)
		} else {
			c.P("copy(%s[:], %s)", x, rest)
		}
	case resolve.Enum:
		c.getEnum(v, x, p, at, off)
	case resolve.FixedList:
		c.getList(v, x, p, at, off)
	case resolve.Struct:
		c.getNested(v, x, p, at, off)
	}
}

// convFrom converts an expression of a basic type to a value's.
func convFrom(v *plan.Val, have, x string) string {
	if v.Go == have {
		return x
	}
	return v.Go + "(" + x + ")"
}

// enumBits is an enum's bytes as a number.
func (c *decoder) enumBits(v *plan.Val, p, at string, off uint64) string {
	size := v.Layout.Min
	switch {
	case size == 1:
		return p + "[" + at + "]"
	case v.Type.EnumFixed:
		return fmt.Sprintf("binary.LittleEndian.Uint%d(%s[%s:])", size*8, p, at)
	}
	u, end := c.name("u"), c.name("end")
	c.P("%s, %s := wire.Uint(%s[%s:%s], 0)", u, end, p, at, plus(at, off, size))
	c.refuse("%s != %d", end, size)
	return u
}

func (c *decoder) getEnum(v *plan.Val, x, p, at string, off uint64) {
	e := c.enumBits(v, p, at, off)
	if cond := notInEnum(v, e, false); cond != "" {
		c.refuse("%s", cond)
	}
	c.P("%s = %s(%s)", x, v.Go, e)
}

func (c *decoder) getList(v *plan.Val, x, p, at string, off uint64) {
	e := v.Elem
	size := e.Layout.Min
	switch {
	case !reads(e):
	case isFixedNumber(e.Kind) && v.Len <= unrolled:
		for i := range v.Len {
			c.get(e, fmt.Sprintf("%s[%d]", x, i), p, plus(at, off, i*size), off+i*size)
		}
	case isFixedNumber(e.Kind):
		c.P("wire.LoadNumbers(%s[:], %s[%s:%s])", x, p, at, plus(at, off, v.Layout.Min))
	default:
		i, q := c.name("i"), c.name("p")
		c.Block("for %s := range %s", i, x)
		c.P("%s := (*[%d]byte)(%s[%s+%s*%d:])", q, size, p, at, i, size)
		c.get(e, x+"["+i+"]", q, "0", 0)
		c.End()
	}
}

func (c *decoder) getNested(v *plan.Val, x, p, at string, off uint64) {
	if leaves(v) <= inlineLeaves {
		for _, f := range v.Type.Fields {
			if !f.Pad {
				c.get(f.Val, x+"."+f.Go, p, at, off)
			}
			at, off = plus(at, off, f.Val.Layout.Min), off+f.Val.Layout.Min
		}
		return
	}
	call := fmt.Sprintf("%s.getBARE((*[%d]byte)(%s[%s:]))", x, v.Layout.Min, p, at)
	if refusable(v) {
		c.refuse("!%s", call)
	} else {
		c.P("%s", call)
	}
}
