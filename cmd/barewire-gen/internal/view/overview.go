package view

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// Overview lists types, one a line: class, size, alignment, lines, padding. Names are cut where width asks for it.
func Overview(types []*Type, width int) []byte {
	rows := [][]string{{"type", "kind", "class", "size", "align", "lines", "padding"}}
	for _, t := range types {
		r := []string{t.Name, t.Kind, t.Class, sizeOf(t.Min, t.Max), "", "", ""}
		if t.Size != nil {
			r[4] = fmt.Sprint(t.Align)
			r[5] = fmt.Sprint(t.lines())
		}
		if p := t.padding(); p > 0 {
			r[6] = fmt.Sprint(p)
		}
		rows = append(rows, r)
	}
	return columns(rows, 3, width)
}

// columns writes rows; those from a column on are numbers.
func columns(rows [][]string, numbers, width int) []byte {
	w := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, s := range r {
			w[i] = max(w[i], len(s))
		}
	}
	left := width
	for _, n := range w[1:] {
		left -= n + len("  ")
	}
	w[0] = min(w[0], 30, max(left, 10))
	var b bytes.Buffer
	for n, r := range rows {
		var text, dashes strings.Builder
		for i, s := range r {
			if i > 0 {
				text.WriteString("  ")
				dashes.WriteString("  ")
			}
			if i == 0 {
				s = clip(s, w[0])
			}
			if i < numbers {
				fmt.Fprintf(&text, "%-*s", w[i], s)
			} else {
				fmt.Fprintf(&text, "%*s", w[i], s)
			}
			dashes.WriteString(strings.Repeat("-", w[i]))
		}
		line(&b, text.String())
		if n == 0 {
			line(&b, dashes.String())
		}
	}
	return b.Bytes()
}

// CacheLine is what lies in one line of a fixed struct.
type CacheLine struct {
	Line    uint64   `json:"line"`
	Last    uint64   `json:"last"` // the last line that is like it: lines within one field are one entry
	Offset  uint64   `json:"offset"`
	Fields  []string `json:"fields"`            // those that have bytes in it
	Used    uint64   `json:"used"`              // bytes of fields
	Padding uint64   `json:"padding"`           // bytes of padding in the schema
	Free    uint64   `json:"free"`              // bytes behind the type's end
	Atomic  []string `json:"atomic,omitempty"`  // atomic fields: more than one may be shared falsely
	Crosses []string `json:"crosses,omitempty"` // fields that would fit in a line and go on in the next
}

// CacheLines splits a fixed struct into its lines. It is nil for other types; lines that lie within one field are one
// entry.
func (t *Type) CacheLines() (lines []CacheLine) {
	if t.Kind != "struct" || t.Size == nil {
		return nil
	}
	fields := t.fields()
	first := 0 // the first field that does not end before the line
	for n := uint64(0); n < t.lines(); n++ {
		l := CacheLine{Line: n, Last: n, Offset: n * layout.Line}
		end := l.Offset + layout.Line
		for first < len(fields) && *fields[first].Offset+fields[first].Min <= l.Offset {
			first++
		}
		for _, f := range fields[first:] {
			if *f.Offset >= end {
				break
			}
			l.add(f)
		}
		if f := fields[min(first, len(fields)-1)]; *f.Offset <= l.Offset && *f.Offset+f.Min >= end {
			l.Last = (*f.Offset+f.Min)/layout.Line - 1 // nothing else is in these lines
			n = l.Last
		}
		l.Free = layout.Line - l.Used - l.Padding
		lines = append(lines, l)
	}
	return lines
}

// add adds what a field has in the line.
func (l *CacheLine) add(f layout.Row) {
	start, end := max(*f.Offset, l.Offset), min(*f.Offset+f.Min, l.Offset+layout.Line)
	switch {
	case start >= end:
		return
	case isPad(f):
		l.Padding += end - start
		return
	}
	l.Used += end - start
	l.Fields = append(l.Fields, f.Field)
	if slices.Contains(f.Notes, "atomic") {
		l.Atomic = append(l.Atomic, f.Field)
	}
	if f.Straddles && start == *f.Offset {
		l.Crosses = append(l.Crosses, f.Field)
	}
}

// CacheLineText lists the lines of types, in so many columns.
func CacheLineText(types []*Type, width int) []byte {
	var b bytes.Buffer
	for i, t := range types {
		if i > 0 {
			b.WriteString("\n\n")
		}
		line(&b, t.Name+"   "+where(t))
		folded(&b, t.summary(), width)
		lines := t.CacheLines()
		if lines == nil {
			line(&b, " its size varies, or it is no struct: what lies in which line is not known")
			continue
		}
		b.WriteByte('\n')
		rows := [][]string{{" line", "byte", "used", "padding", "free", "fields"}}
		for _, l := range lines {
			text := strings.Join(l.Fields, " ")
			if len(l.Atomic) > 1 {
				text += "; false sharing: " + strings.Join(l.Atomic, " ")
			}
			if len(l.Crosses) > 0 {
				text += "; goes on in the next: " + strings.Join(l.Crosses, " ")
			}
			name := fmt.Sprintf(" %d", l.Line)
			if l.Last > l.Line {
				name += fmt.Sprintf("-%d", l.Last)
			}
			rows = append(rows, []string{name, fmt.Sprint(l.Offset), fmt.Sprint(l.Used), fmt.Sprint(l.Padding), fmt.Sprint(l.Free), text})
		}
		b.Write(lineTable(rows, width))
	}
	return b.Bytes()
}

// lineTable writes rows of lines. The fields go on below where the page ends.
func lineTable(rows [][]string, width int) []byte {
	var b bytes.Buffer
	for i, r := range rows {
		lead := fmt.Sprintf("%11s  %8s  %4s  %7s  %4s  ", r[0], r[1], r[2], r[3], r[4])
		for _, text := range fold(r[5], max(width-len(lead), 14)) {
			line(&b, lead+text)
			lead = strings.Repeat(" ", len(lead))
		}
		if i == 0 {
			line(&b, "       ----  --------  ----  -------  ----  ------")
		}
	}
	return b.Bytes()
}
