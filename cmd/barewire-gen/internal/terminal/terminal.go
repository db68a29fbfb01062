// Package terminal says how wide the text may be that people read, and breaks text into lines of that width.
package terminal

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/rivo/uniseg"
)

const (
	// Plain is the width, in columns, of prose that goes to no terminal: to a file, a pipe, a log.
	Plain = 100
	// most is what prose takes of a wide terminal: longer lines are hard to read.
	most = 100
	// least keeps the text readable in a terminal that says it has hardly any width, and in one that is wrong about it.
	least = 40
)

// Columns is how wide the terminal behind a writer is, in columns, or 0 if there is none. COLUMNS goes before what the
// system says, as for ls and man: somebody who sets it means it; a shell's own is no part of the environment.
func Columns(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	n := columns(f)
	if n == 0 {
		return 0
	}
	if set, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && set > 0 {
		n = set
	}
	return max(n, least)
}

// Prose is how wide sentences may be that are written to w.
func Prose(w io.Writer) int {
	if n := Columns(w); n > 0 {
		return min(n, most)
	}
	return Plain
}

// Wrap breaks text at its spaces into lines of at most width columns, where that is possible; what stands between
// backquotes stays on one line, since it is to be copied. All lines but the first begin with indent. Line ends in the
// text stay.
func Wrap(text string, width int, indent string) string {
	var b strings.Builder
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			b.WriteString("\n" + indent)
		}
		wrapLine(&b, line, width, indent, i == 0)
	}
	return b.String()
}

func wrapLine(b *strings.Builder, line string, width int, indent string, first bool) {
	inner := strings.TrimLeft(line, " ") // a line that is indented keeps that
	margin := line[:len(line)-len(inner)]
	b.WriteString(margin)
	column := len(margin)
	if !first {
		column += len(indent)
	}
	empty := true
	for _, word := range words(inner) {
		n := uniseg.StringWidth(word)
		switch {
		case empty:
		case column+1+n > width:
			b.WriteString("\n" + indent + margin)
			column = len(indent) + len(margin)
		default:
			b.WriteByte(' ')
			column++
		}
		empty = false
		b.WriteString(word)
		column += n
	}
}

// words are the parts of a line between spaces. A piece of code in backquotes belongs to one word.
func words(line string) (all []string) {
	begin, code := -1, false
	for i, r := range line {
		switch {
		case r == '`':
			code = !code && strings.IndexByte(line[i+1:], '`') >= 0
		case r == ' ' && !code:
			if begin >= 0 {
				all = append(all, line[begin:i])
			}
			begin = -1
			continue
		}
		if begin < 0 {
			begin = i
		}
	}
	if begin >= 0 {
		all = append(all, line[begin:])
	}
	return all
}
