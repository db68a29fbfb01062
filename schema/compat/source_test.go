package compat_test

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	gotoken "go/token"
	"regexp"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
)

var word = regexp.MustCompile(`\bbyte\b`)

// api is the exported names of generated code, with what a program may count on: types of fields, methods
// with their types, functions with theirs. What only another member of a sealed interface gets is left out.
func api(t *testing.T, s *schema.Schema) map[string]string {
	t.Helper()
	opts := gen.Options{Package: "p"}
	if s.Namespaces[0].Package != "" {
		opts.Package = ""
	}
	files, err := gen.Go(s, opts)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	fset := gotoken.NewFileSet()
	text := func(n any) string {
		var b bytes.Buffer
		if err := printer.Fprint(&b, fset, n); err != nil {
			t.Fatal(err)
		}
		return word.ReplaceAllString(b.String(), "uint8") // byte is another name for it
	}
	for _, file := range files {
		f, err := parser.ParseFile(fset, file.Name, file.Content, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		all["package"] = f.Name.Name
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				name := d.Name.Name
				if !ast.IsExported(name) {
					continue
				}
				if d.Recv != nil {
					name = strings.TrimPrefix(text(d.Recv.List[0].Type), "*") + "." + name
				}
				all[name] = text(d.Type)
			case *ast.GenDecl:
				specs(d, all, text)
			}
		}
	}
	return all
}

func specs(d *ast.GenDecl, all map[string]string, text func(any) string) {
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.ValueSpec:
			for _, n := range s.Names {
				if n.IsExported() {
					all[n.Name] = "value"
				}
			}
		case *ast.TypeSpec:
			st, ok := s.Type.(*ast.StructType)
			if !s.Name.IsExported() {
				continue
			}
			if !ok {
				all[s.Name.Name] = text(s.Type)
				if _, is := s.Type.(*ast.InterfaceType); is {
					all[s.Name.Name] = "interface"
				}
				continue
			}
			all[s.Name.Name] = "struct"
			for _, f := range st.Fields.List {
				for _, n := range f.Names {
					if n.IsExported() {
						all[s.Name.Name+"."+n.Name] = text(f.Type)
					}
				}
			}
		}
	}
}

// TestCellsInGo holds each cell's verdict on SOURCE to the generated code: it breaks programs if a name is
// gone or has another type, and only then.
func TestCellsInGo(t *testing.T) {
	for _, c := range compat.Cells {
		t.Run(c.Kind+"/"+c.Change, func(t *testing.T) {
			old, now := api(t, compiled(t, "old.bare", c.Old)), api(t, compiled(t, "new.bare", c.New))
			var lost []string
			for name, was := range old {
				if is, ok := now[name]; !ok {
					lost = append(lost, name+" is gone")
				} else if is != was {
					lost = append(lost, name+" is "+is+", was "+was)
				}
			}
			if (len(lost) > 0) != c.Verdict.Source {
				t.Errorf("SOURCE breaks: %v, but in Go %q", c.Verdict.Source, lost)
			}
		})
	}
}
