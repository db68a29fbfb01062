// Package schemagen makes random BARE schemas and random values for them, and
// holds the reference that generated code is measured against: a codec written
// from the draft's text alone, over plain trees of values, slow and obvious.
//
// It has a model of its own and shares no code with the compiler, so that one
// misreading of the draft cannot hide in both.
package schemagen

// Kind is what a type is.
type Kind uint8

// The kinds, with how each is written.
const (
	Uint      Kind = iota // uint
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
	Data                  // data
	FixedData             // data[n]
	Void                  // void
	Enum                  // enum
	Optional              // optional<T>
	List                  // list<T>
	FixedList             // list<T>[n]
	Map                   // map<K><V>
	Union                 // union
	Struct                // struct
	Ref                   // a declared type by its name
)

var kindNames = [...]string{
	"uint", "u8", "u16", "u32", "u64", "int", "i8", "i16", "i32", "i64", "f32", "f64",
	"bool", "str", "data", "data[n]", "void", "enum", "optional", "list", "list[n]", "map", "union", "struct", "ref",
}

// String is the keyword of the kind in the new dialect.
func (k Kind) String() string { return kindNames[k] }

// Schema is one schema file.
type Schema struct {
	Decls []*Decl // each only refers to earlier ones, unless Forward is set
	// Forward prints the declarations last to first, so that they are used before they are defined.
	Forward bool
}

// Decl names a type.
type Decl struct {
	Name string
	Type *Type
}

// Type is one type where it stands.
type Type struct {
	Kind    Kind
	Elem    *Type  // Optional, List, FixedList; a Map's value
	Key     *Type  // Map
	Len     uint64 // FixedData, FixedList
	Max     uint64 // #@max on a Str, Data, List or Map that a field or a declaration has; 0 for none
	Fields  []*Field
	Members []*Member
	Values  []*EnumValue
	Base    Kind // of an old enum with a fixed kind (U8 to U64); Uint otherwise
	Decl    *Decl
}

// Field is one field of a struct.
type Field struct {
	Name string
	Type *Type
	Pad  bool // #@pad: zeros on the wire, no value
}

// Member is one type of a union. Implicit tags are printed only where they follow.
type Member struct {
	Type *Type
	Tag  uint64
}

// EnumValue is one named value.
type EnumValue struct {
	Name  string
	Value uint64
}

// Under follows names to the type behind them.
func (t *Type) Under() *Type {
	for t.Kind == Ref {
		t = t.Decl.Type
	}
	return t
}

// IsVoid reports whether a type is void in the end.
func (t *Type) IsVoid() bool { return t.Under().Kind == Void }

// IsKey reports whether a map may be keyed by a type.
func (t *Type) IsKey() bool {
	switch u := t.Under(); u.Kind {
	case F32, F64, Void, Optional, List, FixedList, Map, Union, Struct:
		return false
	}
	return true
}

// FixedSize reports whether all values of a type take the same number of
// bytes, and how many.
func (t *Type) FixedSize() (uint64, bool) {
	switch t.Kind {
	case Ref:
		return t.Decl.Type.FixedSize()
	case U8, I8, Bool:
		return 1, true
	case U16, I16:
		return 2, true
	case U32, I32, F32:
		return 4, true
	case U64, I64, F64:
		return 8, true
	case Void:
		return 0, true
	case FixedData:
		return t.Len, true
	case FixedList:
		n, ok := t.Elem.FixedSize()
		return n * t.Len, ok
	case Struct:
		var sum uint64
		for _, f := range t.Fields {
			n, ok := f.Type.FixedSize()
			if !ok {
				return 0, false
			}
			sum += n
		}
		return sum, true
	case Enum:
		if t.Base != Uint {
			return (&Type{Kind: t.Base}).FixedSize()
		}
		return sameSize(len(t.Values), func(i int) (uint64, bool) {
			return uint64(len(appendUint(nil, t.Values[i].Value))), true
		})
	case Union:
		return sameSize(len(t.Members), func(i int) (uint64, bool) {
			n, ok := t.Members[i].Type.FixedSize()
			return n + uint64(len(appendUint(nil, t.Members[i].Tag))), ok
		})
	}
	return 0, false
}

func sameSize(n int, size func(int) (uint64, bool)) (uint64, bool) {
	first, ok := size(0)
	for i := 1; ok && i < n; i++ {
		s, fixed := size(i)
		ok = fixed && s == first
	}
	return first, ok
}
