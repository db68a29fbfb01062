package emit

import (
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
)

// enumType writes an enum with its constants and its text form.
//
//	type Department uint8
//
//	const (
//		DepartmentAccounting      Department = 0
//		DepartmentCustomerService Department = 1
//	)
func enumType(g *gocode.Code, t *plan.Type) {
	g.Line(typeDoc(t), "type %s %s", t.Go, t.EnumGo)
	g.Const("", func(b *gocode.Body) {
		for _, v := range t.Values {
			b.Comment(strings.Join(v.Doc, "\n"))
			b.P("%s %s = %d", v.Go, t.Go, v.N)
		}
	})
	enumString(g, t)
	enumIsValid(g, t)
	enumMarshalText(g, t)
	enumUnmarshalText(g, t)
}

// enumString writes
//
//	func (x Department) String() string {
//		switch x {
//		case DepartmentAccounting:
//			return "ACCOUNTING"
//		}
//		return "Department(" + strconv.FormatUint(uint64(x), 10) + ")"
//	}
func enumString(g *gocode.Code, t *plan.Type) {
	g.Func("String returns the value's name in the schema, or "+t.Go+"(n) where it has none.",
		"(x "+t.Go+") String() string", func(b *gocode.Body) {
			b.Block("switch x")
			for _, v := range t.Values {
				b.P("case %s:\nreturn %s", v.Go, strconv.Quote(v.Schema))
			}
			b.End()
			b.P(`return "%s(" + strconv.FormatUint(uint64(x), 10) + ")"`, t.Go)
		})
}

// enumIsValid writes
//
//	func (x Department) IsValid() bool { return x <= DepartmentSales }
//
// where the values are 0 to n, else a switch.
func enumIsValid(g *gocode.Code, t *plan.Type) {
	g.Func("IsValid reports whether the value is one of the enum's.",
		"(x "+t.Go+") IsValid() bool", func(b *gocode.Body) {
			if last := lastOfRange(t); last != nil {
				if t.EnumGo == "uint8" && last.N == 255 {
					b.P("return true")
					return
				}
				b.P("return x <= %s", last.Go)
				return
			}
			b.Block("switch x")
			b.P("case %s:\nreturn true", valueNames(t))
			b.End()
			b.P("return false")
		})
}

// lastOfRange is the greatest value where an enum has all from 0 up to it,
// else nil. Values are distinct.
func lastOfRange(t *plan.Type) *plan.Value {
	var last *plan.Value
	for _, v := range t.Values {
		if last == nil || v.N > last.N {
			last = v
		}
	}
	if last == nil || last.N != uint64(len(t.Values))-1 || last.N == 0 {
		return nil
	}
	return last
}

func valueNames(t *plan.Type) string {
	var s strings.Builder
	for i, v := range t.Values {
		if i > 0 {
			s.WriteString(",\n")
		}
		s.WriteString(v.Go)
	}
	return s.String()
}

// enumMarshalText writes
//
//	func (x Department) MarshalText() ([]byte, error) {
//		if !x.IsValid() {
//			return nil, wire.BadEnum(uint64(x)).In("Department")
//		}
//		return []byte(x.String()), nil
//	}
func enumMarshalText(g *gocode.Code, t *plan.Type) {
	g.Func("MarshalText returns the value's name in the schema. A value that has none is an error.",
		"(x "+t.Go+") MarshalText() ([]byte, error)", func(b *gocode.Body) {
			b.Block("if !x.IsValid()")
			b.P("return nil, wire.BadEnum(uint64(x)).In(%s)", strconv.Quote(t.Schema))
			b.End()
			b.P("return []byte(x.String()), nil")
		})
}

// enumUnmarshalText writes
//
//	func (x *Department) UnmarshalText(text []byte) error {
//		switch string(text) {
//		case "ACCOUNTING":
//			*x = DepartmentAccounting
//		default:
//			return &wire.Error{Kind: wire.ErrEnum, Path: "Department", Offset: -1, Detail: strconv.Quote(string(text))}
//		}
//		return nil
//	}
func enumUnmarshalText(g *gocode.Code, t *plan.Type) {
	g.Func("UnmarshalText sets the value by its name in the schema. Any other text is an error.",
		"(x *"+t.Go+") UnmarshalText(text []byte) error", func(b *gocode.Body) {
			b.Block("switch string(text)")
			for _, v := range t.Values {
				b.P("case %s:\n*x = %s", strconv.Quote(v.Schema), v.Go)
			}
			b.P("default:")
			b.P("return &wire.Error{Kind: wire.ErrEnum, Path: %s, Offset: -1, Detail: strconv.Quote(string(text))}", strconv.Quote(t.Schema))
			b.End()
			b.P("return nil")
		})
}
