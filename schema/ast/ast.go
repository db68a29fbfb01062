// Package ast is the full-fidelity syntax tree of a schema file: every
// declaration, type and comment with its span, in the spelling that was written.
//
// The tree says what stands in the file, not what it means. Names are not
// looked up, tags are not numbered, annotations are not understood here.
package ast

import "github.com/fidelityframework/barewire-gen/schema/source"

// File is one parsed file. A file with syntax errors still has a tree: what
// could not be read is a Bad type or is absent.
type File struct {
	Src      *source.File
	Decls    []*Decl
	Comments []*Comment    // every comment in source order, annotations among them
	Annots   []*Annotation // those that belong to no declaration, field, value or member
	Partial  bool          // an error may have cost more than the place it is at
}

// Comment is one # comment, up to the end of its line.
type Comment struct {
	Span    source.Span // from the # on, without the line end
	OwnLine bool        // nothing but white space stands before it on its line
}

// Text is the comment without its # and without trailing white space.
func (c *Comment) Text() string { return trimComment(c.Span.Text()) }

// Annotation is one #@name(arg, …) comment.
type Annotation struct {
	Span source.Span // the whole comment
	Name Ident
	Args []*Arg
}

// Arg is one argument of an annotation: a word or number, perhaps with
// arguments of its own (numa(3)), perhaps named (fallback=unified).
type Arg struct {
	Span  source.Span // the whole argument
	Key   Ident       // zero where the argument has no key
	Value Ident       // the word or number as written
	Args  []*Arg
}

// Ident is a name, or a number in an annotation, where it stands.
type Ident struct {
	Name string
	Span source.Span
}

// Int is a decimal integer as written. Value is valid where Err is false;
// Err says that it does not fit in 64 bits.
type Int struct {
	Span  source.Span
	Value uint64
	Err   bool
}

// Attached is what stands right above a node, or after it on its line.
type Attached struct {
	Doc    []*Comment // plain comments right above, in order; they become Go doc comments
	Annots []*Annotation
}

// Decl is one declaration of a user type.
type Decl struct {
	Attached
	Span source.Span // from the keyword to the end of the type
	Name Ident
	Type Type
	Old  bool // old spelling of the declaration itself: type X { … } or enum X u8 { … }
}

// Type is one of *Prim, *Named, *Data, *Enum, *Optional, *List, *Map, *Union,
// *Struct and *Bad. No others exist.
type Type interface {
	Pos() source.Span
	isType()
}

// Prim is a built-in scalar, str or void.
type Prim struct {
	Span source.Span
	Name string // the new spelling: "str" also where the file says string
	Old  bool   // written as string
}

// Named refers to a user type.
type Named struct {
	Span source.Span
	Name string
}

// Data is data or data[n]. Old: data<n>.
type Data struct {
	Span source.Span
	Len  *Int // nil for data
	Old  bool
}

// Enum is a set of named values. Base is the old dialect's fixed kind
// (enum X u16), which is on the wire as that type; nil otherwise.
type Enum struct {
	Span   source.Span
	Base   *Prim
	Values []*EnumValue
}

// EnumValue is NAME or NAME = value.
type EnumValue struct {
	Attached
	Span  source.Span
	Name  Ident
	Value *Int // nil where none is written
}

// Optional is optional<Elem>.
type Optional struct {
	Span source.Span
	Elem Type
}

// List is list<Elem> or list<Elem>[n]. Old: []T and [n]T.
type List struct {
	Span source.Span
	Elem Type
	Len  *Int
	Old  bool
}

// Map is map<Key><Value>. Old: map[Key]Value.
type Map struct {
	Span       source.Span
	Key, Value Type
	Old        bool
}

// Union is union { A | B = 3 }. Old: ( A | B = 3 ).
type Union struct {
	Span    source.Span
	Members []*Member
	Old     bool
}

// Member is one type of a union, with its tag where one is written.
type Member struct {
	Attached
	Span source.Span
	Type Type
	Tag  *Int
}

// Struct is struct { field: type … }. In the old dialect a declaration's
// struct has no keyword; so may an anonymous one.
type Struct struct {
	Span   source.Span
	Fields []*Field
	Old    bool // written without the keyword
}

// Field is one field of a struct.
type Field struct {
	Attached
	Span source.Span
	Name Ident
	Type Type
}

// Bad stands where no type could be read. Its error is already reported.
type Bad struct{ Span source.Span }

func (t *Prim) Pos() source.Span     { return t.Span }
func (t *Named) Pos() source.Span    { return t.Span }
func (t *Data) Pos() source.Span     { return t.Span }
func (t *Enum) Pos() source.Span     { return t.Span }
func (t *Optional) Pos() source.Span { return t.Span }
func (t *List) Pos() source.Span     { return t.Span }
func (t *Map) Pos() source.Span      { return t.Span }
func (t *Union) Pos() source.Span    { return t.Span }
func (t *Struct) Pos() source.Span   { return t.Span }
func (t *Bad) Pos() source.Span      { return t.Span }

func (*Prim) isType()     {}
func (*Named) isType()    {}
func (*Data) isType()     {}
func (*Enum) isType()     {}
func (*Optional) isType() {}
func (*List) isType()     {}
func (*Map) isType()      {}
func (*Union) isType()    {}
func (*Struct) isType()   {}
func (*Bad) isType()      {}

func trimComment(s string) string {
	if len(s) > 0 && s[0] == '#' {
		s = s[1:]
	}
	for len(s) > 0 {
		switch s[len(s)-1] {
		case ' ', '\t', '\r':
			s = s[:len(s)-1]
			continue
		}
		break
	}
	return s
}
