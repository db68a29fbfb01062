package resolve

import (
	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/parser"
)

// The memory of a run grows with what it is given: by up to 4 KB for each
// declaration and each thing in it, once Go names are made of them. With these
// limits that stays below 4 GB.
const (
	maxDecls = parser.MaxDecls
	maxParts = 750_000 // fields, members and values
)

// tooMuch reports files that have more than one run takes, at the first type
// that is too many.
func tooMuch(files []*ast.File) *diag.Diagnostic {
	decls, inside := 0, 0
	for _, f := range files {
		for _, d := range f.Decls {
			decls++
			inside += partsOf(d.Type)
			switch {
			case decls > maxDecls:
				return diag.Errorf(diag.TooManyTypes, d.Name.Span, "the files together have more than %d declarations; this is the first that is too many", maxDecls)
			case inside > maxParts:
				return diag.Errorf(diag.TooManyTypes, d.Name.Span, "the files together have more than %d fields, members and values; with this type it is too many", maxParts)
			}
		}
	}
	return nil
}

// partsOf counts the fields, members and values that are written in a type. It
// goes as deep as the parser lets types nest.
func partsOf(t ast.Type) (n int) {
	switch t := t.(type) {
	case *ast.Optional:
		return partsOf(t.Elem)
	case *ast.List:
		return partsOf(t.Elem)
	case *ast.Map:
		return partsOf(t.Key) + partsOf(t.Value)
	case *ast.Enum:
		return len(t.Values)
	case *ast.Union:
		n = len(t.Members)
		for _, m := range t.Members {
			n += partsOf(m.Type)
		}
	case *ast.Struct:
		n = len(t.Fields)
		for _, f := range t.Fields {
			n += partsOf(f.Type)
		}
	}
	return n
}
