package emit

import (
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// shapes answers what indexed views need to know of a type: how many slots its
// frame has (K in the runtime's words) and where a struct's fields are. The
// emitted pass writes the slots, the emitted accessors read them, and both ask
// here, so they cannot disagree.
type shapes struct {
	layouts *layout.Layouts
	slots   map[*resolve.Type]int
	structs map[*resolve.Type][]place
}

// place is where a part of a struct lies: off bytes behind the end that the
// frame's slot holds, or behind the struct's beginning where slot is negative.
// Its own slots begin frame slots behind the struct's.
type place struct {
	slot, off, frame int
	// end is the slot that takes where the part ends, or -1.
	end int
}

func newShapes(l *layout.Layouts) *shapes {
	return &shapes{layouts: l, slots: map[*resolve.Type]int{}, structs: map[*resolve.Type][]place{}}
}

// fixed returns a type's size, and whether it always has that size.
func (s *shapes) fixed(t *resolve.Type) (size int, ok bool) {
	in := s.layouts.Of(t)
	return int(in.Max), in.IsFixed()
}

// least returns the smallest encoding in bytes, at least 1.
func (s *shapes) least(t *resolve.Type) int { return max(1, int(s.layouts.Of(t).Min)) }

// frame returns K(t), the number of slots that a value of the type has in the
// frame of what holds it.
func (s *shapes) frame(t *resolve.Type) int {
	t = t.Resolve()
	if k, ok := s.slots[t]; ok {
		return k
	}
	k := 0
	if _, fixed := s.fixed(t); !fixed {
		k = s.count(t)
	}
	s.slots[t] = k
	return k
}

func (s *shapes) count(t *resolve.Type) int {
	switch t.Kind {
	case resolve.Struct:
		return s.place(t)
	case resolve.Optional:
		return min(1, s.frame(t.Elem))
	case resolve.Union:
		k := 0
		for _, m := range t.Members {
			k = max(k, s.frame(m.Type))
		}
		return min(1, k)
	case resolve.List:
		if _, fixed := s.fixed(t.Elem); fixed {
			return 0
		}
		return 1
	case resolve.FixedList, resolve.Map:
		return 1
	}
	return 0
}

// far reports whether what an optional or a union holds has its slots
// elsewhere: more than one slot would be wasted on each that is absent, and a
// message of absent values would need much more index than bytes.
func (s *shapes) far(t *resolve.Type) bool {
	t = t.Resolve()
	if t.Kind == resolve.Optional {
		return s.frame(t.Elem) > 1
	}
	for _, m := range t.Members {
		if s.frame(m.Type) > 1 {
			return true
		}
	}
	return false
}

// stride is the number of slots from one element of a list to the next.
func (s *shapes) stride(elem *resolve.Type) int { return 1 + s.frame(elem) }

// mapStride is the number of slots from one entry of a map to the next, and
// whether the first behind the offset holds where the key ends.
func (s *shapes) mapStride(t *resolve.Type) (stride int, keyEnd bool) {
	stride = 1 + s.frame(t.Elem)
	if _, fixed := s.fixed(t.Key); !fixed {
		return stride + 1, true
	}
	return stride, false
}

// place finds the places of a struct's fields and returns the frame's size:
// first the ends of the fields of variable size, then the fields' own slots.
func (s *shapes) place(t *resolve.Type) int {
	if p, ok := s.structs[t]; ok && p != nil {
		return s.slots[t]
	}
	places := make([]place, len(t.Fields))
	at := place{slot: -1, end: -1}
	ends := 0
	for i, f := range t.Fields {
		places[i] = at
		if size, fixed := s.fixed(f.Type); fixed {
			at.off += size
			continue
		}
		if i < len(t.Fields)-1 {
			places[i].end = ends
			at = place{slot: ends, end: -1}
			ends++
		}
	}
	k := ends
	for i, f := range t.Fields {
		places[i].frame = k
		k += s.frame(f.Type)
	}
	s.structs[t] = places
	return k
}

// fields returns the places of a struct's fields.
func (s *shapes) fields(t *resolve.Type) []place {
	t = t.Resolve()
	s.frame(t)
	return s.structs[t]
}

// grows reports whether the pass over a value takes slots beside its frame, so
// that the frame may move meanwhile.
func (s *shapes) grows(t *resolve.Type) bool {
	t = t.Resolve()
	if _, fixed := s.fixed(t); fixed {
		return false
	}
	switch t.Kind {
	case resolve.Struct:
		for _, f := range t.Fields {
			if s.grows(f.Type) {
				return true
			}
		}
	case resolve.Optional:
		return s.far(t) || s.grows(t.Elem)
	case resolve.Union:
		if s.far(t) {
			return true
		}
		for _, m := range t.Members {
			if s.grows(m.Type) {
				return true
			}
		}
	case resolve.List:
		_, fixed := s.fixed(t.Elem)
		return !fixed
	case resolve.FixedList, resolve.Map:
		return true
	}
	return false
}
