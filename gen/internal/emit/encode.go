package emit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// The codec of a type T is these unexported methods, which stand on *T for all
// kinds of types, and the exported ones, which call them:
//
//	appendBARE(b []byte) ([]byte, *wire.Error)  or []byte, where encoding cannot be refused
//	sizeBARE() int
//	decodeBARE(d *wire.Decoder, p int) int      position in, position out, -1 for refused
//
// A flat struct, whose bytes all stand at constant offsets, has instead
//
//	putBARE(p *[N]byte) *wire.Error             or nothing, where encoding cannot be refused
//	getBARE(p *[N]byte) bool                    or nothing, where all bytes are good
//
// Scalars, enums, strings, data and flat lists have none: they are written in
// line where they stand.

// encoding writes a type's encoder.
func encoding(_ *emitter, g *gocode.Code, t *plan.Type) {
	if called(t.Under, t) {
		appendMethod(g, t)
	}
	if !t.Named {
		return
	}
	marshal(g, t)
}

// flat reports whether a value's bytes all stand at constant offsets. Unions
// do not count, even where all members are of one size.
func flat(v *plan.Val) bool {
	if !v.Layout.IsFixed() {
		return false
	}
	switch v.Kind {
	case resolve.Union, resolve.Optional:
		return false
	case resolve.FixedList:
		return flat(v.Elem)
	case resolve.Struct:
		return plan.Fact(v.Type, "flat", func() bool {
			return !anyField(v.Type, func(v *plan.Val) bool { return !flat(v) })
		})
	}
	return true
}

// anyField reports whether a field's value is such.
func anyField(t *plan.Type, such func(*plan.Val) bool) bool {
	return slices.ContainsFunc(t.Fields, func(f *plan.Field) bool { return such(f.Val) })
}

// flatType is flat for the type itself.
func flatType(t *plan.Type) bool {
	v := *t.Under
	v.Type = t
	return flat(&v)
}

// called reports whether a value of type t is encoded by a method of its own:
// t is declared, and not so simple that it is written in line.
func called(v *plan.Val, t *plan.Type) bool {
	if t == nil || v.Form == plan.StringKey {
		return false
	}
	switch v.Kind {
	case resolve.Struct, resolve.Union, resolve.Optional, resolve.List, resolve.Map:
		return true
	case resolve.FixedList:
		return !flatType(t)
	}
	return false
}

// code is the body of a function while it is written. What it needs declared
// before it is known only at its end.
type code struct {
	text []byte
	vars map[string]string // name to type
	n    int               // names given out
}

// P adds a line.
func (c *code) P(format string, args ...any) {
	c.text = fmt.Appendf(c.text, format, args...)
	c.text = append(c.text, '\n')
}

// Block opens a block with what stands before its brace.
func (c *code) Block(format string, args ...any) { c.P(format+" {", args...) }

// End closes the block that was opened last.
func (c *code) End() { c.P("}") }

// use declares a variable of the function.
func (c *code) use(name, typ string) string {
	if c.vars == nil {
		c.vars = map[string]string{}
	}
	c.vars[name] = typ
	return name
}

// name gives out a name that is not used in the function yet.
func (c *code) name(prefix string) string {
	c.n++
	return fmt.Sprintf("%s%d", prefix, c.n)
}

// into writes the declarations and the text.
func (c *code) into(b *gocode.Body) {
	for _, n := range []string{"n", "u", "ok", "err", "size"} {
		if t := c.vars[n]; t != "" {
			b.P("var %s %s", n, t)
		}
	}
	b.P("%s", strings.TrimRight(string(c.text), "\n"))
}

// encoder writes the body of a function that appends to b or, for flat values,
// puts at constant offsets.
type encoder struct {
	code
	fails bool   // the function returns an error
	ret   string // what it returns with an error: "b, " or nothing
}

// refuse writes a return with an error, with the path from inside out.
func (c *encoder) refuse(cond, err string, path []string) {
	c.Block("if %s", cond)
	c.P("return %s%s%s", c.ret, err, strings.Join(path, ""))
	c.End()
}

// in puts a step before a path.
func in(name string, path []string) []string {
	return append([]string{fmt.Sprintf(".In(%q)", name)}, path...)
}

// atStep puts an index before a path.
func atStep(i string, path []string) []string {
	return append([]string{".At(" + i + ")"}, path...)
}

