// Package view draws how types lie in memory: as text that pastes well into a
// pull request, and as a document for programs. It decides nothing; sizes and
// classes come from schema/layout.
package view

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Line is the size of a cache line in bytes, unless the schema says otherwise.
const Line = 64

// Type is the layout of one type. Sizes and offsets are in bytes.
type Type struct {
	Name   string `json:"name"`
	File   string `json:"file"`
	Line   int    `json:"line"`
	Column int    `json:"column"`
	Kind   string `json:"kind"`  // struct, union, enum, list …
	Class  string `json:"class"` // castable, fixed, bounded, variable
	Min    uint64 `json:"min"`   // the smallest message
	// Max is the greatest message; nil where there is no limit. It equals Min
	// where the size is fixed.
	Max   *uint64 `json:"max"`
	Align uint64  `json:"align"`          // the natural alignment
	Lines uint64  `json:"cacheLines"`     // that a value of a fixed size takes; 0 for others
	Asked uint64  `json:"askedAlign"`     // #@align, or 0
	Slot  uint64  `json:"slot,omitempty"` // the size of a slot, where the class is bounded
	// WhyNot says why the type is not castable; empty where it is.
	WhyNot   string `json:"whyNotCastable,omitempty"`
	Spelling string `json:"type,omitempty"` // of a type that is no struct, union or enum
	Fields   []Part `json:"fields,omitempty"`
	Members  []Part `json:"members,omitempty"`
	Values   []Part `json:"values,omitempty"`

	lineSize uint64
}

// Part is a field of a struct, a member of a union or a value of an enum.
type Part struct {
	Name string `json:"name,omitempty"` // empty for a member
	Type string `json:"type,omitempty"` // empty for a value of an enum
	// Tag is a member's tag or an enum value's number; nil for fields.
	Tag *uint64 `json:"tag,omitempty"`
	// Offset is where a field starts; nil where what stands before it has no
	// fixed size.
	Offset *uint64 `json:"offset,omitempty"`
	Min    uint64  `json:"min"`
	Max    *uint64 `json:"max"`
	Align  uint64  `json:"align,omitempty"`
	Pad    bool    `json:"pad,omitempty"`
	Atomic bool    `json:"atomic,omitempty"`
	// Straddles: it would fit into one cache line and lies in two, if the value
	// starts at a line.
	Straddles bool `json:"straddles,omitempty"`
	// Misaligned: it does not start at a multiple of its alignment.
	Misaligned bool `json:"misaligned,omitempty"`

	least uint64 // the least offset, where there is no fixed one
}

// Types returns the layouts of the types that a schema declares, in the order
// of the source, or of those with the given names.
func Types(s *schema.Schema, wanted func(name string) bool) (types []*Type) {
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				if wanted(d.Name) {
					types = append(types, typeOf(s.Layouts, d))
				}
			}
		}
	}
	return types
}

func typeOf(l *layout.Layouts, d *resolve.Decl) *Type {
	info, pos := l.Of(d.Type), d.At.Pos()
	t := &Type{
		Name: d.Name, File: d.At.File.Name(), Line: pos.Line, Column: pos.Column,
		Class: className(info.Class), Min: info.Min, Max: maxOf(info), Align: max(1, info.Align),
		Asked: d.Align, WhyNot: info.WhyNot, lineSize: Line,
	}
	body := d.Type
	switch body.Kind {
	case resolve.Struct:
		t.Kind = "struct"
		t.fields(l, body)
	case resolve.Union:
		t.Kind = "union"
		for _, m := range body.Members {
			p := partOf(l, m.Type)
			p.Tag = &m.Tag
			t.Members = append(t.Members, p)
		}
	case resolve.Enum:
		t.Kind = "enum"
		for _, v := range body.Values {
			size := enumSize(body, v.Value)
			t.Values = append(t.Values, Part{Name: v.Name, Tag: &v.Value, Min: size, Max: &size})
		}
	default:
		t.Kind, t.Spelling = kindName(body.Kind), Spell(body)
	}
	switch {
	case info.IsFixed():
		t.Lines = (info.Min + t.lineSize - 1) / t.lineSize
	case info.Class == layout.Bounded:
		t.Slot = roundUp(4+info.Max, max(8, d.Align))
	}
	return t
}

