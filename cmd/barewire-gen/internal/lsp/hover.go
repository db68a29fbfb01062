package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/view"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// mostLines is how many lines of a type's drawing hover shows.
const mostLines = 40

// hover answers with what is known of the text as it is: where that is being compiled,
// when that has ended.
func (s *server) hover(m *message) (any, error) {
	p, err := params[positionParams](m)
	if err != nil {
		return nil, err
	}
	d, err := s.open(p.TextDocument)
	if err != nil {
		return nil, err
	}
	if d.of == d.unit && !d.dirty {
		return s.hoverAt(d, p.Position), nil
	}
	d.waiting = append(d.waiting, func() {
		s.guard(m.ID, func() { s.reply(m.ID, s.hoverAt(d, p.Position), nil) })
	})
	if !d.busy {
		s.compile(d)
	}
	return nil, errLater
}

// hoverAt is what stands at a position, or nil.
func (s *server) hoverAt(d *document, p position) any {
	t, ok := d.thingAt(d.offset(p))
	if !ok {
		return nil
	}
	text := hoverText(d.schema, t)
	if text == "" {
		return nil
	}
	return hover{markup{"markdown", text}, d.span(t.at)}
}

// hoverText describes a thing; empty where nothing is known.
func hoverText(s *schema.Schema, t thing) string {
	switch t.kind {
	case aBuiltin:
		return fmt.Sprintf("```bare\n%s\n```\n\n%s", strings.Join(strings.Fields(t.at.Text()), " "), builtins[t.prim])
	case anAnnotation:
		if what := annotationText(t.name); what != "" {
			return fmt.Sprintf("```bare\n#@%s\n```\n\n%s", t.name, what)
		}
		return ""
	}
	if s == nil {
		return ""
	}
	switch t.kind {
	case aUse, aDecl:
		return typeText(s, t.name)
	case aField:
		return fieldText(s, t)
	}
	return valueText(s, t)
}

// declared finds a type in a schema.
func declared(s *schema.Schema, name string) *resolve.Decl {
	for _, ns := range s.Namespaces {
		if d := ns.Types[name]; d != nil {
			return d
		}
	}
	return nil
}

func typeText(s *schema.Schema, name string) string {
	d := declared(s, name)
	if d == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```bare\ntype %s %s\n```\n", name, d.Type.Short())
	doc(&b, d.Doc)
	if d.Type.Resolve().Kind == resolve.Invalid {
		return b.String()
	}
	info := s.Layouts.Of(d.Type)
	fmt.Fprintf(&b, "\n%s\n", infoText(info))
	if slot := s.Layouts.Slot(d.Type, d); slot > 0 {
		fmt.Fprintf(&b, "\nIn a region it has a slot of %d bytes.\n", slot)
	}
	if info.WhyNot != "" && info.IsFixed() {
		fmt.Fprintf(&b, "\nNot castable: %s.\n", info.WhyNot)
	}
	drawing(&b, s, d)
	return b.String()
}

// doc writes the comment above something.
func doc(b *strings.Builder, lines []string) {
	for i, l := range lines {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimPrefix(l, " ") + "\n")
	}
}

// infoText is class, size and alignment.
func infoText(i layout.Info) string {
	switch {
	case i.IsFixed():
		return fmt.Sprintf("**%s**, %s, alignment %d", i.Class, plural(i.Max, "byte"), i.Align)
	case i.Class == layout.Bounded:
		return fmt.Sprintf("**%s**, %d to %s", i.Class, i.Min, plural(i.Max, "byte"))
	}
	return fmt.Sprintf("**%s**, %s or more", i.Class, plural(i.Min, "byte"))
}

func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// drawing writes what `layout` draws, without its first line, which names the type.
func drawing(b *strings.Builder, s *schema.Schema, d *resolve.Decl) {
	switch d.Type.Resolve().Kind {
	case resolve.Struct, resolve.Union, resolve.Enum:
	default:
		return
	}
	types := view.Types(s, func(name string) bool { return name == d.Name })
	types = slices.DeleteFunc(types, func(t *view.Type) bool { return t.Decl != d })
	lines := strings.Split(strings.TrimRight(string(view.Text(types, view.Page)), "\n"), "\n")
	if len(lines) < 2 {
		return
	}
	lines = lines[1:]
	if len(lines) > mostLines {
		lines = append(lines[:mostLines:mostLines], "…")
	}
	fmt.Fprintf(b, "\n```text\n%s\n```\n", strings.Join(lines, "\n"))
}

// fieldText says where a field lies.
func fieldText(s *schema.Schema, t thing) string {
	d := declared(s, t.decl.Name.Name)
	if d == nil {
		return ""
	}
	in, f := fieldAt(d.Type, t.at, t.name)
	if f == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```bare\n%s: %s\n```\n", f.Name, f.Type.Short())
	doc(&b, f.Doc)
	if f.Type.Resolve().Kind == resolve.Invalid {
		return b.String()
	}
	for _, l := range s.Layouts.Fields(in) {
		if l.Field != f {
			continue
		}
		where := "where what stands before it ends"
		if l.IsFixed {
			where = fmt.Sprintf("at byte %d", l.Offset)
			if in == d.Type && l.Info.IsFixed() {
				where += fmt.Sprintf(", cache line %d", l.Offset/layout.Line)
			}
		}
		fmt.Fprintf(&b, "\n%s, %s\n", infoText(l.Info), where)
		if l.IsFixed && l.Info.IsFixed() && l.Offset%l.Info.Align != 0 {
			fmt.Fprintf(&b, "\nNot aligned: %d is no multiple of %d.\n", l.Offset, l.Info.Align)
		}
	}
	return b.String()
}

// fieldAt finds a field by where its name stands; in a schema that was compiled from
// another text, by its name alone.
func fieldAt(t *resolve.Type, at source.Span, name string) (in *resolve.Type, found *resolve.Field) {
	inner := []*resolve.Type{t.Elem, t.Key}
	for _, f := range t.Fields {
		if f.At == at || f.Name == name && f.At.File != at.File {
			return t, f
		}
		inner = append(inner, f.Type)
	}
	for _, m := range t.Members {
		inner = append(inner, m.Type)
	}
	for _, x := range inner {
		if x == nil || x.Kind == resolve.Ref {
			continue
		}
		if in, f := fieldAt(x, at, name); f != nil {
			return in, f
		}
	}
	return nil, nil
}

// valueText is a value's number.
func valueText(s *schema.Schema, t thing) string {
	d := declared(s, t.decl.Name.Name)
	if d == nil {
		return ""
	}
	var find func(x *resolve.Type) *resolve.EnumValue
	find = func(x *resolve.Type) *resolve.EnumValue {
		if x == nil || x.Kind == resolve.Ref {
			return nil
		}
		for _, v := range x.Values {
			if v.At == t.at || v.Name == t.name && v.At.File != t.at.File {
				return v
			}
		}
		inner := []*resolve.Type{x.Elem, x.Key}
		for _, f := range x.Fields {
			inner = append(inner, f.Type)
		}
		for _, m := range x.Members {
			inner = append(inner, m.Type)
		}
		for _, y := range inner {
			if v := find(y); v != nil {
				return v
			}
		}
		return nil
	}
	v := find(d.Type)
	if v == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "```bare\n%s = %d\n```\n", v.Name, v.Value)
	doc(&b, v.Doc)
	return b.String()
}
