package compat

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// spot is something in an element of fixed size: a number, or a field or list that numbers are in.
type spot struct {
	name         string // the path from the type on: pos.x, keys[3], kind|2.reason
	offset, size uint64
	kind         string // of a number, whatever the schema calls it; "" for what has numbers in it
	shown        string // the type as it is written
	within       string // the members of unions that it is in: others have the same bytes to other ends
}

// mostSpots bounds what is looked at: lists in lists are many numbers. Of a list of more than mostItems, the first item stands for all.
const mostSpots = 1 << 14

// visit lists an element's spots by their offsets, as the layout has them; padding is none.
func (c *walk) visit(t *resolve.Type, p spot) {
	under := t.Resolve()
	p.size, p.shown = c.Of(under).Max, t.Short()
	if len(c.list) >= mostSpots {
		return
	}
	switch under.Kind {
	case resolve.Struct:
		c.add(p)
		for _, f := range c.Fields(under) {
			if !f.Field.Pad {
				c.visit(f.Field.Type, p.inside("."+f.Field.Name, f.Offset))
			}
		}
	case resolve.FixedData, resolve.FixedList:
		c.add(p)
		elem := element(under)
		n := under.Len
		if n > mostItems {
			n = 1
		}
		for i := range n {
			c.visit(elem, p.inside(fmt.Sprintf("[%d]", i), i*c.Of(elem).Max))
		}
	case resolve.Union:
		c.add(p)
		tag := p.inside("|", 0)
		tag.kind, tag.size = "tag", p.size-c.Of(under.Members[0].Type).Max
		c.add(tag)
		for _, m := range under.Members {
			in := p.inside(fmt.Sprintf("|%d", m.Tag), p.size-c.Of(m.Type).Max)
			in.within += in.name + " "
			c.visit(m.Type, in)
		}
	case resolve.Enum:
		p.kind = fmt.Sprintf("u%d", 8*p.size)
		c.add(p)
	case resolve.Void:
	default:
		p.kind = under.Kind.String()
		c.add(p)
	}
}

// inside is a spot in a spot. Its name has no dot in front.
func (p spot) inside(step string, offset uint64) spot {
	return spot{name: strings.TrimPrefix(p.name+step, "."), offset: p.offset + offset, within: p.within}
}

// walk collects spots.
type walk struct {
	*layout.Layouts
	list []spot
}

func (c *walk) add(p spot) {
	if p.name != "" {
		c.list = append(c.list, p)
	}
}

func spotsOf(l *layout.Layouts, t *resolve.Type) []spot {
	c := walk{Layouts: l}
	c.visit(t, spot{})
	return c.list
}

// mostMoves is how many moved fields are named.
const mostMoves = 8

// moves says what of an element lies elsewhere, or is something else where it lies. What only one version has a name for is
// fine where the other has padding, or the same number under another name.
func moves(was, is []spot) (notes []string) {
	before := map[string]spot{}
	for _, o := range was {
		before[o.name] = o
	}
	said, more := "", 0
	note := func(n spot, format string, args ...any) {
		switch {
		case said != "" && strings.HasPrefix(n.name, said) && strings.ContainsAny(n.name[len(said):][:1], ".[|"):
			return // what it is in was named
		case len(notes) < mostMoves:
			notes = append(notes, fmt.Sprintf(format, args...))
		default:
			more++
		}
		said = n.name
	}
	old := newSpans(was)
	for _, n := range is {
		o, known := before[n.name]
		switch {
		case known && n.offset != o.offset:
			note(n, "`%s` lies at %d, and lay at %d", n.name, n.offset, o.offset)
		case known && (n.size != o.size || n.kind != o.kind && n.kind != "" && o.kind != ""):
			note(n, "`%s` at %d is `%s`, and was `%s`", n.name, n.offset, n.shown, o.shown)
		case known && n.kind == o.kind:
		default:
			if o, ok := old.other(n); ok {
				note(n, "`%s` at %d is `%s`, where `%s` was, which was `%s` at %d", n.name, n.offset, n.shown, o.name, o.shown, o.offset)
			}
		}
	}
	if more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", more))
	}
	return notes
}

// spans finds the numbers at a place, in one combination of members of unions.
type spans map[string][]spot

func newSpans(list []spot) spans {
	all := spans{}
	for _, p := range list {
		if p.kind != "" {
			all[p.within] = append(all[p.within], p) // they are in the order of their offsets
		}
	}
	return all
}

// other finds a number that shares bytes with another and is not the same.
func (s spans) other(n spot) (spot, bool) {
	if n.kind == "" {
		return spot{}, false
	}
	list := s[n.within]
	lo, hi := 0, len(list)
	for lo < hi { // the first that ends behind the start of n
		if mid := (lo + hi) / 2; list[mid].offset+list[mid].size <= n.offset {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(list) || list[lo].offset >= n.offset+n.size {
		return spot{}, false
	}
	o := list[lo]
	return o, o.offset != n.offset || o.size != n.size || o.kind != n.kind
}
