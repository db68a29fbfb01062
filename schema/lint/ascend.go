package lint

import (
	"bytes"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// numbered is a value or a member with its number.
type numbered struct {
	at     source.Span
	number uint64
}

// ascending writes the values of an enum, or the members of a union, in the order of their numbers. What has no number
// written has the next after the one before it, and stays behind that one. Comments go where their item goes.
func ascending(src *source.File, comments []*ast.Comment, body source.Span, items []numbered, pipes bool) (diag.Edit, bool) {
	order := inOrder(len(items))
	slices.SortStableFunc(order, func(i, j int) int {
		if items[i].number < items[j].number {
			return -1
		}
		return 1
	})
	for n, i := range order[1:] {
		if items[order[n]].number == items[i].number {
			return diag.Edit{}, false // a mistake, which another order might hide
		}
	}
	first, last := items[0].at.Start, items[len(items)-1].at.End
	if len(between(comments, body.Start, body.End)) == 0 {
		return inPlaces(src, items, order), true
	}
	spans := make([]source.Span, len(items))
	for i, n := range items {
		spans[i] = n.at
	}
	from := openingOf(src, comments, first, body.Start)
	parts := itemsOf(src, comments, from, spans)
	start, end := parts[0].start, max(last, parts[len(parts)-1].end)
	if !firstOnLine(src, start) && pipes && bytes.IndexByte(src.Text()[from:start], '|') >= 0 {
		return diag.Edit{}, false // an optional | before the first member, with comments around it
	}
	indent := indentAt(src, start)
	var b strings.Builder
	if !firstOnLine(src, start) {
		b.WriteString("\n" + indent)
	}
	for n, i := range order {
		p := parts[i]
		if n > 0 {
			b.WriteString("\n" + indent)
			if p.blank && i > 0 {
				b.WriteString("\n" + indent)
			}
		}
		for _, c := range p.above {
			b.WriteString(strings.TrimRight(c, " \t\r") + "\n" + indent)
		}
		b.WriteString(p.text)
		if pipes && n < len(order)-1 {
			b.WriteString(" |")
		}
		if p.behind != "" {
			b.WriteString(" " + strings.TrimRight(p.behind, " \t\r"))
		}
	}
	if lineRest(src, end) != "" {
		b.WriteByte('\n')
		end += len(src.Text()[end:]) - len(bytes.TrimLeft(src.Text()[end:], " \t"))
	}
	return diag.Edit{Span: source.Span{File: src, Start: start, End: end}, New: b.String()}, true
}

// inPlaces puts items without comments into each other's places.
func inPlaces(src *source.File, items []numbered, order []int) diag.Edit {
	text := src.Text()
	var b strings.Builder
	for n, i := range order {
		if n > 0 {
			b.Write(text[items[n-1].at.End:items[n].at.Start])
		}
		b.Write(text[items[i].at.Start:items[i].at.End])
	}
	return diag.Edit{Span: source.Span{File: src, Start: items[0].at.Start, End: items[len(items)-1].at.End}, New: b.String()}
}

// openingOf is the place behind the bracket that opens a body.
func openingOf(src *source.File, comments []*ast.Comment, first, from int) int {
	text := src.Text()
	at := from
	rest := between(comments, from, first)
	for i := from; i < first; i++ {
		if len(rest) > 0 && i == rest[0].Span.Start {
			i = rest[0].Span.End - 1
			rest = rest[1:]
			continue
		}
		if text[i] == '{' || text[i] == '(' {
			return i + 1
		}
	}
	return at
}

// part is an item with its comments, each by itself.
type part struct {
	above        []string
	text, behind string
	start, end   int
	blank        bool // a blank line stands before it
}

// itemsOf cuts a body into its items. A comment behind an item on its line, or behind the | that
// follows it, is the item's, as the formatter has it; all others are of the next one.
func itemsOf(src *source.File, comments []*ast.Comment, from int, spans []source.Span) (list []part) {
	text := src.Text()
	for n, at := range spans {
		p := part{text: string(text[at.Start:at.End]), start: at.Start, end: at.End}
		for _, c := range between(comments, from, at.Start) {
			if n == 0 && !c.OwnLine {
				continue // behind the bracket
			}
			p.start = min(p.start, c.Span.Start)
			p.above = append(p.above, c.Span.Text())
		}
		p.blank = bytes.Count(text[from:p.start], []byte("\n")) > 1
		next := len(text)
		if n+1 < len(spans) {
			next = spans[n+1].Start
		}
		for _, c := range between(comments, at.End, next) {
			before := text[at.End:c.Span.Start]
			if !c.OwnLine && len(bytes.Trim(before, " \t\r\n|")) == 0 {
				p.behind, p.end = c.Span.Text(), c.Span.End
			}
		}
		from = p.end
		list = append(list, p)
	}
	return list
}
