package layout

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// guessed is the limit that a fix writes: nothing in a schema tells how long its values get.
const guessed = 64

// limits are the edits that give all that is in a declaration a #@max, so that it has a greatest size. They are only there where
// every place can take one: a field, or a declaration. What is within a list or an optional needs a name first.
func (c *checker) limits(d *resolve.Decl) ([]diag.Edit, bool) {
	var all []diag.Edit
	seen := map[*resolve.Decl]bool{}
	var decl func(*resolve.Decl) bool
	inner := "" // how far in an annotation stands
	var visit func(t *resolve.Type, at source.Span) bool
	decl = func(d *resolve.Decl) bool {
		if seen[d] {
			return true
		}
		seen[d] = true
		defer func(was string) { inner = was }(inner)
		inner = ""
		at := d.Syntax.Span
		return visit(d.Type, source.Span{File: at.File, Start: at.Start, End: at.Start})
	}
	// at is where an annotation of t would stand; it is not valid where there is none.
	visit = func(t *resolve.Type, at source.Span) bool {
		switch t.Kind {
		case resolve.Ref:
			return decl(t.Decl)
		case resolve.Str, resolve.Data, resolve.List, resolve.Map:
			if t.Max == 0 && at.File == nil {
				return false
			}
			if t.Max == 0 {
				all = append(all, above(at, inner, fmt.Sprintf("#@max(%d)", guessed)))
			}
		case resolve.Struct:
			inner = "  "
			for _, f := range t.Fields {
				var at source.Span
				if f.Syntax != nil {
					at = source.Span{File: f.At.File, Start: f.Syntax.Span.Start, End: f.Syntax.Span.Start}
				}
				if !visit(f.Type, at) {
					return false
				}
			}
		}
		ok := t.Key == nil || visit(t.Key, source.Span{})
		ok = ok && (t.Elem == nil || visit(t.Elem, source.Span{}))
		for _, m := range t.Members {
			ok = ok && visit(m.Type, source.Span{})
		}
		return ok
	}
	if !decl(d) || len(all) == 0 {
		return nil, false
	}
	return all, true
}

// above writes an annotation on a line of its own above a place, as far in as what stands there, or as inner says
// where something else stands before it.
func above(at source.Span, inner, text string) diag.Edit {
	indent, first := indentOf(at.File, at.Start)
	if first {
		return diag.Edit{Span: at, New: text + "\n" + indent}
	}
	return diag.Edit{Span: at, New: "\n" + inner + text + "\n" + inner}
}
