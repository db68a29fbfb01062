// Package printer writes a syntax tree back as text, in one form: what the fmt
// command does.
//
//   - The new syntax, whatever was written: `string` becomes `str`, `[]T` becomes
//     `list<T>`. Only an old enum of a fixed size (`enum Level u16 { … }`) stays,
//     because the new syntax has no way to say it, and `[]T` where several comments
//     stand in front of the T, because `list<T>` has no place for them.
//   - Two spaces for each level, one item to a line. A body that stood on one line
//     and has no comment in it stays on one line, up to 72 columns of its own.
//   - The types of fields that follow each other are aligned. A blank line ends
//     such a run, and so does a field that takes several lines.
//   - A | stands behind each member of a union but the last.
//   - At most one blank line in a row, none at the start or end of a body. Lines end in
//     LF, and no white space stands before it. The byte order mark goes.
//   - Every comment stays, word for word, above or behind what it was above or
//     behind, so that it belongs to the same declaration, field, member or value.
//     A comment in the middle of a type breaks the line there.
//   - Numbers stay as they were written.
//
// Formatting what was formatted changes nothing, and the text means what the tree means.
package printer

import (
	"bytes"
	"io"
	"sort"

	"github.com/fidelityframework/barewire-gen/schema/ast"
)

// Format returns the file's text in the one form. The file must have been
// parsed without errors; what could not be read is not in the tree.
func Format(f *ast.File) []byte {
	p := &printer{src: f.Src.Text(), comments: f.Comments, first: true}
	p.out = make([]byte, 0, len(p.src)+len(p.src)/8)
	for _, d := range f.Decls {
		p.item(d.Span.Start)
		p.decl(d)
	}
	p.endItems(len(p.src))
	if len(p.out) > 0 {
		p.out = append(p.out, '\n')
	}
	return p.out
}

// Fprint writes the file's text in the one form, as Format returns it.
func Fprint(w io.Writer, f *ast.File) error {
	_, err := w.Write(Format(f))
	return err
}

// printer writes tokens, and before each one the comments that stand before it
// in the source. White space is owed until something is written, since what
// follows decides about it.
//
// A line ends with its comment, so two comments behind something need a token
// between them. The source has one there, and whoever would drop or move that
// token must keep it where comments need it.
type printer struct {
	src      []byte
	comments []*ast.Comment
	next     int // the first comment not yet written
	cur      int // end of the last token taken from the source

	out    []byte
	indent int
	lines  int  // line ends owed
	space  bool // a space owed
	inItem bool // an item has begun: further lines of it are indented more
	first  bool // nothing stands in this body yet
}

// write writes a token that has no place of its own in the source.
func (p *printer) write(s string) {
	p.owed()
	p.out = append(p.out, s...)
	p.inItem = true
}

// token writes a token that stands at a place in the source, where it is n bytes long.
func (p *printer) token(s string, at, n int) {
	p.flush(at)
	p.write(s)
	p.cur = at + n
}

// mark writes a punctuation mark that comes next in the source, where it may be another.
func (p *printer) mark(s string, inSource byte) {
	if at := p.after(p.cur); at < len(p.src) && p.src[at] == inSource {
		p.token(s, at, 1)
		return
	}
	p.write(s)
}

// after is the place of the next token at or behind a place.
func (p *printer) after(at int) int {
	for ; at < len(p.src); at++ {
		switch p.src[at] {
		case ' ', '\t', '\r', '\n':
		case '#':
			n := bytes.IndexByte(p.src[at:], '\n')
			if n < 0 {
				return len(p.src)
			}
			at += n
		default:
			return at
		}
	}
	return at
}

// owed writes the white space that is owed.
func (p *printer) owed() {
	switch {
	case p.lines > 0:
		if len(p.out) > 0 {
			p.out = append(p.out, "\n\n"[:p.lines]...)
		}
		n := p.indent
		if p.inItem {
			n++
		}
		for range n {
			p.out = append(p.out, ' ', ' ')
		}
	case p.space:
		p.out = append(p.out, ' ')
	}
	p.lines, p.space = 0, false
}

// flush writes the comments that start before a place.
func (p *printer) flush(place int) {
	for p.next < len(p.comments) && p.comments[p.next].Span.Start < place {
		c := p.comments[p.next]
		switch {
		case c.OwnLine:
			p.line(c.Span.Start)
			p.owed()
		case len(p.out) > 0:
			p.out = append(p.out, ' ')
		}
		p.out = append(p.out, '#')
		p.out = append(p.out, c.Text()...)
		p.next++
		p.lines, p.first = max(p.lines, 1), false
	}
}

// line starts a line for what stands at a place, behind a blank line if one
// stands there in the source between two items.
func (p *printer) line(place int) {
	p.lines = 1
	if !p.inItem && !p.first && p.blankBefore(place) {
		p.lines = 2
	}
	p.first = false
}

// item starts an item of a body, or a declaration.
func (p *printer) item(start int) {
	p.inItem = false
	p.lines = max(p.lines, 1)
	p.flush(start)
	p.line(start)
}

// endItems ends a body: what is left of its comments stands before a place.
func (p *printer) endItems(place int) {
	p.inItem = false
	p.lines = max(p.lines, 1)
	p.flush(place)
	p.lines = 1
}

// blankBefore reports whether a blank line stands before a place, with nothing
// but white space and | between.
func (p *printer) blankBefore(place int) bool {
	lines := 0
	for i := place - 1; i >= 0; i-- {
		switch p.src[i] {
		case '\n':
			if lines++; lines == 2 {
				return true
			}
		case '|':
			lines = 0
		case ' ', '\t', '\r':
		default:
			return false
		}
	}
	return false
}

// blankBetween reports whether a blank line stands anywhere between two places.
func (p *printer) blankBetween(from, to int) bool {
	lines := 0
	for _, c := range p.src[from:to] {
		switch c {
		case '\n':
			if lines++; lines == 2 {
				return true
			}
		case ' ', '\t', '\r':
		default:
			lines = 0
		}
	}
	return false
}

// commentIn reports whether a comment stands between two places.
func (p *printer) commentIn(from, to int) bool { return p.commentsBefore(to) > p.commentsBefore(from) }

// commentsBefore counts the comments that start before a place.
func (p *printer) commentsBefore(place int) int {
	return sort.Search(len(p.comments), func(i int) bool { return p.comments[i].Span.Start >= place })
}
