package layout

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// sharing warns of atomic fields of a struct in one line, once for each line. The first warning has a fix for all.
func (c *checker) sharing(t *resolve.Type, fields []FieldLayout) {
	had := len(c.diags)
	var shared []*FieldLayout
	for n := range fields {
		f := &fields[n]
		if !f.Field.Atomic {
			continue
		}
		if len(shared) > 0 && shared[0].Offset/Line != f.Offset/Line {
			c.warnShared(shared)
			shared = nil
		}
		shared = append(shared, f)
	}
	c.warnShared(shared)
	if len(c.diags) == had {
		return
	}
	gaps, _, _ := c.gaps(t, max(c.of(t).Need, c.wanted(t)), true)
	if edits, ok := edits(t, gaps); ok && len(edits) > 0 {
		c.diags[had].Fix("move each to a line of its own by padding, which changes the wire", edits...).Breaking(diag.BreaksWire)
	}
}

func (c *checker) warnShared(shared []*FieldLayout) {
	if len(shared) < 2 {
		return
	}
	first, rest := shared[0], shared[1:]
	what := "`" + first.Field.Name + "` and `" + rest[0].Field.Name + "`"
	if len(rest) > 1 {
		what = fmt.Sprintf("%d atomic fields from `%s` on", len(shared), first.Field.Name)
	}
	d := c.report(diag.FalseSharing, first.Field.AtomicAt, "%s lie in one cache line: whoever changes one slows down the others", what).
		Also(first.Field.At, "`%s` lies at %d", first.Field.Name, first.Offset)
	for _, f := range rest[:min(len(rest), 4)] {
		d.Also(f.Field.At, "`%s` lies at %d, in the same line as `%s`", f.Field.Name, f.Offset, first.Field.Name)
	}
	d.Helpf("if different processors change them, give each its own line: `#@cacheline` and `#@pad`")
}

// atomics are the outermost of a fixed type's atomic fields, those in its parts
// included.
type atomics struct {
	first, last   *resolve.Field // nil where there is none
	start, finish uint64         // where those two start
}

// atomicsOf finds them, once for each type.
func (c *checker) atomicsOf(t *resolve.Type) *atomics {
	t = t.Resolve()
	if c.of(t).needs == nil {
		return &atomics{}
	}
	a := c.atomics[t]
	if a != nil {
		return a
	}
	a = &atomics{}
	switch t.Kind {
	case resolve.FixedList:
		*a = *c.atomicsOf(t.Elem)
		a.finish = add(a.finish, mul(t.Len-1, c.Of(t.Elem).Max))
	case resolve.Struct:
		for _, f := range c.Fields(t) {
			in := c.atomicsOf(f.Field.Type)
			if f.Field.Atomic {
				in = &atomics{first: f.Field, last: f.Field}
			}
			if in.first == nil {
				continue
			}
			if a.first == nil {
				a.first, a.start = in.first, add(f.Offset, in.start)
			}
			a.last, a.finish = in.last, add(f.Offset, in.finish)
		}
	}
	c.atomics[t] = a
	return a
}

// listed warns where atomic fields of neighbouring elements of a list lie in one
// line: once for each type of elements. The list is taken to start a line.
func (c *checker) listed(t *resolve.Type) {
	if i := c.of(t); i.needs == nil || i.invalid || !i.IsFixed() {
		return
	}
	c.neighbours(t.Elem, t.Len, t.At, c.title(t.Elem))
}

// inRegion is the same for the elements of a type's regions, of which there may be any number.
func (c *checker) inRegion(d *resolve.Decl) {
	at := d.PlacesAt
	if len(d.Residency) == 0 {
		at = d.RightsAt
	}
	if i := c.of(d.Type); at.IsValid() && i.needs != nil && !i.invalid && i.IsFixed() {
		c.neighbours(d.Type, ^uint64(0), at, "`"+d.Name+"`")
	}
}

// neighbours warns where atomic fields of two of n elements lie in one line. What is
// in lists that are elements was said of those lists.
func (c *checker) neighbours(t *resolve.Type, n uint64, at source.Span, title string) {
	elem := t.Resolve()
	if elem.Kind != resolve.Struct {
		return
	}
	if _, wrong := c.mended[elem]; wrong {
		return // its size is not what it will be
	}
	a, size := c.atomicsOf(elem), c.Of(elem).Max
	if a.first == nil || !meet(n, size, a) {
		return
	}
	if known := c.lists[elem]; known != nil {
		if len(known.Related) < 5 {
			known.Also(at, "here, too")
		}
		return
	}
	what := "the `" + a.first.Name + "` of neighbouring elements lie in one cache line"
	if a.first != a.last {
		what = fmt.Sprintf("`%s` of one element and `%s` of the next lie in one cache line", a.last.Name, a.first.Name)
	}
	d := c.report(diag.FalseSharingList, at, "%s: whoever changes one slows down the others", what).
		Also(a.first.AtomicAt, "`%s` is atomic", a.first.Name).
		Notef("an element has %d bytes, a line %d", size, Line)
	d.Helpf("if different processors change them, put %s of padding at the end of %s: `#@pad` above `%s: data[%d]`",
		count(Line-size%Line), title, padNames(elem)(), Line-size%Line)
	if e, ok := editAtEnd(elem, gap{len(elem.Fields), Line - size%Line, padNames(elem)()}); ok {
		d.Fix("put the padding at the end, which changes the wire", e).Breaking(diag.BreaksWire)
	}
	c.lists[elem] = d
}

// meet reports whether the last atomic field of an element and the first of the
// next ever lie in one line. The pattern repeats at the latest after a line's number
// of elements.
func meet(n, size uint64, a *atomics) bool {
	for i := uint64(0); i+1 < min(n, Line+1); i++ {
		if (i*size+a.finish)/Line == ((i+1)*size+a.start)/Line {
			return true
		}
	}
	return false
}
