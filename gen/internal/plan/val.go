package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

const (
	inlineOptional = 24        // an optional of a value of at most so many bytes is wire.Optional
	bigValue       = 64 << 10  // from here on values are handled by pointer only
	greatestValue  = 256 << 20 // a value in one piece cannot be larger
)

// place is where a type stands: the Go type whose declaration it is in, the
// path that names helpers, the name that a type lifted from here would have,
// and how the schema's user would say it.
type place struct {
	in     *Type
	path   string
	lift   string
	schema string
}

func (p place) step(word, schema string) place {
	return place{p.in, p.path + word, p.lift + word, p.schema + schema}
}

// build decides what stands behind a type's name, once. Types refer to others
// by name, never in a circle, so it may call itself for those.
func (m *maker) build(t *Type) {
	if t.Under != nil {
		return
	}
	at := place{in: t, path: t.Go, lift: t.Go, schema: t.Schema}
	if t.Wire.Kind == resolve.Ref {
		t.Alias = m.byDecl[t.Wire.Decl]
		m.build(t.Alias)
		v := *m.ref(t.Wire, at)
		v.Type, v.Path = nil, t.Go
		t.Under = &v
		t.Fields, t.Runs, t.Values, t.Members = t.Alias.Fields, t.Alias.Runs, t.Alias.Values, t.Alias.Members
		t.EnumFixed, t.EnumGo, t.Sealed, t.Marker = t.Alias.EnumFixed, t.Alias.EnumGo, t.Alias.Sealed, t.Alias.Marker
		t.views = t.Alias.views
		return
	}
	t.Under = m.literal(t.Wire, t, at)
	if v := t.Under; v.Form == OptPointer {
		// Go has no methods on named pointer types.
		v.Form, v.Go, v.GoSize = OptBox, "struct{ Value "+v.Go+" }", 8
	}
}

// val is the type as it stands at a place.
func (m *maker) val(wire *resolve.Type, at place) *Val {
	switch wire.Kind {
	case resolve.Ref:
		return m.ref(wire, at)
	case resolve.Struct, resolve.Enum, resolve.Union:
		return m.lift(wire, at)
	}
	if _, leaf := scalars[wire.Kind]; leaf || wire.Kind == resolve.Data || wire.Kind == resolve.FixedData {
		at.path = ""
	} else {
		at.path = m.path(at.path)
	}
	return m.literal(wire, nil, at)
}

// ref is a place that names a type.
func (m *maker) ref(wire *resolve.Type, at place) *Val {
	t := m.byDecl[wire.Decl]
	m.build(t)
	return m.of(t, wire, at)
}

// of is a place whose Go type is t.
func (m *maker) of(t *Type, wire *resolve.Type, at place) *Val {
	v := *t.Under
	v.Wire, v.Go, v.Type, v.Path = wire, t.Go, t, ""
	switch v.Kind {
	case resolve.Optional, resolve.List, resolve.FixedList, resolve.Map:
		v.Path = m.path(at.path)
	}
	return &v
}

// lift declares a Go type for an anonymous struct, enum or union.
func (m *maker) lift(wire *resolve.Type, at place) *Val {
	t := &Type{Schema: at.schema, Decl: at.in.Decl, At: wire.At, File: at.in.File, Kind: wire.Kind, Wire: wire}
	me := owner{"the type of `" + at.schema + "`", wire.At}
	if t.Go = m.given(ast.Ident{}, at.lift, wire.At); t.Go != "" {
		if other, taken := m.names.take(t.Go, me); taken {
			m.clash(me, other, t.Go)
		}
	} else {
		t.Go = m.derived(at.lift, me)
	}
	at.in.lifted = append(at.in.lifted, t)
	at.path = m.path(t.Go)
	t.Under = m.literal(wire, t, place{t, at.path, t.Go, at.schema})
	v := *t.Under
	v.Go, v.Type = t.Go, t
	return &v
}

