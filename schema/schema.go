package schema

import (
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Options selects the language's rules.
type Options struct {
	Spec int // a draft's number, 11 to 14; 0 accepts what real files use and says who would not
}

// Schema is a compiled schema: what the files mean and how the types lie in memory.
type Schema struct {
	*resolve.Schema
	Layouts *layout.Layouts
}

// Compile reads files that belong together. The list has all that it found,
// sorted; the schema is nil where one of them is an error.
func Compile(files []*source.File, opts Options) (*Schema, diag.List) {
	return nil, nil
}
