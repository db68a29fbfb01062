package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// shownLines is how many cache lines are drawn; a type may have thousands.
const shownLines = 16

// drawLines draws a struct of fixed size as rows of bytes, one character each:
//
//	line 0 |seq-----kind....|
//
// A field is its name, cut or filled up to its size; padding is dots. Lines
// that lie within one field are drawn once.
func (t *Type) drawLines(b *bytes.Buffer) {
	if t.Kind != "struct" || t.Lines == 0 || t.lineSize > 64 {
		return
	}
	lines := t.Lines
	digits := len(strconv.FormatUint(lines-1, 10))
	b.WriteByte('\n')
	drawn := 0
	for n := uint64(0); n < lines; n++ {
		if drawn++; drawn > shownLines {
			line(b, fmt.Sprintf(" and %s more", plural(lines-n, "line")))
			return
		}
		line(b, fmt.Sprintf(" line %*d |%s|", digits, n, t.bytes(n*t.lineSize)))
		if last := t.lastWithin(n + 1); last > n+1 {
			line(b, fmt.Sprintf(" line %*s |%s|", digits, "..", center(fmt.Sprintf("the same field, to line %d", last), int(t.lineSize))))
			n = last
		}
	}
}

// lastWithin is the last line, from line n on, up to which all bytes belong to
// one field that started before it.
func (t *Type) lastWithin(n uint64) uint64 {
	from := n * t.lineSize
	for _, f := range t.Fields {
		end := *f.Offset + f.Min
		if *f.Offset < from && end > from && end-from >= t.lineSize {
			return end/t.lineSize - 1
		}
	}
	return n
}

// bytes draws one line, which starts at an offset.
func (t *Type) bytes(from uint64) string {
	var s strings.Builder
	for _, f := range t.Fields {
		start, end := max(*f.Offset, from), min(*f.Offset+f.Min, from+t.lineSize)
		if start >= end {
			continue
		}
		s.WriteString(bar(f, start == *f.Offset, int(end-start)))
	}
	return s.String()
}

// bar is a field's part of a line: its name where it starts, then dashes.
func bar(f Part, starts bool, n int) string {
	if f.Pad {
		return strings.Repeat(".", n)
	}
	name := ""
	if starts {
		name = f.Name
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