// fields places the fields of a struct one behind the other.
func (t *Type) fields(l *layout.Layouts, body *resolve.Type) {
	for _, f := range body.Fields {
		if f.Cacheline != 0 {
			t.lineSize = max(t.lineSize, f.Cacheline)
		}
	}
	at, known := uint64(0), true
	for _, f := range body.Fields {
		p := partOf(l, f.Type)
		p.Name, p.Pad, p.Atomic, p.least = f.Name, f.Pad, f.Atomic, at
		if known {
			offset := at
			p.Offset = &offset
			p.Misaligned = !p.Pad && offset%p.Align != 0
		}
		fixed := p.Max != nil && *p.Max == p.Min
		if known && fixed && !p.Pad && p.Min > 0 && p.Min <= t.lineSize {
			p.Straddles = at/t.lineSize != (at+p.Min-1)/t.lineSize
		}
		at += p.Min
		known = known && fixed
		t.Fields = append(t.Fields, p)
	}
}

func partOf(l *layout.Layouts, t *resolve.Type) Part {
	info := l.Of(t)
	return Part{Type: Spell(t), Min: info.Min, Max: maxOf(info), Align: max(1, info.Align)}
}

func maxOf(info layout.Info) *uint64 {
	if info.Class == layout.Variable {
		return nil
	}
	m := info.Max
	if info.IsFixed() {
		m = info.Min
	}
	return &m
}

func className(c layout.Class) string {
	switch c {
	case layout.Castable:
		return "castable"
	case layout.Fixed:
		return "fixed"
	case layout.Bounded:
		return "bounded"
	}
	return "variable"
}

// enumSize is how many bytes a value of an enum takes.
func enumSize(t *resolve.Type, v uint64) uint64 {
	switch t.Base {
	case resolve.U8:
		return 1
	case resolve.U16:
		return 2
	case resolve.U32:
		return 4
	case resolve.U64:
		return 8
	}
	n := uint64(1)
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func roundUp(n, to uint64) uint64 { return (n + to - 1) / to * to }

var kindNames = map[resolve.Kind]string{
	resolve.Uint: "uint", resolve.U8: "u8", resolve.U16: "u16", resolve.U32: "u32", resolve.U64: "u64",
	resolve.Int: "int", resolve.I8: "i8", resolve.I16: "i16", resolve.I32: "i32", resolve.I64: "i64",
	resolve.F32: "f32", resolve.F64: "f64", resolve.Bool: "bool", resolve.Str: "str", resolve.Void: "void",
	resolve.Data: "data", resolve.FixedData: "data", resolve.Enum: "enum", resolve.Optional: "optional",
	resolve.List: "list", resolve.FixedList: "list", resolve.Map: "map", resolve.Union: "union",
	resolve.Struct: "struct", resolve.Ref: "alias",
}

func kindName(k resolve.Kind) string { return kindNames[k] }

// Spell writes a type as a schema does, in the new syntax and on one line. The
// bodies of structs, enums and unions without a name are left out.
func Spell(t *resolve.Type) string {
	switch t.Kind {
	case resolve.Ref:
		return t.Decl.Name
	case resolve.FixedData:
		return fmt.Sprintf("data[%d]", t.Len)
	case resolve.Optional:
		return "optional<" + Spell(t.Elem) + ">"
	case resolve.List:
		return "list<" + Spell(t.Elem) + ">"
	case resolve.FixedList:
		return fmt.Sprintf("list<%s>[%d]", Spell(t.Elem), t.Len)
	case resolve.Map:
		return "map<" + Spell(t.Key) + "><" + Spell(t.Elem) + ">"
	}
	return kindName(t.Kind)
}
