package lsp

import (
	"slices"
	"sort"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// names is where a file declares and uses types.
type names struct {
	declared map[string]*ast.Decl
	uses     []use // in source order
}

// use is a place that names a type.
type use struct {
	name string
	at   source.Span
}

// names returns the unit's names.
func (u *unit) names() *names {
	if u.index != nil {
		return u.index
	}
	tree := u.tree().Tree
	n := &names{declared: make(map[string]*ast.Decl, len(tree.Decls))}
	for _, d := range tree.Decls {
		if n.declared[d.Name.Name] == nil {
			n.declared[d.Name.Name] = d
		}
		n.annotations(&d.Attached)
		n.typ(d.Type)
	}
	slices.SortStableFunc(n.uses, func(a, b use) int { return a.at.Start - b.at.Start })
	u.index = n
	return n
}

func (n *names) typ(t ast.Type) {
	switch t := t.(type) {
	case *ast.Named:
		n.uses = append(n.uses, use{t.Name, t.Span})
	case *ast.Optional:
		n.typ(t.Elem)
	case *ast.List:
		n.typ(t.Elem)
	case *ast.Map:
		n.typ(t.Key)
		n.typ(t.Value)
	case *ast.Union:
		for _, m := range t.Members {
			n.annotations(&m.Attached)
			n.typ(m.Type)
		}
	case *ast.Struct:
		for _, f := range t.Fields {
			n.annotations(&f.Attached)
			n.typ(f.Type)
		}
	}
}

// annotations notes the types that #@ref names.
func (n *names) annotations(a *ast.Attached) {
	for _, x := range a.Annots {
		if x.Name.Name == "ref" && len(x.Args) > 0 && x.Args[0].Key.Name == "" {
			n.uses = append(n.uses, use{x.Args[0].Value.Name, x.Args[0].Value.Span})
		}
	}
}

// useAt is the use of a type at an offset, its end included: that is where a cursor
// stands behind a word.
func (n *names) useAt(offset int) (use, bool) {
	i := sort.Search(len(n.uses), func(i int) bool { return n.uses[i].at.End >= offset })
	if i < len(n.uses) && n.uses[i].at.Start <= offset {
		return n.uses[i], true
	}
	return use{}, false
}

// thing is what stands at a place.
type thing struct {
	name  string
	at    source.Span // the name there
	kind  thingKind
	decl  *ast.Decl // the declaration around it, or that it is the name of
	field *ast.Field
	value *ast.EnumValue
	annot *ast.Annotation
	prim  string
}

type thingKind uint8

const (
	aDecl  thingKind = iota // the name of a declaration
	aUse                    // the name of a type where it is used
	aField                  // the name of a field
	aValue                  // the name of an enum's value
	anAnnotation
	aBuiltin // a type of the language
)

func holds(s source.Span, offset int) bool {
	return s.IsValid() && s.Start <= offset && offset <= s.End
}

// thingAt finds what stands at an offset.
func (u *unit) thingAt(offset int) (thing, bool) {
	if x, ok := u.names().useAt(offset); ok {
		return thing{name: x.name, at: x.at, kind: aUse}, true
	}
	decls := u.tree().Tree.Decls
	i := sort.Search(len(decls), func(i int) bool { return decls[i].Span.End >= offset })
	for ; i < len(decls); i++ {
		d := decls[i]
		t := thing{decl: d}
		switch {
		case holds(d.Name.Span, offset):
			t.kind, t.name, t.at = aDecl, d.Name.Name, d.Name.Span
			return t, true
		case t.annotation(&d.Attached, offset), d.Span.Start <= offset && t.within(d.Type, offset):
			return t, true
		case d.Span.Start > offset:
			return u.stray(offset)
		}
	}
	return u.stray(offset)
}

// stray finds an annotation that belongs to no declaration, such as #@package.
func (u *unit) stray(offset int) (thing, bool) {
	for _, a := range u.tree().Tree.Annots {
		if holds(a.Span, offset) {
			return thing{kind: anAnnotation, annot: a, name: a.Name.Name, at: a.Name.Span}, true
		}
	}
	return thing{}, false
}

func (t *thing) annotation(a *ast.Attached, offset int) bool {
	for _, x := range a.Annots {
		if holds(x.Span, offset) {
			t.kind, t.annot, t.name, t.at = anAnnotation, x, x.Name.Name, x.Name.Span
			return true
		}
	}
	return false
}

// within looks into a type.
func (t *thing) within(typ ast.Type, offset int) bool {
	switch x := typ.(type) {
	case *ast.Prim:
		if holds(x.Span, offset) {
			t.kind, t.prim, t.name, t.at = aBuiltin, x.Name, x.Name, x.Span
			return true
		}
	case *ast.Data:
		if holds(x.Span, offset) {
			t.kind, t.prim, t.name, t.at = aBuiltin, "data", "data", x.Span
			return true
		}
	case *ast.Enum:
		for _, v := range x.Values {
			if t.annotation(&v.Attached, offset) {
				return true
			}
			if holds(v.Name.Span, offset) {
				t.kind, t.value, t.name, t.at = aValue, v, v.Name.Name, v.Name.Span
				return true
			}
		}
	case *ast.Union:
		for _, m := range x.Members {
			if t.annotation(&m.Attached, offset) {
				return true
			}
		}
	case *ast.Struct:
		for _, f := range x.Fields {
			if t.annotation(&f.Attached, offset) {
				return true
			}
			if holds(f.Name.Span, offset) {
				t.kind, t.field, t.name, t.at = aField, f, f.Name.Name, f.Name.Span
				return true
			}
		}
	}
	for c := range ast.Children(typ) {
		if c != nil && t.within(c, offset) {
			return true
		}
	}
	return false
}
