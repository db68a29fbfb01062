package lint

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// unused finds types that nothing in the schema uses and that are hardly messages: enums, and other names for numbers,
// text and bytes. Structs, unions, lists, maps and void may be sent as they are. A schema that has none of
// those may be all about such types.
func (a *adviser) unused() {
	messages := false
	a.decls(func(d *resolve.Decl) { messages = messages || isMessage(d) })
	if !messages {
		return
	}
	a.decls(func(d *resolve.Decl) {
		if isMessage(d) || isRegion(d) || a.users[d] > 0 || len(a.refs[d]) > 0 {
			return
		}
		a.report(diag.Errorf(diag.UnusedType, d.At, "nothing in the schema uses `%s`", d.Name).
			Helpf("remove it, or use it; if Go code uses it, or it is a message of its own, leave it"))
	})
}

func isMessage(d *resolve.Decl) bool {
	switch d.Type.Resolve().Kind {
	case resolve.Struct, resolve.Union, resolve.List, resolve.FixedList, resolve.Map, resolve.Optional, resolve.Void:
		return true
	}
	return false
}

// rights finds rights that neither a reference nor the program grants. It looks only where it is known what the
// program grants.
func (a *adviser) rights() {
	if a.opts.Granted == nil {
		return
	}
	a.decls(func(d *resolve.Decl) {
		if len(d.Rights) == 0 {
			return
		}
		granted, known := a.opts.Granted(d)
		if !known {
			return
		}
		for _, ref := range a.refs[d] {
			for _, r := range ref.Rights {
				granted = append(granted, r.Name)
			}
		}
		var wide, kept []string
		var at source.Span
		for _, r := range d.Rights {
			switch {
			case r.Name == "local" || slices.Contains(granted, r.Name):
				kept = append(kept, r.Name)
			case wide == nil:
				at = r.At
				fallthrough
			default:
				wide = append(wide, r.Name)
			}
		}
		if wide == nil {
			return
		}
		if kept == nil {
			kept = []string{"local"}
		}
		f := diag.Errorf(diag.WideRight, at, "`%s` may grant %s, which neither a reference carries nor the program grants", d.Name, strings.Join(wide, ", "))
		for _, ref := range a.refs[d] {
			f.Also(ref.At, "a reference carries what stands here")
			break
		}
		span := d.Rights[0].At.To(d.Rights[len(d.Rights)-1].At)
		f.Fix("take it away, which takes the functions for such grants out of the generated code", diag.Edit{Span: span, New: strings.Join(kept, ", ")}).
			Breaking(diag.BreaksSource)
		a.report(f)
	})
}

// prefixes finds enums whose values all begin with the enum's name.
func (a *adviser) prefixes() {
	a.decls(func(d *resolve.Decl) {
		t := d.Type
		if t.Kind != resolve.Enum {
			return
		}
		prefix := strings.ToUpper(constantCase(d.Name)) + "_"
		var edits []diag.Edit
		for _, v := range t.Values {
			rest, ok := strings.CutPrefix(v.Name, prefix)
			if !ok || rest == "" || rest[0] < 'A' || rest[0] > 'Z' || v.GoName.Name != "" {
				return
			}
			edits = append(edits, diag.Edit{Span: v.At, New: rest})
		}
		a.report(diag.Errorf(diag.ValuePrefix, t.Values[0].At, "the values of `%s` begin with its name, which their constants in Go begin with already", d.Name).
			Fix("take it away, which changes the constants' names", edits...).Breaking(diag.BreaksSource))
	})
}

// mixed finds the spelling of fields that fewer have, in each file.
func (a *adviser) mixed() {
	for _, ns := range a.schema.Namespaces {
		for _, f := range ns.Files {
			var snake, camel []*resolve.Field
			for _, d := range f.Decls {
				fields(d.Type, func(f *resolve.Field) {
					switch {
					case f.Pad:
					case strings.IndexByte(f.Name, '_') > 0:
						snake = append(snake, f)
					case strings.ContainsFunc(f.Name, func(r rune) bool { return r >= 'A' && r <= 'Z' }):
						camel = append(camel, f)
					}
				})
			}
			if len(snake) == 0 || len(camel) == 0 {
				continue
			}
			few, many, is, other := snake, camel, "snake_case", "camelCase"
			if len(camel) < len(snake) {
				few, many, is, other = camel, snake, other, is
			}
			d := diag.Errorf(diag.MixedNames, few[0].At, "`%s` is in %s, and most fields of this file are in %s", few[0].Name, is, other).
				Also(many[0].At, "as this one")
			if len(few) > 1 {
				d.Notef("and %d more", len(few)-1)
			}
			a.report(d)
		}
	}
}

// fields visits the fields that stand in a type.
func fields(t *resolve.Type, visit func(*resolve.Field)) {
	for _, f := range t.Fields {
		visit(f)
		fields(f.Type, visit)
	}
	for _, m := range t.Members {
		fields(m.Type, visit)
	}
	if t.Elem != nil {
		fields(t.Elem, visit)
	}
}
