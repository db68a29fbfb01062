package printer

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
)

// dump writes what a tree says, without places and without the spelling that
// Format may change. Two files with one dump mean the same.
func dump(f *ast.File) string {
	d := &dumper{}
	for _, c := range f.Comments {
		d.printf("comment %q\n", c.Text())
	}
	d.annots("file", f.Annots)
	for _, decl := range f.Decls {
		d.printf("decl %s\n", decl.Name.Name)
		d.attached(decl.Attached)
		d.typ(decl.Type)
	}
	return d.String()
}

type dumper struct{ strings.Builder }

func (d *dumper) printf(format string, args ...any) { fmt.Fprintf(d, format, args...) }

func (d *dumper) attached(a ast.Attached) {
	for _, c := range a.Doc {
		d.printf(" doc %q\n", c.Text())
	}
	d.annots("annotation", a.Annots)
}

func (d *dumper) annots(where string, as []*ast.Annotation) {
	for _, a := range as {
		d.printf(" %s %s", where, a.Name.Name)
		d.args(a.Args)
		d.printf("\n")
	}
}

func (d *dumper) args(args []*ast.Arg) {
	d.printf("(")
	for _, a := range args {
		d.printf("%s=%s", a.Key.Name, a.Value.Name)
		d.args(a.Args)
		d.printf(",")
	}
	d.printf(")")
}

func (d *dumper) int(n *ast.Int) string {
	if n == nil {
		return "-"
	}
	return fmt.Sprint(n.Value, n.Err)
}

func (d *dumper) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.Prim:
		d.printf("%s\n", t.Name)
	case *ast.Named:
		d.printf("named %s\n", t.Name)
	case *ast.Data:
		d.printf("data %s\n", d.int(t.Len))
	case *ast.Enum:
		if t.Base != nil {
			d.printf("fixed %s ", t.Base.Name)
		}
		d.printf("enum {\n")
		for _, v := range t.Values {
			d.printf("%s = %s\n", v.Name.Name, d.int(v.Value))
			d.attached(v.Attached)
		}
		d.printf("}\n")
	case *ast.Optional:
		d.printf("optional ")
		d.typ(t.Elem)
	case *ast.List:
		d.printf("list %s ", d.int(t.Len))
		d.typ(t.Elem)
	case *ast.Map:
		d.printf("map ")
		d.typ(t.Key)
		d.typ(t.Value)
	case *ast.Union:
		d.printf("union {\n")
		for _, m := range t.Members {
			d.printf("tag %s ", d.int(m.Tag))
			d.typ(m.Type)
			d.attached(m.Attached)
		}
		d.printf("}\n")
	case *ast.Struct:
		d.printf("struct {\n")
		for _, f := range t.Fields {
			d.printf("%s: ", f.Name.Name)
			d.typ(f.Type)
			d.attached(f.Attached)
		}
		d.printf("}\n")
	case *ast.Bad:
		d.printf("bad\n")
	default:
		panic(fmt.Sprintf("no such type: %T", t))
	}
}
