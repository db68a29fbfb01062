// Package view draws how types lie in memory: as text that pastes well into a
// pull request. It decides nothing; all that it shows comes from schema/layout.
package view

import (
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Type is the layout of one type, as --format=json writes it.
type Type struct {
	*layout.Description
	Values []Value `json:"values,omitempty"` // of an enum
}

// Value is one value of an enum.
type Value struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
	Size  uint64 `json:"size"` // in bytes
}

// Types returns the layouts of the types that a schema declares, in the order
// of the source: of all, or of those that are wanted.
func Types(s *schema.Schema, wanted func(name string) bool) (types []*Type) {
	for _, d := range Decls(s) {
		if !wanted(d.Name) {
			continue
		}
		t := &Type{Description: s.Layouts.Describe(d)}
		if d.Type.Kind == resolve.Enum {
			for _, v := range d.Type.Values {
				t.Values = append(t.Values, Value{v.Name, v.Value, enumSize(d.Type, v.Value)})
			}
		}
		types = append(types, t)
	}
	return types
}

// Decls lists what a schema declares, in the order of the source.
func Decls(s *schema.Schema) (decls []*resolve.Decl) {
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			decls = append(decls, f.Decls...)
		}
	}
	return decls
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
	return varintSize(v)
}

func varintSize(v uint64) uint64 {
	n := uint64(1)
	for ; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}
