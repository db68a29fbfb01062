// Package view draws how types lie in memory: as text that pastes well into a
// pull request, and as a document for programs. It decides nothing; sizes and
// classes come from schema/layout.
package view

import (
	"strings"

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
	Lines uint64  `json:"cacheLines"`     // that a struct of fixed size takes; else 0
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

	short string // Type without bodies, for the drawing
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
		Class: info.Class.String(), Min: info.Min, Max: maxOf(info), Align: max(1, info.Align),
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
		t.Kind, t.Spelling = body.Kind.String(), body.String()
		if body.Kind == resolve.Ref {
			t.Kind = "alias"
		}
	}
	t.Slot = l.Slot(d.Type, d)
	if info.IsFixed() && body.Kind == resolve.Struct {
		t.Lines = (info.Min + t.lineSize - 1) / t.lineSize
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
	return Part{Type: t.String(), short: strings.ReplaceAll(t.Short(), "…", ".."), Min: info.Min, Max: maxOf(info), Align: max(1, info.Align)}
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
