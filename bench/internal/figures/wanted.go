package figures

import (
	"fmt"
	"io"
)

// Equal is the difference that counts as none: medians of the same code move
// that much between runs on a shared machine.
const Equal = 1.15

// Wanted prints which of the wanted proportions are met, and counts them.
type Wanted struct {
	w        io.Writer
	width    int // of what is wanted
	met, all int
}

// NewWanted prints the heading.
func NewWanted(w io.Writer, heading string, width int) *Wanted {
	fmt.Fprintf(w, "\nWanted (%s):\n", heading)
	return &Wanted{w: w, width: width}
}

// Line is one that is met or not.
func (l *Wanted) Line(ok bool, what, text string) {
	verdict := "NOT MET"
	l.all++
	if ok {
		verdict = "met"
		l.met++
	}
	fmt.Fprintf(l.w, "  %-8s %-*s %s\n", verdict, l.width, what, text)
}

// End prints how many are met.
func (l *Wanted) End() { fmt.Fprintf(l.w, "%d of %d met.\n", l.met, l.all) }
