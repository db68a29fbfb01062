package lsp

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
)

// target is the type that stands at a position: where it is declared, and in which unit.
// The unit is nil where it is not.
type target struct {
	thing
	unit *unit
	decl *ast.Decl
}

// typeAt finds the type that is named at a position.
func (s *server) typeAt(p *positionParams) (*document, *target, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, nil, err
	}
	t, ok := d.thingAt(d.offset(p.Position))
	if !ok || t.kind != aUse && t.kind != aDecl {
		return d, nil, nil
	}
	x := &target{thing: t}
	if x.unit = declaring(s.set(d.unit), t.name); x.unit != nil {
		x.decl = x.unit.names().declared[t.name]
	}
	return d, x, nil
}

func (s *server) definition(p *positionParams) (any, error) {
	_, t, err := s.typeAt(p)
	if err != nil || t == nil || t.unit == nil {
		return nil, err
	}
	return location{t.unit.uri, t.unit.span(t.decl.Name.Span)}, nil
}

func (s *server) references(p *referenceParams) (any, error) {
	_, t, err := s.typeAt(&p.positionParams)
	if err != nil || t == nil || t.unit == nil {
		return nil, err
	}
	places := []location{}
	for _, u := range s.users(t.unit, t.name) {
		if u == t.unit && p.Context.IncludeDeclaration {
			places = append(places, location{u.uri, u.span(t.decl.Name.Span)})
		}
		for _, x := range u.names().uses {
			if x.name == t.name {
				places = append(places, location{u.uri, u.span(x.at)})
			}
		}
	}
	return places, nil
}

func (s *server) highlights(p *positionParams) (any, error) {
	d, t, err := s.typeAt(p)
	if err != nil || t == nil {
		return nil, err
	}
	marks := []documentHighlight{}
	if decl := d.names().declared[t.name]; decl != nil {
		marks = append(marks, documentHighlight{d.span(decl.Name.Span), 1})
	}
	for _, x := range d.names().uses {
		if x.name == t.name {
			marks = append(marks, documentHighlight{d.span(x.at), 1})
		}
	}
	return marks, nil
}

// renamable is what can be renamed at a position: a type that is declared, a field, or
// an enum's value.
func (s *server) renamable(p *positionParams) (*document, *target, error) {
	d, t, err := s.typeAt(p)
	if err != nil {
		return nil, nil, err
	}
	if t != nil {
		if t.unit == nil {
			return nil, nil, errorf(requestFailed, "`%s` is not declared", t.name)
		}
		return d, t, nil
	}
	x, ok := d.thingAt(d.offset(p.Position))
	if !ok || x.kind != aField && x.kind != aValue {
		return nil, nil, errorf(requestFailed, "nothing here has a name that can be changed")
	}
	return d, &target{thing: x, unit: d.unit}, nil
}

func (s *server) prepareRename(p *positionParams) (any, error) {
	d, t, err := s.renamable(p)
	if err != nil {
		return nil, err
	}
	return map[string]any{"range": d.span(t.at), "placeholder": t.name}, nil
}

func (s *server) rename(p *renameParams) (any, error) {
	d, t, err := s.renamable(&p.positionParams)
	if err != nil {
		return nil, err
	}
	if err := s.freeName(d, t, p.NewName); err != nil {
		return nil, err
	}
	edits := map[string][]textEdit{}
	change := func(u *unit, r textRange) { edits[u.uri] = append(edits[u.uri], textEdit{r, p.NewName}) }
	if t.decl == nil {
		change(d.unit, d.span(t.at))
		return workspaceEdit{edits}, nil
	}
	change(t.unit, t.unit.span(t.decl.Name.Span))
	for _, u := range s.users(t.unit, t.name) {
		for _, x := range u.names().uses {
			if x.name == t.name {
				change(u, u.span(x.at))
			}
		}
	}
	return workspaceEdit{edits}, nil
}

// freeName says why a new name cannot be given.
func (s *server) freeName(d *document, t *target, name string) error {
	if !isName(name) {
		return errorf(requestFailed, "`%s` is no name: letters, digits and _, a letter first", name)
	}
	if name == t.name {
		return nil
	}
	switch t.kind {
	case aField:
		if taken(t.thing.decl.Type, t.field, name) {
			return errorf(requestFailed, "there is a field `%s` already", name)
		}
	case aValue:
		if takenValue(t.thing.decl.Type, t.value, name) {
			return errorf(requestFailed, "there is a value `%s` already", name)
		}
	default:
		if builtins[name] != "" || keywords[name] {
			return errorf(requestFailed, "`%s` is a word of the language", name)
		}
		if c := name[0]; c < 'A' || c > 'Z' {
			return errorf(requestFailed, "`%s` is no name of a type: they start with a capital letter", name)
		}
		for _, u := range s.users(t.unit, t.name) {
			for _, x := range s.set(u) {
				if other := x.names().declared[name]; other != nil {
					return errorf(requestFailed, "`%s` is declared already, at %s:%d", name, x.name, other.Name.Span.Pos().Line)
				}
			}
		}
	}
	return nil
}

