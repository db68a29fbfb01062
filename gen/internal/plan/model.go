// Package plan decides everything about the Go of one namespace before a line
// of it is written: which types there are, what they and all that belongs to
// them are called, and how each wire type is represented where it stands.
// Emitters read the plan and write; they decide nothing.
//
// A plan does not change once it is made, so emitters may run side by side.
package plan

import (
	"sync"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Options are the decisions that the user makes.
type Options struct {
	Package string            // Go package name; empty: #@package, which must then be there
	GoBare  bool              // reserve the names of go-bare's methods
	NoViews bool              // reserve no names for views
	Rename  map[string]string // Go names by schema path: "Type", "Type.field", "Enum.VALUE"; or by Go name for lifted types
}

// Package is one namespace as one Go package.
type Package struct {
	Name    string // Go package name
	NS      *resolve.Namespace
	Options Options
	Files   []*File // in the order given
	Types   []*Type // every Go type of every file, in emission order

	Regions bool     // a type of it can be in regions
	Renamed []string // the renames of Options that were used, sorted

	layouts *layout.Layouts
}

// File is one schema file as one Go file.
type File struct {
	Name    string   // telemetry_bare.go: a base name, without a directory
	Source  string   // the schema file's name as it was given
	Base    string   // the schema file's base name, as the header says it
	Doc     []string // the schema's comment at the top
	Package *Package
	Types   []*Type // in emission order: a named type, then the types lifted out of it
}

// Type is one Go type that the generated code declares: a type that the schema
// names, or an anonymous struct, enum or union, lifted out and named by its path.
//
// What a type is follows from Kind. Struct, Enum and Union have Fields, Values
// or Members. Any other kind is a defined type over Under.Go
// (`type Name string`). Alias is set where the schema says `type A B`: then A
// is `type A B` in Go, and its methods go through B's by conversion.
type Type struct {
	Go     string        // the Go name
	Named  bool          // the schema names it: it has the whole API. Else it was lifted
	Schema string        // as the user would say it: "Customer", or "Customer.orders" for a lifted type
	Decl   *resolve.Decl // the declaration that it is, or that it was lifted out of
	Doc    []string      // comment lines of the schema, without marks
	At     source.Span   // the schema's place for it
	File   *File

	Kind  resolve.Kind // never Ref, never Invalid: the kind behind all aliases
	Wire  *resolve.Type
	Alias *Type // set for `type A B`, where B is a declared type
	Under *Val  // what stands behind the name; its Type is nil. For Struct, Enum and Union too

	Fields  []*Field  // Struct
	Runs    []Run     // Struct: the fields in groups, see Run
	Values  []*Value  // Enum, as declared
	Members []*Member // Union, as declared

	EnumFixed bool    // an enum of the old dialect with a fixed kind: EnumGo little-endian, no varint
	EnumGo    string  // an enum's Go type: uint8 where all values encode in one byte; else uint64; uint16 … where fixed
	Sealed    string  // a union's sealed interface, PersonMember
	Marker    string  // the method that seals it, isPersonMember
	InUnions  []*Type // the unions that it is a direct member of, by its own pointer

	Region *Region // what its regions can be; nil where it has none

	names  map[Pattern]string // derived package-level names that differ from their patterns
	views  viewNames
	lifted []*Type // in emission order
	facts  sync.Map
}

// Fact is what an emitter works out about a type: once, however often it is
// asked and from however many places the type is reached. Without that, asking
// a struct that has two of a struct that has two … takes exponential time.
func Fact[T any](t *Type, name string, work func() T) T {
	if known, ok := t.facts.Load(name); ok {
		return known.(T)
	}
	v := work()
	t.facts.Store(name, v)
	return v
}

// Pointer reports whether methods stand on pointers: structs and unions (and
// their aliases). Decoding methods always do.
func (t *Type) Pointer() bool { return t.Kind == resolve.Struct || t.Kind == resolve.Union }

// Recv is the receiver for methods that do not change the value: *T or T.
func (t *Type) Recv() string {
	if t.Pointer() {
		return "*" + t.Go
	}
	return t.Go
}

// HasView reports whether a type has a view. A scalar, a string or data has
// nothing to look into.
func (t *Type) HasView() bool {
	switch t.Kind {
	case resolve.Struct, resolve.Union, resolve.List, resolve.FixedList, resolve.Map, resolve.Optional:
		return true
	}
	return false
}

// Layout is the type's layout.
func (t *Type) Layout() layout.Info { return t.Under.Layout }

// Form is how a wire type is represented in Go where it stands.
type Form uint8

const (
	Plain      Form = iota // as its kind says
	OptValue               // optional: wire.Optional[Elem.Go] with Value and Valid
	OptPointer             // optional: *Elem.Go, nil where absent
	OptBox                 // a named optional whose value is large: struct{ Value *Elem.Go }
	StringKey              // data as a map's key: string
)

// Val is a wire type where it stands, as Go sees it. Each place has a Val of
// its own.
type Val struct {
	Kind resolve.Kind // never Ref, never Invalid: the kind behind all names
	Wire *resolve.Type
	Form Form
	Go   string // Go's text for the type; qualifiers are tracked by gocode (wire.Optional[uint32])

	// Type is the declared Go type of the place, or nil where Go is a type
	// literal. Struct, Enum and Union always have one. Where it is set, Elem and
	// Key are those of the type behind it, and a conversion to or from
	// Type.Under.Go gives the bare form.
	Type *Type

	Elem *Val   // Optional, List, FixedList; a Map's value
	Key  *Val   // Map
	Len  uint64 // FixedData, FixedList
	Max  uint64 // #@max, 0 where there is none

	Layout layout.Info // Min: at least so many bytes on the wire
	Path   string      // suffix for unexported helpers (append+Path): unique in the package, a capital first; empty for scalars, data, and names of structs, enums and unions, which need no helpers

	View string // the name of the view type of a List, FixedList or Map without a Type of its own
	// ViewIn is the type whose views that one is written with.
	ViewIn *Type

	CanFail    bool   // encoding can be refused: str, enum, union, #@max, or a part of it
	Comparable bool   // == is wire equality: no floats, slices, maps, pointers in it
	Flat       bool   // an assignment is a deep copy
	GoSize     uint64 // size in Go on a 64-bit machine, bytes; saturates
	Big        bool   // GoSize ≥ 64 KiB: handle by pointer only (no copies through locals or parameters)

	align uint64 // in Go, bytes
}

// Size is the fixed encoded size in bytes; ok is false where it varies.
func (v *Val) Size() (n uint64, ok bool) { return v.Layout.Min, v.Layout.IsFixed() }

// Field is one field of a struct.
type Field struct {
	Go     string // UserID; "_" for padding
	Schema string // user_id: what error paths say
	Doc    []string
	At     source.Span
	Val    *Val
	Pad    bool  // #@pad: `_ [n]byte`; encoders write zeros, decoders skip it
	Offset int64 // from the struct's first byte; -1 where what stands before varies
	Wire   *resolve.Field
	Owner  *Type

	Capability *Capability // #@ref, else nil
}

// Run is a run of a struct's fields: Fields[First:End]. A fixed run has only
// fields of fixed size, Size bytes together, and is as long as it can be: one
// bounds check serves it. A run that is not fixed is one field.
type Run struct {
	First, End int
	Fixed      bool
	Size       uint64 // of a fixed run
}

// Value is one value of an enum.
type Value struct {
	Go     string // DepartmentCustomerService
	Schema string // CUSTOMER_SERVICE: what String returns
	Doc    []string
	At     source.Span
	N      uint64
}

// Member is one member of a union.
type Member struct {
	Go      string // the Go type whose pointer is the member: Customer, or PersonU8
	Word    string // short and unique in the union: Customer, U8, ListStr
	Schema  string // what error paths say: Customer, u8
	Wrapper bool   // Go is `struct{ Value Val.Go }`, declared with the union. Else Val.Type.Go == Go
	Tag     uint64
	Doc     []string
	At      source.Span
	Val     *Val
	Kind    string // const of the union's kind: PersonKindCustomer
}

// Layouts are the layouts of the schema. They do not change.
func (p *Package) Layouts() *layout.Layouts { return p.layouts }
