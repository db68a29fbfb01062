// Package resolve gives a parsed schema its meaning: names looked up, tags and
// values numbered, annotations understood, and every rule of BARE checked.
package resolve

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Options selects the rules.
type Options struct {
	Spec int // a draft's number, 11 to 14; 0 accepts what real files use
}

// Files resolves files that were given together.
func Files(files []*ast.File, opts Options) (*Schema, diag.List) {
	return nil, nil // written by the resolver
}
