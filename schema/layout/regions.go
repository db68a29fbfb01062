package layout

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// regions checks what a declaration asks for its regions.
func (c *checker) regions(d *resolve.Decl, i *info) {
	c.refs(d.Type)
	word, at := "", source.Span{}
	switch {
	case len(d.Residency) > 0:
		word, at = "residency", d.PlacesAt
	case len(d.Rights) > 0:
		word, at = "register", d.RightsAt
	case d.Align > 0:
		word, at = "align", d.AlignAt
	default:
		return
	}
	switch {
	case i.Class == Variable:
		c.needsSize(c.report(diag.NeedsSize, at, "`#@%s` needs a type with a greatest size, and `%s` has none", word, d.Name).
			Also(d.At, "`%s` is declared here", d.Name), d, i)
	case i.Max == 0:
		c.report(diag.NeedsSize, at, "`#@%s` needs a type with bytes, and `%s` is void", word, d.Name).
			Also(d.At, "`%s` is declared here", d.Name)
	case d.Align > 0 && i.IsFixed() && i.Min%d.Align != 0:
		gap := d.Align - i.Min%d.Align
		e := c.report(diag.SizeUnaligned, d.AlignAt, "the size of `%s` is %d, which is no multiple of %d", d.Name, i.Min, d.Align).
			Also(d.At, "`%s` has %d bytes", d.Name, i.Min)
		if t := d.Type; t.Kind == resolve.Struct {
			c.padAtEnd(e, t, gap)
		} else {
			e.Helpf("%d bytes are missing", gap)
		}
	}
}

// needsSize says what keeps a type from having a greatest size.
func (c *checker) needsSize(d *diag.Diagnostic, decl *resolve.Decl, i *info) {
	t := i.loose.typ
	if t == nil {
		return
	}
	name := decl.Name + i.loose.path()
	if t.Max > 0 || c.of(t).Class >= Bounded || i.loose.typ.Kind == resolve.FixedList {
		d.Also(t.At, "`%s` may have more than %d MiB, the most that a slot holds", name, MaxSize>>20)
		return
	}
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.List, resolve.Map:
		d.Also(t.At, "`%s` is a %s without `#@max`", name, t.Kind)
		if strings.HasSuffix(name, "]") || strings.HasSuffix(name, "?") || strings.HasSuffix(name, "}") || i.inUnion() {
			d.Helpf("give it a name and a limit: `#@max(N)` above `type Name %s`, and write `Name` here", t.Short())
		} else {
			d.Helpf("put `#@max(N)` above it")
		}
	default:
		d.Also(t.At, "`%s` may have more than %d MiB", name, MaxSize>>20)
	}
}

// inUnion reports whether the culprit is a member of a union.
func (i *info) inUnion() bool {
	path := i.loose.path()
	return strings.LastIndexByte(path, '|') > strings.LastIndexByte(path, '.')
}

// refs checks that what a remote reference points to can be in a region.
func (c *checker) refs(t *resolve.Type) {
	switch t.Kind {
	case resolve.Optional, resolve.List, resolve.FixedList, resolve.Map:
		c.refs(t.Elem)
	case resolve.Union:
		for _, m := range t.Members {
			c.refs(m.Type)
		}
	case resolve.Struct:
		for _, f := range t.Fields {
			c.refs(f.Type)
			if f.Ref == nil {
				continue
			}
			if to := c.of(f.Ref.Decl.Type); to.Class == Variable && !to.invalid {
				c.needsSize(c.report(diag.NeedsSize, f.Ref.At, "a remote reference needs a type with a greatest size, and `%s` has none", f.Ref.Decl.Name).
					Also(f.Ref.Decl.At, "`%s` is declared here", f.Ref.Decl.Name), f.Ref.Decl, to)
			}
		}
	}
}

// padBefore says, and offers, the padding that moves a field.
func (c *checker) padBefore(d *diag.Diagnostic, t *resolve.Type, f *resolve.Field, gap uint64) {
	pad := c.padName(t)
	d.Helpf("put %s of padding before `%s`: `#@pad` above `%s: data[%d]`", count(gap), f.Name, pad, gap)
	if f.Syntax == nil {
		return
	}
	at := f.Syntax.Span.Start
	earliest := func(s source.Span) {
		if s.Start < at {
			at = s.Start
		}
	}
	for _, doc := range f.Syntax.Doc {
		earliest(doc.Span)
	}
	for _, a := range f.Syntax.Annots {
		earliest(a.Span)
	}
	file := f.At.File
	indent, first := indentOf(file, at)
	if !first {
		return // one line: a comment would swallow the rest
	}
	d.Fix("insert the padding", diag.Edit{
		Span: source.Span{File: file, Start: at, End: at},
		New:  fmt.Sprintf("#@pad\n%s%s: data[%d]\n%s", indent, pad, gap, indent),
	})
}

// padAtEnd says, and offers, the padding that fills a struct up.
func (c *checker) padAtEnd(d *diag.Diagnostic, t *resolve.Type, gap uint64) {
	pad := c.padName(t)
	d.Helpf("put %s of padding at the end: `#@pad` above `%s: data[%d]`", count(gap), pad, gap)
	last := t.Fields[len(t.Fields)-1]
	if last.Syntax == nil {
		return
	}
	file := last.At.File
	indent, first := indentOf(file, last.Syntax.Span.Start)
	end := lineEnd(file, last.Syntax.Span.End)
	if !first || bytes.ContainsAny(withoutComment(file.Text()[last.Syntax.Span.End:end]), "}") {
		return
	}
	d.Fix("insert the padding", diag.Edit{
		Span: source.Span{File: file, Start: end, End: end},
		New:  fmt.Sprintf("\n%s#@pad\n%s%s: data[%d]", indent, indent, pad, gap),
	})
}

func count(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// padName is a name for padding that the struct does not have, and that no other
// fix gives it: a tool may apply several.
func (c *checker) padName(t *resolve.Type) string {
next:
	for n := c.pads[t]; ; n++ {
		name := fmt.Sprintf("pad%d", n)
		for _, f := range t.Fields {
			if f.Name == name {
				continue next
			}
		}
		c.pads[t] = n + 1
		return name
	}
}

// indentOf is the white space before a place, and whether nothing else stands
// before it on its line.
func indentOf(f *source.File, at int) (string, bool) {
	text := f.Text()
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	before := text[start:at]
	return string(before), len(bytes.TrimLeft(before, " \t")) == 0
}

func lineEnd(f *source.File, at int) int {
	text := f.Text()
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		at += n
	} else {
		at = len(text)
	}
	if at > 0 && text[at-1] == '\r' {
		at--
	}
	return at
}

func withoutComment(line []byte) []byte {
	before, _, _ := bytes.Cut(line, []byte("#"))
	return before
}
