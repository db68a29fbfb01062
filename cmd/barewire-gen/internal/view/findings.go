package view

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Findings are changes as findings, at their places in the new version, with those in the old one beside them. What is
// gone has its place in file, which is one of the new version.
func Findings(changes []Change, file *source.File) (list diag.List) {
	add := func(at, was source.Span, format string, args ...any) {
		d := diag.Errorf(diag.LayoutDiffers, at, format, args...)
		if was.IsValid() {
			d.Also(was, "here it was")
		}
		list = append(list, d)
	}
	for _, c := range changes {
		switch {
		case c.Old == nil:
			add(c.New.Decl.At, source.Span{}, "`%s` is new: %s", c.Name, c.New.summary())
			continue
		case c.New == nil:
			add(source.Span{File: file}, c.Old.Decl.At, "`%s` is gone; it was %s", c.Name, c.Old.summary())
			continue
		}
		if was, is := c.Old.summary(), c.New.summary(); was != is {
			add(c.New.Decl.At, c.Old.Decl.At, "`%s` is %s, and was %s", c.Name, is, was)
		}
		for _, r := range c.Rows {
			at, was := c.New.place(r.Field), c.Old.place(r.Field)
			switch {
			case r.What == "":
			case r.What == "new":
				add(at, source.Span{}, "`%s.%s` is new: %s at %s", c.Name, r.Field, r.Type, offsetText(r.Now, false))
			case r.What == "gone":
				add(c.New.Decl.At, was, "`%s.%s` is gone; it lay at %s", c.Name, r.Field, offsetText(r.Was, false))
			case r.Was != nil && r.Now != nil && *r.Was != *r.Now:
				add(at, was, "`%s.%s` lies at %d, and lay at %d: %s", c.Name, r.Field, *r.Now, *r.Was, r.What)
			default:
				add(at, was, "`%s.%s` is %s now: %s", c.Name, r.Field, r.Type, r.What)
			}
		}
	}
	return list
}

// place is where a field is declared, or for one of a struct inside the field that has it; else the type's name.
func (t *Type) place(field string) source.Span {
	first, _, _ := strings.Cut(field, ".")
	for _, f := range t.Decl.Type.Resolve().Fields {
		if f.Name == first {
			return f.At
		}
	}
	return t.Decl.At
}
