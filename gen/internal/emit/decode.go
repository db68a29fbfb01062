package emit

import (
	"fmt"
	"math"
	"slices"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// decoding writes a type's decoder and the description that explains what it
// refuses.
func decoding(_ *emitter, g *gocode.Code, t *plan.Type) {
	if called(t.Under, t) {
		decodeMethod(g, t)
	}
	if t.Named {
		unmarshal(g, t)
		describe(g, t)
	}
}

// decoder writes the body of a function that reads from b at p. It only finds
// out whether something is wrong: what and where is asked of the description
// then, and the fast path stays short.
type decoder struct {
	code
	fail  string // the statement for bytes that are no value
	buf   bool   // b is d.Buf, not yet declared
	avail uint64 // bytes at p that a check has seen
	lead  string // the byte at p, where it was read already
}

// into writes the body, and declares b where it reads from it.
func (c *decoder) into(b *gocode.Body) {
	if c.buf && usesB(c.text) {
		b.P("b := d.Buf")
	}
	c.code.into(b)
}

// usesB reports whether Go text has the identifier b.
func usesB(text []byte) bool {
	word := func(c byte) bool { return c|0x20-'a' < 26 || c-'0' < 10 || c == '_' || c == '.' || c == '"' }
	for i, c := range text {
		if c == 'b' && i > 0 && !word(text[i-1]) && i+1 < len(text) && !word(text[i+1]) {
			return true
		}
	}
	return false
}

func (c *decoder) refuse(format string, args ...any) {
	c.Block("if "+format, args...)
	c.P("%s", c.fail)
	c.End()
}

// decodeMethod writes
//
//	func (x *Customer) decodeBARE(d *wire.Decoder, p int) int { … }
//
// or getBARE for flat structs.
func decodeMethod(g *gocode.Code, t *plan.Type) {
	c := &decoder{fail: "return -1", buf: !flatType(t)}
	sig := fmt.Sprintf("(x *%s) decodeBARE(d *wire.Decoder, p int) int", t.Go)
	v := *t.Under
	v.Type = t
	if flat(&v) {
		sig = fmt.Sprintf("(x *%s) getBARE(p *[%d]byte)", t.Go, v.Layout.Min)
		c.fail = "return false"
		if refusable(&v) {
			sig += " bool"
		}
	}
	switch {
	case t.Alias != nil && flat(&v):
		call := fmt.Sprintf("(*%s)(x).getBARE(p)", t.Alias.Go)
		if refusable(&v) {
			call = "return " + call
		}
		c.P("%s", call)
	case t.Alias != nil:
		c.P("return (*%s)(x).decodeBARE(d, p)", t.Alias.Go)
	case flat(&v):
		done := "return"
		if refusable(&v) {
			done = "return true"
		}
		c.getStruct(t, done)
	default:
		c.body(t)
		c.P("return p")
	}
	g.Func("", sig, c.into)
}

func (c *decoder) body(t *plan.Type) {
	w := *t.Under
	w.Go, w.Type = t.Go, nil
	v := &w
	switch t.Kind {
	case resolve.Struct:
		c.fields(t)
	case resolve.Union:
		c.union(t)
	case resolve.Optional:
		c.optional(v, "x", "(*x)", 0)
	default:
		c.inline(v, "(*x)", 0)
	}
}

// fields reads a struct's fields.
func (c *decoder) fields(t *plan.Type) {
	fs := t.Fields
	for i := 0; i < len(fs); {
		end := i
		for end < len(fs) && flat(fs[end].Val) {
			end++
		}
		if end > i {
			c.run(fs[i:end], lookahead(fs[end:]))
			i = end
			continue
		}
		c.value(fs[i].Val, "x."+fs[i].Go, lookahead(fs[i+1:]))
		i++
	}
}

// lookahead is how many bytes must follow, which one check can serve: the flat
// fields that come next and the first byte of the one behind them.
func lookahead(fs []*plan.Field) uint64 {
	n := uint64(0)
	for _, f := range fs {
		if !flat(f.Val) {
			if leads(f.Val) {
				n++
			}
			return n
		}
		n += f.Val.Layout.Min
	}
	return n
}

// leads reports whether a value is read in line beginning with one byte.
func leads(v *plan.Val) bool {
	if called(v, v.Type) {
		return false
	}
	switch v.Kind {
	case resolve.Uint, resolve.Int, resolve.Enum, resolve.Str, resolve.Data, resolve.Optional:
		return true
	}
	return false
}

// need makes n bytes at p be there, and checks as many as follow surely.
func (c *decoder) need(n uint64) {
	if c.avail < n {
		c.refuse("len(b)-p < %d", n)
		c.avail = n
	}
}

// run reads flat fields; then bytes are known to follow.
func (c *decoder) run(fs []*plan.Field, then uint64) {
	size := uint64(0)
	for _, f := range fs {
		size += f.Val.Layout.Min
	}
	if size == 0 {
		return
	}
	c.need(size + then)
	p := c.name("p")
	if then > 0 || slices.ContainsFunc(fs, func(f *plan.Field) bool { return !f.Pad && reads(f.Val) }) {
		c.P("%s := (*[%d]byte)(b[p:])", p, size+then)
	}
	off := uint64(0)
	for _, f := range fs {
		if !f.Pad {
			c.get(f.Val, "x."+f.Go, p, fmt.Sprint(off), off)
		}
		off += f.Val.Layout.Min
	}
	c.P("p += %d", size)
	c.avail -= size
	if then > 0 {
		c.lead = fmt.Sprintf("%s[%d]", p, size)
	}
}

// first reads the byte at p.
func (c *decoder) first() string {
	c.need(1)
	b := c.lead
	if b == "" {
		b = "b[p]"
	}
	c.lead = ""
	c.avail--
	return b
}

// value reads a value that may have methods of its own into x, which can be
// assigned and addressed. Then bytes must follow it.
func (c *decoder) value(v *plan.Val, x string, then uint64) {
	switch {
	case flat(v):
		c.flat(v, x)
	case called(v, v.Type):
		c.lead, c.avail = "", 0
		c.refuse("p = %s.decodeBARE(d, p); p < 0", x)
	default:
		c.inline(v, x, then)
	}
}

// flat reads one flat value.
func (c *decoder) flat(v *plan.Val, x string) {
	size := v.Layout.Min
	if size == 0 {
		return
	}
	c.need(size)
	if !reads(v) {
		c.P("p += %d", size)
		c.avail -= size
		c.lead = ""
		return
	}
	if size == 1 && v.Kind != resolve.Struct && v.Kind != resolve.FixedList {
		c.get(v, x, "b", "p", 0)
	} else {
		p := c.name("p")
		c.P("%s := (*[%d]byte)(b[p:])", p, size)
		c.get(v, x, p, "0", 0)
	}
	c.P("p += %d", size)
	c.avail -= size
	c.lead = ""
}

func (c *decoder) inline(v *plan.Val, x string, then uint64) {
	switch v.Kind {
	case resolve.Uint, resolve.Int, resolve.Enum:
		c.uint(v, x)
	case resolve.Str, resolve.Data:
		c.octets(v, x, then)
	case resolve.Optional:
		c.optional(v, x, x, then)
	case resolve.List:
		c.list(v, x)
	case resolve.FixedList:
		c.elements(v, x)
	case resolve.Map:
		c.mapping(v, x)
	default:
		c.flat(v, x)
	}
}

// uint reads a varint, one byte of it in line.
func (c *decoder) uint(v *plan.Val, x string) {
	c.use("u", "uint64")
	c.P("u = uint64(%s)", c.first())
	c.Block("if p++; u >= 0x80")
	c.refuse("u, p = wire.Uint(b, p-1); p < 0")
	c.End()
	c.avail = 0
	switch v.Kind {
	case resolve.Enum:
		if cond := notInEnum(v, "u", false); cond != "" {
			c.refuse("%s", cond)
		}
		c.P("%s = %s(u)", x, v.Go)
	case resolve.Int:
		c.P("%s = %s", x, convFrom(v, "int64", "wire.UnZigZag(u)"))
	default:
		c.P("%s = %s", x, convFrom(v, "uint64", "u"))
	}
}

// maxCheck refuses more than #@max.
func (c *decoder) maxCheck(v *plan.Val, n string) {
	switch {
	case v.Max == 0:
	case v.Max > math.MaxInt32:
		c.refuse("uint64(%s) > %d", n, v.Max)
	default:
		c.refuse("%s > %d", n, v.Max)
	}
}

// octets reads a str or data, and checks it and what follows at once.
func (c *decoder) octets(v *plan.Val, x string, then uint64) {
	c.use("n", "int")
	c.P("n = int(%s)", c.first())
	c.Block("if p++; n >= 0x80")
	c.refuse("n, p = wire.Len(b, p-1); p < 0")
	c.End()
	c.maxCheck(v, "n")
	if then > 0 {
		c.refuse("len(b)-p-n < %d", then)
	} else {
		c.refuse("len(b)-p < n")
	}
	switch {
	case v.Form == plan.StringKey:
		c.P("%s = d.Key(b[p:p+n])", x)
	case v.Kind == resolve.Data:
		c.P("%s = d.Data(%s, b[p:p+n])", x, x)
	default:
		to := addr(x)
		if v.Go != "string" {
			to = "(*string)(" + to + ")"
		}
		c.refuse("s := b[p : p+n]; !d.Short(%s, s) && !d.Str(%s, s)", to, to)
	}
	c.P("p += n")
	c.avail = then
}
