package view

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// A byte is a cell of a drawing, a cache line a row of them.
const (
	cellWidth  = 12
	cellHeight = 28
	gutter     = 78 // left of the lines, for their numbers
	letter     = 7  // how wide a letter of a label is taken to be
)

// style is the look of drawings and pages. Colors are chosen for light and for dark screens.
const style = `:root{color-scheme:light dark;--bg:#fff;--fg:#1f2328;--dim:#59636e;--edge:#8c959f;--line:#d1d9e0;--a:#ddf4ff;--b:#fff8c5;--c:#dafbe1;--d:#fbefff;--pad:#eff2f5;--warn:#9a6700;--link:#0969da}
@media (prefers-color-scheme:dark){:root{--bg:#0d1117;--fg:#e6edf3;--dim:#9198a1;--edge:#6e7681;--line:#3d444d;--a:#0c2d6b;--b:#4b2900;--c:#033a16;--d:#3c1e70;--pad:#21262d;--warn:#d29922;--link:#4493f8}}
`

const svgStyle = `text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--fg)}.dim{fill:var(--dim)}.title{font-weight:bold;font-size:14px}rect{stroke:var(--edge)}.f0{fill:var(--a)}.f1{fill:var(--b)}.f2{fill:var(--c)}.f3{fill:var(--d)}.pad{fill:url(#hatch)}.back{fill:var(--bg);stroke:none}.hatch{fill:var(--pad)}.hatchline{stroke:var(--edge)}
`

const hatch = `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="hatch" width="6" height="6" stroke="none"/><line class="hatchline" x1="0" y1="0" x2="0" y2="6"/></pattern></defs>
`

// SVG draws types as one picture that needs nothing else.
func SVG(types []*Type) []byte {
	var body bytes.Buffer
	y := 8
	for _, t := range types {
		fmt.Fprintf(&body, `<text class="title" x="8" y="%d">%s</text><text class="dim" x="8" y="%d">%s</text>`+"\n",
			y+14, escape(t.Name), y+32, escape(t.summary()))
		y += 42
		y += t.svgBody(&body, y) + 24
	}
	width := gutter + layout.Line*cellWidth + 12
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img"><style>%s%s</style>%s<rect class="back" width="100%%" height="100%%"/>`+"\n",
		width, y, width, y, style, svgStyle, hatch)
	b.Write(body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawing is a type's picture for a page, without a style of its own; empty where there is nothing to draw.
func (t *Type) drawing() []byte {
	var body bytes.Buffer
	height := t.svgBody(&body, 4)
	if height == 0 {
		return nil
	}
	width := gutter + layout.Line*cellWidth + 12
	return fmt.Appendf(nil, `<svg viewBox="0 0 %d %d" width="%d" role="img" aria-label="%s">%s</svg>`, width, height+8, width, escape("the bytes of "+t.Name), body.Bytes())
}

// svgBody draws a type from a height on, and returns how much of it was taken.
func (t *Type) svgBody(b *bytes.Buffer, y int) int {
	switch {
	case t.Kind != "struct" || len(t.Rows) == 0:
		return 0
	case t.Size == nil:
		return t.svgSequence(b, y)
	}
	start := y
	lines := t.lines()
	drawn := 0
	for n := uint64(0); n < lines; n++ {
		if drawn++; drawn > shownLines {
			fmt.Fprintf(b, `<text class="dim" x="%d" y="%d">and %s more</text>`+"\n", gutter, y+18, plural(lines-n, "line"))
			y += cellHeight
			break
		}
		t.svgLine(b, y, n)
		y += cellHeight + 4
		if last := t.lastWithin(n + 1); last > n+1 {
			fmt.Fprintf(b, `<text class="dim" x="%d" y="%d">the same field, to line %d</text>`+"\n", gutter, y+16, last)
			y += cellHeight
			n = last
		}
	}
	return y - start
}

// svgLine draws one cache line.
func (t *Type) svgLine(b *bytes.Buffer, y int, n uint64) {
	from := n * layout.Line
	fmt.Fprintf(b, `<text class="dim" x="8" y="%d">%d</text>`+"\n", y+18, from)
	for i, f := range t.fields() {
		start, end := max(*f.Offset, from), min(*f.Offset+f.Min, from+layout.Line)
		if start >= end {
			continue
		}
		label := f.Field
		if start != *f.Offset {
			label = ""
		}
		t.box(b, i, f, gutter+int(start-from)*cellWidth, y, int(end-start)*cellWidth, label)
	}
}

// svgSequence draws the fields of a struct whose size varies: one after another, each with the size that it has at least.
func (t *Type) svgSequence(b *bytes.Buffer, y int) int {
	start, x := y, gutter
	for i, f := range t.fields() {
		width := max(int(min(f.Min, 32))*cellWidth, (len(f.Field)+1)*letter+4)
		width = min(width, layout.Line*cellWidth)
		if x+width > gutter+layout.Line*cellWidth {
			x, y = gutter, y+cellHeight+4
		}
		t.box(b, i, f, x, y, width, f.Field)
		x += width
	}
	return y + cellHeight + 4 - start
}

// box draws a field, with what a person should know of it where the pointer rests.
func (t *Type) box(b *bytes.Buffer, i int, f layout.Row, x, y, width int, label string) {
	class := fmt.Sprintf("f%d", i%4)
	if isPad(f) {
		class, label = "pad", ""
	}
	if most := (width - 4) / letter; len(label) > most {
		label = label[:max(most, 0)]
	}
	at := "varies"
	if f.Offset != nil {
		at = fmt.Sprint(*f.Offset)
	}
	hover := fmt.Sprintf("%s: %s, offset %s, %s bytes", f.Field, f.Type, at, sizeOf(f.Min, f.Max))
	if r := remark(f); r != "" {
		hover += ", " + r
	}
	fmt.Fprintf(b, `<g><title>%s</title><rect class="%s" x="%d" y="%d" width="%d" height="%d"/>`, escape(hover), class, x, y, width, cellHeight)
	if label != "" {
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, x+3, y+18, escape(label))
	}
	b.WriteString("</g>\n")
}

// escape makes a text mean itself in XML and HTML.
func escape(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // into memory
	return b.String()
}
