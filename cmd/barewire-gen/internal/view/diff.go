package view

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
)

// Change is a type that lies otherwise than in an older version. Old or New is nil where it is new or gone.
type Change struct {
	Name string      `json:"name"`
	Old  *Type       `json:"old"`
	New  *Type       `json:"new"`
	Rows []RowChange `json:"rows,omitempty"` // of structs: every field of either version
}

// RowChange is a field in two versions. A pointer is nil where there is no such number.
type RowChange struct {
	Field string  `json:"field"`
	Was   *uint64 `json:"was"` // its offset before
	Now   *uint64 `json:"now"`
	Size  string  `json:"size"`
	Type  string  `json:"type"`
	What  string  `json:"what,omitempty"` // moved, new, gone, resized, retyped
}

// Diff compares the layouts of types of one name. Those that lie as they did are left out.
func Diff(old, now []*Type) (changes []Change) {
	byName := map[string]*Type{}
	for _, t := range old {
		byName[t.Name] = t
	}
	for _, t := range now {
		o := byName[t.Name]
		delete(byName, t.Name)
		if o == nil {
			changes = append(changes, Change{Name: t.Name, New: t})
			continue
		}
		rows := rowChanges(o, t)
		if o.summary() != t.summary() || slices.ContainsFunc(rows, func(r RowChange) bool { return r.What != "" }) {
			changes = append(changes, Change{t.Name, o, t, rows})
		}
	}
	for _, t := range old {
		if byName[t.Name] != nil {
			changes = append(changes, Change{Name: t.Name, Old: t})
		}
	}
	return changes
}

// rowChanges puts the rows of two versions side by side, in the order of the new one; what is gone stands where it stood.
func rowChanges(o, n *Type) (rows []RowChange) {
	olds := map[string]layout.Row{}
	for _, r := range o.Rows {
		olds[r.Field] = r
	}
	news := map[string]bool{}
	for _, r := range n.Rows {
		news[r.Field] = true
	}
	at := 0
	gone := func() {
		for ; at < len(o.Rows) && !news[o.Rows[at].Field]; at++ {
			r := o.Rows[at]
			rows = append(rows, RowChange{r.Field, r.Offset, nil, sizeOf(r.Min, r.Max), r.Type, "gone"})
		}
	}
	for _, r := range n.Rows {
		gone()
		was, ok := olds[r.Field]
		c := RowChange{Field: r.Field, Now: r.Offset, Size: sizeOf(r.Min, r.Max), Type: r.Type}
		switch {
		case !ok:
			c.What = "new"
		case was.Type != r.Type:
			c.Was, c.What = was.Offset, "was "+was.Type
		case sizeOf(was.Min, was.Max) != sizeOf(r.Min, r.Max):
			c.Was, c.What = was.Offset, "had "+sizeOf(was.Min, was.Max)+" bytes"
		case was.Offset != nil && r.Offset != nil && *was.Offset != *r.Offset:
			c.Was, c.What = was.Offset, fmt.Sprintf("moved by %+d", int64(*r.Offset-*was.Offset))
		case (was.Offset == nil) != (r.Offset == nil):
			c.Was, c.What = was.Offset, "moved"
		default:
			c.Was = was.Offset
		}
		rows = append(rows, c)
		if at < len(o.Rows) && o.Rows[at].Field == r.Field {
			at++
		}
	}
	gone()
	return rows
}

// DiffText draws changes, in so many columns: offsets of both versions beside each other.
func DiffText(changes []Change, width int) []byte {
	var b bytes.Buffer
	for i, c := range changes {
		if i > 0 {
			b.WriteString("\n\n")
		}
		switch {
		case c.Old == nil:
			line(&b, c.Name+"   "+where(c.New)+"   new")
			folded(&b, c.New.summary(), width)
			continue
		case c.New == nil:
			line(&b, c.Name+"   "+where(c.Old)+"   gone")
			folded(&b, c.Old.summary(), width)
			continue
		}
		line(&b, c.Name+"   "+where(c.New)+"   was "+where(c.Old))
		folded(&b, "was "+c.Old.summary(), width)
		folded(&b, "is  "+c.New.summary(), width)
		c.table(&b, width)
	}
	return b.Bytes()
}

func (c Change) table(b *bytes.Buffer, width int) {
	if len(c.Rows) == 0 {
		return
	}
	rows := [][]string{{"was", "is", "size", "field", "type", ""}}
	for _, r := range c.Rows {
		rows = append(rows, []string{offsetText(r.Was, r.What == "new"), offsetText(r.Now, r.What == "gone"), r.Size, r.Field, ascii(r.Type), ascii(r.What)})
	}
	var w [6]int
	for _, r := range rows {
		for i, s := range r {
			w[i] = max(w[i], len(s))
		}
	}
	w[3], w[4] = min(w[3], 24), min(w[4], 20)
	for _, i := range []int{3, 4} { // names give way, as far as they can still be told apart
		over := w[0] + w[1] + w[2] + w[3] + w[4] + min(w[5], 30) + len(" ")*11 - width
		w[i] -= max(0, min(over, w[i]-10))
	}
	b.WriteByte('\n')
	for i, r := range rows {
		line(b, fmt.Sprintf(" %*s  %*s  %*s  %-*s  %-*s  %s", w[0], r[0], w[1], r[1], w[2], r[2], w[3], clip(r[3], w[3]), w[4], clip(r[4], w[4]), clip(r[5], 30)))
		if i == 0 {
			dash := func(n int) string { return strings.Repeat("-", n) }
			line(b, fmt.Sprintf(" %s  %s  %s  %s  %s", dash(w[0]), dash(w[1]), dash(w[2]), dash(w[3]), dash(w[4])))
		}
	}
}

func offsetText(n *uint64, absent bool) string {
	switch {
	case absent:
		return ""
	case n == nil:
		return "?"
	}
	return fmt.Sprint(*n)
}