// literal is what a type means in Go where it is written out. For structs,
// enums and unions t is the type declared for it.
func (m *maker) literal(wire *resolve.Type, t *Type, at place) *Val {
	v := &Val{
		Kind: wire.Kind, Wire: wire, Len: wire.Len, Max: wire.Max, Layout: m.pkg.layouts.Of(wire), Path: at.path,
		CanFail: wire.Max > 0,
	}
	switch wire.Kind {
	case resolve.Struct:
		m.structure(t, v, at)
	case resolve.Enum:
		m.enum(t, v)
	case resolve.Union:
		m.union(t, v, at)
	case resolve.Optional:
		m.optional(v, at)
	case resolve.List:
		v.Elem = m.val(wire.Elem, at.step("Item", "[]"))
		v.Go, v.GoSize, v.align = "[]"+v.Elem.Go, 24, 8
		v.CanFail = v.CanFail || v.Elem.CanFail
	case resolve.FixedList:
		e := m.val(wire.Elem, at.step("Item", "[]"))
		v.Elem = e
		v.Go = "[" + strconv.FormatUint(v.Len, 10) + "]" + e.Go
		v.GoSize, v.align = mul(v.Len, e.GoSize), e.align
		v.CanFail, v.Comparable, v.Flat = e.CanFail, e.Comparable, e.Flat
		m.checkSize(v, e.GoSize)
	case resolve.Map:
		v.Key = m.key(wire.Key, at.step("Key", "{key}"))
		v.Elem = m.val(wire.Elem, at.step("Value", "{}"))
		v.Go, v.GoSize, v.align = "map["+v.Key.Go+"]"+v.Elem.Go, 8, 8
		v.CanFail = v.CanFail || v.Key.CanFail || v.Elem.CanFail
	case resolve.Data:
		v.Go, v.GoSize, v.align = "[]byte", 24, 8
	case resolve.FixedData:
		v.Go, v.GoSize, v.align = "["+strconv.FormatUint(v.Len, 10)+"]byte", v.Len, 1
		v.Comparable, v.Flat = true, true
		m.checkSize(v, 1)
	default:
		m.scalar(v)
	}
	v.Big = v.GoSize >= bigValue
	return v
}

// scalars are Go's types for primitive types. All have the size of their
// alignment but str and void.
var scalars = map[resolve.Kind]struct {
	goType      string
	size, align uint64
}{
	resolve.Uint: {"uint64", 8, 8}, resolve.U8: {"uint8", 1, 1}, resolve.U16: {"uint16", 2, 2}, resolve.U32: {"uint32", 4, 4},
	resolve.U64: {"uint64", 8, 8}, resolve.Int: {"int64", 8, 8}, resolve.I8: {"int8", 1, 1}, resolve.I16: {"int16", 2, 2},
	resolve.I32: {"int32", 4, 4}, resolve.I64: {"int64", 8, 8}, resolve.F32: {"float32", 4, 4}, resolve.F64: {"float64", 8, 8},
	resolve.Bool: {"bool", 1, 1}, resolve.Str: {"string", 16, 8}, resolve.Void: {"struct{}", 0, 1},
}

func (m *maker) scalar(v *Val) {
	s, ok := scalars[v.Kind]
	if !ok {
		panic("plan: a type of kind " + strconv.Itoa(int(v.Kind)) + " reached the plan")
	}
	v.Go, v.GoSize, v.align = s.goType, s.size, s.align
	v.CanFail = v.CanFail || v.Kind == resolve.Str // what is not UTF-8
	v.Comparable = v.Kind != resolve.F32 && v.Kind != resolve.F64
	v.Flat = true
}

// optional chooses between a value with a flag and a pointer. Anonymous types
// in an optional are named without a word for it, unless the optional is a
// named type, which has the name already.
func (m *maker) optional(v *Val, at place) {
	inner := at.step("Value", "")
	if at.lift != at.in.Go {
		inner.lift = at.lift
	}
	e := m.val(v.Wire.Elem, inner)
	v.Elem, v.CanFail = e, e.CanFail
	if e.GoSize <= inlineOptional {
		v.Form, v.Go, v.align = OptValue, "wire.Optional["+e.Go+"]", e.align
		v.GoSize, v.Comparable, v.Flat = roundUp(e.GoSize+1, e.align), false, e.Flat
		return
	}
	v.Form, v.Go, v.GoSize, v.align = OptPointer, "*"+e.Go, 8, 8
}

