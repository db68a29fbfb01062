package lint

import (
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// inMemory marks the types of which an annotation says that they lie in memory, and all that lies in them.
func (a *adviser) inMemory() map[*resolve.Decl]bool {
	marked := map[*resolve.Decl]bool{}
	var mark func(*resolve.Type)
	mark = func(t *resolve.Type) {
		switch t.Kind {
		case resolve.Ref:
			if !marked[t.Decl] {
				marked[t.Decl] = true
				mark(t.Decl.Type)
			}
		case resolve.FixedList:
			mark(t.Elem)
		case resolve.Struct:
			for _, f := range t.Fields {
				mark(f.Type)
			}
		}
	}
	a.decls(func(d *resolve.Decl) {
		places := func(f *resolve.Field) bool { return f.Atomic || f.Pad || f.Cacheline > 0 }
		if isRegion(d) || d.Align > 0 || slices.ContainsFunc(d.Type.Fields, places) {
			marked[d] = true
			mark(d.Type)
		}
	})
	return marked
}

// castable finds structs in memory that only the places of their fields keep from being castable, and
// offers the cheaper of padding and another order.
func (a *adviser) castable() {
	memory := a.inMemory()
	a.decls(func(d *resolve.Decl) {
		t := d.Type
		if t.Kind != resolve.Struct || !memory[d] || a.layouts.Of(t).Class != layout.Fixed {
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
	order   []int          // indexes of fields
	pads    []uint64       // before each of them, and at the end
	resized map[int]uint64 // padding that gets another length, by its index
	size    uint64
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