// appendMethod writes
//
//	func (x *Customer) appendBARE(b []byte) ([]byte, *wire.Error) { … }
//
// or putBARE for flat structs.
func appendMethod(g *gocode.Code, t *plan.Type) {
	v := t.Under
	c := &encoder{fails: v.CanFail, ret: "b, "}
	sig := fmt.Sprintf("(x *%s) appendBARE(b []byte) %s", t.Go, results(v))
	if flatType(t) {
		c.ret = ""
		sig = fmt.Sprintf("(x *%s) putBARE(p *[%d]byte)", t.Go, v.Layout.Min)
		if v.CanFail {
			sig += " *wire.Error"
		}
	}
	switch {
	case t.Alias != nil && flatType(t):
		call := fmt.Sprintf("(*%s)(x).putBARE(p)", t.Alias.Go)
		if v.CanFail {
			call = "return " + call
		}
		c.P("%s", call)
	case t.Alias != nil:
		c.P("return (*%s)(x).appendBARE(b)", t.Alias.Go)
	case flatType(t):
		done := "return"
		if v.CanFail {
			done = "return nil"
		}
		c.putStruct(t, done, nil)
	default:
		c.body(t)
		c.done()
	}
	g.Func("", sig, c.into)
}

func results(v *plan.Val) string {
	if v.CanFail {
		return "([]byte, *wire.Error)"
	}
	return "[]byte"
}

func (c *encoder) done() {
	if c.fails {
		c.P("return b, nil")
	} else {
		c.P("return b")
	}
}

// body writes what stands behind a type's name.
func (c *encoder) body(t *plan.Type) {
	switch t.Kind {
	case resolve.Struct:
		c.fields(t, "x", nil)
	case resolve.Union:
		c.union(t)
	case resolve.Optional:
		c.optional(t.Under, "x", "(*x)", nil)
	default:
		c.inline(t.Under, "(*x)", nil)
	}
}

// value appends a value that may have methods of its own. x is an expression
// that can be addressed.
func (c *encoder) value(v *plan.Val, x string, path []string) {
	switch {
	case flat(v):
		c.segment([]part{{v, x, path}})
	case called(v, v.Type) && !v.CanFail:
		c.P("b = %s.appendBARE(b)", x)
	case called(v, v.Type):
		c.use("err", "*wire.Error")
		c.P("if b, err = %s.appendBARE(b); err != nil {", x)
		c.P("return %serr%s", c.ret, strings.Join(path, ""))
		c.End()
	default:
		c.inline(v, x, path)
	}
}

// inline appends a value that is written out where it stands.
func (c *encoder) inline(v *plan.Val, x string, path []string) {
	switch v.Kind {
	case resolve.Optional:
		c.optional(v, x, x, path)
	case resolve.List:
		c.list(v, x, path)
	case resolve.FixedList:
		c.elements(v, x, path)
	case resolve.Map:
		c.mapping(v, x, path)
	default:
		c.segment([]part{{v, x, path}})
	}
}

// part is a value in a segment.
type part struct {
	v    *plan.Val
	x    string
	path []string
}

// leaf reports whether a value can be in a segment: its greatest size is a
// number, or a number and a length.
func leaf(v *plan.Val) bool {
	switch v.Kind {
	case resolve.Uint, resolve.Int, resolve.Enum, resolve.Str, resolve.Data:
		return true
	}
	return flat(v)
}

// fields appends a struct's fields, leaves that follow each other with one
// check of the capacity.
func (c *encoder) fields(t *plan.Type, x string, path []string) {
	var seg []part
	for _, f := range t.Fields {
		p := part{f.Val, x + "." + f.Go, in(f.Schema, path)}
		if f.Pad {
			p.x = "" // zeros
		}
		if leaf(f.Val) {
			seg = append(seg, p)
			continue
		}
		c.segment(seg)
		seg = nil
		c.value(f.Val, p.x, p.path)
	}
	c.segment(seg)
}

// maxCheck refuses more than #@max.
func (c *encoder) maxCheck(v *plan.Val, x string, path []string) {
	if v.Max == 0 {
		return
	}
	l := "len(" + x + ")"
	cond := fmt.Sprintf("%s > %d", l, v.Max)
	if v.Max > math.MaxInt32 {
		cond = fmt.Sprintf("uint64(%s) > %d", l, v.Max)
	}
	c.refuse(cond, fmt.Sprintf("wire.BadMax(%s, %d)", l, v.Max), path)
}

// segment appends leaves that follow each other.
func (c *encoder) segment(ps []part) {
	switch {
	case len(ps) == 0:
	case len(ps) == 1 && c.single(ps[0]):
	case allFlat(ps):
		size := uint64(0)
		for _, p := range ps {
			size += p.v.Layout.Min
		}
		if size == 0 {
			return
		}
		o := c.name("o")
		c.P("%s := len(b)", o)
		c.P("b = wire.Extend(b, %d)", size)
		c.puts(ps, size, "b["+o+":]")
	default:
		c.positions(ps)
	}
}

func allFlat(ps []part) bool {
	for _, p := range ps {
		if !flat(p.v) {
			return false
		}
	}
	return true
}

