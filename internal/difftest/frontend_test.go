package difftest

import (
	"slices"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/printer"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// TestFrontEndReadsRandomSchemas holds what the compiler understands against
// what was meant, in every dialect: types, tags, numbers, annotations. What fmt
// makes of the text must mean the same, and must stay as it is.
func TestFrontEndReadsRandomSchemas(t *testing.T) { rounds(t, testFrontEndReadsRandomSchemas) }

func testFrontEndReadsRandomSchemas(t *testing.T, seed int) {
	for _, s := range subjects(seed, schemas(2000), langAll, anyDialect, false) {
		want := s.schema.Print(schemagen.New, 0, true)
		if got := understood(t, s.text, s.schema.Forward); got != want {
			t.Fatalf("from\n%s\nthe compiler understood\n%s\nwanted\n%s", s.text, got, want)
		}
		formatted := format(t, s.text)
		if got := understood(t, formatted, s.schema.Forward); got != want {
			t.Fatalf("fmt made\n%s\nof\n%s\nwhich means\n%s\ninstead of\n%s", formatted, s.text, got, want)
		}
		if again := format(t, formatted); again != formatted {
			t.Fatalf("fmt made\n%s\nof its own\n%s", again, formatted)
		}
	}
}

func format(t *testing.T, text string) string {
	t.Helper()
	file, diags := parser.Parse(source.NewFile("random.bare", []byte(text)))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags.Err(), text)
	}
	return string(printer.Format(file))
}

// understood compiles text and prints what the compiler made of it. Forward
// says that the declarations stand last to first.
func understood(t *testing.T, text string, forward bool) string {
	t.Helper()
	s := compile(t, text)
	if s.Forward = forward; forward {
		slices.Reverse(s.Decls)
	}
	return s.Print(schemagen.New, 0, true)
}

// fromResolved turns the compiler's model into the tests' own.
func fromResolved(ns *resolve.Namespace) *schemagen.Schema {
	c := converter{decls: map[*resolve.Decl]*schemagen.Decl{}}
	s := &schemagen.Schema{}
	for _, f := range ns.Files {
		for _, d := range f.Decls {
			s.Decls = append(s.Decls, c.decl(d))
		}
	}
	return s
}

type converter struct {
	decls map[*resolve.Decl]*schemagen.Decl
}

func (c *converter) decl(d *resolve.Decl) *schemagen.Decl {
	if c.decls[d] == nil {
		c.decls[d] = &schemagen.Decl{Name: d.Name}
		c.decls[d].Type = c.typ(d.Type)
	}
	return c.decls[d]
}

var kinds = map[resolve.Kind]schemagen.Kind{
	resolve.Uint: schemagen.Uint, resolve.U8: schemagen.U8, resolve.U16: schemagen.U16, resolve.U32: schemagen.U32, resolve.U64: schemagen.U64,
	resolve.Int: schemagen.Int, resolve.I8: schemagen.I8, resolve.I16: schemagen.I16, resolve.I32: schemagen.I32, resolve.I64: schemagen.I64,
	resolve.F32: schemagen.F32, resolve.F64: schemagen.F64, resolve.Bool: schemagen.Bool, resolve.Str: schemagen.Str, resolve.Void: schemagen.Void,
	resolve.Data: schemagen.Data, resolve.FixedData: schemagen.FixedData, resolve.Enum: schemagen.Enum, resolve.Optional: schemagen.Optional,
	resolve.List: schemagen.List, resolve.FixedList: schemagen.FixedList, resolve.Map: schemagen.Map, resolve.Union: schemagen.Union,
	resolve.Struct: schemagen.Struct, resolve.Ref: schemagen.Ref,
}

func (c *converter) typ(t *resolve.Type) *schemagen.Type {
	if t == nil {
		return nil
	}
	to := &schemagen.Type{Kind: kinds[t.Kind], Elem: c.typ(t.Elem), Key: c.typ(t.Key), Len: t.Len, Max: t.Max}
	if t.Base != resolve.Invalid {
		to.Base = kinds[t.Base]
	}
	if t.Kind == resolve.Ref {
		to.Decl = c.decl(t.Decl)
	}
	for _, f := range t.Fields {
		to.Fields = append(to.Fields, &schemagen.Field{Name: f.Name, Type: c.typ(f.Type), Pad: f.Pad})
	}
	for _, m := range t.Members {
		to.Members = append(to.Members, &schemagen.Member{Type: c.typ(m.Type), Tag: m.Tag})
	}
	for _, v := range t.Values {
		to.Values = append(to.Values, &schemagen.EnumValue{Name: v.Name, Value: v.Value})
	}
	return to
}
