package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// isFixedNumber reports a number of fixed size: a list of them is one copy.
func isFixedNumber(k resolve.Kind) bool {
	switch k {
	case resolve.U8, resolve.U16, resolve.U32, resolve.U64, resolve.I8, resolve.I16, resolve.I32, resolve.I64, resolve.F32, resolve.F64:
		return true
	}
	return false
}

// copies reports whether the memory of a flat value is its message on a
// little-endian machine, and has no padding, which must be zero on the wire.
func copies(v *plan.Val) bool {
	return v.Layout.Class == layout.Castable && !padded(v)
}

func padded(v *plan.Val) bool {
	switch v.Kind {
	case resolve.FixedList:
		return padded(v.Elem)
	case resolve.Struct:
		return plan.Fact(v.Type, "padded", func() bool {
			return slices.ContainsFunc(v.Type.Fields, func(f *plan.Field) bool { return f.Pad || padded(f.Val) })
		})
	}
	return false
}

// leaves counts the scalars in a flat struct, up to 99.
func leaves(v *plan.Val) int {
	if v.Kind != resolve.Struct {
		return 1
	}
	return plan.Fact(v.Type, "leaves", func() int {
		n := 0
		for _, f := range v.Type.Fields {
			n = min(n+leaves(f.Val), 99)
		}
		return n
	})
}

// inlineLeaves is how many scalars a struct may have to be written in line
// within another: a call costs as much as a few of them.
const inlineLeaves = 8

// putStruct writes the body of putBARE, which ends with done. Where the memory
// is the message it is one copy, after what can be refused.
func (c *encoder) putStruct(t *plan.Type, done string, path []string) {
	v := *t.Under
	v.Type = t
	if copies(&v) && v.Layout.Min > 8 {
		c.Block("if wire.LittleEndian")
		c.enumChecks(&v, "x", path)
		c.P("copy(p[:], wire.MemoryOf(x))")
		c.P("%s", done)
		c.End()
	}
	off := uint64(0)
	for _, f := range t.Fields {
		x := "x." + f.Go
		if f.Pad {
			x = ""
		}
		c.put(f.Val, x, "p", fmt.Sprint(off), off, in(f.Schema, path))
		off += f.Val.Layout.Min
	}
	if done != "return" {
		c.P("%s", done)
	}
}

// enumChecks refuses enum values in a struct that is copied as a whole.
func (c *encoder) enumChecks(v *plan.Val, x string, path []string) {
	if !v.CanFail {
		return
	}
	switch v.Kind {
	case resolve.Enum:
		c.enumCheck(v, x, path)
	case resolve.FixedList:
		i := c.name("i")
		c.Block("for %s := range %s", i, x)
		c.enumChecks(v.Elem, x+"["+i+"]", atStep(i, path))
		c.End()
	case resolve.Struct:
		for _, f := range v.Type.Fields {
			c.enumChecks(f.Val, x+"."+f.Go, in(f.Schema, path))
		}
	}
}

// enumCheck refuses a value that the enum does not have.
func (c *encoder) enumCheck(v *plan.Val, x string, path []string) {
	if cond := notInEnum(v, x, true); cond != "" {
		c.refuse(cond, "wire.BadEnum(uint64("+x+"))", path)
	}
}

// notInEnum is the condition that x is no value of an enum: a comparison where
// the values follow each other, else what the type's own method says. Typed
// tells whether x has the enum's type, else it is a number of its size or
// uint64. It is empty where every number is a value.
func notInEnum(v *plan.Val, x string, typed bool) string {
	low, high, dense := enumRange(v.Type)
	full := v.Type.EnumGo == "uint8" && high == 255 || v.Type.EnumGo == "uint16" && high == 1<<16-1 ||
		v.Type.EnumGo == "uint32" && high == 1<<32-1 || high == 1<<64-1
	switch {
	case dense && low == 0 && full:
		return ""
	case dense && low == 0:
		return fmt.Sprintf("%s > %d", x, high)
	case typed:
		return "!" + x + ".IsValid()"
	case v.Type.EnumGo == "uint8" && !v.Type.EnumFixed:
		// x may be a uint64, which a conversion would cut.
		return fmt.Sprintf("uint64(%s) > 127 || !%s(%s).IsValid()", x, v.Go, x)
	}
	return "!" + v.Go + "(" + x + ").IsValid()"
}

