package lint

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func (l *linter) typeName(d *resolve.Decl) {
	if strings.IndexByte(d.Name, '_') < 0 {
		return
	}
	l.found(diag.TypeSpelling, false, func() *diag.Diagnostic {
		return diag.Errorf(diag.TypeSpelling, d.At, "`%s` has a `_`, and every draft wants letters and digits in a type's name", d.Name)
	})
}

func (l *linter) fieldName(f *ast.Field) {
	name := f.Name.Name
	if name == "" {
		return
	}
	if c := name[0]; c >= 'A' && c <= 'Z' {
		l.found(diag.FieldCapital, false, func() *diag.Diagnostic {
			return diag.Errorf(diag.FieldCapital, f.Name.Span, "the field `%s` starts with a capital letter, which bare-ts refuses", name)
		})
	}
	for i := range len(name) {
		c := name[i]
		if c != '_' && (c < '0' || c > '9') {
			continue
		}
		if l.spec == 0 && isPad(f) {
			return // padding is ours, and so is its usual name, pad0
		}
		what := "`_`"
		if c != '_' {
			what = "digits"
		}
		l.found(diag.FieldSpelling, false, func() *diag.Diagnostic {
			return diag.Errorf(diag.FieldSpelling, f.Name.Span, "the field `%s` has %s in its name, which drafts before 14 do not allow", name, what)
		})
		return
	}
}

// isPad reports whether a field is padding.
func isPad(f *ast.Field) bool {
	for _, a := range f.Annots {
		if a.Name.Name == "pad" {
			return true
		}
	}
	return false
}

func (l *linter) valueName(v *ast.EnumValue) {
	name := v.Name.Name
	for i := range len(name) {
		c := name[i]
		if c >= 'A' && c <= 'Z' || i > 0 && (c == '_' || c >= '0' && c <= '9') {
			continue
		}
		l.found(diag.ValueSpelling, false, func() *diag.Diagnostic {
			return diag.Errorf(diag.ValueSpelling, v.Name.Span, "the value `%s` is not in CONSTANT_CASE, which every draft wants", name).
				Helpf("write `%s`", constantCase(name))
		})
		return
	}
}

// constantCase is a name as a value's: FooBar is FOO_BAR.
func constantCase(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if i > 0 && c >= 'A' && c <= 'Z' && name[i-1] >= 'a' && name[i-1] <= 'z' {
			b.WriteByte('_')
		}
		b.WriteByte(c)
	}
	return strings.ToUpper(strings.TrimLeft(b.String(), "_0123456789"))
}

const (
	mostSafe   = 1<<53 - 1 // the greatest whole number of JavaScript
	mostLength = 1<<32 - 1
)

// numbers looks at numbers, and at what keys a map.
func (l *linter) numbers(t *resolve.Type) {
	switch t.Kind {
	case resolve.FixedData, resolve.FixedList:
		if t.Len > mostLength {
			l.large(t.At, "the length", t.Len)
		}
	case resolve.Enum:
		last := uint64(0)
		for i, v := range t.Values {
			if i > 0 && v.Value < last {
				l.descends(v.At, "value", v.Name, t)
			}
			if last = v.Value; last > mostSafe {
				l.large(v.At, "the value", last)
			}
		}
	case resolve.Union:
		last := uint64(0)
		for i, m := range t.Members {
			if i > 0 && m.Tag < last {
				l.descends(m.At, "tag", m.Type.Short(), t)
			}
			if last = m.Tag; last > mostSafe {
				l.large(m.At, "the tag", last)
			}
			l.numbers(m.Type)
		}
		return
	case resolve.Map:
		if k := t.Key.Resolve().Kind; l.spec == 0 && (k == resolve.Data || k == resolve.FixedData) {
			l.found(diag.DataKey, false, func() *diag.Diagnostic {
				return diag.Errorf(diag.DataKey, t.Key.At, "drafts before 13 do not allow data as a map's key")
			})
		}
		l.numbers(t.Key)
	case resolve.Struct:
		for _, f := range t.Fields {
			l.numbers(f.Type)
		}
		return
	}
	if t.Elem != nil {
		l.numbers(t.Elem)
	}
}

// descends reports a number that is less than the one before it. The first of a type brings the fix.
func (l *linter) descends(at source.Span, what, name string, t *resolve.Type) {
	again := l.descended == t
	l.descended = t
	l.found(diag.NotAscending, !again, func() *diag.Diagnostic {
		d := diag.Errorf(diag.NotAscending, at, "the %s of `%s` is less than the one before, which drafts since 12 do not allow", what, name)
		if again {
			return d
		}
		if e, ok := l.sorted(t); ok {
			d.Fix("put them in order, which changes the hash of the type", e).Breaking(diag.BreaksMemory)
		}
		return d
	})
}

// sorted is the edit that puts values or members in order.
func (l *linter) sorted(t *resolve.Type) (diag.Edit, bool) {
	var items []numbered
	for _, v := range t.Values {
		if v.Syntax == nil {
			return diag.Edit{}, false
		}
		items = append(items, numbered{v.Syntax.Span, v.Value})
	}
	for _, m := range t.Members {
		if m.Syntax == nil {
			return diag.Edit{}, false
		}
		items = append(items, numbered{m.Syntax.Span, m.Tag})
	}
	return ascending(t.At.File, l.f.Syntax.Comments, t.At, items, t.Kind == resolve.Union)
}

func (l *linter) large(at source.Span, what string, n uint64) {
	l.found(diag.LargeNumber, false, func() *diag.Diagnostic {
		return diag.Errorf(diag.LargeNumber, at, "%s %d is greater than bare-ts and go-bare take", what, n)
	})
}
