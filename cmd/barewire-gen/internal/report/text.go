package report

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

func writeText(buf *bytes.Buffer, l diag.List, o Options) {
	shown, rest := cut(l, o.Limit)
	for _, d := range shown {
		t := &text{Buffer: buf, paint: paint(o.Color), width: o.Width}
		t.diagnostic(d)
		buf.WriteByte('\n')
	}
	if len(shown) == 0 {
		return
	}
	closing := fmt.Sprintf("%s%s. Run `%s explain %s` for the rule and examples.", count(l), notShown(rest), o.Tool, first(l).Code)
	fmt.Fprintln(buf, wrapped(closing, o.Width, ""))
}

// first is the finding that the closing line refers to: the first error, or
// the first of all where there is none.
func first(l diag.List) *diag.Diagnostic {
	i := slices.IndexFunc(l, func(d *diag.Diagnostic) bool { return d.Severity == diag.Error })
	return l[max(i, 0)]
}

// text writes one diagnostic.
type text struct {
	*bytes.Buffer
	paint  paint
	width  int   // columns; 0: as many as it takes
	gutter int   // columns that line numbers take
	tone   style // the color of the diagnostic's severity
}

func (t *text) diagnostic(d *diag.Diagnostic) {
	t.tone = toneOf(d.Severity)
	t.gutter = gutterOf(d)
	t.headline(d)
	t.snippets(d)
	for _, n := range d.Notes {
		t.remark("note", n)
	}
	for _, h := range d.Help {
		if !fixSays(d, h) {
			t.help(h)
		}
	}
	for _, f := range d.Fixes {
		t.help(f.Text)
		t.fix(f)
	}
}

// fixSays reports whether a fix says the same as a help: to a person one of
// them is enough. Fixes are written without quotes, since editors show them bare.
func fixSays(d *diag.Diagnostic, help string) bool {
	bare := strings.ReplaceAll(help, "`", "")
	return slices.ContainsFunc(d.Fixes, func(f diag.Fix) bool { return f.Text == bare })
}

// headline writes file:line:col: error: message [CODE].
func (t *text) headline(d *diag.Diagnostic) {
	if s := d.Primary.Span; s.IsValid() {
		p := s.Pos()
		t.WriteString(t.paint.in(bold, fmt.Sprintf("%s:%d:%d:", terminal.Visible(s.File.Name()), p.Line, p.Column)) + " ")
	}
	t.WriteString(t.paint.in(t.tone, d.Severity.String()+":") + " ")
	t.WriteString(t.paint.in(bold, terminal.Visible(d.Message)))
	fmt.Fprintf(t, " [%s]\n", d.Code)
}

// remark writes "   = note: text". Further lines of the text stand under the first.
func (t *text) remark(kind, s string) {
	lead := strings.Repeat(" ", t.gutter+1) + t.paint.in(frame, "=") + " " + t.paint.in(bold, kind+":") + " "
	indent := strings.Repeat(" ", t.gutter+1+2+len(kind)+2)
	t.lines(lead, indent, s)
}

func (t *text) help(s string) {
	t.lines(t.paint.in(helpTone, "help:")+" ", strings.Repeat(" ", len("help: ")), s)
}

func (t *text) lines(lead, indent, s string) {
	s = strings.TrimRight(s, "\n")
	if t.width > 0 {
		s = terminal.Wrap(s, t.width-len(indent), "")
	}
	for line := range strings.SplitSeq(s, "\n") {
		t.WriteString(lead + terminal.Visible(line) + "\n")
		lead = indent
	}
}

// wrapped is text in lines of so many columns; 0 leaves it as it is.
func wrapped(s string, width int, indent string) string {
	if width == 0 {
		return s
	}
	return terminal.Wrap(s, width, indent)
}

// rail writes the gutter of a line without a number, up to and with its bar.
func (t *text) rail() string {
	return strings.Repeat(" ", t.gutter+1) + t.paint.in(frame, "|")
}

// numbered writes the gutter of a line of the source; sign is | where the line
// is quoted, - and + where a fix takes it away or brings it.
func (t *text) numbered(n int, sign string) string {
	s := frame
	switch sign {
	case "+":
		s = helpTone
	case "-":
		s = red
	}
	return t.paint.in(frame, fmt.Sprintf("%*d", t.gutter, n)) + " " + t.paint.in(s, sign)
}

// gutterOf is how wide the greatest line number of a diagnostic is.
func gutterOf(d *diag.Diagnostic) int {
	width := 2
	widen := func(s source.Span) {
		if s.IsValid() {
			width = max(width, len(strconv.Itoa(s.Pos().Line+2)))
		}
	}
	widen(d.Primary.Span)
	for _, l := range d.Related {
		widen(l.Span)
	}
	for _, f := range d.Fixes {
		for _, e := range f.Edits {
			widen(e.Span)
		}
	}
	return width
}
