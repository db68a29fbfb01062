package view

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// Page is how many columns the drawings take at most, so that they can be pasted anywhere.
const Page = 80

// Text draws types, one below the other, in so many columns where that is possible. What is not: the picture of cache
// lines, which is left out where it does not fit, and the remarks of a table.
func Text(types []*Type, width int) []byte {
	var b bytes.Buffer
	for i, t := range types {
		if i > 0 {
			b.WriteString("\n\n")
		}
		t.draw(&b, width)
	}
	return b.Bytes()
}

func (t *Type) draw(b *bytes.Buffer, width int) {
	pos := t.Decl.At.Pos()
	where := fmt.Sprintf("%s:%d:%d", t.File, pos.Line, pos.Column)
	if head := fmt.Sprintf("%s   %s   %s", t.Name, where, t.Kind); len(head) <= width {
		line(b, head)
	} else {
		line(b, t.Name)
		line(b, where+"   "+t.Kind)
	}
	folded(b, t.summary(), width)
	switch {
	case t.Kind == "struct":
		t.drawFields(b, width)
		t.drawLines(b, width)
	case t.Kind == "union":
		t.drawMembers(b, width)
	case len(t.Values) > 0:
		t.drawValues(b, width)
	case t.Kind != t.Type: // not just its own name again
		fmt.Fprintf(b, "\n %s\n", clip(ascii(t.Type), width-1))
	}
	b.WriteByte('\n')
	for _, s := range t.advice() {
		for _, l := range fold(s, width-1) {
			line(b, " "+l)
		}
	}
}

// summary is class, size, alignment, lines, padding.
func (t *Type) summary() string {
	parts := []string{t.Class}
	switch {
	case t.Size != nil:
		parts = append(parts, fmt.Sprintf("%d B", *t.Size), fmt.Sprintf("align %d", t.Align))
	case t.Max != nil:
		parts = append(parts, fmt.Sprintf("%d to %d B", t.Min, *t.Max), fmt.Sprintf("slot %d B", t.Slot))
	default:
		parts = append(parts, fmt.Sprintf("%d B or more", t.Min))
	}
	if t.Kind == "struct" && t.Size != nil {
		parts = append(parts, fmt.Sprintf("%s of %d B", plural(t.lines(), "line"), layout.Line))
	}
	if pad := t.padding(); pad > 0 {
		parts = append(parts, fmt.Sprintf("padding %d B (%d%%)", pad, (pad*100+t.Min/2)/t.Min))
	}
	if t.Wanted > 0 {
		parts = append(parts, fmt.Sprintf("#@align(%d)", t.Wanted))
	}
	return strings.Join(parts, " | ")
}

// lines is how many cache lines a value of a fixed type takes that starts one.
func (t *Type) lines() uint64 { return (*t.Size + layout.Line - 1) / layout.Line }

func (t *Type) padding() (n uint64) {
	for _, r := range t.Rows {
		if isPad(r) {
			n += r.Min
		}
	}
	return n
}

func isPad(r layout.Row) bool {
	for _, n := range r.Notes {
		if n == "pad" {
			return true
		}
	}
	return false
}

// drawFields draws the fields of a struct, those of structs in it indented.
func (t *Type) drawFields(b *bytes.Buffer, width int) {
	if len(t.Rows) == 0 {
		return
	}
	rows := [][]string{{"off", "size", "field", "type", ""}}
	ruled := map[int]uint64{} // offsets at which a line starts, by row
	at, least := uint64(0), uint64(0)
	for _, r := range t.Rows {
		offset := strconv.FormatUint(least, 10) + "+"
		if r.Offset != nil {
			offset = strconv.FormatUint(*r.Offset, 10)
			if *r.Offset > at && *r.Offset%layout.Line == 0 {
				at = *r.Offset
				ruled[len(rows)] = at
			}
		} else if r.Depth > 0 {
			offset = "" // it begins where the struct around it does, or varies as well
		}
		if r.Depth == 0 {
			least += r.Min
		}
		name := r.Field[strings.LastIndexByte(r.Field, '.')+1:]
		rows = append(rows, []string{offset, sizeOf(r.Min, r.Max), strings.Repeat("  ", r.Depth) + name, ascii(r.Type), remark(r)})
	}
	table(b, rows, ruled, width)
}

func (t *Type) drawMembers(b *bytes.Buffer, width int) {
	rows := [][]string{{"tag", "size", "type", "", ""}}
	for _, r := range t.Rows {
		// A member is its tag and then the value.
		head := varintSize(*r.Tag)
		greatest := r.Max
		if greatest != nil {
			sum := *greatest + head
			greatest = &sum
		}
		rows = append(rows, []string{strconv.FormatUint(*r.Tag, 10), sizeOf(r.Min+head, greatest), ascii(r.Type), "", ""})
	}
	table(b, rows, nil, width)
}

