package emit

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// effect says above the next function what it does to memory that it is given, for the analyzers of
// barewire-gen vet. What they work out from its body needs no word; but they do not look
// into package wire. Without regions in the package there is nothing that they follow.
func effect(g *gocode.Code, t *plan.Type, clauses string) {
	if t.File.Package.Regions {
		g.Directive("effect %s", clauses)
	}
}

// viewsOf is the effect of a function whose result is memory of a view, if a value of that kind is any.
func viewsOf(g *gocode.Code, t *plan.Type, v *plan.Val, view string) {
	if refers(v) {
		effect(g, t, "views=0 of "+view)
	}
}

// refers reports whether views give a value of this kind as a reference to its bytes, not as a copy.
func refers(v *plan.Val) bool {
	switch v.Kind {
	case resolve.Optional:
		return refers(v.Elem)
	case resolve.Str, resolve.Data, resolve.FixedData, resolve.Struct, resolve.Union, resolve.List, resolve.FixedList, resolve.Map:
		return true
	}
	return false
}

// schemaOf says above a method which schema its receiver is of.
func schemaOf(g *gocode.Code, t *plan.Type) {
	g.Directive("schema %s@sha256:%x", schemaName(t), schema.Hash(t.Decl))
}

// schemaName is how a type is called where programs meet: by its Go package and its name.
func schemaName(t *plan.Type) string { return t.File.Package.Name + "." + t.Go }

// accessOf is the directive of a #@ref field: what the reference in it is good for.
func accessOf(f *plan.Field) string {
	var name strings.Builder
	for i, c := range f.Capability.Marker {
		if c >= 'A' && c <= 'Z' {
			if i > 0 {
				name.WriteByte('_')
			}
			c += 'a' - 'A'
		}
		name.WriteRune(c)
	}
	return fmt.Sprintf("access %s", name.String())
}
