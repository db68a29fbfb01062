package compat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// fields compares two structs: first which fields are the same, by name, then what
// became of the others.
func (c *comparer) fields(o, n *resolve.Type, path string) {
	m := matchFields(o, n)
	whole := c.wire(o, n)
	// A struct that is read well though a field came or went has the bytes for it from padding.
	v := Verdict{NewReadsOld: All, OldReadsNew: All}
	if whole.NewReadsOld == None || whole.OldReadsNew == None {
		v = Verdict{}
	}
	for _, f := range m.added {
		c.fieldAdded(f, n, o, path, v)
	}
	for _, f := range m.removed {
		c.fieldRemoved(f, n, path, v)
	}
	c.fieldsMoved(m, path)
	for _, p := range m.same {
		c.field(p, path)
	}
	if len(m.added)+len(m.removed) == 0 && v.NewReadsOld == None && padding(o) != padding(n) {
		c.paddingChanged(o, n, path, v)
	}
}

type fieldPair struct{ old, now *resolve.Field }

type fieldMatch struct {
	same           []fieldPair // in the order of the new struct
	added, removed []*resolve.Field
}

// matchFields pairs the fields of two structs: those of one name, then those whose names are
// spelled in two ways (user_id, userId). Between two fields that both have, as many fields of the
// same types are the same fields with new names. Padding is no field.
func matchFields(o, n *resolve.Type) (m fieldMatch) {
	olds, nows := named(o), named(n)
	pair := map[*resolve.Field]*resolve.Field{} // from new to old
	taken := map[*resolve.Field]bool{}
	for _, key := range []func(string) string{func(s string) string { return s }, fold} {
		byName := map[string]*resolve.Field{}
		for _, f := range olds {
			if !taken[f] {
				byName[key(f.Name)] = f
			}
		}
		for _, f := range nows {
			if was := byName[key(f.Name)]; was != nil && pair[f] == nil && !taken[was] {
				pair[f], taken[was] = was, true
			}
		}
	}
	looseOld, looseNew := loose(olds, func(f *resolve.Field) *resolve.Field {
		if taken[f] {
			return f
		}
		return nil
	}), loose(nows, func(f *resolve.Field) *resolve.Field { return pair[f] })
	for after, fresh := range looseNew {
		if gone := looseOld[after]; sameTypes(gone, fresh) {
			for i, f := range fresh {
				pair[f], taken[gone[i]] = gone[i], true
			}
		}
	}
	for _, f := range nows {
		if was := pair[f]; was != nil {
			m.same = append(m.same, fieldPair{was, f})
		} else {
			m.added = append(m.added, f)
		}
	}
	for _, f := range olds {
		if !taken[f] {
			m.removed = append(m.removed, f)
		}
	}
	return m
}

// loose is the fields that are not paired, by the paired one before them, as the old version has it.
func loose(fields []*resolve.Field, paired func(*resolve.Field) *resolve.Field) map[*resolve.Field][]*resolve.Field {
	all := map[*resolve.Field][]*resolve.Field{}
	var last *resolve.Field
	for _, f := range fields {
		if p := paired(f); p != nil {
			last = p
		} else {
			all[last] = append(all[last], f)
		}
	}
	return all
}

func sameTypes(a, b []*resolve.Field) bool {
	return slices.EqualFunc(a, b, func(x, y *resolve.Field) bool { return x.Type.String() == y.Type.String() })
}

// fold is a name as all its spellings have it: user_id and userId are one.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// named is the fields that are no padding.
func named(t *resolve.Type) (fields []*resolve.Field) {
	for _, f := range t.Fields {
		if !f.Pad {
			fields = append(fields, f)
		}
	}
	return fields
}

func padding(t *resolve.Type) (n uint64) {
	for _, f := range t.Fields {
		if f.Pad {
			n += f.Type.Resolve().Len
		}
	}
	return n
}

func (c *comparer) fieldAdded(f *resolve.Field, n, o *resolve.Type, path string, v Verdict) {
	d := c.found(fieldAdded, f.At, o.At, v, "`%s` has a new field `%s`", path, f.Name)
	if size := c.now.Layouts.Of(f.Type); size.IsFixed() && padding(o) >= size.Max && size.Max > 0 {
		d.Helpf("take the %s from the padding that `%s` had: then each version reads the other's", count(size.Max), path)
		return
	}
	d.Helpf("%s", c.insteadOf("the new field"))
}

func (c *comparer) fieldRemoved(f *resolve.Field, n *resolve.Type, path string, v Verdict) {
	v.Source = true
	d := c.found(fieldRemoved, n.At, f.At, v, "`%s` has no field `%s` any more", path, f.Name)
	switch i := c.old.Layouts.Of(f.Type); {
	case v.NewReadsOld == All:
		d.Notef("its bytes are padding now: what old versions write there is not looked at, and they read zeros").
			Helpf("keep the field until no program uses it")
	case i.IsFixed() && i.Max > 0:
		d.Helpf("keep its %s: `#@pad` above `%s: data[%d]` hides them in Go", count(i.Max), f.Name, i.Max)
	default:
		d.Helpf("keep it, and say in a comment that it is not used any more; or %s", c.insteadOf("fewer fields"))
	}
}