func (t *Type) drawValues(b *bytes.Buffer, width int) {
	rows := [][]string{{"value", "size", "name", "", ""}}
	for _, v := range t.Values {
		rows = append(rows, []string{strconv.FormatUint(v.Value, 10), strconv.FormatUint(v.Size, 10), v.Name, "", ""})
	}
	table(b, rows, nil, width)
}

// table writes rows in columns: two of numbers, then text. Names that are too
// long for the page are cut.
func table(b *bytes.Buffer, rows [][]string, ruled map[int]uint64, width int) {
	var w [5]int
	for _, r := range rows {
		for i, c := range r {
			w[i] = max(w[i], len(c))
		}
	}
	// One space before, two between; the remark takes what it needs.
	spare := width - 1 - w[0] - w[1] - min(w[4], 30) - 8
	w[2] = min(w[2], max(8, spare*3/5))
	w[3] = min(w[3], max(4, spare-w[2]))
	b.WriteByte('\n')
	for i, r := range rows {
		if from, ok := ruled[i]; ok {
			title := fmt.Sprintf(" line %d, byte %d", from/layout.Line, from)
			line(b, " "+strings.Repeat("=", max(4, w[0]+w[1]+w[2]+w[3]+6-len(title)))+title)
		}
		line(b, fmt.Sprintf(" %*s  %*s  %-*s  %-*s  %s", w[0], r[0], w[1], r[1], w[2], clip(r[2], w[2]), w[3], clip(r[3], w[3]), clip(r[4], 30)))
		if i == 0 {
			dash := func(n int) string { return strings.Repeat("-", n) }
			line(b, fmt.Sprintf(" %s  %s  %s  %s", dash(w[0]), dash(w[1]), dash(w[2]), dash(w[3])))
		}
	}
}

// sizeOf writes a size: 8, 1-33 where it varies, 1+ where it has no limit.
func sizeOf(least uint64, greatest *uint64) string {
	switch {
	case greatest == nil:
		return strconv.FormatUint(least, 10) + "+"
	case *greatest == least:
		return strconv.FormatUint(least, 10)
	}
	return fmt.Sprintf("%d-%d", least, *greatest)
}

func remark(r layout.Row) string {
	var words []string
	for _, n := range r.Notes {
		switch n {
		case "pad":
			words = append(words, "padding")
		case "misaligned":
			if isPad(r) {
				continue
			}
			words = append(words, fmt.Sprintf("not aligned to %d", r.Align))
		default:
			words = append(words, n)
		}
	}
	if r.Straddles && !isPad(r) {
		words = append(words, fmt.Sprintf("lines %d-%d", *r.CacheLine, *r.CacheLine+1))
	}
	return strings.Join(words, ", ")
}

// advice says what can be done with the type in place, and why not more.
func (t *Type) advice() (lines []string) {
	switch t.Class {
	case "castable":
		lines = append(lines, fmt.Sprintf("in place: *%s and []%s over the bytes, and a view", t.Name, t.Name))
	case "fixed":
		lines = append(lines, "in place: a view with getters and setters")
	case "bounded":
		lines = append(lines, fmt.Sprintf("in place: a slot of %d B (length, message, zeros), and an indexed view", t.Slot))
	default:
		lines = append(lines, "in place: an indexed view")
	}
	if t.Unbounded != "" {
		lines = append(lines, "no greatest size: "+t.Unbounded)
	}
	if t.Size != nil { // of the others everybody sees why
		for _, why := range t.NotCastable {
			lines = append(lines, "not castable: "+why)
		}
	}
	for _, s := range t.Sharing {
		lines = append(lines, fmt.Sprintf("false sharing: atomic fields %s lie in line %d", strings.Join(s.Fields, ", "), s.CacheLine))
	}
	if len(t.Residency) > 0 {
		lines = append(lines, "residency: "+strings.Join(t.Residency, ", "))
	}
	if len(t.Rights) > 0 {
		lines = append(lines, "rights: "+strings.Join(t.Rights, ", "))
	}
	return lines
}

// ascii writes the one character that a shortened type has beside ASCII as two
// dots: the drawing must keep its columns wherever it is pasted.
func ascii(s string) string { return strings.ReplaceAll(s, "…", "..") }

func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n-2] + ".."
}

// folded writes a summary, broken at its bars where it is wider than the page.
func folded(b *bytes.Buffer, s string, width int) {
	now := ""
	for _, part := range strings.Split(s, " | ") {
		switch {
		case now == "":
			now = part
		case len(now)+len(" | ")+len(part) > width:
			line(b, now)
			now = "  | " + part
		default:
			now += " | " + part
		}
	}
	line(b, now)
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
