// Package lint finds what compiles but is likely to go wrong elsewhere: what
// other compilers and earlier drafts of BARE refuse. With a draft chosen, what
// that draft refuses is an error.
package lint

import (
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Options selects what is looked for.
type Options struct {
	Spec int // a draft's number, 11 to 14: what it refuses is an error. 0: nothing is
}

// Run looks at a schema. Schemas with errors are served as well.
func Run(s *resolve.Schema, layouts *layout.Layouts, opts Options) diag.List {
	return nil
}