// fieldsMoved reports fields in another order: the first that stands elsewhere.
func (c *comparer) fieldsMoved(m fieldMatch, path string) {
	order := slices.Clone(m.same)
	slices.SortStableFunc(order, func(a, b fieldPair) int { return a.old.At.Start - b.old.At.Start })
	for i, p := range m.same {
		if order[i] == p {
			continue
		}
		c.found(fieldMoved, p.now.At, p.old.At, Verdict{}, "`%s` stands elsewhere in `%s`", p.now.Name, path).
			Helpf("put the fields back in their order: it is the order of the bytes")
		return
	}
}

// field compares one field in the two versions.
func (c *comparer) field(p fieldPair, path string) {
	o, n := p.old, p.now
	fine := Verdict{Source: true, NewReadsOld: All, OldReadsNew: All}
	was, is := c.goName(o.GoName.Name, o.Name), c.goName(n.GoName.Name, n.Name)
	switch {
	case was == is:
	case o.Name != n.Name:
		c.found(fieldRenamed, n.At, o.At, fine, "`%s.%s` is called `%s` now", path, o.Name, n.Name).
			Helpf("`#@go(name=%s)` above it keeps the name in Go", was)
	default:
		c.found(goNameChanged, n.At, o.At, fine, "`%s.%s` has another name in Go: `%s`, and was `%s`", path, n.Name, is, was).
			Helpf("`#@go(name=%s)` above it keeps the old one", was)
	}
	c.types(o.Type, n.Type, path+"."+n.Name, n.Type.At, o.Type.At)
	c.fieldAnnotations(o, n, path+"."+n.Name)
}

// fieldAnnotations compares what peers in memory must agree on.
func (c *comparer) fieldAnnotations(o, n *resolve.Field, path string) {
	shared := Verdict{NewReadsOld: All, OldReadsNew: All, Memory: true}
	lost := shared
	lost.Source = true
	if o.Atomic != n.Atomic || o.Sequence != n.Sequence {
		v := shared
		if o.Atomic && !n.Atomic || o.Sequence && !n.Sequence {
			v = lost
		}
		c.found(atomicChanged, orAt(n.AtomicAt, n.At), orAt(o.AtomicAt, o.At), v, "`%s` is %s, and was %s", path, atomic(n), atomic(o)).
			Notef("MEMORY: peers of the two versions use it in two ways at once, so they refuse each other's references").
			Helpf("%s", newRegion)
	}
	if o.Cacheline != n.Cacheline {
		c.found(lineChanged, orAt(n.LineAt, n.At), orAt(o.LineAt, o.At), shared, "`%s` has %s, and had %s", path, line(n), line(o)).
			Notef("MEMORY: it is part of a type's hash, so peers of the two versions refuse each other's references").
			Helpf("%s", newRegion)
	}
	if was, is := refText(o.Ref), refText(n.Ref); was != is {
		v := shared
		v.Source = o.Ref != nil
		at, before := n.At, o.At
		if n.Ref != nil {
			at = n.Ref.At
		}
		if o.Ref != nil {
			before = o.Ref.At
		}
		c.found(refChanged, at, before, v, "`%s` refers to %s, and referred to %s", path, is, was).
			Helpf("add another field for the new reference, and fill both while there are peers of the old version")
	}
}

func atomic(f *resolve.Field) string {
	switch {
	case f.Sequence:
		return "`#@atomic(sequence)`"
	case f.Atomic:
		return "`#@atomic`"
	}
	return "not atomic"
}

func line(f *resolve.Field) string {
	if f.Cacheline == 0 {
		return "no cache line to itself"
	}
	return fmt.Sprintf("lines of %d bytes to itself", f.Cacheline)
}

func refText(r *resolve.RefTo) string {
	if r == nil {
		return "nothing"
	}
	text := "`" + r.Decl.Name
	for _, right := range r.Rights {
		text += ", " + right.Name
	}
	return text + "`"
}

// orAt is the first place that is one.
func orAt(a, b source.Span) source.Span {
	if a.IsValid() {
		return a
	}
	return b
}

func (c *comparer) paddingChanged(o, n *resolve.Type, path string, v Verdict) {
	place := func(t *resolve.Type) source.Span {
		for _, f := range t.Fields {
			if f.Pad {
				return f.At
			}
		}
		return t.At
	}
	c.found(paddingChanged, place(n), place(o), v, "`%s` has %s of padding, and had %s", path, count(padding(n)), count(padding(o))).
		Helpf("%s", c.insteadOf("the padding"))
}
