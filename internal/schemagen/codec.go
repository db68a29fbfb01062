package schemagen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// Value is a value of some type, as a plain tree:
//
//	uint, u8 … u64, enum    uint64 (an enum's number)
//	int, i8 … i64           int64
//	f32, f64                uint64, the bits
//	bool                    bool
//	str, data, data[n]      string
//	void                    nil
//	optional                nil, or Some
//	list, list[n]           []Value
//	map                     []Pair
//	union                   Tagged
//	struct                  []Value, one for each field, nil for padding
type Value any

// Some is an optional that is there.
type Some struct{ V Value }

// Pair is an entry of a map.
type Pair struct{ K, V Value }

// Tagged is a union's value: which member, counted from 0, and its value.
type Tagged struct {
	Member int
	V      Value
}

// Encode gives the canonical message of a value: map entries sorted by key,
// padding zero. It trusts the value's shape.
func Encode(t *Type, v Value) []byte { return appendValue(nil, t, v) }

func appendUint(b []byte, x uint64) []byte {
	for x >= 0x80 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

func appendFixed(b []byte, x uint64, bytes int) []byte {
	for i := range bytes {
		b = append(b, byte(x>>(8*i)))
	}
	return b
}

// width is the size of a fixed-precision number in bytes.
func width(k Kind) int {
	switch k {
	case U8, I8:
		return 1
	case U16, I16:
		return 2
	case U32, I32, F32:
		return 4
	}
	return 8
}

func appendValue(b []byte, t *Type, v Value) []byte {
	switch t.Kind {
	case Ref:
		return appendValue(b, t.Decl.Type, v)
	case Uint:
		return appendUint(b, v.(uint64))
	case Int:
		x := v.(int64)
		if x >= 0 {
			return appendUint(b, 2*uint64(x))
		}
		return appendUint(b, 2*uint64(-(x+1))+1) // -2x-1 without leaving 64 bits
	case U8, U16, U32, U64, F32, F64:
		return appendFixed(b, v.(uint64), width(t.Kind))
	case I8, I16, I32, I64:
		return appendFixed(b, uint64(v.(int64)), width(t.Kind))
	case Bool:
		if v.(bool) {
			return append(b, 1)
		}
		return append(b, 0)
	case Str, Data:
		s := v.(string)
		return append(appendUint(b, uint64(len(s))), s...)
	case FixedData:
		return append(b, v.(string)...)
	case Enum:
		if t.Base != Uint {
			return appendFixed(b, v.(uint64), width(t.Base))
		}
		return appendUint(b, v.(uint64))
	}
	return appendAggregate(b, t, v)
}

func appendAggregate(b []byte, t *Type, v Value) []byte {
	switch t.Kind {
	case Optional:
		some, ok := v.(Some)
		if !ok {
			return append(b, 0)
		}
		return appendValue(append(b, 1), t.Elem, some.V)
	case List, FixedList:
		list := v.([]Value)
		if t.Kind == List {
			b = appendUint(b, uint64(len(list)))
		}
		for _, e := range list {
			b = appendValue(b, t.Elem, e)
		}
	case Map:
		pairs := slices.Clone(v.([]Pair))
		slices.SortFunc(pairs, func(x, y Pair) int { return compareKeys(x.K, y.K) })
		b = appendUint(b, uint64(len(pairs)))
		for _, p := range pairs {
			b = appendValue(appendValue(b, t.Key, p.K), t.Elem, p.V)
		}
	case Union:
		u := v.(Tagged)
		m := t.Members[u.Member]
		return appendValue(appendUint(b, m.Tag), m.Type, u.V)
	case Struct:
		fields := v.([]Value)
		for i, f := range t.Fields {
			if f.Pad {
				b = append(b, make([]byte, f.Type.Len)...)
				continue
			}
			b = appendValue(b, f.Type, fields[i])
		}
	}
	return b
}

// compareKeys orders keys: numbers by value, text and bytes bytewise.
func compareKeys(a, b Value) int {
	switch a := a.(type) {
	case uint64:
		return cmp.Compare(a, b.(uint64))
	case int64:
		return cmp.Compare(a, b.(int64))
	case bool:
		if a == b.(bool) {
			return 0
		} else if a {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.(string), b.(string))
}

var errShort = errors.New("message ends early")

// Decode reads one whole message, strictly: every SHOULD of the draft is a
// MUST here, bytes left over are an error, and so is what is over #@max.
func Decode(t *Type, b []byte) (Value, error) {
	v, n, err := DecodePrefix(t, b)
	if err == nil && n < len(b) {
		err = fmt.Errorf("%d bytes left over", len(b)-n)
	}
	return v, err
}

// DecodePrefix reads one message from the front and says how long it was.
func DecodePrefix(t *Type, b []byte) (v Value, n int, err error) {
	d := decoder{b: b}
	v, err = d.value(t)
	return v, d.at, err
}

type decoder struct {
	b  []byte
	at int
}

func (d *decoder) take(n uint64) (string, error) {
	if n > uint64(len(d.b)-d.at) {
		return "", errShort
	}
	s := string(d.b[d.at : d.at+int(n)])
	d.at += int(n)
	return s, nil
}

func (d *decoder) fixed(bytes int) (x uint64, err error) {
	s, err := d.take(uint64(bytes))
	for i := range len(s) {
		x |= uint64(s[i]) << (8 * i)
	}
	return x, err
}

func (d *decoder) uint() (x uint64, err error) {
	for i := 0; ; i++ {
		c, err := d.fixed(1)
		if err != nil {
			return 0, err
		}
		switch {
		case i == 9 && c > 1:
			return 0, errors.New("uint has more than 64 bits")
		case i > 0 && c == 0:
			return 0, errors.New("uint is longer than need be")
		}
		x |= (c & 0x7f) << (7 * i)
		if c < 0x80 {
			return x, nil
		}
	}
}

func (d *decoder) value(t *Type) (Value, error) {
	switch t.Kind {
	case Ref:
		return d.value(t.Decl.Type)
	case Uint:
		return d.uint()
	case Int:
		x, err := d.uint()
		if x%2 == 1 {
			return -int64(x/2) - 1, err
		}
		return int64(x / 2), err
	case U8, U16, U32, U64, F32, F64:
		return d.fixed(width(t.Kind))
	case I8, I16, I32, I64:
		w := width(t.Kind)
		x, err := d.fixed(w)
		unused := 64 - 8*w
		return int64(x<<unused) >> unused, err
	case Bool:
		return d.flag()
	case Void:
		return nil, nil
	case FixedData:
		return d.take(t.Len)
	case Str, Data:
		n, err := d.count(t)
		if err != nil {
			return nil, err
		}
		s, err := d.take(n)
		if err == nil && t.Kind == Str && !utf8.ValidString(s) {
			err = errors.New("str is not UTF-8")
		}
		return s, err
	case Enum:
		return d.enum(t)
	}
	return d.aggregate(t)
}

func (d *decoder) flag() (bool, error) {
	c, err := d.fixed(1)
	if c > 1 {
		return false, errors.New("bool or optional is neither 0 nor 1")
	}
	return c == 1, err
}

// count reads a length and holds it against #@max.
func (d *decoder) count(t *Type) (uint64, error) {
	n, err := d.uint()
	if err == nil && t.Max > 0 && n > t.Max {
		err = errors.New("over #@max")
	}
	return n, err
}

func (d *decoder) enum(t *Type) (x uint64, err error) {
	if t.Base != Uint {
		x, err = d.fixed(width(t.Base))
	} else {
		x, err = d.uint()
	}
	if err == nil && !slices.ContainsFunc(t.Values, func(v *EnumValue) bool { return v.Value == x }) {
		err = errors.New("no such enum value")
	}
	return x, err
}

func (d *decoder) aggregate(t *Type) (Value, error) {
	switch t.Kind {
	case Optional:
		there, err := d.flag()
		if err != nil || !there {
			return nil, err
		}
		v, err := d.value(t.Elem)
		return Some{v}, err
	case List:
		n, err := d.count(t)
		if err != nil {
			return nil, err
		}
		return d.list(t.Elem, n)
	case FixedList:
		return d.list(t.Elem, t.Len)
	case Map:
		return d.pairs(t)
	case Union:
		tag, err := d.uint()
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(t.Members, func(m *Member) bool { return m.Tag == tag })
		if i < 0 {
			return nil, errors.New("no such union tag")
		}
		v, err := d.value(t.Members[i].Type)
		return Tagged{i, v}, err
	}
	fields := make([]Value, len(t.Fields))
	for i, f := range t.Fields {
		v, err := d.value(f.Type)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
		if !f.Pad {
			fields[i] = v
		}
	}
	return fields, nil
}

func (d *decoder) list(elem *Type, n uint64) (Value, error) {
	list := []Value{}
	for range n {
		v, err := d.value(elem)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

func (d *decoder) pairs(t *Type) (Value, error) {
	n, err := d.count(t)
	if err != nil {
		return nil, err
	}
	pairs := []Pair{}
	seen := map[Value]bool{}
	for range n {
		k, err := d.value(t.Key)
		if err != nil {
			return nil, err
		}
		if seen[k] {
			return nil, errors.New("key stands twice")
		}
		seen[k] = true
		v, err := d.value(t.Elem)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, Pair{k, v})
	}
	return pairs, nil
}
