package compat

import (
	"fmt"
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// isRegion reports whether regions of the type are meant to be shared: it says where
// they live, or who may reach them.
func isRegion(d *resolve.Decl) bool { return len(d.Residency) > 0 || len(d.Rights) > 0 }

// regions compares what a peer of the other version sees of a type's regions.
func (c *comparer) regions() {
	for _, ns := range c.old.Schema.Namespaces {
		for _, o := range decls(ns) {
			n := c.pairs[o]
			if n == nil || !isRegion(o) {
				continue
			}
			c.decl = n
			if !isRegion(n) {
				c.found(placeRemoved, n.At, o.At, Verdict{Source: true, NewReadsOld: All, OldReadsNew: All, Memory: true},
					"no regions of `%s` can be made any more: it has neither `#@residency` nor `#@register`", n.Name).
					Helpf("keep the annotation until no program has such regions")
				c.rights(o, n)
				continue
			}
			c.bytes(o, n)
			c.places(o, n)
			c.rights(o, n)
		}
	}
}

// bytes compares the layout of a region's elements, then the hash.
func (c *comparer) bytes(o, n *resolve.Decl) {
	was, is := c.old.Layouts.Describe(o), c.now.Layouts.Describe(n)
	shared := Verdict{NewReadsOld: All, OldReadsNew: All, Memory: true}
	notes := c.elements(o, n, was, is)
	switch {
	case len(notes) > 0:
		if was.Need != is.Need {
			notes = append(notes, fmt.Sprintf("an element must start at a multiple of %d, and of %d before", is.Need, was.Need))
		}
		d := c.found(layoutChanged, n.At, o.At, shared, "elements of `%s` lie otherwise in memory", n.Name)
		for _, note := range notes {
			d.Notef("%s", note)
		}
		d.Helpf("%s", newRegion)
		return
	case was.Need != is.Need:
		c.found(layoutChanged, n.At, o.At, shared, "elements of `%s` must start at multiples of %d, and of %d before", n.Name, is.Need, was.Need).
			Notef("each lies within its element as it did; regions of one version need not start where the other wants them").
			Helpf("%s", newRegion)
		return
	}
	if o.Align > n.Align {
		c.found(alignLowered, orAt(n.AlignAt, n.At), orAt(o.AlignAt, o.At), shared, "regions of `%s` start at multiples of %d, and did at multiples of %d",
			n.Name, max(n.Align, is.Need, is.Align), o.Align).
			Helpf("keep `#@align(%d)`: who reached them before may count on it", o.Align)
	}
	if resolve.Hash(o) != resolve.Hash(n) {
		c.found(hashChanged, n.At, o.At, shared, "`%s` has another hash, though its elements lie as they did", n.Name).
			Notef("names, numbers and limits are in it, of all that the type refers to: peers of the two versions refuse each other's references").
			Helpf("%s", newRegion)
	}
}

// elements says what is different in an element: its size, whether that is fixed, and where what is in it lies.
func (c *comparer) elements(o, n *resolve.Decl, was, is *layout.Description) (notes []string) {
	if a, b := stride(was), stride(is); a != b {
		notes = append(notes, fmt.Sprintf("an element takes %s, and took %s", count(b), count(a)))
	}
	if (was.Size == nil) != (is.Size == nil) {
		return append(notes, fmt.Sprintf("an element is %s, and was %s", is.Class, was.Class))
	}
	if is.Size == nil {
		return notes // a slot, with a message in it
	}
	return append(notes, moves(spotsOf(c.old.Layouts, o.Type), spotsOf(c.now.Layouts, n.Type))...)
}

// stride is the distance of two elements of a region in bytes.
func stride(d *layout.Description) uint64 {
	if d.Size != nil {
		return *d.Size
	}
	return d.Slot
}

// places compares where regions may live.
func (c *comparer) places(o, n *resolve.Decl) {
	v := Verdict{Source: true, NewReadsOld: All, OldReadsNew: All, Memory: true}
	has := func(p resolve.Place) bool {
		return slices.ContainsFunc(n.Residency, func(q resolve.Place) bool { return p.Residency == q.Residency && p.Node == q.Node })
	}
	for _, p := range o.Residency {
		if has(p) || len(n.Residency) == 0 && p.Residency == resolve.CPU {
			continue // where nothing is said it is cpu
		}
		c.found(placeRemoved, orAt(n.PlacesAt, n.At), p.At, v, "regions of `%s` may not live in %s any more", n.Name, place(p)).
			Helpf("keep the residency until no program allocates there")
	}
	if len(o.Residency) == 0 && len(n.Residency) > 0 && !has(resolve.Place{Residency: resolve.CPU, Node: -1}) {
		c.found(placeRemoved, n.PlacesAt, o.At, v, "regions of `%s` may not live in cpu any more", n.Name).
			Helpf("list `cpu`, which is what was meant where nothing was said")
	}
	if o.Fallback && !n.Fallback {
		c.found(placeRemoved, orAt(n.PlacesAt, n.At), o.PlacesAt, v, "regions of `%s` may not fall back to unified memory any more", n.Name).
			Helpf("keep `fallback=unified` until no program asks for such places")
	}
}

func place(p resolve.Place) string {
	if p.Node >= 0 {
		return fmt.Sprintf("%s(%d)", p.Residency, p.Node)
	}
	return p.Residency
}

// rights compares what peers may be granted.
func (c *comparer) rights(o, n *resolve.Decl) {
	in := func(list []resolve.Right, name string) bool {
		return name == "local" || slices.ContainsFunc(list, func(r resolve.Right) bool { return r.Name == name })
	}
	v := Verdict{Source: true, NewReadsOld: All, OldReadsNew: All, Memory: true}
	for _, r := range o.Rights {
		if !in(n.Rights, r.Name) {
			c.found(rightRemoved, orAt(n.RightsAt, n.At), r.At, v, "regions of `%s` may not grant %s any more", n.Name, r.Name).
				Notef("MEMORY: a peer of the old version that asks for it is refused").
				Helpf("take the right out of programs first, and of the schema when no peer asks for it")
		}
	}
	for _, r := range n.Rights {
		if !in(o.Rights, r.Name) {
			v.Source = false
			d := c.found(rightAdded, r.At, orAt(o.RightsAt, o.At), v, "regions of `%s` may grant %s now", n.Name, r.Name).
				Notef("MEMORY: what peers may do to it is more than it was; who holds such memory may not count on less").
				Helpf("where somebody counts on less, leave this type as it is and declare another with the right")
			d.Severity = diag.Warning // nobody fails by it
		}
	}
}
