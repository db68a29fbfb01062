package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// width is how many columns the drawing takes at most.
const width = 80

// Text draws types, one below the other.
func Text(types []*Type) []byte {
	var b bytes.Buffer
	for i, t := range types {
		if i > 0 {
			b.WriteString("\n\n")
		}
		t.draw(&b)
	}
	return b.Bytes()
}

func (t *Type) draw(b *bytes.Buffer) {
	where := fmt.Sprintf("%s:%d:%d", t.File, t.Line, t.Column)
	if head := fmt.Sprintf("%s   %s   %s", t.Name, where, t.Kind); len(head) <= width {
		line(b, head)
	} else {
		line(b, t.Name)
		line(b, where+"   "+t.Kind)
	}
	line(b, t.summary())
	switch t.Kind {
	case "struct":
		t.drawFields(b)
	case "union":
		t.drawParts(b, "tag", "type", t.Members)
	case "enum":
		t.drawParts(b, "value", "name", t.Values)
	default:
		b.WriteByte('\n')
		line(b, " "+t.Spelling)
	}
	t.drawLines(b)
	t.drawAdvice(b)
}

// summary is class, size, alignment, lines, padding.
func (t *Type) summary() string {
	parts := []string{t.Class}
	switch {
	case t.Max == nil:
		parts = append(parts, fmt.Sprintf("%d B or more", t.Min))
	case *t.Max == t.Min:
		parts = append(parts, fmt.Sprintf("%d B", t.Min), fmt.Sprintf("align %d", t.Align))
	default:
		parts = append(parts, fmt.Sprintf("%d to %d B", t.Min, *t.Max), fmt.Sprintf("slot %d B", t.Slot))
	}
	if t.Lines > 0 {
		parts = append(parts, plural(t.Lines, "line")+fmt.Sprintf(" of %d B", t.lineSize))
	}
	pad := uint64(0)
	for _, f := range t.Fields {
		if f.Pad {
			pad += f.Min
		}
	}
	if pad > 0 && t.Min > 0 {
		parts = append(parts, fmt.Sprintf("padding %d B (%d%%)", pad, (pad*100+t.Min/2)/t.Min))
	}
	if t.Asked > 0 {
		parts = append(parts, fmt.Sprintf("#@align(%d)", t.Asked))
	}
	return strings.Join(parts, " | ")
}

func (t *Type) drawFields(b *bytes.Buffer) {
	if len(t.Fields) == 0 {
		return
	}
	rows := [][]string{{"off", "size", "field", "type", ""}}
	ruled := map[int]uint64{} // rows above which a line starts, by row
	at := uint64(0)
	for _, f := range t.Fields {
		if f.Offset != nil && *f.Offset > 0 && *f.Offset%t.lineSize == 0 && at != *f.Offset {
			at = *f.Offset
			ruled[len(rows)] = at
		}
		rows = append(rows, []string{f.offset(), f.size(), f.Name, f.short, f.remark(t)})
	}
	t.table(b, rows, ruled)
}

func (t *Type) drawParts(b *bytes.Buffer, tag, name string, parts []Part) {
	rows := [][]string{{tag, "size", name, "", ""}}
	for _, p := range parts {
		what := p.Name
		if what == "" {
			what = p.short
		}
		size := p.size()
		if p.Type != "" {
			// A member is its tag and then the value.
			size = Part{Min: p.Min + varintSize(*p.Tag), Max: plus(p.Max, varintSize(*p.Tag))}.size()
		}
		rows = append(rows, []string{strconv.FormatUint(*p.Tag, 10), size, what, "", ""})
	}
	t.table(b, rows, nil)
}

func varintSize(v uint64) (n uint64) {
	for n = 1; v >= 0x80; v >>= 7 {
		n++
	}
	return n
}

func plus(m *uint64, n uint64) *uint64 {
	if m == nil {
		return nil
	}
	sum := *m + n
	return &sum
}

// table writes rows in columns: two of numbers, then text. Names that are too
// long for the page are cut.
func (t *Type) table(b *bytes.Buffer, rows [][]string, ruled map[int]uint64) {
	var w [5]int
	for _, r := range rows {
		for i, c := range r {
			w[i] = max(w[i], len(c))
		}
	}
	// One space before, two between; the remark takes what it needs.
	spare := width - 1 - w[0] - w[1] - w[4] - 8
	w[2] = min(w[2], max(8, spare*3/5))
	w[3] = min(w[3], max(4, spare-w[2]))
	b.WriteByte('\n')
	for i, r := range rows {
		if from, ok := ruled[i]; ok {
			title := fmt.Sprintf(" line %d, byte %d", from/t.lineSize, from)
			line(b, " "+strings.Repeat("=", max(4, w[0]+w[1]+w[2]+w[3]+6-len(title)))+title)
		}
		line(b, fmt.Sprintf(" %*s  %*s  %-*s  %-*s  %s", w[0], r[0], w[1], r[1], w[2], clip(r[2], w[2]), w[3], clip(r[3], w[3]), r[4]))
		if i == 0 {
			dash := func(n int) string { return strings.Repeat("-", n) }
			line(b, fmt.Sprintf(" %s  %s  %s  %s", dash(w[0]), dash(w[1]), dash(w[2]), dash(w[3])))
		}
	}
}

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-2] + ".."
}

func (p Part) offset() string {
	if p.Offset != nil {
		return strconv.FormatUint(*p.Offset, 10)
	}
	return strconv.FormatUint(p.least, 10) + "+"
}

func (p Part) size() string {
	switch {
	case p.Max == nil:
		return strconv.FormatUint(p.Min, 10) + "+"
	case *p.Max == p.Min:
		return strconv.FormatUint(p.Min, 10)
	}
	return fmt.Sprintf("%d-%d", p.Min, *p.Max)
}

func (p Part) remark(t *Type) string {
	switch {
	case p.Pad:
		return "padding"
	case p.Misaligned:
		return fmt.Sprintf("not at a multiple of %d", p.Align)
	case p.Straddles:
		return fmt.Sprintf("in lines %d and %d", *p.Offset/t.lineSize, (*p.Offset+p.Min-1)/t.lineSize)
	case p.Atomic:
		return "atomic"
	}
	return ""
}

// drawAdvice says what can be done with the type in place, and why not more.
func (t *Type) drawAdvice(b *bytes.Buffer) {
	b.WriteByte('\n')
	switch t.Class {
	case "castable":
		line(b, fmt.Sprintf(" in place: *%s and []%s over the bytes, and a view", t.Name, t.Name))
	case "fixed":
		line(b, " in place: a view with getters and setters")
	case "bounded":
		line(b, fmt.Sprintf(" in place: a slot of %d B (length, message, zeros), and an indexed view", t.Slot))
	default:
		line(b, " in place: an indexed view")
	}
	if t.WhyNot != "" {
		for _, l := range fold("not castable: "+t.WhyNot, width-2) {
			line(b, " "+l)
		}
	}
}

// fold breaks a sentence into lines; all but the first are indented.
func fold(s string, width int) (lines []string) {
	now := ""
	for _, w := range strings.Fields(s) {
		switch {
		case now == "":
			now = w
		case len(now)+1+len(w) > width:
			lines = append(lines, now)
			now = "  " + w
		default:
			now += " " + w
		}
	}
	return append(lines, now)
}

func plural(n uint64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func line(b *bytes.Buffer, s string) {
	b.WriteString(strings.TrimRight(s, " "))
	b.WriteByte('\n')
}
