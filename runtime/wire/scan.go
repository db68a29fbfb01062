package wire

import (
	"errors"
	"io"
	"strconv"
)

// scan walks over a message by its description. It finds what a generated
// decoder refuses, and where, and reads from a stream what belongs to a message
// and no byte more.
type scan struct {
	b     []byte
	from  *Reader // where more comes from; nil where b is all there is
	err   error   // what from said when it had no more
	held  uint64  // bytes that lists have claimed for elements not seen yet
	keys  bool    // look for duplicate keys
	limit uint64  // greatest size of the message
}

// fetch makes the n bytes at p be in b, if the source has them. They must
// belong to the message whatever is in them.
func (s *scan) fetch(p int, n uint64) {
	if s.from == nil || s.err != nil || n > s.limit || uint64(p)+n <= uint64(len(s.b)) || uint64(p)+n > s.limit {
		return
	}
	s.b, s.err = s.from.fill(s.b, p+int(n))
}

// need returns nil if the n bytes at p are there.
func (s *scan) need(p int, n uint64) *Error {
	if n <= uint64(len(s.b)-p) {
		return nil
	}
	s.fetch(p, n)
	if n <= uint64(len(s.b)-p) {
		return nil
	}
	return s.short(p, n)
}

func (s *scan) short(p int, n uint64) *Error {
	have := uint64(len(s.b) - p)
	e := &Error{Kind: ErrShort, Offset: p, Detail: "needs " + count(n, "byte") + ", " + strconv.FormatUint(have, 10) + " left"}
	switch {
	case s.from == nil:
	case s.err == nil:
		e.Kind, e.Detail = ErrLimit, strconv.FormatUint(s.limit, 10)+" bytes"
	case errors.Is(s.err, io.EOF) || errors.Is(s.err, io.ErrUnexpectedEOF):
		e.Cause = io.ErrUnexpectedEOF
	default:
		e.Kind, e.Cause, e.Detail = ErrRead, s.err, ""
	}
	return e
}

func count(n uint64, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.FormatUint(n, 10) + " " + what
}

// uint reads a varint.
func (s *scan) uint(p int) (x uint64, end int, _ *Error) {
	for i := 1; ; i++ {
		x, end, why := readUint(s.b, p)
		switch why {
		case nil:
			return x, end, nil
		case ErrVarint:
			return 0, -1, &Error{Kind: ErrVarint, Offset: p, Detail: "not minimal, or over 64 bits"}
		}
		// Only the bytes that are there say whether there is another.
		if e := s.need(p, uint64(len(s.b)-p+1)); e != nil {
			return 0, -1, e
		}
	}
}

// flag reads a byte that is 0 or 1.
func (s *scan) flag(p int, kind error) (bool, *Error) {
	if e := s.need(p, 1); e != nil {
		return false, e
	}
	if c := s.b[p]; c > 1 {
		return false, &Error{Kind: kind, Offset: p, Detail: strconv.Itoa(int(c))}
	}
	return s.b[p] == 1, nil
}

// value walks over a value at p and returns its end.
func (s *scan) value(n *node, p int) (int, *Error) {
	switch n.kind {
	case kFixed:
		return p + int(n.size), s.need(p, n.size)
	case kUint:
		_, end, e := s.uint(p)
		return end, e
	case kBool:
		_, e := s.flag(p, ErrBool)
		return p + 1, e
	case kStr, kData:
		return s.octets(n, p)
	case kEnum:
		return s.enum(n, p)
	case kOptional:
		there, e := s.flag(p, ErrOptional)
		if e != nil || !there {
			return p + 1, e
		}
		return s.value(n.elem, p+1)
	case kList:
		return s.list(n, p)
	case kFixedList:
		return s.elems(n.elem, p, n.size)
	case kMap:
		return s.pairs(n, p)
	case kUnion:
		return s.union(n, p)
	}
	s.fetch(p, n.least)
	var e *Error
	for i := range n.parts {
		if p, e = s.value(n.parts[i].node, p); e != nil {
			return p, e.In(n.parts[i].name)
		}
	}
	return p, nil
}

func (s *scan) octets(n *node, p int) (int, *Error) {
	at := p
	x, p, e := s.uint(p)
	if e != nil {
		return p, e
	}
	if n.max > 0 && x > n.max {
		return p, overMax(x, n.max, at)
	}
	if e := s.room(at, p, x, 1); e != nil {
		return p, e
	}
	if e := s.need(p, x); e != nil {
		return p, e
	}
	end := p + int(x)
	if n.kind == kStr && !validUTF8(s.b[p:end]) {
		return p, &Error{Kind: ErrUTF8, Offset: p}
	}
	return end, nil
}

// room refuses a length whose bytes cannot all be there: x elements of at
// least least bytes from p on, claimed by a length at at.
func (s *scan) room(at, p int, x, least uint64) *Error {
	left := uint64(len(s.b) - p)
	kind := ErrLength
	if s.from != nil {
		left = s.limit - min(s.limit, uint64(p))
		kind = ErrLimit
	}
	free := left - min(left, s.held)
	if mul(x, least) <= free {
		return nil
	}
	what := count(x, "element") + " of at least " + count(least, "byte")
	if s.from == nil && least == 1 && s.held == 0 {
		// What a truncated str or data is, too.
		kind, what = ErrShort, "needs "+count(x, "byte")
	}
	return &Error{Kind: kind, Offset: at, Detail: what + ", " + strconv.FormatUint(free, 10) + " left"}
}