// key is a map's key. Slices are no keys in Go, so data is a string there.
func (m *maker) key(wire *resolve.Type, at place) *Val {
	v := m.val(wire, at)
	if v.Kind == resolve.Data {
		v.Form, v.Go, v.Type, v.GoSize = StringKey, "string", nil, 16
		v.Comparable, v.Flat = true, true
	}
	return v
}

// checkSize reports a value that Go cannot hold in one piece, where its parts
// are not at fault already.
func (m *maker) checkSize(v *Val, part uint64) {
	if v.GoSize <= greatestValue || part > greatestValue {
		return
	}
	m.report(diag.Errorf(diag.GoTooLarge, v.Wire.At, "this takes %s in Go, more than the greatest value of 256 MiB", size(v.GoSize)).
		Helpf("use a list or data without a fixed length"))
}

func size(n uint64) string {
	if n == math.MaxUint64 {
		return "more than 16 EiB"
	}
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	i := 0
	for n >= 1024 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return strconv.FormatUint(n, 10) + " " + units[i]
}

// mul, add and roundUp saturate.
func mul(a, b uint64) uint64 {
	if a != 0 && b > math.MaxUint64/a {
		return math.MaxUint64
	}
	return a * b
}

func add(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func roundUp(n, align uint64) uint64 {
	if align <= 1 || n%align == 0 {
		return n
	}
	return add(n, align-n%align)
}

// word is a short name for a type, to make names of: U8, ListStr, Customer.
func (m *maker) word(t *resolve.Type) string {
	switch t.Kind {
	case resolve.Ref:
		return m.byDecl[t.Decl].Go
	case resolve.Optional:
		return "Optional" + m.word(t.Elem)
	case resolve.List:
		return "List" + m.word(t.Elem)
	case resolve.FixedList:
		return "List" + strconv.FormatUint(t.Len, 10) + m.word(t.Elem)
	case resolve.Map:
		return "Map" + m.word(t.Key) + m.word(t.Elem)
	case resolve.FixedData:
		return "Data" + strconv.FormatUint(t.Len, 10)
	}
	return kindWords[t.Kind]
}

var kindWords = map[resolve.Kind]string{
	resolve.Uint: "Uint", resolve.U8: "U8", resolve.U16: "U16", resolve.U32: "U32", resolve.U64: "U64",
	resolve.Int: "Int", resolve.I8: "I8", resolve.I16: "I16", resolve.I32: "I32", resolve.I64: "I64",
	resolve.F32: "F32", resolve.F64: "F64", resolve.Bool: "Bool", resolve.Str: "Str", resolve.Void: "Void",
	resolve.Data: "Data", resolve.Struct: "Struct", resolve.Enum: "Enum", resolve.Union: "Union",
}

// SchemaWord is what a type is called in the schema's language, on one line:
// list<str>, optional<Customer>, struct{…}.
func SchemaWord(t *resolve.Type) string {
	switch t.Kind {
	case resolve.Ref:
		return t.Decl.Name
	case resolve.Optional:
		return "optional<" + SchemaWord(t.Elem) + ">"
	case resolve.List:
		return "list<" + SchemaWord(t.Elem) + ">"
	case resolve.FixedList:
		return "list<" + SchemaWord(t.Elem) + ">[" + strconv.FormatUint(t.Len, 10) + "]"
	case resolve.Map:
		return "map<" + SchemaWord(t.Key) + "><" + SchemaWord(t.Elem) + ">"
	case resolve.FixedData:
		return "data[" + strconv.FormatUint(t.Len, 10) + "]"
	}
	return strings.ToLower(kindWords[t.Kind])
}
