package resolve

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Kind is what a type is on the wire.
type Kind uint8

// The kinds, with how each is written.
const (
	Invalid   Kind = iota // a type with an error; never in a schema without errors
	Uint                  // uint
	U8                    // u8
	U16                   // u16
	U32                   // u32
	U64                   // u64
	Int                   // int
	I8                    // i8
	I16                   // i16
	I32                   // i32
	I64                   // i64
	F32                   // f32
	F64                   // f64
	Bool                  // bool
	Str                   // str
	Void                  // void
	Data                  // data
	FixedData             // data[n]
	Enum                  // enum
	Optional              // optional<T>
	List                  // list<T>
	FixedList             // list<T>[n]
	Map                   // map<K><V>
	Union                 // union
	Struct                // struct
	Ref                   // a user type by name
)

// Schema is what a set of files means: the namespaces in order of their first file.
type Schema struct {
	Namespaces []*Namespace
	// Order has every declaration behind all that it refers to, so that a walk
	// along it needs no recursion from type to type.
	Order []*Decl
}

// Namespace is the files that see each other's types and become one Go
// package: those with the same #@package, or none.
type Namespace struct {
	Package string // from #@package; empty where no file says it
	Files   []*File
	Types   map[string]*Decl
}

// File is one schema file.
type File struct {
	Syntax *ast.File
	NS     *Namespace
	Doc    []string // comment lines at the top that belong to no declaration
	Decls  []*Decl  // in source order
}

// Decl is one user type.
type Decl struct {
	Name string
	At   source.Span // the name
	Doc  []string    // comment lines right above, without #
	File *File
	Type *Type // never nil; Kind Invalid where it had an error

	GoName    ast.Ident // #@go(name=…) as written, whether Go takes it or not; Name is empty where there is none
	Align     uint64    // #@align, else 0
	AlignAt   source.Span
	Residency []Place
	Fallback  bool // fallback=unified
	Rights    []Right
	RightsAt  source.Span // the #@register annotation
	PlacesAt  source.Span // the #@residency annotation
	Syntax    *ast.Decl

	under *Type   // the type behind all names; set once the order is known
	refs  []*Type // the Refs in it, in source order
	mark  mark    // the search for cycles
	depth int     // its place on that search's path
}

// Residency words: where a region lives.
const (
	CPU       = "cpu"        // the machine's own memory
	NUMA      = "numa"       // its memory at one node
	CXL       = "cxl"        // memory behind CXL
	CXLShared = "cxl_shared" // memory behind CXL that several machines share
	GPU       = "gpu"        // a GPU's memory
	Managed   = "managed"    // memory that a GPU's driver manages
	Unified   = "unified"    // memory that is coherent for host and device
)

// Place is one residency that #@residency lists.
type Place struct {
	Residency string // one of the words above
	Node      int    // numa(N), else -1
	At        source.Span
}

// Right is one access that #@register lists: local, remote_read, remote_write
// or remote_atomic.
type Right struct {
	Name string
	At   source.Span
}

// Type is one type where it stands in a schema.
type Type struct {
	Kind Kind
	At   source.Span

	Elem *Type  // Optional, List, FixedList; a Map's value
	Key  *Type  // Map
	Len  uint64 // FixedData, FixedList
	Max  uint64 // #@max on Str, Data, List or Map; 0 where there is none. On a Ref never set:
	// a named type carries its own.
	MaxAt source.Span

	Fields  []*Field     // Struct
	Members []*Member    // Union
	Values  []*EnumValue // Enum, as declared
	Base    Kind         // Enum of the old dialect with a fixed kind: U8 … U64, else Invalid
	Decl    *Decl        // Ref
}

// Resolve follows names to the type behind them: never a Ref.
func (t *Type) Resolve() *Type {
	for t.Kind == Ref {
		if t.Decl.under != nil {
			return t.Decl.under
		}
		t = t.Decl.Type
	}
	return t
}

// Field is one field of a struct.
type Field struct {
	Name string
	At   source.Span // the name
	Doc  []string
	Type *Type

	GoName    ast.Ident // #@go(name=…) as written, whether Go takes it or not; Name is empty where there is none
	Atomic    bool
	Sequence  bool        // #@atomic(sequence): Atomic, a u64, and the first of several fields
	AtomicAt  source.Span // the #@atomic annotation
	Pad       bool
	PadAt     source.Span
	Cacheline uint64 // bytes of a line where #@cacheline stands: 64, or its argument; else 0
	LineAt    source.Span
	Ref       *RefTo // #@ref, else nil
	Syntax    *ast.Field
}

// RefTo is what a #@ref field points to: the type and the rights it carries.
type RefTo struct {
	Decl   *Decl
	Rights []Right
	At     source.Span
}

// Member is one type of a union.
type Member struct {
	Type   *Type
	Tag    uint64
	At     source.Span
	Doc    []string
	GoName ast.Ident
	Syntax *ast.Member
}

// EnumValue is one value of an enum.
type EnumValue struct {
	Name   string
	Value  uint64
	At     source.Span
	Doc    []string
	GoName ast.Ident
	Syntax *ast.EnumValue
}
