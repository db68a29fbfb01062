package report

import (
	"strings"
	"unicode/utf8"

	"github.com/fidelityframework/barewire-gen/cmd/barewire-gen/internal/terminal"
	"github.com/rivo/uniseg"
)

const (
	tabStop  = 4   // a tab goes to the next multiple of this
	maxWidth = 100 // columns of a source line that are shown at most
	minWidth = 20  // however narrow the terminal is
	lead     = 30  // columns shown before the place, where a line is cut
	reach    = 4 * maxWidth
)

// cell is one thing that takes room on a line of the terminal: a character with
// its combining marks, a tab, or an escape for what would not show.
type cell struct {
	at    int // byte offset in the line
	text  string
	width int // columns
}

// row is a line of source as it is shown: cells, and what the window cut off.
type row struct {
	cells        []cell
	end          int // byte offset behind the last cell
	before, more bool
}

// rowOf lays a line out around a byte offset of interest. Only the bytes near
// it are looked at, since a line may be as long as a file. At most width columns are shown, and what was cut is marked.
func rowOf(line []byte, at, width int) row {
	lo, hi := max(0, at-reach), min(len(line), at+reach)
	for lo > 0 && !utf8.RuneStart(line[lo]) {
		lo--
	}
	for hi < len(line) && !utf8.RuneStart(line[hi]) {
		hi++
	}
	r := row{cells: cellsOf(line[lo:hi], lo), end: hi, before: lo > 0, more: hi < len(line)}
	r.window(at, width)
	return r
}

func cellsOf(line []byte, base int) []cell {
	var cells []cell
	column, state := 0, -1
	for at := base; len(line) > 0; {
		var cluster []byte
		var width int
		cluster, line, width, state = uniseg.FirstGraphemeCluster(line, state)
		text := string(cluster)
		switch {
		case text == "\t":
			width = tabStop - column%tabStop
			text = strings.Repeat(" ", width)
		case !terminal.Shows(text):
			text = terminal.Visible(text)
			width = uniseg.StringWidth(text)
		}
		cells = append(cells, cell{at, text, width})
		column += width
		at += len(cluster)
	}
	return cells
}

// window drops cells so that at most width columns are left, the place at
// a given byte offset among them.
func (r *row) window(at, width int) {
	total, to := 0, 0
	for _, c := range r.cells {
		if c.at < at {
			to += c.width
		}
		total += c.width
	}
	if total <= width && !r.before && !r.more {
		return
	}
	lead := min(lead, width/3)
	from := max(0, to-lead)
	if from == to-lead && total-from < width && !r.more {
		from = max(0, total-width)
	}
	column, first, last := 0, len(r.cells), len(r.cells)
	for i, c := range r.cells {
		if column >= from {
			first = min(first, i)
		}
		if column+c.width > from+width {
			last = i
			break
		}
		column += c.width
	}
	if last < len(r.cells) {
		r.end, r.more = r.cells[last].at, true
	}
	r.before = r.before || first > 0
	r.cells = r.cells[first:last]
}

// column is where a byte offset stands in the row as String writes it.
func (r *row) column(at int) int {
	column := 0
	if r.before {
		column = len(cutMark)
	}
	for i, c := range r.cells {
		next := r.end
		if i+1 < len(r.cells) {
			next = r.cells[i+1].at
		}
		if at < next {
			return column
		}
		column += c.width
	}
	return column
}

// cutMark stands where a long line was cut.
const cutMark = "..."

func (r *row) String() string {
	var b strings.Builder
	if r.before {
		b.WriteString(cutMark)
	}
	for _, c := range r.cells {
		b.WriteString(c.text)
	}
	if r.more {
		b.WriteString(cutMark)
	}
	return b.String()
}
