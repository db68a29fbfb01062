package emit

import (
	"fmt"
	"strconv"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// scanner writes the body of one index function: the pass over a value of
// variable size that validates it as strictly as the decoder does and fills its
// frame. In the emitted code x is the index, b the message, p where the pass is
// and f the frame; -1 is the answer for anything that is not right. What is
// wrong is not said there: the decoder says it, once the pass has failed.
type scanner struct {
	*shapes
	b     *gocode.Body
	leaf  bool // the frame stays where it is: slots are written through s
	slots bool // s is needed
	n     bool // n is needed
	names int  // given out so far
}

// frame is where a value's slots are: Go text for the first of some frame, and
// how many further.
type frame struct {
	base string
	add  int
}

func (f frame) plus(n int) frame { return frame{f.base, f.add + n} }

func (f frame) String() string {
	if f.add == 0 {
		return f.base
	}
	return fmt.Sprintf("%s+%d", f.base, f.add)
}

// set writes a slot.
func (s *scanner) set(f frame, v string) {
	if s.leaf && f.base == "f" {
		s.slots = true
		s.b.P("s[%d] = uint32(%s)", f.add, v)
		return
	}
	s.b.P("x.Set(%s, %s)", f, v)
}

// refuse writes `if cond { return -1 }`.
func (s *scanner) refuse(format string, args ...any) {
	s.b.Block("if "+format, args...)
	s.b.P("return -1")
	s.b.End()
}

// index writes the index function of a type.
func (s *shapes) index(g *gocode.Code, t *plan.Type) {
	sig := fmt.Sprintf("%s(x *wire.Index, b []byte, p, f int) int", indexFunc(t))
	g.Func("", sig, func(b *gocode.Body) {
		var draft gocode.Body // to see which variables are needed
		need := s.pass(&draft, t)
		if need.slots {
			b.P("s := (*[%d]uint32)(x.Leaf(f))", s.typeFrame(t))
		}
		if need.n {
			b.P("var n int")
		}
		s.pass(b, t)
		b.P("return p")
	})
}

func (s *shapes) pass(b *gocode.Body, t *plan.Type) *scanner {
	sc := &scanner{shapes: s, b: b, leaf: !s.typeGrows(t)}
	f := frame{base: "f"}
	switch t.Kind {
	case resolve.Struct:
		sc.fields(t, f)
	case resolve.Union:
		sc.union(t, f)
	default:
		sc.value(t.Under, f, 0)
	}
	return sc
}

// name returns a variable's name that the function does not have yet.
func (s *scanner) name(letter string) string {
	s.names++
	return letter + strconv.Itoa(s.names)
}

// fields writes the pass over a struct. A run of fields of fixed size has one
// check of the length, which the string or data before it makes if there is one.
func (s *scanner) fields(t *plan.Type, f frame) {
	places := s.of(t).places
	checked := false // the run that comes has been checked
	for i := 0; i < len(t.Fields); {
		if !isFixed(t.Fields[i].Val) {
			checked = s.value(t.Fields[i].Val, f.plus(places[i].frame), s.run(t, i+1))
			if end := places[i].end; end >= 0 {
				s.set(f.plus(end), "p")
			}
			i++
			continue
		}
		size := s.run(t, i)
		if !checked && size > 0 {
			s.refuse("len(b)-p < %d", size)
		}
		c := &checker{shapes: s.shapes, b: s.b, fail: "return -1"}
		at := spot{arr: "b", base: "p"}
		for ; i < len(t.Fields) && isFixed(t.Fields[i].Val); i++ {
			n, _ := fixedSize(t.Fields[i].Val)
			c.value(t.Fields[i].Val, at)
			at = at.add(n)
		}
		if size > 0 {
			s.b.P("p += %d", size)
		}
	}
}

// run returns the size of the fields of fixed size from the i-th on.
func (s *scanner) run(t *plan.Type, i int) int {
	size := 0
	for ; i < len(t.Fields); i++ {
		n, ok := fixedSize(t.Fields[i].Val)
		if !ok {
			break
		}
		size += n
	}
	return size
}

// value writes the pass over a value whose own slots begin at f. Behind it are
// tail bytes of fixed size; the answer is whether their being there has been
// checked.
func (s *scanner) value(v *plan.Val, f frame, tail int) bool {
	if size, ok := fixedSize(v); ok {
		if size > 0 {
			s.refuse("len(b)-p < %d", size)
		}
		c := &checker{shapes: s.shapes, b: s.b, fail: "return -1"}
		c.value(v, spot{arr: "b", base: "p"})
		if size > 0 {
			s.b.P("p += %d", size)
		}
		return false
	}
	if v.Type != nil && hasIndex(v.Type) {
		s.b.Block("if p = %s(x, b, p, %s); p < 0", indexFunc(v.Type), f)
		s.b.P("return -1")
		s.b.End()
		return false
	}
	switch v.Kind {
	case resolve.Uint, resolve.Int:
		s.refuse("uint(p) >= uint(len(b))")
		s.b.Block("if b[p] < 0x80")
		s.b.P("p++")
		s.b.Else("_, p = wire.Uint(b, p); p < 0")
		s.b.P("return -1")
		s.b.End()
	case resolve.Enum:
		s.enum(v)
	case resolve.Str, resolve.Data:
		s.text(v, tail)
		return true
	case resolve.Optional:
		s.optional(v, f)
	case resolve.List, resolve.FixedList:
		s.list(v, f)
	case resolve.Map:
		s.mapping(v, f)
	}
	return false
}

// hasIndex reports whether a type of variable size has an index function.
func hasIndex(t *plan.Type) bool {
	switch t.Kind {
	case resolve.Struct, resolve.Union, resolve.List, resolve.FixedList, resolve.Map, resolve.Optional:
		return !t.Layout().IsFixed()
	}
	return false
}

func (s *scanner) enum(v *plan.Val) {
	t := bare(v.Type)
	s.refuse("uint(p) >= uint(len(b))")
	e := s.name("e")
	s.b.P("%s := uint64(b[p])", e)
	s.b.Block("if %s < 0x80", e)
	s.b.P("p++")
	s.b.Else("%s, p = wire.Uint(b, p); p < 0", e)
	s.b.P("return -1")
	s.b.End()
	s.refuse("!%s(%s).IsValid()", t.Go, e)
}

// length reads a length or count into n.
func (s *scanner) length(n string, limit uint64) {
	s.refuse("uint(p) >= uint(len(b))")
	s.b.Block("if %s = int(b[p]); %s < 0x80", n, n)
	s.b.P("p++")
	s.b.Else("%s, p = wire.Len(b, p); p < 0", n)
	s.b.P("return -1")
	s.b.End()
	if limit != 0 && limit < 1<<31 {
		s.refuse("%s > %d", n, limit)
	} else if limit != 0 {
		s.refuse("uint64(%s) > %d", n, limit)
	}
}

// text writes the pass over a str or data and tail bytes behind it: p ends
// behind the str or data.
func (s *scanner) text(v *plan.Val, tail int) {
	s.n = true
	s.length("n", v.Max)
	cond := "len(b)-p < n"
	if tail > 0 {
		cond = fmt.Sprintf("len(b)-p-n < %d", tail)
	}
	if v.Kind == resolve.Str {
		cond += " || !wire.ValidUTF8(b[p:p+n])"
	}
	s.refuse("%s", cond)
	s.b.P("p += n")
}

func (s *scanner) optional(v *plan.Val, f frame) {
	s.refuse("uint(p) >= uint(len(b)) || b[p] > 1")
	s.b.P("p++")
	s.b.Block("if b[p-1] != 0")
	s.inside(v.Elem, f, s.far(v))
	s.b.End()
}

// inside writes the pass over what an optional or a union holds.
func (s *scanner) inside(v *plan.Val, f frame, far bool) {
	k := s.frame(v)
	if !far || k == 0 {
		s.value(v, f, 0)
		return
	}
	g := s.name("g")
	s.b.P("%s := x.Frame(%d)", g, k)
	s.refuse("%s < 0", g)
	s.set(f, g)
	s.value(v, frame{base: g}, 0)
}

func (s *scanner) union(t *plan.Type, f frame) {
	small := true
	for _, m := range t.Members {
		small = small && m.Tag < 0x80
	}
	s.refuse("uint(p) >= uint(len(b))")
	if small {
		s.b.P("p++")
		s.b.Block("switch b[p-1]")
	} else {
		s.b.P("tag, end := wire.Uint(b, p)")
		s.refuse("end < 0")
		s.b.P("p = end")
		s.b.Block("switch tag")
	}
	for _, m := range t.Members {
		s.b.P("case %d:", m.Tag)
		s.inside(m.Val, f, s.of(t).widest > 1)
	}
	s.b.P("default:")
	s.b.P("return -1")
	s.b.End()
}

func (s *scanner) list(v *plan.Val, f frame) {
	c := s.name("c")
	if v.Kind == resolve.FixedList {
		s.b.P("%s := %d", c, v.Len)
	} else {
		s.b.P("var %s int", c)
		s.length(c, v.Max)
	}
	if size, ok := fixedSize(v.Elem); ok {
		s.packed(v, c, size)
		return
	}
	g := s.name("g")
	stride := s.stride(v.Elem)
	s.b.P("%s := x.Children(%s, %d, %d, len(b)-p)", g, c, stride, least(v.Elem))
	s.refuse("%s < 0", g)
	s.set(f, g)
	s.b.Block("for ; %s > 0; %s--", c, c)
	s.b.P("x.Set(%s, p)", g)
	s.value(v.Elem, frame{g, 1}, 0)
	s.b.P("%s += %d", g, stride)
	s.b.End()
}

// packed writes the pass over c elements of fixed size.
func (s *scanner) packed(v *plan.Val, c string, size int) {
	if size == 1 {
		s.refuse("len(b)-p < %s", c)
	} else {
		s.refuse("(len(b)-p)/%d < %s", size, c)
	}
	if !s.checks(v.Elem) {
		s.b.P("p += %s", times(c, size))
		return
	}
	s.b.Block("for end := p + %s; p < end; p += %d", times(c, size), size)
	ch := &checker{shapes: s.shapes, b: s.b, fail: "return -1"}
	ch.value(v.Elem, spot{arr: "b", base: "p"})
	s.b.End()
}

func (s *scanner) mapping(v *plan.Val, f frame) {
	c, g, e, i := s.name("c"), s.name("g"), s.name("e"), s.name("i")
	stride, keyEnd := s.mapStride(v)
	s.b.P("var %s int", c)
	s.length(c, v.Max)
	s.b.P("%s := x.Children(%s, %d, %d, len(b)-p)", g, c, stride, least(v.Key)+least(v.Elem))
	s.refuse("%s < 0", g)
	s.b.P("%s := %s", e, g)
	s.b.Block("for %s := %s; %s > 0; %s--", i, c, i, i)
	s.b.P("x.Set(%s, p)", e)
	s.value(v.Key, frame{e, 1}, 0)
	own := frame{e, 1}
	if keyEnd {
		s.b.P("x.Set(%s+1, p)", e)
		own = frame{e, 2}
	}
	s.value(v.Elem, own, 0)
	s.b.P("%s += %d", e, stride)
	s.b.End()
	s.refuse("!wire.Keys(x, %s, %s, %s, %d, %s)", f, g, c, stride, keyFunc(v.Key))
}

// keyFunc is a Go function from a view of a map's key to a value that orders
// as the keys do.
func keyFunc(k *plan.Val) string {
	switch k.Kind {
	case resolve.Str, resolve.Data:
		return "wire.View.Str"
	case resolve.FixedData:
		return fmt.Sprintf("func(u wire.View) string { return u.FixedStr(%d) }", k.Len)
	case resolve.Bool:
		return "wire.View.U8"
	case resolve.Enum:
		if t := bare(k.Type); isFixed(k) && (t.EnumFixed || k.Layout.Min == 1) {
			return fmt.Sprintf("wire.View.U%d", 8*k.Layout.Min)
		}
		return "wire.View.Uint"
	}
	return "wire.View." + viewLoad[k.Kind]
}

// viewLoad is the method of wire.View that reads a kind.
var viewLoad = map[resolve.Kind]string{
	resolve.Uint: "Uint", resolve.U8: "U8", resolve.U16: "U16", resolve.U32: "U32", resolve.U64: "U64",
	resolve.Int: "Int", resolve.I8: "I8", resolve.I16: "I16", resolve.I32: "I32", resolve.I64: "I64",
	resolve.F32: "F32", resolve.F64: "F64", resolve.Bool: "Bool", resolve.Str: "Str", resolve.Data: "Data",
}
