// Package lint finds what compiles here and not everywhere: what other
// compilers and some drafts of BARE refuse. With a draft chosen, what that draft
// refuses is an error. [Run] does that while a schema is compiled.
//
// [Advise] finds what would be better in a schema that compiles. [Rules] lists the rules of both.
package lint

import (
	"bytes"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Options selects what is looked for.
type Options struct {
	Spec    int     // a draft's number, 11 to 14: what it refuses is an error. 0: nothing is
	Granted Granted // what programs grant; nil where nobody knows
}

// drafts is which drafts refuse what a code stands for: those from the first up
// to the last. What stands in no line is refused by compilers, not by drafts.
//
// Drafts 12 to 14 are known by what they changed, not by their text.
var drafts = map[diag.Code]struct{ first, last int }{
	diag.ForwardReference: {3, 99},
	diag.OldSpelling:      {3, 99},
	diag.FixedEnum:        {3, 99},
	diag.FieldSpelling:    {3, 13},
	diag.NotAscending:     {12, 99},
	diag.ValueSpelling:    {3, 99},
	diag.TypeSpelling:     {3, 99},
}

// Run looks at a schema. Schemas with errors are served as well.
//
// Without a draft there is one finding per code and file: the first place, and
// how many more there are. With one, each place that it refuses is an error.
func Run(s *resolve.Schema, _ *layout.Layouts, opts Options) diag.List {
	l := &linter{spec: opts.Spec}
	for _, ns := range s.Namespaces {
		order := map[*source.File]int{}
		for i, f := range ns.Files {
			order[f.Syntax.Src] = i
		}
		l.order = order
		for _, f := range ns.Files {
			l.file(f)
		}
	}
	return l.diags
}

type linter struct {
	spec  int
	diags diag.List
	order map[*source.File]int // the files of the namespace as they were given

	f         *resolve.File
	first     map[diag.Code]*finding // in this file
	descended *resolve.Type          // the last of which a fix puts values or members in order
}

type finding struct {
	diag *diag.Diagnostic
	more int
}

// also has the fix of the first finding mend another, too.
func (f *finding) also(d *diag.Diagnostic) {
	switch {
	case len(d.Fixes) == 0:
	case len(f.diag.Fixes) == 0:
		f.diag.Fixes = d.Fixes
	case !slices.ContainsFunc(f.diag.Fixes[0].Edits, func(e diag.Edit) bool { return overlap(e.Span, d.Fixes[0].Edits[0].Span) }):
		f.diag.Fixes[0].Edits = append(f.diag.Fixes[0].Edits, d.Fixes[0].Edits...)
	}
}

// overlap reports whether two places have something in common, as a union in a union has.
func overlap(a, b source.Span) bool { return a.Start < b.End && b.Start < a.End }

// found notes a finding. make is asked only for one that will be shown, and with mends for one that has a fix, too: the first
// finding of a file mends all of them.
func (l *linter) found(code diag.Code, mends bool, make func() *diag.Diagnostic) {
	d, ok := drafts[code]
	if ok && l.spec > 0 && (l.spec < d.first || l.spec > d.last) {
		return // another draft's matter
	}
	if ok && l.spec > 0 {
		finding := make()
		finding.Severity = diag.Error
		l.diags = append(l.diags, finding.Notef("draft %d does not allow it", l.spec))
		return
	}
	if f := l.first[code]; f != nil {
		f.more++
		if mends {
			f.also(make())
		}
		return
	}
	f := &finding{diag: make()}
	l.first[code] = f
	l.diags = append(l.diags, f.diag)
}

func (l *linter) file(f *resolve.File) {
	l.f, l.first = f, map[diag.Code]*finding{}
	if src := f.Syntax.Src; bytes.HasPrefix(src.Text(), []byte("\xef\xbb\xbf")) {
		l.found(diag.ByteOrderMark, false, func() *diag.Diagnostic {
			at := source.Span{File: src, Start: 0, End: 3}
			return diag.Errorf(diag.ByteOrderMark, at, "the file starts with a byte order mark, which go-bare refuses").
				Fix("remove it", diag.Edit{Span: at})
		})
	}
	for _, d := range f.Decls {
		l.typeName(d)
		l.spelling(d, d.Syntax.Type, true)
		l.numbers(d.Type)
	}
	for _, f := range l.first {
		if f.more > 0 {
			f.diag.Notef("and %d more in this file", f.more)
		}
	}
}

// spelling looks at how a type is written.
func (l *linter) spelling(d *resolve.Decl, t ast.Type, top bool) {
	switch t := t.(type) {
	case *ast.Prim:
		if t.Old {
			l.old(t.Span, "string", "str")
		}
	case *ast.Named:
		l.forward(t)
	case *ast.Data:
		if t.Old {
			l.old(t.Span, "data<n>", "data[n]")
		}
	case *ast.Enum:
		l.enum(d, t, top)
	case *ast.List:
		switch {
		case t.Old && t.Len != nil:
			l.old(t.Span, "[n]T", "list<T>[n]")
		case t.Old:
			l.old(t.Span, "[]T", "list<T>")
		}
	case *ast.Map:
		if t.Old {
			l.old(t.Span, "map[K]V", "map<K><V>")
		}
	case *ast.Union:
		if t.Old {
			l.old(t.Span, "( A | B )", "union { A | B }")
		}
	case *ast.Struct:
		if t.Old {
			l.old(source.Span{File: t.Span.File, Start: t.Span.Start, End: t.Span.Start + 1}, "{", "struct {")
		}
		for _, f := range t.Fields {
			l.fieldName(f)
		}
	}
	for c := range ast.Children(t) {
		l.spelling(d, c, false)
	}
}

// old is a spelling of the first drafts.
func (l *linter) old(at source.Span, was, is string) {
	l.found(diag.OldSpelling, false, func() *diag.Diagnostic {
		return diag.Errorf(diag.OldSpelling, at, "`%s` is the spelling of the first drafts: since draft 03 it is `%s`", was, is).
			Helpf("`barewire-gen fmt` writes the new spelling")
	})
}

func (l *linter) enum(d *resolve.Decl, t *ast.Enum, top bool) {
	switch {
	case t.Base != nil:
		l.fixedEnum(d, t)
	case top && d.Syntax.Old:
		word := source.Span{File: d.Syntax.Span.File, Start: d.Syntax.Span.Start, End: d.Syntax.Span.Start + len("enum")}
		l.old(word, "enum X {", "type X enum {")
	}
	for _, v := range t.Values {
		l.valueName(v)
	}
}

func (l *linter) fixedEnum(d *resolve.Decl, t *ast.Enum) {
	size := map[string]string{"u8": "one byte", "u16": "two bytes", "u32": "four bytes", "u64": "eight bytes"}[t.Base.Name]
	l.found(diag.FixedEnum, true, func() *diag.Diagnostic {
		f := diag.Errorf(diag.FixedEnum, t.Base.Span, "`%s` is %s on the wire, which the new syntax cannot say", d.Name, size)
		if t.Base.Name == "u8" && below128(d.Type) {
			return f.Helpf("its values are all below 128: without `u8` the bytes are the same").
				Fix("remove u8, which changes the hash of the type", diag.Edit{Span: t.Base.Span}).Breaking(diag.BreaksMemory)
		}
		return f.Notef("go-bare reads it; compilers for drafts since 03 do not")
	})
}

func below128(t *resolve.Type) bool {
	for _, v := range t.Values {
		if v.Value >= 128 {
			return false
		}
	}
	return true
}

// forward looks for a name that stands above its declaration, the files being
// read in the order in which they were given.
func (l *linter) forward(t *ast.Named) {
	d := l.f.NS.Types[t.Name]
	if d == nil {
		return
	}
	here, there := l.order[t.Span.File], l.order[d.At.File]
	if there < here || there == here && d.At.Start <= t.Span.Start {
		return
	}
	l.found(diag.ForwardReference, false, func() *diag.Diagnostic {
		return diag.Errorf(diag.ForwardReference, t.Span, "`%s` is used before it is declared, which bare-ts and vbare refuse", t.Name).
			Also(d.At, "declared here")
	})
}