// taken reports whether the struct that has a field has another of a name.
func taken(t ast.Type, f *ast.Field, name string) (is bool) {
	ast.Walk(t, func(t ast.Type) bool {
		x, ok := t.(*ast.Struct)
		if !ok {
			return true
		}
		has, other := false, false
		for _, y := range x.Fields {
			has, other = has || y == f, other || y.Name.Name == name
		}
		is = is || has && other
		return true
	})
	return is
}

// takenValue is taken for the values of an enum.
func takenValue(t ast.Type, v *ast.EnumValue, name string) (is bool) {
	ast.Walk(t, func(t ast.Type) bool {
		x, ok := t.(*ast.Enum)
		if !ok {
			return true
		}
		has, other := false, false
		for _, y := range x.Values {
			has, other = has || y == v, other || y.Name.Name == name
		}
		is = is || has && other
		return true
	})
	return is
}

func isName(s string) bool {
	for i, c := range s {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') || c == '_' && i == 0 {
			return false
		}
	}
	return s != ""
}

// symbols lists what a document declares.
func (s *server) symbols(p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	list := []documentSymbol{}
	for _, decl := range d.tree().Tree.Decls {
		x := documentSymbol{Name: decl.Name.Name, Kind: symbolClass, Range: d.span(decl.Span), SelectionRange: d.span(decl.Name.Span)}
		switch t := decl.Type.(type) {
		case *ast.Struct:
			x.Kind = symbolStruct
		case *ast.Enum:
			x.Kind = symbolEnum
		case *ast.Union:
			x.Kind = symbolInterface
		default:
			x.Detail = oneLine(t)
		}
		x.Children = d.inside(decl.Type)
		if x.Name == "" {
			continue // the protocol wants names, and this is being typed
		}
		list = append(list, x)
	}
	return list, nil
}

// inside lists what stands in a type.
func (u *unit) inside(t ast.Type) (list []documentSymbol) {
	switch t := t.(type) {
	case *ast.Struct:
		for _, f := range t.Fields {
			if f.Name.Name != "" {
				list = append(list, documentSymbol{
					Name: f.Name.Name, Kind: symbolField, Detail: oneLine(f.Type), Range: u.span(f.Span.To(f.Name.Span)), SelectionRange: u.span(f.Name.Span), Children: u.inside(f.Type),
				})
			}
		}
	case *ast.Enum:
		for _, v := range t.Values {
			x := documentSymbol{Name: v.Name.Name, Kind: symbolEnumMember, Range: u.span(v.Span), SelectionRange: u.span(v.Name.Span)}
			if v.Value != nil {
				x.Detail = fmt.Sprint(v.Value.Value)
			}
			if x.Name != "" {
				list = append(list, x)
			}
		}
	case *ast.Union:
		for _, m := range t.Members {
			if text := oneLine(m.Type); text != "" {
				list = append(list, documentSymbol{Name: text, Kind: symbolClass, Range: u.span(m.Span), SelectionRange: u.span(m.Span), Children: u.inside(m.Type)})
			}
		}
	default:
		for c := range ast.Children(t) {
			list = append(list, u.inside(c)...)
		}
	}
	return list
}

// oneLine is a type as it is written, cut where it is long.
func oneLine(t ast.Type) string {
	switch t.(type) {
	case *ast.Struct:
		return "struct"
	case *ast.Enum:
		return "enum"
	case *ast.Union:
		return "union"
	case nil, *ast.Bad:
		return ""
	}
	text := strings.Join(strings.Fields(t.Pos().Text()), " ")
	if len(text) > 60 {
		text = strings.ToValidUTF8(text[:60], "") + "…"
	}
	return text
}

func (s *server) foldings(p *documentParams) (any, error) {
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	list := []foldingRange{}
	for _, decl := range d.tree().Tree.Decls {
		if r := d.span(decl.Span); r.End.Line > r.Start.Line {
			list = append(list, foldingRange{r.Start.Line, r.End.Line})
		}
	}
	return list, nil
}
