package lint

import (
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// castable finds structs that only the places of their fields keep from being castable, and
// offers the cheaper of padding and another order.
func (a *adviser) castable() {
	a.decls(func(d *resolve.Decl) {
		t := d.Type
		if t.Kind != resolve.Struct || a.layouts.Of(t).Class != layout.Fixed {
			return
		}
		list := a.layouts.Fields(t)
		if slices.ContainsFunc(list, func(f layout.FieldLayout) bool { return f.Info.Class != layout.Castable }) {
			return
		}
		multiple := max(d.Align, a.layouts.Of(t).Need)
		padded := place(list, inOrder(len(list)), multiple)
		best, code, what := padded, diag.PaddingCast, "padding"
		if order, ok := byAlignment(list); ok {
			if p := place(list, order, multiple); p.size < padded.size {
				best, code, what = p, diag.OrderCast, "its fields in another order"
			}
		}
		f := diag.Errorf(code, d.At, "with %s `%s` would be castable: `*%s` and `[]%s` straight over its bytes", what, d.Name, d.Name, d.Name).
			Notef("it has %d bytes, and would have %d; that changes the wire, so messages of before cannot be read any more", a.layouts.Of(t).Max, best.size)
		if isRegion(d) {
			f.Severity = diag.Warning
		}
		if edit, ok := a.rewrite(t, best); ok {
			text := "insert the padding, which changes the wire"
			if code == diag.OrderCast {
				text = "put the fields in that order, which changes the wire"
			}
			f.Fix(text, edit).Breaking(diag.BreaksWire)
		}
		a.report(f)
	})
}

// placement is an order of fields with the padding that it needs.
type placement struct {
	order []int    // indexes of fields
	pads  []uint64 // before each of them, and at the end
	size  uint64
}

func inOrder(n int) []int {
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	return order
}

// byAlignment is the order with the greatest alignment first. Padding, lines and sequences have places of their own.
func byAlignment(list []layout.FieldLayout) ([]int, bool) {
	for _, f := range list {
		if f.Field.Pad || f.Field.Cacheline > 0 || f.Field.Sequence {
			return nil, false
		}
	}
	order := inOrder(len(list))
	slices.SortStableFunc(order, func(i, j int) int { return int(list[j].Info.Align) - int(list[i].Info.Align) })
	return order, true
}

func place(list []layout.FieldLayout, order []int, multiple uint64) placement {
	p := placement{order: order}
	at, align := uint64(0), max(multiple, 1)
	for _, i := range order {
		info := list[i].Info
		align = max(align, info.Align)
		p.pads = append(p.pads, gap(at, info.Align))
		at += gap(at, info.Align) + info.Max
	}
	p.pads = append(p.pads, gap(at, align))
	p.size = at + gap(at, align)
	return p
}

// gap is how much is missing to a multiple.
func gap(at, multiple uint64) uint64 { return (multiple - at%multiple) % multiple }

// straddles finds fields of regions' elements that lie in two lines. Elements whose size is no
// multiple of a line lie anywhere, so there it says nothing.
func (a *adviser) straddles() {
	a.decls(func(d *resolve.Decl) {
		t := d.Type.Resolve()
		i := a.layouts.Of(t)
		if t.Kind != resolve.Struct || !isRegion(d) || !i.IsFixed() || i.Max%layout.Line != 0 {
			return
		}
		for _, f := range a.layouts.Fields(t) {
			first, last := f.Offset/layout.Line, (f.Offset+f.Info.Max-1)/layout.Line
			if f.Field.Pad || f.Info.Max == 0 || f.Info.Max > layout.Line || first == last {
				continue
			}
			a.report(diag.Errorf(diag.Straddles, f.Field.At, "`%s` lies at %d to %d, in two cache lines", f.Field.Name, f.Offset, f.Offset+f.Info.Max-1).
				Also(d.At, "regions of `%s` start at a line", d.Name).
				Helpf("another order, or %s of padding before it, puts it into one line; that changes the wire", bytesOf(gap(f.Offset, layout.Line))))
		}
	})
}

func bytesOf(n uint64) string {
	if n == 1 {
		return "1 byte"
	}
	return fmt.Sprintf("%d bytes", n)
}
