package parser

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// harmless are the errors after which the tree still has all that the file says:
// what is around them was read as it was meant, or is marked as unreadable. Whoever
// looks for more faults in such a tree is not misled.
var harmless = map[diag.Code]bool{
	diag.BadSeparator:        true,
	diag.UnknownBuiltin:      true,
	diag.LowerCaseTypeName:   true,
	diag.IntegerTooLarge:     true,
	diag.ForeignComment:      true,
	diag.BadAnnotation:       true,
	diag.EqualsInDeclaration: true,
}

// partial reports whether the tree may lack what the file says.
func (p *parser) partial() bool {
	if p.skipped {
		return true
	}
	for _, d := range p.errs {
		if !harmless[d.Code] {
			return true
		}
	}
	return false
}

// lostAnnotation notes that an annotation could not be read. Without its #@package a file's
// types are in the wrong company.
func (p *parser) lostAnnotation(c *ast.Comment) {
	if strings.HasPrefix(c.Span.Text(), "#@package") {
		p.skipped = true
	}
}