// put writes a flat value into the array p. Its offset is off, and where it is
// in a loop the expression at.
func (c *encoder) put(v *plan.Val, x, p, at string, off uint64, path []string) {
	size := v.Layout.Min
	if x == "" { // padding
		if size == 1 {
			c.P("%s[%s] = 0", p, at)
		} else {
			c.P("clear(%s[%s:%s])", p, at, plus(at, off, size))
		}
		return
	}
	rest := p + "[" + at + ":]"
	switch v.Kind {
	case resolve.Void:
	case resolve.U8:
		c.P("%s[%s] = %s", p, at, convTo(v, "uint8", x))
	case resolve.I8:
		c.P("%s[%s] = uint8(%s)", p, at, x)
	case resolve.Bool:
		c.P("%s[%s] = wire.BoolByte(%s)", p, at, convTo(v, "bool", x))
	case resolve.U16, resolve.U32, resolve.U64, resolve.I16, resolve.I32, resolve.I64:
		u := fmt.Sprintf("uint%d", size*8)
		c.P("binary.LittleEndian.PutUint%d(%s, %s)", size*8, rest, convTo(v, u, x))
	case resolve.F32, resolve.F64:
		f := fmt.Sprintf("float%d", size*8)
		c.P("binary.LittleEndian.PutUint%d(%s, math.Float%dbits(%s))", size*8, rest, size*8, convTo(v, f, x))
	case resolve.FixedData:
		c.putData(v, x, p, at, off)
	case resolve.Enum:
		c.enumCheck(v, x, path)
		c.putEnum(v, x, p, at, off)
	case resolve.FixedList:
		c.putList(v, x, p, at, off, path)
	case resolve.Struct:
		c.putNested(v, x, p, at, off, path)
	}
}

// plus is the end of size bytes at an offset.
func plus(at string, off, size uint64) string {
	if at == fmt.Sprint(off) {
		return fmt.Sprint(off + size)
	}
	return at + "+" + fmt.Sprint(size)
}

func (c *encoder) putData(v *plan.Val, x, p, at string, off uint64) {
	if v.Len <= 64 {
		c.P("*(*[%d]byte)(%s[%s:]) = %s", v.Len, p, at, x)
	} else {
		c.P("copy(%s[%s:%s], %s[:])", p, at, plus(at, off, v.Len), x)
	}
}

func (c *encoder) putEnum(v *plan.Val, x, p, at string, off uint64) {
	size := v.Layout.Min
	switch {
	case size == 1:
		c.P("%s[%s] = uint8(%s)", p, at, x)
	case v.Type.EnumFixed:
		c.P("binary.LittleEndian.PutUint%d(%s[%s:], uint%d(%s))", size*8, p, at, size*8, x)
	default:
		c.P("wire.PutUint(%s[%s:%s], 0, uint64(%s))", p, at, plus(at, off, size), x)
	}
}

// unrolled is how many numbers of a list are written one by one.
const unrolled = 4

func (c *encoder) putList(v *plan.Val, x, p, at string, off uint64, path []string) {
	e := v.Elem
	size := e.Layout.Min
	switch {
	case size == 0:
	case isFixedNumber(e.Kind) && v.Len <= unrolled:
		for i := range v.Len {
			c.put(e, fmt.Sprintf("%s[%d]", x, i), p, plus(at, off, i*size), off+i*size, path)
		}
	case isFixedNumber(e.Kind):
		c.P("wire.PutNumbers(%s[%s:%s], %s[:])", p, at, plus(at, off, v.Layout.Min), x)
	default:
		i, q := c.name("i"), c.name("p")
		c.Block("for %s := range %s", i, x)
		c.P("%s := (*[%d]byte)(%s[%s+%s*%d:])", q, size, p, at, i, size)
		c.put(e, x+"["+i+"]", q, "0", 0, atStep(i, path))
		c.End()
	}
}

func (c *encoder) putNested(v *plan.Val, x, p, at string, off uint64, path []string) {
	if leaves(v) <= inlineLeaves {
		for _, f := range v.Type.Fields {
			y := x + "." + f.Go
			if f.Pad {
				y = ""
			}
			c.put(f.Val, y, p, plus(at, off, 0), off, in(f.Schema, path))
			at, off = plus(at, off, f.Val.Layout.Min), off+f.Val.Layout.Min
		}
		return
	}
	call := fmt.Sprintf("%s.putBARE((*[%d]byte)(%s[%s:]))", x, v.Layout.Min, p, at)
	if !v.CanFail {
		c.P("%s", call)
		return
	}
	c.Block("if err := %s; err != nil", call)
	c.P("return %serr%s", c.ret, strings.Join(path, ""))
	c.End()
}
