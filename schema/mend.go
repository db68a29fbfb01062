package schema

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// mend is one fix, of one finding.
type mend struct {
	d     *diag.Diagnostic
	edits []diag.Edit
}

// key tells fixes apart from one pass to the next, in which places move.
func (m mend) key() string {
	var b strings.Builder
	b.WriteString(string(m.d.Code) + m.d.Message)
	for _, e := range m.edits {
		b.WriteString(e.Span.File.Name() + e.New)
	}
	return b.String()
}

// mender chooses what is mended in one pass.
type mender struct {
	opts    FixOptions
	refused map[string]bool // fixes that make an error, by their keys
}

// choose lists fixes that can be made at once: they do not overlap, and none that changes the layout of
// a type was worked out from the layout of another that is changed as well. In a schema with errors, those come first: what
// else would change the layout is looked at when they are gone.
func (m *mender) choose(s *Schema, list diag.List) (chosen []mend) {
	var free, wire []mend // those that leave the layout as it is, and the others
	for _, d := range list {
		if strings.HasPrefix(string(d.Code), "BW10") {
			continue
		}
		if d.Code == diag.ForwardReference && s != nil {
			free = append(free, m.order(s, d)...)
		}
		if len(d.Fixes) == 0 {
			continue
		}
		f := d.Fixes[0]
		x := mend{d, f.Edits}
		switch {
		case f.Breaks != "" && !m.opts.Breaking, m.refused[x.key()]:
		case f.Breaks != diag.BreaksWire, s == nil && d.Severity == diag.Error:
			free = append(free, x)
		case s != nil:
			wire = append(wire, x)
		}
	}
	// An order of declarations replaces the whole file, so it waits until nothing else is to be done there.
	slices.SortStableFunc(free, func(a, b mend) int {
		return cmp.Compare(b2i(a.d.Code == diag.ForwardReference), b2i(b.d.Code == diag.ForwardReference))
	})
	taken := taken{}
	for _, x := range append(independent(s, wire), free...) {
		if taken.add(x.edits) {
			chosen = append(chosen, x)
		}
	}
	return chosen
}

// order is the fix of a name that is used before it is declared. No finding carries it, since it writes a whole file.
func (m *mender) order(s *Schema, d *diag.Diagnostic) []mend {
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			if f.Syntax.Src != d.Primary.Span.File {
				continue
			}
			if e, ok := lint.InOrder(f); ok {
				if x := (mend{d: d, edits: []diag.Edit{e}}); !m.refused[x.key()] {
					return []mend{x}
				}
			}
		}
	}
	return nil
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// independent picks fixes that change layouts: at most one for each type, and none for a type that has another of them
// in it. A type's own are made in the order of their codes, but for fields in two lines, which all the others move.
func independent(s *Schema, list []mend) (chosen []mend) {
	if len(list) == 0 {
		return nil
	}
	place := make(map[*resolve.Decl]int, len(s.Order))
	for i, d := range s.Order {
		place[d] = i
	}
	owner := owners(s)
	type candidate struct {
		mend
		decls []*resolve.Decl // those that are edited
		first int             // the place of the first of them: what it is made of stands before it
	}
	var all []candidate
	for _, x := range list {
		c := candidate{mend: x, first: len(s.Order)}
		for _, e := range x.edits {
			if d := owner(e.Span); d != nil {
				c.decls = append(c.decls, d)
				c.first = min(c.first, place[d])
			}
		}
		all = append(all, c)
	}
	slices.SortStableFunc(all, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(rank(a.d.Code), rank(b.d.Code)), cmp.Compare(a.d.Code, b.d.Code))
	})
	changed := map[*resolve.Decl]bool{} // also what has a changed type in it
	next := 0
	for _, c := range all {
		for ; next < min(c.first+1, len(s.Order)); next++ {
			changed[s.Order[next]] = changed[s.Order[next]] || hasChanged(s.Order[next].Type, changed)
		}
		if slices.ContainsFunc(c.decls, func(d *resolve.Decl) bool { return changed[d] || hasChanged(d.Type, changed) }) {
			continue
		}
		for _, d := range c.decls {
			changed[d] = true
		}
		chosen = append(chosen, c.mend)
	}
	return chosen
}

// rank puts what makes types castable first, and then what only pads.
func rank(code diag.Code) int {
	switch code {
	case diag.PaddingCast, diag.OrderCast:
		return 0
	case diag.Straddles:
		return 2
	}
	return 1
}

func hasChanged(t *resolve.Type, changed map[*resolve.Decl]bool) bool {
	if t.Kind == resolve.Ref && changed[t.Decl] || t.Key != nil && hasChanged(t.Key, changed) || t.Elem != nil && hasChanged(t.Elem, changed) {
		return true
	}
	return slices.ContainsFunc(t.Fields, func(f *resolve.Field) bool { return hasChanged(f.Type, changed) }) ||
		slices.ContainsFunc(t.Members, func(m *resolve.Member) bool { return hasChanged(m.Type, changed) })
}

// owners tells which declaration stands at a place.
func owners(s *Schema) func(source.Span) *resolve.Decl {
	decls := map[*source.File][]*resolve.Decl{}
	for _, d := range s.Order {
		decls[d.At.File] = append(decls[d.At.File], d)
	}
	for _, list := range decls {
		slices.SortFunc(list, func(a, b *resolve.Decl) int { return a.Syntax.Span.End - b.Syntax.Span.End })
	}
	return func(at source.Span) *resolve.Decl {
		list := decls[at.File]
		i, _ := slices.BinarySearchFunc(list, at.Start, func(d *resolve.Decl, place int) int { return d.Syntax.Span.End - place })
		if i == len(list) {
			return nil
		}
		return list[i]
	}
}

// taken is the places of edits that were chosen, by file and in order.
type taken map[*source.File][]source.Span

// add takes edits as a whole, if none of them overlaps or touches one that was taken.
func (t taken) add(edits []diag.Edit) bool {
	for _, e := range edits {
		list := t[e.Span.File]
		if i := t.search(e.Span); i < len(list) && list[i].Start <= e.Span.End {
			return false
		}
	}
	for _, e := range edits {
		t[e.Span.File] = slices.Insert(t[e.Span.File], t.search(e.Span), e.Span)
	}
	return true
}

// search finds the first of the spans that ends at or behind the start of another.
func (t taken) search(at source.Span) int {
	i, _ := slices.BinarySearchFunc(t[at.File], at.Start, func(s source.Span, place int) int { return cmp.Compare(s.End, place) })
	return i
}

// attempt returns those of the fixes that can be made with those that are known to be good. Where the files had no errors,
// fixes that make some are left out, and remembered: it tries all of them, then halves.
func (m *mender) attempt(files []*source.File, good, more []mend, sound bool) []mend {
	if len(more) == 0 {
		return good
	}
	all := slices.Concat(good, more)
	if !sound {
		return all
	}
	if s, _ := Compile(apply(files, all), m.opts.Options); s != nil {
		return all
	}
	if len(more) == 1 {
		m.refused[more[0].key()] = true
		return good
	}
	half := len(more) / 2
	return m.attempt(files, m.attempt(files, good, more[:half], sound), more[half:], sound)
}
