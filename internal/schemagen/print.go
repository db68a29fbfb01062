package schemagen

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Dialect is the spelling to print in.
type Dialect uint8

const (
	New   Dialect = iota // drafts 03 and later
	Old                  // go-bare's; what it cannot say is spelled the new way
	Mixed                // each construct one way or the other, as BAREWire writes
)

// Print writes a schema as text. The seed chooses white space, comments, pipes
// and whether tags that follow by themselves are written; explicit writes all.
func (s *Schema) Print(d Dialect, seed uint64, explicit bool) string {
	p := &printer{d: d, rand: rand.New(rand.NewPCG(seed, 1)), explicit: explicit}
	decls := s.Decls
	for i := range decls {
		decl := decls[i]
		if s.Forward {
			decl = decls[len(decls)-1-i]
		}
		p.decl(decl)
		p.WriteString([]string{"\n", "\n\n", " # a remark\n", "\n# type Not u8\n"}[p.rand.IntN(4)])
	}
	return p.String()
}

type printer struct {
	strings.Builder
	d        Dialect
	rand     *rand.Rand
	explicit bool
	indent   int
}

// old decides the spelling of one construct.
func (p *printer) old() bool {
	return p.d == Old || p.d == Mixed && p.rand.IntN(2) == 0
}

func (p *printer) maybe(s string) {
	if p.rand.IntN(4) == 0 {
		p.WriteString(s)
	}
}

func (p *printer) line() {
	p.WriteByte('\n')
	p.WriteString(strings.Repeat("\t", p.indent))
}

func (p *printer) max(t *Type) bool {
	if t.Max > 0 {
		fmt.Fprintf(p, "#@max(%d)", t.Max)
		p.line()
	}
	return t.Max > 0
}

func (p *printer) decl(d *Decl) {
	p.max(d.Type)
	switch {
	case d.Type.Kind == Enum && (d.Type.Base != Uint || p.old()):
		p.WriteString("enum " + d.Name)
		if d.Type.Base != Uint {
			p.WriteString(" " + d.Type.Base.String())
		}
		p.values(d.Type)
	default:
		p.WriteString("type " + d.Name + " ")
		p.typ(d.Type)
	}
}

func (p *printer) typ(t *Type) {
	switch t.Kind {
	case Ref:
		p.WriteString(t.Decl.Name)
	case Str:
		if p.old() {
			p.WriteString("string")
			return
		}
		p.WriteString("str")
	case FixedData:
		if p.old() {
			fmt.Fprintf(p, "data<%d>", t.Len)
			return
		}
		p.WriteString("data")
		p.length(t.Len)
	case Enum:
		p.WriteString("enum")
		p.values(t)
	case Optional:
		p.WriteString("optional")
		p.angle(t.Elem)
	case List, FixedList:
		p.list(t)
	case Map:
		p.mapping(t)
	case Union:
		p.union(t)
	case Struct:
		p.structure(t)
	default:
		p.WriteString(t.Kind.String())
	}
}

func (p *printer) length(n uint64) {
	p.maybe(" ")
	p.WriteByte('[')
	p.maybe(" ")
	fmt.Fprint(p, n)
	p.maybe(" ")
	p.WriteByte(']')
}

func (p *printer) angle(t *Type) {
	p.maybe(" ")
	p.WriteByte('<')
	p.maybe("\n")
	p.typ(t)
	p.maybe(" ")
	p.WriteByte('>')
}

func (p *printer) list(t *Type) {
	if p.old() {
		p.WriteByte('[')
		if t.Kind == FixedList {
			fmt.Fprint(p, t.Len)
		}
		p.WriteByte(']')
		p.typ(t.Elem)
		return
	}
	p.WriteString("list")
	p.angle(t.Elem)
	if t.Kind == FixedList {
		p.length(t.Len)
	}
}

func (p *printer) mapping(t *Type) {
	if p.old() {
		p.WriteString("map[")
		p.typ(t.Key)
		p.WriteByte(']')
		p.typ(t.Elem)
		return
	}
	p.WriteString("map")
	p.angle(t.Key)
	p.angle(t.Elem)
}

func (p *printer) number(n, next uint64) {
	if n != next || p.explicit || p.rand.IntN(8) == 0 {
		p.maybe(" ")
		fmt.Fprintf(p, "= %d", n)
	}
}

func (p *printer) values(t *Type) {
	p.WriteString(" {")
	p.indent++
	next := uint64(0)
	for _, v := range t.Values {
		p.line()
		p.WriteString(v.Name + " ")
		p.number(v.Value, next)
		next = v.Value + 1
	}
	p.indent--
	p.line()
	p.WriteByte('}')
}

func (p *printer) union(t *Type) {
	end := "}"
	if p.old() {
		p.WriteString("( ")
		end = ")"
	} else {
		p.WriteString("union { ")
		p.maybe("| ")
	}
	next := uint64(0)
	for i, m := range t.Members {
		if i > 0 {
			p.WriteString(" | ")
		}
		p.typ(m.Type)
		p.WriteByte(' ')
		p.number(m.Tag, next)
		next = m.Tag + 1
	}
	if end == "}" {
		p.maybe(" |")
	}
	p.WriteString(" " + end)
}

func (p *printer) structure(t *Type) {
	if !p.old() {
		p.WriteString("struct ")
	}
	p.WriteByte('{')
	p.indent++
	for _, f := range t.Fields {
		p.line()
		if f.Pad {
			p.WriteString("#@pad")
			p.line()
		}
		p.max(f.Type)
		p.WriteString(f.Name)
		p.maybe(" ")
		p.WriteString(": ")
		p.typ(f.Type)
	}
	p.indent--
	p.line()
	p.WriteByte('}')
}
