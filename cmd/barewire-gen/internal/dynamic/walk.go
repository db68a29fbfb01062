// Package dynamic reads and writes BARE messages of types that are known only when
// it runs: a schema's, as package resolve has them. It is as strict as the code that
// the generator writes, refuses the same messages, and says why in the same words.
//
// [Walk] is the heart: it goes over a message once and tells a [Visitor] what it
// meets. It keeps nothing of the message but the keys of the maps that it stands in,
// so a message costs its own bytes and no multiple of them.
package dynamic

import (
	"errors"
	"strconv"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Value is a value that a walk meets, or the head of one that holds others.
type Value struct {
	Type *resolve.Type // never a name
	// The bytes of it: from At on its length, presence or tag, from Body on what
	// follows that, up to End. Of a value that holds others End is Body.
	At, Body, End int
	// Bits is the number: of floats their bits, of signed ones the two's complement.
	// Of strings, lists and maps it is the length, of an optional 0 or 1, of a union the tag.
	Bits   uint64
	Member *resolve.Member // of a union
	Raw    []byte          // of a str or data, its content; part of the message
}

// Step leads from a value into it.
type Step struct {
	Part  Part
	Field *resolve.Field
	Index int // of elements, keys and values
}

// Part is what a step leads to.
type Part uint8

// The parts that values have.
const (
	Field  Part = iota // of a struct
	Elem               // of a list
	Key                // of a map's entry
	Val                // of a map's entry
	Some               // what an optional holds
	Member             // what a union holds
)

// Visitor is told what a walk meets, in the order of the bytes. Where a message is
// refused the calls end in its midst.
type Visitor interface {
	Open(v Value)                      // of a value that holds others: what follows is in it
	Step(s Step)                       // before each of these
	Scalar(v Value)                    // of any other value
	Close(t *resolve.Type, offset int) // the value that was opened last ends before an offset
}

// Walk goes over b, all of whose bytes should be one message of a declared type. The
// error is nil or a *wire.Error, the same as that of the generated decoder. The
// layouts must be those of the type's schema; v may be nil.
func Walk(l *layout.Layouts, d *resolve.Decl, b []byte, v Visitor) error {
	if v == nil {
		v = nobody{}
	}
	w := walker{l: l, b: b, v: v}
	end, e := w.value(d.Type, 0)
	if e == nil && end < len(b) {
		e = &wire.Error{Kind: wire.ErrTrailing, Offset: end, Detail: count(uint64(len(b)-end), "byte")}
	}
	if e != nil {
		return e.In(d.Name)
	}
	return nil
}

// nobody looks at nothing.
type nobody struct{}

func (nobody) Open(Value)               {}
func (nobody) Step(Step)                {}
func (nobody) Scalar(Value)             {}
func (nobody) Close(*resolve.Type, int) {}

type walker struct {
	l    *layout.Layouts
	b    []byte
	v    Visitor
	held uint64 // bytes that lists have claimed for elements not seen yet
}

// size is the number of bytes of a kind that always has as many, or 0.
func size(k resolve.Kind) uint64 {
	switch k {
	case resolve.U8, resolve.I8:
		return 1
	case resolve.U16, resolve.I16:
		return 2
	case resolve.U32, resolve.I32, resolve.F32:
		return 4
	case resolve.U64, resolve.I64, resolve.F64:
		return 8
	}
	return 0
}

func (w *walker) value(t *resolve.Type, p int) (int, *wire.Error) {
	t = t.Resolve()
	v := Value{Type: t, At: p, Body: p}
	var e *wire.Error
	switch t.Kind {
	case resolve.Void:
		v.End = p
	case resolve.Uint, resolve.Int:
		v.Bits, v.End, e = w.uint(p)
		if t.Kind == resolve.Int {
			v.Bits = uint64(wire.UnZigZag(v.Bits))
		}
	case resolve.Bool:
		v.Bits, e = w.flag(p, wire.ErrBool)
		v.End = p + 1
	case resolve.Str, resolve.Data:
		e = w.octets(&v)
	case resolve.FixedData:
		if e = w.need(p, t.Len); e == nil {
			v.End = p + int(t.Len)
			v.Raw = w.b[p:v.End]
		}
	case resolve.Enum:
		e = w.enum(&v)
	case resolve.Optional, resolve.List, resolve.FixedList, resolve.Map, resolve.Union, resolve.Struct:
		return w.holder(&v)
	default:
		v.Bits, v.End, e = w.fixed(p, t.Kind)
	}
	if e != nil {
		return p, e
	}
	w.v.Scalar(v)
	return v.End, nil
}

// holder goes over a value that holds others.
func (w *walker) holder(v *Value) (p int, e *wire.Error) {
	switch t := v.Type; t.Kind {
	case resolve.Optional:
		p, e = w.optional(v)
	case resolve.List:
		if e = w.counted(v, w.l.Of(t.Elem).Min); e == nil {
			p, e = w.elems(t.Elem, v.Body, v.Bits)
		}
	case resolve.FixedList:
		v.Bits, v.End = t.Len, v.Body
		w.v.Open(*v)
		p, e = w.elems(t.Elem, v.Body, t.Len)
	case resolve.Map:
		p, e = w.pairs(v)
	case resolve.Union:
		p, e = w.union(v)
	default:
		p, e = w.fields(v)
	}
	if e != nil {
		return p, e
	}
	w.v.Close(v.Type, p)
	return p, nil
}

// need returns nil if the n bytes at p are there.
func (w *walker) need(p int, n uint64) *wire.Error {
	if have := uint64(len(w.b) - p); n > have {
		return &wire.Error{Kind: wire.ErrShort, Offset: p, Detail: "needs " + count(n, "byte") + ", " + strconv.FormatUint(have, 10) + " left"}
	}
	return nil
}

func count(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatUint(n, 10) + " " + what
}

// fixed reads a number of a fixed size; signed ones with their sign in all 64 bits.
func (w *walker) fixed(p int, k resolve.Kind) (x uint64, end int, _ *wire.Error) {
	n := size(k)
	if e := w.need(p, n); e != nil {
		return 0, p, e
	}
	end = p + int(n)
	for i, c := range w.b[p:end] {
		x |= uint64(c) << (8 * i)
	}
	switch k {
	case resolve.I8, resolve.I16, resolve.I32:
		unused := 64 - 8*n
		x = uint64(int64(x<<unused) >> unused)
	}
	return x, end, nil
}

// uint reads a varint.
func (w *walker) uint(p int) (x uint64, end int, _ *wire.Error) {
	if x, end = wire.Uint(w.b, p); end >= 0 {
		return x, end, nil
	}
	for i := p; i < len(w.b); i++ {
		if w.b[i] < 0x80 || i-p == wire.MaxVarint-1 {
			return 0, p, &wire.Error{Kind: wire.ErrVarint, Offset: p, Detail: "not minimal, or over 64 bits"}
		}
	}
	return 0, p, w.need(p, uint64(len(w.b)-p+1))
}

// flag reads a byte that is 0 or 1.
func (w *walker) flag(p int, kind error) (uint64, *wire.Error) {
	if e := w.need(p, 1); e != nil {
		return 0, e
	}
	if c := w.b[p]; c > 1 {
		return 0, &wire.Error{Kind: kind, Offset: p, Detail: strconv.Itoa(int(c))}
	}
	return uint64(w.b[p]), nil
}

// length reads the length of a str, data, list or map.
func (w *walker) length(v *Value) (e *wire.Error) {
	v.Bits, v.Body, e = w.uint(v.At)
	if v.End = v.Body; e == nil && v.Type.Max > 0 && v.Bits > v.Type.Max {
		e = wire.BadMax(0, v.Type.Max)
		e.Offset, e.Detail = v.At, strconv.FormatUint(v.Bits, 10)+", at most "+strconv.FormatUint(v.Type.Max, 10)
	}
	return e
}

func (w *walker) octets(v *Value) *wire.Error {
	if e := w.length(v); e != nil {
		return e
	}
	if e := w.room(v, 1); e != nil {
		return e
	}
	if e := w.need(v.Body, v.Bits); e != nil {
		return e
	}
	v.End = v.Body + int(v.Bits)
	v.Raw = w.b[v.Body:v.End]
	if v.Type.Kind == resolve.Str && !utf8.Valid(v.Raw) {
		if r, ok := w.v.(*Rows); ok {
			r.length(*v) // which was read, whatever follows
		}
		return &wire.Error{Kind: wire.ErrUTF8, Offset: v.Body}
	}
	return nil
}

// room refuses a length whose elements, of at least least bytes each, cannot all be
// there.
func (w *walker) room(v *Value, least uint64) *wire.Error {
	left := uint64(len(w.b) - v.Body)
	free := left - min(left, w.held)
	if mul(v.Bits, least) <= free {
		return nil
	}
	kind, what := wire.ErrLength, count(v.Bits, "element")+" of at least "+count(least, "byte")
	if least == 1 && w.held == 0 {
		// What a truncated str or data is, too.
		kind, what = wire.ErrShort, "needs "+count(v.Bits, "byte")
	}
	return &wire.Error{Kind: kind, Offset: v.At, Detail: what + ", " + strconv.FormatUint(free, 10) + " left"}
}

func mul(x, y uint64) uint64 {
	if x != 0 && y > ^uint64(0)/x {
		return ^uint64(0)
	}
	return x * y
}

func (w *walker) enum(v *Value) (e *wire.Error) {
	if v.Type.Base != resolve.Invalid {
		v.Bits, v.End, e = w.fixed(v.At, v.Type.Base)
	} else {
		v.Bits, v.End, e = w.uint(v.At)
	}
	if e == nil && valueName(v.Type, v.Bits) == "" {
		e = &wire.Error{Kind: wire.ErrEnum, Offset: v.At, Detail: strconv.FormatUint(v.Bits, 10)}
	}
	return e
}

// valueName is the name of an enum's value, or "".
func valueName(t *resolve.Type, x uint64) string {
	for _, v := range t.Values {
		if v.Value == x {
			return v.Name
		}
	}
	return ""
}

func (w *walker) optional(v *Value) (int, *wire.Error) {
	var e *wire.Error
	if v.Bits, e = w.flag(v.At, wire.ErrOptional); e != nil {
		return v.At, e
	}
	v.Body, v.End = v.At+1, v.At+1
	w.v.Open(*v)
	if v.Bits == 0 {
		return v.Body, nil
	}
	w.v.Step(Step{Part: Some})
	return w.value(v.Type.Elem, v.Body)
}

// counted reads the length of a list or map and opens it.
func (w *walker) counted(v *Value, least uint64) *wire.Error {
	if e := w.length(v); e != nil {
		return e
	}
	if e := w.room(v, least); e != nil {
		return e
	}
	w.v.Open(*v)
	return nil
}

// elems goes over n elements.
func (w *walker) elems(t *resolve.Type, p int, n uint64) (int, *wire.Error) {
	least := w.l.Of(t).Min
	w.held += mul(n, least)
	for i := range n {
		w.held -= least
		w.v.Step(Step{Part: Elem, Index: int(i)})
		end, e := w.value(t, p)
		if e != nil {
			return end, e.At(int(i))
		}
		p = end
	}
	return p, nil
}

func (w *walker) pairs(v *Value) (int, *wire.Error) {
	t := v.Type
	least := w.l.Of(t.Key).Min + w.l.Of(t.Elem).Min
	if least < w.l.Of(t.Elem).Min {
		least = ^uint64(0)
	}
	if e := w.counted(v, least); e != nil {
		return v.At, e
	}
	w.held += mul(v.Bits, least)
	seen := map[string]struct{}{}
	p := v.Body
	for i := range v.Bits {
		w.held -= least
		w.v.Step(Step{Part: Key, Index: int(i)})
		end, e := w.value(t.Key, p)
		if e != nil {
			return end, e.In("key").At(int(i))
		}
		// Encodings are minimal, so equal keys are equal bytes.
		if _, twice := seen[string(w.b[p:end])]; twice {
			return p, (&wire.Error{Kind: wire.ErrDuplicateKey, Offset: p}).In("key").At(int(i))
		}
		seen[string(w.b[p:end])] = struct{}{}
		w.v.Step(Step{Part: Val, Index: int(i)})
		if p, e = w.value(t.Elem, end); e != nil {
			return p, e.In("value").At(int(i))
		}
	}
	return p, nil
}

func (w *walker) union(v *Value) (int, *wire.Error) {
	var e *wire.Error
	if v.Bits, v.Body, e = w.uint(v.At); e != nil {
		return v.At, e
	}
	v.End = v.Body
	for _, m := range v.Type.Members {
		if m.Tag == v.Bits {
			v.Member = m
			w.v.Open(*v)
			w.v.Step(Step{Part: Member})
			end, e := w.value(m.Type, v.Body)
			if e != nil {
				e = e.In(memberName(m))
			}
			return end, e
		}
	}
	return v.At, &wire.Error{Kind: wire.ErrTag, Offset: v.At, Detail: strconv.FormatUint(v.Bits, 10)}
}

// memberName is what paths call a member: its type's name or keyword.
func memberName(m *resolve.Member) string {
	if m.Type.Kind == resolve.Ref {
		return m.Type.Decl.Name
	}
	return m.Type.Kind.String()
}

func (w *walker) fields(v *Value) (int, *wire.Error) {
	w.v.Open(*v)
	p := v.Body
	for _, f := range v.Type.Fields {
		w.v.Step(Step{Part: Field, Field: f})
		end, e := w.value(f.Type, p)
		if e != nil {
			return end, e.In(f.Name)
		}
		p = end
	}
	return p, nil
}

// KindName is a stable word for what a *wire.Error is, for tools: "short",
// "trailing", "varint". Other errors have none.
func KindName(err error) string {
	for _, k := range []struct {
		err  error
		name string
	}{
		{wire.ErrShort, "short"}, {wire.ErrTrailing, "trailing"}, {wire.ErrVarint, "varint"}, {wire.ErrBool, "bool"},
		{wire.ErrOptional, "optional"}, {wire.ErrEnum, "enum"}, {wire.ErrTag, "tag"}, {wire.ErrUTF8, "utf8"},
		{wire.ErrDuplicateKey, "duplicate-key"}, {wire.ErrLength, "length"}, {wire.ErrMax, "max"}, {wire.ErrLimit, "limit"},
		{wire.ErrSlotEmpty, "slot-empty"}, {wire.ErrSlotTail, "slot-tail"}, {wire.ErrSlot, "slot"},
	} {
		if errors.Is(err, k.err) {
			return k.name
		}
	}
	return ""
}
