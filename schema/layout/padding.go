package layout

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// What is wrong is found in the layout as it was written. What to do about it is
// worked out for a whole struct at once: padding moves all that stands behind it,
// so advice that looks at one field only would be wrong next to advice for another.

// wish is a finding that padding would mend.
type wish struct {
	d     *diag.Diagnostic
	place int // the index of the field that the padding is to stand before; the number of fields for the end
}

// gap is padding that is missing.
type gap struct {
	place int
	size  uint64
	name  string
}

// mended is what becomes of a type whose padding is advised.
type mended struct {
	size uint64
	by   *diag.Diagnostic // the finding that gives the advice
}

// structure is a struct and what it is called in messages.
type structure struct {
	t    *resolve.Type
	name string
}

// wishBefore notes that padding before a field would mend a finding.
func (c *checker) wishBefore(d *diag.Diagnostic, t *resolve.Type, f *resolve.Field) {
	c.wishes[t] = append(c.wishes[t], wish{d, slices.Index(t.Fields, f)})
}

// wishAtEnd notes that padding at a struct's end would mend a finding.
func (c *checker) wishAtEnd(d *diag.Diagnostic, t *resolve.Type) {
	c.wishes[t] = append(c.wishes[t], wish{d, len(t.Fields)})
}

// advise says, and offers, all the padding that a struct needs: with every
// finding what mends it, and one fix for all, which the first has. Padding that is
// needed only since other padding moves things is said with that. What the struct
// refers to has been advised on. Align is what its size must be a multiple of.
func (c *checker) advise(s structure, align uint64) {
	t, i, wishes := s.t, c.of(s.t), c.wishes[s.t]
	if i.invalid || !i.IsFixed() || len(wishes) == 0 && len(c.mended) == 0 {
		return
	}
	gaps, size, by := c.gaps(t, max(i.Need, align), false)
	in := ""
	if len(wishes) > 0 {
		slices.SortStableFunc(wishes, func(a, b wish) int { return a.d.Primary.Span.Start - b.d.Primary.Span.Start })
		by = wishes[0].d
	} else if by != nil {
		in = " in `" + s.name + "`"
	}
	if by == nil {
		return
	}
	if size != i.Min {
		c.mended[t] = mended{size, by}
	}
	sayGaps(t, gaps, wishes, by, in)
	edits, ok := edits(t, gaps)
	switch {
	case !ok || len(edits) == 0:
	case in == "":
		by.Fix("insert the padding", edits...).Breaking(diag.BreaksWire)
	case len(by.Fixes) > 0:
		by.Fixes[0].Edits = append(by.Fixes[0].Edits, edits...)
	}
}

// gaps works out the padding that a fixed struct needs, and its size then. By is
// the finding whose advice changes the size of a field, or nil. With apart, every atomic field of
// the struct gets a line that no other of them is in.
func (c *checker) gaps(t *resolve.Type, align uint64, apart bool) (gaps []gap, size uint64, by *diag.Diagnostic) {
	at, free := uint64(0), uint64(0) // free is where the last #@cacheline field's lines end
	next := uint64(0)                // where the line behind the last atomic field begins
	names := padNames(t)
	for n, f := range t.Fields {
		to := at
		if !f.Pad {
			to = max(at, free)
		}
		to = roundUp(to, c.multiple(f))
		if f.Atomic && apart {
			to = max(to, next)
			next = roundUp(to+1, Line)
		}
		if to > at {
			gaps = append(gaps, gap{n, to - at, names()})
		}
		size, moved := c.sizeOf(f.Type)
		if by == nil {
			by = moved
		}
		at = add(to, size)
		if f.Cacheline > 0 {
			free = roundUp(at, f.Cacheline)
		}
	}
	if size = roundUp(at, align); size > at {
		gaps = append(gaps, gap{len(t.Fields), size - at, names()})
	}
	return gaps, size, by
}

// multiple is where a field may start.
func (c *checker) multiple(f *resolve.Field) uint64 {
	e := c.of(f.Type)
	n := max(e.Need, f.Cacheline)
	if f.Atomic {
		n = max(n, e.Max)
	}
	return n
}

// sizeOf is the size of a fixed type once the advice is followed, and whose
// advice that is, or nil.
func (c *checker) sizeOf(t *resolve.Type) (uint64, *diag.Diagnostic) {
	t = t.Resolve()
	switch t.Kind {
	case resolve.FixedList:
		size, by := c.sizeOf(t.Elem)
		return mul(size, t.Len), by
	case resolve.Struct:
		if m, ok := c.mended[t]; ok {
			return m.size, m.by
		}
	}
	return c.of(t).Max, nil
}

