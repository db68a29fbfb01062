package emit

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// declare writes the Go type itself and what makes it usable as a value:
// constants, names, members.
func declare(_ *emitter, g *gocode.Code, t *plan.Type) {
	switch {
	case t.Alias != nil:
		aliasType(g, t)
	case t.Kind == resolve.Struct:
		structType(g, t)
	case t.Kind == resolve.Enum:
		enumType(g, t)
	case t.Kind == resolve.Union:
		unionType(g, t)
	default:
		definedType(g, t)
	}
}

// typeDoc is a type's comment: the schema's, and for a lifted type where it
// comes from.
func typeDoc(t *plan.Type) string {
	text := strings.Join(t.Doc, "\n")
	if !t.Named {
		text = t.Go + " is the " + strings.ToLower(kindName(t.Kind)) + " in " + t.Schema + "."
	}
	return text
}

func kindName(k resolve.Kind) string {
	switch k {
	case resolve.Struct:
		return "struct"
	case resolve.Enum:
		return "enum"
	case resolve.Union:
		return "union"
	}
	return "type"
}

// structType writes
//
//	type Customer struct {
//		// The name on the invoice.
//		Name    string
//		Address CustomerAddress
//		_       [3]byte
//	}
func structType(g *gocode.Code, t *plan.Type) {
	g.Struct(typeDoc(t), t.Go, func(b *gocode.Body) {
		for _, f := range t.Fields {
			b.Comment(strings.Join(f.Doc, "\n"))
			if f.Capability != nil {
				b.P("%s%s", gocode.DirectivePrefix, accessOf(f))
			}
			b.P("%s %s", f.Go, f.Val.Go)
		}
	})
}

// definedType writes a named type that is no struct, enum or union.
//
//	type Name string
func definedType(g *gocode.Code, t *plan.Type) {
	g.Line(typeDoc(t), "type %s %s", t.Go, t.Under.Go)
}

// aliasType writes a type that is another one by name. Its methods are the
// other's, by conversion.
//
//	type Employer Company
func aliasType(g *gocode.Code, t *plan.Type) {
	a, b := t.Go, t.Alias.Go
	g.Line(typeDoc(t), "type %s %s", a, b)
	if t.Kind != resolve.Enum {
		return
	}
	g.Func("String returns the value's name in the schema, or "+b+"(n) where it has none.",
		"(x "+a+") String() string", func(w *gocode.Body) { w.P("return %s(x).String()", b) })
	g.Func("IsValid reports whether the value is one of the enum's.",
		"(x "+a+") IsValid() bool", func(w *gocode.Body) { w.P("return %s(x).IsValid()", b) })
	g.Func("MarshalText returns the value's name in the schema.",
		"(x "+a+") MarshalText() ([]byte, error)", func(w *gocode.Body) { w.P("return %s(x).MarshalText()", b) })
	g.Func("UnmarshalText sets the value by its name in the schema.",
		"(x *"+a+") UnmarshalText(text []byte) error", func(w *gocode.Body) { w.P("return (*%s)(x).UnmarshalText(text)", b) })
}
