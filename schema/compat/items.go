package compat

import "github.com/fidelityframework/barewire-gen/schema/resolve"

// item is a part of a struct that is none itself: structs in structs are only their
// fields, one after another.
type item struct {
	name string // the path from the struct on, folded; "" in lists
	typ  *resolve.Type
	pad  uint64 // bytes of padding, which may be anything; else 0
}

// items lists the parts of a type, a struct or not.
func items(to []item, path string, t *resolve.Type) []item {
	if t.Kind != resolve.Struct {
		return append(to, item{name: path, typ: t})
	}
	for _, f := range t.Fields {
		name := fold(f.Name)
		if path != "" {
			name = path + "." + name
		}
		under := f.Type.Resolve()
		if f.Pad {
			to = append(to, item{name: name, typ: under, pad: under.Len})
			continue
		}
		to = items(to, name, under)
	}
	return to
}

// structs reads items as others. Padding reads as whatever lies there, and is
// written as zeros, so fields of fixed size may take bytes from it.
func (x *reader) structs(w, r []item) Reach {
	p := pairing{x: x, w: side{list: w}, r: side{list: r}, v: All}
	p.w.name()
	p.r.name()
	for p.w.more() && p.r.more() && p.v > None {
		p.step()
	}
	if p.w.more() || p.r.more() {
		return None
	}
	return p.v
}

// pairing walks along two lists of items.
type pairing struct {
	x    *reader
	w, r side
	v    Reach
}

// side is how far a walk has come in one of the lists.
type side struct {
	list  []item
	at    int
	taken uint64 // of the padding at that place
	names map[string]bool
}

func (s *side) name() {
	s.names = make(map[string]bool, len(s.list))
	for _, i := range s.list {
		if i.pad == 0 && i.name != "" {
			s.names[i.name] = true
		}
	}
}

func (s *side) more() bool { return s.at < len(s.list) }

// pad is how many bytes of padding are left at the place.
func (s *side) pad() uint64 { return s.list[s.at].pad - s.taken }

// take takes bytes of the padding, or the item.
func (s *side) take(n uint64) {
	if pad := s.list[s.at].pad; pad > 0 {
		if s.taken += n; s.taken < pad {
			return
		}
	}
	s.at, s.taken = s.at+1, 0
}

// step compares what stands at the place on both sides.
func (p *pairing) step() {
	a, b := &p.w.list[p.w.at], &p.r.list[p.r.at]
	switch {
	case a.pad > 0 && b.pad > 0:
		n := min(p.w.pad(), p.r.pad())
		p.w.take(n)
		p.r.take(n)
	case a.pad > 0:
		i := p.x.r.Of(b.typ)
		if !i.IsFixed() || i.Max > p.w.pad() || p.w.names[b.name] || !zero(b.typ) {
			p.v = None
			return
		}
		p.w.take(i.Max)
		p.r.take(0)
	case b.pad > 0:
		i := p.x.w.Of(a.typ)
		if !i.IsFixed() || i.Max > p.r.pad() || p.r.names[a.name] {
			p.v = None
			return
		}
		p.r.take(i.Max)
		p.w.take(0)
	default:
		if a.name != b.name && (p.r.names[a.name] || p.w.names[b.name]) {
			p.v = None // what is meant stands elsewhere
			return
		}
		p.v = worst(p.v, p.x.read(a.typ, b.typ))
		p.w.take(0)
		p.r.take(0)
	}
}

// zero reports whether bytes of zero are a value of a type of fixed size.
func zero(t *resolve.Type) bool {
	t = t.Resolve()
	if n, ok := numbersOf(t); ok {
		return n.has(0)
	}
	switch t.Kind {
	case resolve.FixedList:
		return zero(t.Elem)
	case resolve.Struct:
		for _, f := range t.Fields {
			if !f.Pad && !zero(f.Type) {
				return false
			}
		}
	case resolve.Union:
		for _, m := range t.Members {
			if m.Tag == 0 {
				return zero(m.Type)
			}
		}
		return false
	}
	return true
}
