package emit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// typeVar is the variable that holds a named type's description.
func typeVar(t *plan.Type) string { return "bare" + t.Go }

// describe writes
//
//	var bareCustomer = wire.Type{
//		Name: "Customer",
//		Text: "struct{name:str orders:list<$0>}",
//		Refs: []*wire.Type{&bareOrder},
//	}
func describe(g *gocode.Code, t *plan.Type) {
	d := &description{refs: map[*plan.Type]int{}}
	if t.Alias != nil {
		d.ref(t.Alias)
	} else {
		w := *t.Under
		w.Type = nil
		if t.Kind == resolve.Struct || t.Kind == resolve.Enum || t.Kind == resolve.Union {
			d.declared(t)
		} else {
			d.val(&w)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "var %s = wire.Type{\nName: %q,\nText: %s,\n", typeVar(t), t.Schema, strconv.Quote(d.text.String()))
	if len(d.list) > 0 {
		b.WriteString("Refs: []*wire.Type{")
		for i, r := range d.list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString("&" + typeVar(r))
		}
		b.WriteString("},\n")
	}
	b.WriteString("}")
	g.Line("", "%s", b.String())
}

// description is a type's text in the words of wire.Type.
type description struct {
	text strings.Builder
	refs map[*plan.Type]int
	list []*plan.Type
}

func (d *description) ref(t *plan.Type) {
	i, known := d.refs[t]
	if !known {
		i = len(d.list)
		d.refs[t] = i
		d.list = append(d.list, t)
	}
	fmt.Fprintf(&d.text, "$%d", i)
}

var kindWords = map[resolve.Kind]string{
	resolve.Uint: "uint", resolve.U8: "u8", resolve.U16: "u16", resolve.U32: "u32", resolve.U64: "u64",
	resolve.Int: "int", resolve.I8: "i8", resolve.I16: "i16", resolve.I32: "i32", resolve.I64: "i64",
	resolve.F32: "f32", resolve.F64: "f64", resolve.Bool: "bool", resolve.Str: "str", resolve.Void: "void",
	resolve.Data: "data",
}

func (d *description) val(v *plan.Val) {
	if v.Type != nil {
		if v.Type.Named {
			d.ref(v.Type)
		} else {
			d.declared(v.Type)
		}
		return
	}
	w := &d.text
	switch v.Kind {
	case resolve.FixedData:
		fmt.Fprintf(w, "data[%d]", v.Len)
	case resolve.Optional:
		d.inside("optional", v.Elem)
	case resolve.List:
		d.inside("list", v.Elem)
	case resolve.FixedList:
		d.inside("list", v.Elem)
		fmt.Fprintf(w, "[%d]", v.Len)
	case resolve.Map:
		d.inside("map", v.Key)
		d.inside("", v.Elem)
	default:
		w.WriteString(kindWords[v.Kind])
	}
	if v.Max > 0 {
		fmt.Fprintf(w, "@%d", v.Max)
	}
}

func (d *description) inside(word string, v *plan.Val) {
	d.text.WriteString(word + "<")
	d.val(v)
	d.text.WriteString(">")
}

// declared writes out a struct, enum or union.
func (d *description) declared(t *plan.Type) {
	w := &d.text
	switch t.Kind {
	case resolve.Enum:
		d.enum(t)
	case resolve.Union:
		w.WriteString("union{")
		for i, m := range t.Members {
			if i > 0 {
				w.WriteString("|")
			}
			fmt.Fprintf(w, "%d=", m.Tag)
			d.val(m.Val)
		}
		w.WriteString("}")
	case resolve.Struct:
		w.WriteString("struct{")
		for i, f := range t.Fields {
			if i > 0 {
				w.WriteString(" ")
			}
			w.WriteString(f.Schema + ":")
			d.val(f.Val)
		}
		w.WriteString("}")
	}
}

// enum writes the values as ranges.
func (d *description) enum(t *plan.Type) {
	w := &d.text
	w.WriteString("enum")
	if t.EnumFixed {
		fmt.Fprintf(w, ":%d", t.Under.Layout.Min)
	}
	w.WriteString("{")
	var all []uint64
	for _, v := range t.Values {
		all = append(all, v.N)
	}
	slices.Sort(all)
	for i := 0; i < len(all); {
		end := i
		for end+1 < len(all) && all[end+1] <= all[end]+1 {
			end++
		}
		if i > 0 {
			w.WriteString(" ")
		}
		fmt.Fprint(w, all[i])
		if end > i {
			fmt.Fprintf(w, "-%d", all[end])
		}
		i = end + 1
	}
	w.WriteString("}")
}
