package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
	"github.com/rivo/uniseg"
)

// mark is a label on one line of the source.
type mark struct {
	line     int
	from, to int // byte offsets in the line
	text     string
	primary  bool
}

// snippets quotes the lines that a diagnostic points at, file by file.
func (t *text) snippets(d *diag.Diagnostic) {
	var files []*source.File
	marks := map[*source.File][]mark{}
	add := func(l diag.Label, primary bool) {
		f := l.Span.File
		if f == nil {
			return
		}
		if marks[f] == nil {
			files = append(files, f)
		}
		marks[f] = append(marks[f], markOf(l, primary))
	}
	add(d.Primary, true)
	for _, l := range d.Related {
		add(l, false)
	}
	for _, f := range files {
		if f != d.Primary.Span.File {
			m := marks[f][0]
			fmt.Fprintf(t, "%s %s:%d:%d\n", strings.Repeat(" ", t.gutter)+t.paint.in(frame, ":::"), terminal.Visible(f.Name()), m.line, m.from+1)
		}
		t.snippet(f, marks[f])
	}
	if len(files) > 0 && len(d.Notes) > 0 {
		fmt.Fprintln(t, t.rail())
	}
}

// markOf is the label's part on its first line: a span of several lines is
// marked up to the end of that line.
func markOf(l diag.Label, primary bool) mark {
	f, p := l.Span.File, l.Span.Pos()
	from := p.Column - 1
	to := from + max(0, l.Span.End-l.Span.Start)
	return mark{p.Line, from, max(from, min(to, len(f.Line(p.Line)))), l.Text, primary}
}

func (t *text) snippet(f *source.File, marks []mark) {
	slices.SortStableFunc(marks, func(a, b mark) int { return cmp.Compare(a.line, b.line) })
	fmt.Fprintln(t, t.rail())
	last := 0
	for len(marks) > 0 {
		n := 1
		for n < len(marks) && marks[n].line == marks[0].line {
			n++
		}
		line := marks[0].line
		switch {
		case last > 0 && line == last+2:
			// A gap of one line is shown: dots would take as much room.
			r := t.row(f.Line(last+1), 0)
			t.quote(last+1, &r)
		case last > 0 && line > last+1:
			fmt.Fprintln(t, t.paint.in(frame, "..."))
		}
		t.marked(f, line, marks[:n])
		last, marks = line, marks[n:]
	}
}

// row lays out a line of the source in the columns that are left beside the gutter.
func (t *text) row(line []byte, at int) row {
	width := maxWidth
	if t.width > 0 {
		width = max(minWidth, min(maxWidth, t.width-t.gutter-len(" | ")-2*len(cutMark)))
	}
	return rowOf(line, at, width)
}

func (t *text) quote(line int, r *row) {
	fmt.Fprintln(t, strings.TrimRight(t.numbered(line, "|")+" "+r.String(), " "))
}

// marked quotes one line and writes its marks beneath.
func (t *text) marked(f *source.File, line int, marks []mark) {
	focus := marks[0]
	for _, m := range marks {
		if m.primary {
			focus = m
		}
	}
	r := t.row(f.Line(line), focus.from)
	t.quote(line, &r)
	drawn := make([]drawnMark, len(marks))
	for i, m := range marks {
		from := r.column(m.from)
		drawn[i] = drawnMark{from, max(from+1, r.column(m.to)), terminal.Visible(m.text), m.primary}
	}
	slices.SortStableFunc(drawn, func(a, b drawnMark) int { return cmp.Compare(a.from, b.from) })
	if overlap(drawn) {
		for _, m := range drawn {
			t.under([]drawnMark{m})
		}
		return
	}
	t.under(drawn)
}

// drawnMark is a mark in columns of the terminal.
type drawnMark struct {
	from, to int
	text     string
	primary  bool
}

func (m drawnMark) style(t *text) style {
	if m.primary {
		return t.tone
	}
	return frame
}

func overlap(ms []drawnMark) bool {
	for i := 1; i < len(ms); i++ {
		// One free column keeps ^^^ and --- apart.
		if ms[i].from <= ms[i-1].to-1 {
			return true
		}
	}
	return false
}

// under writes marks that stand beside each other. The last one's text follows
// it; the others hang beneath:
//
//	^ - first declared here
//	|
//	declared again
func (t *text) under(ms []drawnMark) {
	p := &pen{}
	for _, m := range ms {
		c := "-"
		if m.primary {
			c = "^"
		}
		p.put(t.paint, m.style(t), m.from, strings.Repeat(c, m.to-m.from))
	}
	last := ms[len(ms)-1]
	beside := t.pieces(last.text, last.to+1)
	if beside != nil { // else it hangs beneath, as the others
		if last.text != "" {
			p.put(t.paint, last.style(t), last.to+1, beside[0])
		}
		ms = ms[:len(ms)-1]
	}
	fmt.Fprintln(t, t.rail()+" "+p.String())
	hanging := slices.DeleteFunc(slices.Clone(ms), func(m drawnMark) bool { return m.text == "" })
	if len(beside) > 1 {
		for _, piece := range beside[1:] {
			t.bars(hanging, piece, drawnMark{from: last.to + 1, primary: last.primary})
		}
	} else if len(hanging) > 0 {
		t.bars(hanging, "")
	}
	for n := len(hanging); n > 0; n-- {
		m := hanging[n-1]
		all := t.pieces(m.text, m.from)
		if all == nil { // it moves to the left, as far as the next bar
			all = []string{m.text}
			m.from = max(0, t.width-t.gutter-len(" | ")-uniseg.StringWidth(m.text))
			if n > 1 {
				m.from = max(m.from, hanging[n-2].from+2)
			}
		}
		for _, piece := range all {
			t.bars(hanging[:n-1], piece, m)
		}
	}
}

// roomy is how many columns a remark must have for being broken into lines there.
const roomy = 24

// pieces are the lines of a remark that begins at a column of the source; nil where it needs more than one and there is
// too little room for them.
func (t *text) pieces(s string, column int) []string {
	room := t.width - t.gutter - len(" | ") - column
	if t.width == 0 || s == "" || uniseg.StringWidth(s) <= room {
		return []string{s}
	}
	if room < roomy {
		return nil
	}
	return strings.Split(terminal.Wrap(s, room, ""), "\n")
}

// bars writes a line with a bar beneath each mark, and a text beneath one more.
func (t *text) bars(ms []drawnMark, text string, at ...drawnMark) {
	p := &pen{}
	for _, m := range ms {
		p.put(t.paint, m.style(t), m.from, "|")
	}
	for _, m := range at {
		p.put(t.paint, m.style(t), m.from, text)
	}
	fmt.Fprintln(t, t.rail()+" "+p.String())
}

// pen writes pieces of text at columns, from left to right.
type pen struct {
	strings.Builder
	column int
}

func (p *pen) put(c paint, s style, column int, text string) {
	p.WriteString(strings.Repeat(" ", max(0, column-p.column)))
	p.WriteString(c.in(s, text))
	p.column = max(p.column, column) + len(text)
}
