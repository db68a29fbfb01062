package resolve

import (
	"strconv"
	"strings"
)

// words are the new spellings of the kinds.
var words = [...]string{
	Invalid: "?", Uint: "uint", U8: "u8", U16: "u16", U32: "u32", U64: "u64",
	Int: "int", I8: "i8", I16: "i16", I32: "i32", I64: "i64", F32: "f32", F64: "f64",
	Bool: "bool", Str: "str", Void: "void", Data: "data", FixedData: "data", Enum: "enum",
	Optional: "optional", List: "list", FixedList: "list", Map: "map", Union: "union", Struct: "struct", Ref: "?",
}

// String is the kind's word in the new syntax: "u8", "list", "struct".
func (k Kind) String() string {
	if int(k) < len(words) {
		return words[k]
	}
	return "?"
}

// String is the type in the new syntax on one line, whole: enums and unions with
// their numbers. An enum with a fixed size, which the new syntax cannot say, is
// written enum:u16.
func (t *Type) String() string {
	var p typePrinter
	p.typ(t)
	return p.String()
}

// Short is the type in the new syntax for messages: bodies are left out, and
// what is still long is cut in the middle of nowhere else than behind a word.
func (t *Type) Short() string {
	p := typePrinter{short: true}
	p.typ(t)
	return p.String()
}

// quote is the type for a message: `list<u8>`.
func quote(t *Type) string { return "`" + t.Short() + "`" }

type typePrinter struct {
	strings.Builder
	short bool
}

func (p *typePrinter) number(n uint64) {
	var buf [20]byte
	p.Write(strconv.AppendUint(buf[:0], n, 10))
}

func (p *typePrinter) typ(t *Type) {
	if p.short && p.Len() > 60 {
		p.WriteString("…")
		return
	}
	switch t.Kind {
	case Ref:
		p.WriteString(t.Decl.Name)
	case FixedData:
		p.WriteString("data")
		p.length(t)
	case Optional, List, FixedList:
		p.WriteString(t.Kind.String())
		p.angle(t.Elem)
		p.length(t)
	case Map:
		p.WriteString("map")
		p.angle(t.Key)
		p.angle(t.Elem)
	case Enum, Union, Struct:
		p.WriteString(t.Kind.String())
		if t.Kind == Enum && t.Base != Invalid {
			p.WriteByte(':')
			p.WriteString(t.Base.String())
		}
		if p.short {
			p.WriteString(" {…}")
		} else {
			p.body(t)
		}
	default:
		p.WriteString(t.Kind.String())
	}
}

func (p *typePrinter) angle(t *Type) {
	p.WriteByte('<')
	p.typ(t)
	p.WriteByte('>')
}

func (p *typePrinter) length(t *Type) {
	if t.Kind == FixedData || t.Kind == FixedList {
		p.WriteByte('[')
		p.number(t.Len)
		p.WriteByte(']')
	}
}

func (p *typePrinter) body(t *Type) {
	p.WriteString(" {")
	for _, v := range t.Values {
		p.WriteString(" " + v.Name + " = ")
		p.number(v.Value)
	}
	for i, m := range t.Members {
		if i > 0 {
			p.WriteString(" |")
		}
		p.WriteByte(' ')
		p.typ(m.Type)
		p.WriteString(" = ")
		p.number(m.Tag)
	}
	for _, f := range t.Fields {
		p.WriteString(" " + f.Name + ": ")
		p.typ(f.Type)
	}
	p.WriteString(" }")
}