// puts writes flat values to the size bytes that an expression gives.
func (c *encoder) puts(ps []part, size uint64, bytes string) {
	p := c.name("p")
	c.P("%s := (*[%d]byte)(%s)", p, size, bytes)
	off := uint64(0)
	for _, q := range ps {
		c.put(q.v, q.x, p, fmt.Sprint(off), off, q.path)
		off += q.v.Layout.Min
	}
}

// single appends one leaf, if there is a shorter way than a segment.
func (c *encoder) single(p part) bool {
	switch {
	case p.v.Kind == resolve.Str:
		c.maxCheck(p.v, p.x, p.path)
		c.use("ok", "bool")
		c.Block("if b, ok = wire.AppendStr(b, %s); !ok", convTo(p.v, "string", p.x))
		c.P("return %swire.BadUTF8()%s", c.ret, strings.Join(p.path, ""))
		c.End()
	case p.v.Kind == resolve.Data:
		c.maxCheck(p.v, p.x, p.path)
		c.P("b = wire.AppendData(b, %s)", p.x)
	case p.v.Kind == resolve.Uint:
		c.P("b = wire.AppendUint(b, %s)", convTo(p.v, "uint64", p.x))
	case p.v.Kind == resolve.Int:
		c.P("b = wire.AppendInt(b, %s)", convTo(p.v, "int64", p.x))
	case p.v.Kind == resolve.Enum && !flat(p.v):
		c.enumCheck(p.v, p.x, p.path)
		c.P("b = wire.AppendUint(b, uint64(%s))", p.x)
	case p.v.Kind == resolve.FixedData && p.x != "":
		c.P("b = append(b, %s[:]...)", p.x)
	default:
		return false
	}
	return true
}

// convTo converts an expression to a basic type, if it is of another.
func convTo(v *plan.Val, want, x string) string {
	if v.Go == want {
		return x
	}
	return want + "(" + x + ")"
}

// positions writes a segment at positions: first the cheap upper bound of its
// size, then, where that does not fit, the exact size, so that a buffer of exact size serves.
func (c *encoder) positions(ps []part) {
	var upper, exact []string
	low, high := uint64(0), uint64(0)
	for _, p := range ps {
		switch {
		case flat(p.v):
			low += p.v.Layout.Min
			high += p.v.Layout.Min
		case p.v.Kind == resolve.Str || p.v.Kind == resolve.Data:
			c.maxCheck(p.v, p.x, p.path)
			upper = append(upper, "len("+p.x+")")
			exact = append(exact, "wire.SizeLen(len("+p.x+"))")
			high += 10
		case p.v.Kind == resolve.Int:
			exact = append(exact, "wire.SizeInt("+convTo(p.v, "int64", p.x)+")")
			high += 10
		default:
			exact = append(exact, "wire.SizeUint("+convTo(p.v, "uint64", p.x)+")")
			high += 10
		}
	}
	upper = append(upper, fmt.Sprint(high))
	if low > 0 {
		exact = append(exact, fmt.Sprint(low))
	}
	c.Block("if %s > cap(b)-len(b)", strings.Join(upper, "+"))
	c.P("b = wire.Grow(b, %s)", strings.Join(exact, "+"))
	c.End()
	pos := c.name("p")
	c.P("%s := len(b)", pos)
	c.P("b = b[:cap(b)]")
	for i := 0; i < len(ps); {
		end := i
		for end < len(ps) && flat(ps[end].v) {
			end++
		}
		if end > i {
			size := uint64(0)
			for _, q := range ps[i:end] {
				size += q.v.Layout.Min
			}
			if size > 0 {
				c.puts(ps[i:end], size, "b["+pos+":]")
				c.P("%s += %d", pos, size)
			}
			i = end
			continue
		}
		c.position(ps[i], pos)
		i++
	}
	c.P("b = b[:%s]", pos)
}

// position writes a leaf of variable size at pos.
func (c *encoder) position(p part, pos string) {
	switch p.v.Kind {
	case resolve.Str:
		c.Block("if %s = wire.PutStr(b, %s, %s); %s < 0", pos, pos, convTo(p.v, "string", p.x), pos)
		c.P("return %swire.BadUTF8()%s", c.ret, strings.Join(p.path, ""))
		c.End()
	case resolve.Data:
		c.P("%s = wire.PutData(b, %s, %s)", pos, pos, p.x)
	case resolve.Int:
		c.P("%s = wire.PutUint(b, %s, wire.ZigZag(%s))", pos, pos, convTo(p.v, "int64", p.x))
	case resolve.Enum:
		c.enumCheck(p.v, p.x, p.path)
		c.P("%s = wire.PutUint(b, %s, uint64(%s))", pos, pos, p.x)
	default:
		c.P("%s = wire.PutUint(b, %s, %s)", pos, pos, convTo(p.v, "uint64", p.x))
	}
}
