package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// shownLines is how many cache lines are drawn; a type may have thousands.
const shownLines = 16

// drawLines draws a struct of fixed size as rows of bytes, one character each:
//
//	line 0 |seq-----kind....|
//
// Where a row would be wider than width, nothing is drawn.
// A field is its name, cut or filled up to its size; padding is dots. Of lines
// that lie within one field only the first is drawn.
func (t *Type) drawLines(b *bytes.Buffer, width int) {
	if t.Size == nil || *t.Size == 0 {
		return
	}
	lines := t.lines()
	digits := len(strconv.FormatUint(lines-1, 10))
	if len(" line  ||")+digits+layout.Line > width {
		return
	}
	b.WriteByte('\n')
	drawn := 0
	for n := uint64(0); n < lines; n++ {
		if drawn++; drawn > shownLines {
			line(b, fmt.Sprintf(" and %s more", plural(lines-n, "line")))
			return
		}
		line(b, fmt.Sprintf(" line %*d |%s|", digits, n, t.bytes(n*layout.Line)))
		if last := t.lastWithin(n + 1); last > n+1 {
			line(b, fmt.Sprintf(" line %*s |%s|", digits, "..", center(fmt.Sprintf("the same field, to line %d", last), layout.Line)))
			n = last
		}
	}
}

// fields are the fields of the struct itself.
func (t *Type) fields() (rows []layout.Row) {
	for _, r := range t.Rows {
		if r.Depth == 0 {
			rows = append(rows, r)
		}
	}
	return rows
}

// lastWithin is the last line, from line n on, up to which all bytes belong to
// one field that started before it.
func (t *Type) lastWithin(n uint64) uint64 {
	from := n * layout.Line
	for _, f := range t.fields() {
		end := *f.Offset + f.Min
		if *f.Offset < from && end > from && end-from >= layout.Line {
			return end/layout.Line - 1
		}
	}
	return n
}

// bytes draws one line, which starts at an offset.
func (t *Type) bytes(from uint64) string {
	var s strings.Builder
	for _, f := range t.fields() {
		start, end := max(*f.Offset, from), min(*f.Offset+f.Min, from+layout.Line)
		if start < end {
			s.WriteString(bar(f, start == *f.Offset, int(end-start)))
		}
	}
	return s.String()
}

// bar is a field's part of a line: its name where it starts, then dashes.
func bar(f layout.Row, starts bool, n int) string {
	if isPad(f) {
		return strings.Repeat(".", n)
	}
	name := ""
	if starts {
		name = f.Field
	}
	switch {
	case n == 1 && name != "":
		return strings.ToUpper(name[:1])
	case len(name) > n:
		return name[:n]
	}
	return name + strings.Repeat("-", n-len(name))
}

func center(s string, n int) string {
	left := max(0, n-len(s)) / 2
	return fmt.Sprintf("%-*s", n, strings.Repeat(" ", left)+s)
}
