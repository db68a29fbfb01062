package emit

import (
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// unionType writes a union: a struct around a sealed interface, the interface,
// the members' wrappers and marks, and the kinds.
//
//	type Person struct {
//		Value PersonMember
//	}
func unionType(g *gocode.Code, t *plan.Type) {
	g.Struct(typeDoc(t), t.Go, func(b *gocode.Body) {
		b.Comment("Value is one of " + memberList(t) + ". Nil does not encode.")
		b.P("Value %s", t.Sealed)
	})
	unionSealed(g, t)
	for _, m := range t.Members {
		unionMember(g, t, m)
	}
	unionKinds(g, t)
}

// memberList is the members' Go types as text: *Customer, *Employee or *PersonU8.
func memberList(t *plan.Type) string {
	var s strings.Builder
	for i, m := range t.Members {
		switch {
		case i == 0:
		case i == len(t.Members)-1:
			s.WriteString(" or ")
		default:
			s.WriteString(", ")
		}
		if i > 0 && i%8 == 0 {
			s.WriteString("\n")
		}
		s.WriteString("*" + m.Go)
	}
	return s.String()
}

// unionSealed writes the interface that only the union's members implement.
//
//	type PersonMember interface {
//		isPersonMember()
//	}
func unionSealed(g *gocode.Code, t *plan.Type) {
	g.Interface(t.Sealed+" is what the union "+t.Go+" can hold:\n"+memberList(t)+".", t.Sealed, func(b *gocode.Body) {
		b.P("%s()", t.Marker)
	})
}

// unionMember writes what makes a type a member of the union; first the type,
// where the member is none of the schema's.
//
//	type PersonU8 struct {
//		Value uint8
//	}
//
//	func (*PersonU8) isPersonMember() {}
func unionMember(g *gocode.Code, t *plan.Type, m *plan.Member) {
	if m.Wrapper {
		g.Struct(m.Go+" is the member "+m.Schema+" of "+t.Go+".", m.Go, func(b *gocode.Body) {
			b.Comment(strings.Join(m.Doc, "\n"))
			b.P("Value %s", m.Val.Go)
		})
	}
	g.Func("", "(*"+m.Go+") "+t.Marker+"()", func(*gocode.Body) {})
}

// unionKinds writes the tags as constants, and which one a value has.
//
//	type PersonKind uint64
//
//	const (
//		PersonKindCustomer PersonKind = 0
//		PersonKindU8       PersonKind = 1
//	)
//
//	func (x *Person) Kind() (kind PersonKind, ok bool) {
//		switch x.Value.(type) {
//		case *Customer:
//			return PersonKindCustomer, true
//		}
//		return 0, false
//	}
func unionKinds(g *gocode.Code, t *plan.Type) {
	kind := t.Name(plan.KindType)
	g.Line(kind+" says which member a "+t.Go+" has: the tag on the wire.", "type %s uint64", kind)
	g.Const("", func(b *gocode.Body) {
		for _, m := range t.Members {
			b.P("%s %s = %d", m.Kind, kind, m.Tag)
		}
	})
	g.Func("String returns the member's name, or "+kind+"(n) where there is none.",
		"(x "+kind+") String() string", func(b *gocode.Body) {
			b.Block("switch x")
			for _, m := range t.Members {
				b.P("case %s:\nreturn %s", m.Kind, strconv.Quote(m.Word))
			}
			b.End()
			b.P(`return "%s(" + strconv.FormatUint(uint64(x), 10) + ")"`, kind)
		})
	g.Func("Kind returns which member the union holds, and whether it holds one.",
		"(x *"+t.Go+") Kind() (kind "+kind+", ok bool)", func(b *gocode.Body) {
			b.Block("switch x.Value.(type)")
			for _, m := range t.Members {
				b.P("case *%s:\nreturn %s, true", m.Go, m.Kind)
			}
			b.End()
			b.P("return 0, false")
		})
}