// roundUp saturates. Multiples are powers of two.
func roundUp(n, multiple uint64) uint64 {
	if n%multiple == 0 {
		return n
	}
	return add(n, multiple-n%multiple)
}

// sayGaps puts help on the findings.
func sayGaps(t *resolve.Type, gaps []gap, wishes []wish, by *diag.Diagnostic, in string) {
	said := make([]bool, len(wishes))
	for _, g := range gaps {
		then := "then "
		if n := slices.IndexFunc(wishes, func(w wish) bool { return w.place == g.place }); n >= 0 {
			by, then, said[n] = wishes[n].d, "", true
		}
		by.Helpf("%sput %s of padding %s%s: `#@pad` above `%s: data[%d]`", then, count(g.size), where(t, g.place), in, g.name, g.size)
	}
	for n, w := range wishes {
		switch {
		case said[n]:
		case slices.ContainsFunc(gaps, func(g gap) bool { return g.place == w.place }):
			w.d.Helpf("the padding %s, which is missing anyway, mends this, too", where(t, w.place))
		default:
			w.d.Helpf("the other padding that is missing in this struct mends this, too")
		}
	}
}

func where(t *resolve.Type, place int) string {
	if place == len(t.Fields) {
		return "at the end"
	}
	return "before `" + t.Fields[place].Name + "`"
}

func count(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}

// padNames gives names for padding that the struct does not have.
func padNames(t *resolve.Type) func() string {
	n := 0
	return func() string {
		for {
			name := fmt.Sprintf("pad%d", n)
			n++
			if !slices.ContainsFunc(t.Fields, func(f *resolve.Field) bool { return f.Name == name }) {
				return name
			}
		}
	}
}

// edits writes padding into the schema. It returns false where a piece of it
// cannot be written without knowing how the user would lay out the lines.
func edits(t *resolve.Type, gaps []gap) (all []diag.Edit, ok bool) {
	for _, g := range gaps {
		write := editBefore
		if g.place == len(t.Fields) {
			write = editAtEnd
		}
		e, ok := write(t, g)
		if !ok {
			return nil, false
		}
		all = append(all, e)
	}
	return all, true
}

func editBefore(t *resolve.Type, g gap) (e diag.Edit, ok bool) {
	f := t.Fields[g.place]
	if f.Syntax == nil {
		return e, false
	}
	at := f.Syntax.Span.Start
	for _, doc := range f.Syntax.Doc {
		at = min(at, doc.Span.Start)
	}
	for _, a := range f.Syntax.Annots {
		at = min(at, a.Span.Start)
	}
	file := f.At.File
	indent, first := indentOf(file, at)
	if !first {
		return e, false // one line: a comment would swallow the rest
	}
	return diag.Edit{
		Span: source.Span{File: file, Start: at, End: at},
		New:  fmt.Sprintf("#@pad\n%s%s: data[%d]\n%s", indent, g.name, g.size, indent),
	}, true
}

func editAtEnd(t *resolve.Type, g gap) (e diag.Edit, ok bool) {
	last := t.Fields[len(t.Fields)-1]
	if last.Syntax == nil {
		return e, false
	}
	file := last.At.File
	indent, first := indentOf(file, last.Syntax.Span.Start)
	end := lineEnd(file, last.Syntax.Span.End)
	if !first || bytes.ContainsAny(withoutComment(file.Text()[last.Syntax.Span.End:end]), "}") {
		return e, false
	}
	return diag.Edit{
		Span: source.Span{File: file, Start: end, End: end},
		New:  fmt.Sprintf("\n%s#@pad\n%s%s: data[%d]", indent, indent, g.name, g.size),
	}, true
}

// indentOf is the white space before a place, and whether nothing else stands
// before it on its line.
func indentOf(f *source.File, at int) (string, bool) {
	text := f.Text()
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	before := text[start:at]
	return string(before), len(bytes.TrimLeft(before, " \t")) == 0
}

func lineEnd(f *source.File, at int) int {
	text := f.Text()
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		at += n
	} else {
		at = len(text)
	}
	if at > 0 && text[at-1] == '\r' {
		at--
	}
	return at
}

func withoutComment(line []byte) []byte {
	before, _, _ := bytes.Cut(line, []byte("#"))
	return before
}
