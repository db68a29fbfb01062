package lint

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// chunk is an item of a body with the comments that go where it goes: those above it, up
// to the item before, and those behind it on its line.
type chunk struct {
	text       string
	start, end int // from the first comment or the item itself, to behind the last
	blank      bool
}

// chunks cuts what stands between two places into its items, which are at spans in order.
func chunks(f *source.File, comments []*ast.Comment, from int, items []source.Span) (list []chunk) {
	text := f.Text()
	for n, item := range items {
		c := chunk{start: item.Start, end: item.End}
		next := len(text)
		if n+1 < len(items) {
			next = items[n+1].Start
		}
		for _, com := range between(comments, from, item.Start) {
			if com.OwnLine { // others belong to what stands before them
				c.start = min(c.start, com.Span.Start)
			}
		}
		for _, com := range between(comments, item.End, next) {
			if !com.OwnLine && !bytes.ContainsAny(text[item.End:com.Span.Start], "\n{}") {
				c.end = com.Span.End
			}
		}
		c.blank = bytes.Count(text[from:c.start], []byte("\n")) > 1
		c.text = string(bytes.TrimRight(text[c.start:c.end], " \t\r"))
		from = c.end
		list = append(list, c)
	}
	return list
}

// between are the comments that start from one place up to another.
func between(comments []*ast.Comment, from, to int) []*ast.Comment {
	search := func(place int) int {
		n, _ := slices.BinarySearchFunc(comments, place, func(c *ast.Comment, at int) int { return c.Span.Start - at })
		return n
	}
	return comments[search(from):max(search(from), search(to))]
}

// rewrite writes the fields of a struct in another order, and with padding. Every comment keeps its field.
func (a *adviser) rewrite(t *resolve.Type, p placement) (diag.Edit, bool) {
	var spans []source.Span
	for _, f := range t.Fields {
		if f.Syntax == nil {
			return diag.Edit{}, false
		}
		spans = append(spans, f.Syntax.Span)
	}
	file := t.At.File
	comments := a.comments(file)
	list := chunks(file, comments, openingBrace(file, comments, t.At.Start), spans)
	indent := indentAt(file, list[0].start)
	name := padNames(t)
	var b strings.Builder
	if !firstOnLine(file, list[0].start) {
		b.WriteString("\n" + indent)
	}
	line := func(n int) {
		if n > 0 {
			b.WriteString("\n" + indent)
		}
	}
	written := 0
	pad := func(size uint64) {
		if size > 0 {
			line(written)
			fmt.Fprintf(&b, "#@pad\n%s%s: data[%d]", indent, name(), size)
			written++
		}
	}
	for n, i := range p.order {
		pad(p.pads[n])
		if list[i].blank && written > 0 && i > 0 {
			b.WriteByte('\n')
		}
		line(written)
		b.WriteString(resized(t.Fields[i], list[i], p.resized[i]))
		written++
	}
	pad(p.pads[len(p.order)])
	end := list[len(list)-1].end
	if rest := lineRest(file, end); rest != "" {
		b.WriteString("\n")
	}
	return diag.Edit{Span: source.Span{File: file, Start: list[0].start, End: end}, New: b.String()}, true
}

// resized is the text of a field of padding with another length, or of any field as it is where that is zero.
func resized(f *resolve.Field, c chunk, size uint64) string {
	if size == 0 {
		return c.text
	}
	from, to := f.Type.At.Start-c.start, f.Type.At.End-c.start
	return fmt.Sprintf("%sdata[%d]%s", c.text[:from], size, c.text[to:])
}

// lineRest is what stands behind a place on its line, without white space.
func lineRest(f *source.File, at int) string {
	rest, _, _ := bytes.Cut(f.Text()[at:], []byte("\n"))
	return string(bytes.TrimSpace(rest))
}

func firstOnLine(f *source.File, at int) bool {
	text := f.Text()[:at]
	return len(bytes.TrimLeft(text[bytes.LastIndexByte(text, '\n')+1:], " \t")) == 0
}

// indentAt is the white space that begins the line of a place, or two spaces where something else stands before it.
func indentAt(f *source.File, at int) string {
	if !firstOnLine(f, at) {
		return "  "
	}
	text := f.Text()[:at]
	return string(text[bytes.LastIndexByte(text, '\n')+1:])
}

// padNames gives names for padding that the struct does not have.
func padNames(t *resolve.Type) func() string {
	n := 0
	return func() string {
		for {
			name := fmt.Sprintf("pad%d", n)
			n++
			if !slices.ContainsFunc(t.Fields, func(f *resolve.Field) bool { return f.Name == name }) {
				return name
			}
		}
	}
}

// comments are those of a file.
func (a *adviser) comments(src *source.File) []*ast.Comment {
	for _, ns := range a.schema.Namespaces {
		for _, f := range ns.Files {
			if f.Syntax.Src == src {
				return f.Syntax.Comments
			}
		}
	}
	return nil
}

// openingBrace is the place behind the next { that is in no comment.
func openingBrace(f *source.File, comments []*ast.Comment, at int) int {
	text := f.Text()
	rest := between(comments, at, len(text))
	for ; at < len(text); at++ {
		if len(rest) > 0 && at == rest[0].Span.Start {
			at = rest[0].Span.End - 1
			rest = rest[1:]
			continue
		}
		if text[at] == '{' {
			return at + 1
		}
	}
	return at
}