func (s *scan) enum(n *node, p int) (int, *Error) {
	var x uint64
	end := p + int(n.size)
	var e *Error
	if n.size == 0 {
		x, end, e = s.uint(p)
	} else if e = s.need(p, n.size); e == nil {
		for i, c := range s.b[p:end] {
			x |= uint64(c) << (8 * i)
		}
	}
	if e != nil {
		return end, e
	}
	for i := 0; i < len(n.ranges); i += 2 {
		if n.ranges[i] <= x && x <= n.ranges[i+1] {
			return end, nil
		}
	}
	return end, &Error{Kind: ErrEnum, Offset: p, Detail: strconv.FormatUint(x, 10)}
}

func (s *scan) list(n *node, p int) (int, *Error) {
	at := p
	x, p, e := s.uint(p)
	if e != nil {
		return p, e
	}
	if n.max > 0 && x > n.max {
		return p, overMax(x, n.max, at)
	}
	if e := s.room(at, p, x, n.elem.least); e != nil {
		return p, e
	}
	return s.elems(n.elem, p, x)
}

// elems walks over x elements.
func (s *scan) elems(elem *node, p int, x uint64) (int, *Error) {
	if elem.kind == kFixed {
		e := s.need(p, mul(x, elem.size))
		if e != nil && elem.size > 0 { // name the element that is cut
			i := uint64(len(s.b)-p) / elem.size
			e.Offset = p + int(i*elem.size)
			e.Detail = "needs " + count(elem.size, "byte") + ", " + strconv.Itoa(len(s.b)-e.Offset) + " left"
			e = e.At(int(i))
		}
		return p + int(x*elem.size), e
	}
	s.fetch(p, mul(x, elem.least))
	s.held += mul(x, elem.least)
	for i := range x {
		s.held -= elem.least
		end, e := s.value(elem, p)
		if e != nil {
			return end, e.At(int(i))
		}
		p = end
	}
	return p, nil
}

func (s *scan) pairs(n *node, p int) (int, *Error) {
	at := p
	x, p, e := s.uint(p)
	if e != nil {
		return p, e
	}
	if n.max > 0 && x > n.max {
		return p, overMax(x, n.max, at)
	}
	least := add(n.key.least, n.elem.least)
	if e := s.room(at, p, x, least); e != nil {
		return p, e
	}
	s.fetch(p, mul(x, least))
	s.held += mul(x, least)
	var seen map[string]struct{}
	if s.keys {
		seen = make(map[string]struct{})
	}
	for i := range x {
		s.held -= least
		end, e := s.value(n.key, p)
		if e != nil {
			return end, e.In("key").At(int(i))
		}
		if s.keys {
			// Encodings are minimal, so equal keys are equal bytes.
			key := bytesString(s.b[p:end])
			if _, twice := seen[key]; twice {
				return end, (&Error{Kind: ErrDuplicateKey, Offset: p}).In("key").At(int(i))
			}
			seen[key] = struct{}{}
		}
		if p, e = s.value(n.elem, end); e != nil {
			return p, e.In("value").At(int(i))
		}
	}
	return p, nil
}

func (s *scan) union(n *node, p int) (int, *Error) {
	tag, end, e := s.uint(p)
	if e != nil {
		return end, e
	}
	for i := range n.parts {
		if m := &n.parts[i]; m.tag == tag {
			end, e := s.value(m.node, end)
			if e != nil {
				e = e.In(m.name)
			}
			return end, e
		}
	}
	return end, &Error{Kind: ErrTag, Offset: p, Detail: strconv.FormatUint(tag, 10)}
}

// Refuse says why a decoder refused b, all of whose bytes should be a message of
// t. It is for generated code, whose own functions stay small enough to be inlined
// where this one is not.
//
//go:noinline
func (t *Type) Refuse(b []byte) error { return t.Explain(b, Options{}, true) }

// Explain says why a decoder refused b, whose bytes from the front should be
// a message of t; whole where no byte may be left over.
func (t *Type) Explain(b []byte, o Options, whole bool) error {
	cut := o.MaxBytes > 0 && o.MaxBytes < len(b)
	if cut {
		b = b[:o.MaxBytes]
	}
	n := t.parse()
	if n == nil {
		return &Error{Kind: ErrInternal, Path: t.Name, Offset: 0, Detail: t.Text}
	}
	s := scan{b: b, keys: true, limit: uint64(len(b))}
	end, e := s.value(n, 0)
	switch {
	case e != nil && cut && (e.Kind == ErrShort || e.Kind == ErrLength):
		e.Kind, e.Detail = ErrLimit, strconv.Itoa(o.MaxBytes)+" bytes"
	case e != nil:
	case whole && end < len(b):
		e = &Error{Kind: ErrTrailing, Offset: end, Detail: count(uint64(len(b)-end), "byte")}
	default:
		e = &Error{Kind: ErrInternal, Offset: end}
	}
	return e.In(t.Name)
}
