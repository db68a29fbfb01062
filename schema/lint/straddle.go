package lint

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// straddles finds fields of regions' elements that lie in two lines. Elements whose size is no
// multiple of a line lie anywhere, so there it says nothing. The first finding of a type has a fix for all.
func (a *adviser) straddles() {
	a.decls(func(d *resolve.Decl) {
		t := d.Type.Resolve()
		i := a.layouts.Of(t)
		if t.Kind != resolve.Struct || !isRegion(d) || !i.IsFixed() || i.Max%layout.Line != 0 {
			return
		}
		list := a.layouts.Fields(t)
		first := true
		for _, f := range list {
			if f.Field.Pad || !straddles(f.Offset, f.Info.Max) {
				continue
			}
			x := a.report(diag.Errorf(diag.Straddles, f.Field.At, "`%s` lies at %d to %d, in two cache lines", f.Field.Name, f.Offset, f.Offset+f.Info.Max-1).
				Also(d.At, "regions of `%s` start at a line", d.Name))
			if first {
				a.unstraddle(x, d, t, list)
			}
			if len(x.Fixes) == 0 {
				x.Helpf("another order, or %s of padding before it, puts it into one line; that changes the wire", bytesOf(gap(f.Offset, layout.Line)))
			}
			first = false
		}
	})
}

// straddles reports whether something that fits in a line lies in two.
func straddles(at, size uint64) bool {
	return size > 0 && size <= layout.Line && at/layout.Line != (at+size-1)/layout.Line
}

// unstraddle offers the fix for a type: another order where that takes fewer bytes, else padding.
func (a *adviser) unstraddle(x *diag.Diagnostic, d *resolve.Decl, t *resolve.Type, list []layout.FieldLayout) {
	i := a.layouts.Of(t)
	castable := i.Class == layout.Castable
	multiple := max(d.Align, i.Need, layout.Line)
	best := inLines(list, inOrder(len(list)), castable, multiple)
	text := "insert padding, which changes the wire"
	if _, ok := byAlignment(list); ok {
		if p := inLines(list, filled(list), castable, multiple); p.size < best.size {
			best, text = p, "put the fields in another order, which changes the wire"
		}
	}
	if e, ok := a.rewrite(t, best); ok {
		x.Fix(text, e).Breaking(diag.BreaksWire)
	}
}

// inLines places fields in an order so that none straddles. What moves a field is taken from the next padding that has
// more than that, so that what is behind it stays where it was.
func inLines(list []layout.FieldLayout, order []int, castable bool, multiple uint64) placement {
	p := placement{order: order, resized: map[int]uint64{}}
	at := uint64(0)
	for _, i := range order {
		f := list[i]
		size, before := f.Info.Max, uint64(0)
		if f.Field.Pad {
			if moved := at - f.Offset; at > f.Offset && size > moved {
				size -= moved
				p.resized[i] = size
			}
		} else {
			before = gap(at, placeOf(f, castable))
			if straddles(at+before, size) {
				before += gap(at+before, layout.Line)
			}
		}
		p.pads = append(p.pads, before)
		at += before + size
	}
	p.pads = append(p.pads, gap(at, multiple))
	p.size = at + gap(at, multiple)
	return p
}

// placeOf is the multiple at which a field must start.
func placeOf(f layout.FieldLayout, castable bool) uint64 {
	n := max(f.Info.Need, f.Field.Cacheline, 1)
	if castable || f.Field.Atomic {
		n = max(n, f.Info.Align)
	}
	return n
}

// filled is an order that fills lines: each field, the largest first, goes into the first line that has room for it. Full lines stand
// first, and what takes more than a line stands at the end.
func filled(list []layout.FieldLayout) []int {
	bySize := inOrder(len(list))
	slices.SortStableFunc(bySize, func(i, j int) int { return cmp.Compare(list[j].Info.Max, list[i].Info.Max) })
	type line struct {
		fields []int
		free   uint64
	}
	var lines []*line
	var large []int
	for _, i := range bySize {
		size := list[i].Info.Max
		if size > layout.Line {
			large = append(large, i)
			continue
		}
		n := slices.IndexFunc(lines, func(l *line) bool { return l.free >= size })
		if n < 0 {
			n = len(lines)
			lines = append(lines, &line{free: layout.Line})
		}
		lines[n].fields = append(lines[n].fields, i)
		lines[n].free -= size
	}
	slices.SortStableFunc(lines, func(a, b *line) int { return int(a.free) - int(b.free) })
	var order []int
	for _, l := range lines {
		order = append(order, l.fields...) // the largest first: in most lines each is aligned then
	}
	return append(order, large...)
}

func bytesOf(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
