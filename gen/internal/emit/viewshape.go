package emit

import (
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// shapes answers what indexed views need to know of a type: how many slots its
// frame has (K in the runtime's words) and where a struct's fields are. The
// emitted pass writes the slots, the emitted accessors read them, and both ask
// here, so they cannot disagree. It remembers what it has found and is for one
// worker.
type shapes struct {
	types map[*plan.Type]*shape
}

// shape is what is known of one struct or union.
type shape struct {
	frame   int       // K
	widest  int       // of a union's members: the greatest frame
	places  []fieldAt // of a struct's fields
	grows   bool      // see shapes.grows
	perByte int       // see shapes.perByte
	checks  bool      // see shapes.checks
}

// fieldAt is where a field of a struct lies: off bytes behind the end that the
// frame's slot holds, or behind the struct's beginning where slot is negative.
// Its own slots begin frame slots behind the struct's.
type fieldAt struct {
	slot, off, frame int
	end              int // the slot that takes where the field ends, or -1
}

func newShapes() *shapes { return &shapes{types: map[*plan.Type]*shape{}} }

// of returns the shape of a struct or union.
func (s *shapes) of(t *plan.Type) *shape {
	t = bare(t)
	sh := s.types[t]
	if sh != nil {
		return sh
	}
	sh = &shape{perByte: 3}
	parts := parts(t)
	fixed := t.Layout().IsFixed()
	for _, v := range parts {
		sh.widest = max(sh.widest, s.frame(v))
		sh.perByte = max(sh.perByte, s.perByte(v))
		sh.grows = sh.grows || s.grows(v)
		sh.checks = sh.checks || s.checks(v)
	}
	if t.Kind == resolve.Struct {
		sh.frame = s.layStruct(t, sh)
	} else {
		sh.frame = min(1, sh.widest)
		sh.grows = sh.grows || sh.widest > 1
		sh.checks = true
	}
	if fixed {
		sh.frame, sh.grows = 0, false
	}
	s.types[t] = sh
	return sh
}

// parts are the fields of a struct or the members of a union.
func parts(t *plan.Type) []*plan.Val {
	var out []*plan.Val
	for _, f := range t.Fields {
		out = append(out, f.Val)
	}
	for _, m := range t.Members {
		out = append(out, m.Val)
	}
	return out
}

// bare returns the type behind aliases.
func bare(t *plan.Type) *plan.Type {
	for t.Alias != nil {
		t = t.Alias
	}
	return t
}

// fixedSize returns a value's size, and whether it always has that size.
func fixedSize(v *plan.Val) (size int, ok bool) {
	n, ok := v.Size()
	return int(n), ok
}

func isFixed(v *plan.Val) bool { return v.Layout.IsFixed() }

// least returns the smallest encoding in bytes, at least 1.
func least(v *plan.Val) int { return max(1, int(v.Layout.Min)) }

// frame returns K, the number of slots that a value has in the frame of what
// holds it.
func (s *shapes) frame(v *plan.Val) int {
	if isFixed(v) {
		return 0
	}
	switch v.Kind {
	case resolve.Struct, resolve.Union:
		return s.of(v.Type).frame
	case resolve.Optional:
		return min(1, s.frame(v.Elem))
	case resolve.List:
		if isFixed(v.Elem) {
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
// message of absent values would need much more index than it has bytes.
func (s *shapes) far(v *plan.Val) bool {
	if v.Kind == resolve.Optional {
		return s.frame(v.Elem) > 1
	}
	return s.of(v.Type).widest > 1
}

// stride is the number of slots from one element of a list to the next.
func (s *shapes) stride(elem *plan.Val) int { return 1 + s.frame(elem) }

// mapStride is the number of slots from one entry of a map to the next, and
// whether the first behind the offset holds where the key ends.
func (s *shapes) mapStride(v *plan.Val) (stride int, keyEnd bool) {
	stride = 1 + s.frame(v.Elem)
	if isFixed(v.Key) {
		return stride, false
	}
	return stride + 1, true
}

// layStruct finds the places of a struct's fields and returns the frame's size:
// first the ends of the fields of variable size that have another behind them,
// then the fields' own slots.
func (s *shapes) layStruct(t *plan.Type, sh *shape) int {
	places := make([]fieldAt, len(t.Fields))
	at := fieldAt{slot: -1, end: -1}
	ends := 0
	for i, f := range t.Fields {
		places[i] = at
		if size, ok := fixedSize(f.Val); ok {
			at.off += size
			continue
		}
		if i < len(t.Fields)-1 {
			places[i].end = ends
			at = fieldAt{slot: ends, end: -1}
			ends++
		}
	}
	k := ends
	for i, f := range t.Fields {
		places[i].frame = k
		k += s.frame(f.Val)
	}
	sh.places = places
	return k
}

// grows reports whether the pass over a value takes slots beside its frame, so
// that the frame may move meanwhile.
func (s *shapes) grows(v *plan.Val) bool {
	if isFixed(v) {
		return false
	}
	switch v.Kind {
	case resolve.Struct, resolve.Union:
		return s.of(v.Type).grows
	case resolve.Optional:
		return s.far(v) || s.grows(v.Elem)
	case resolve.List:
		return !isFixed(v.Elem)
	case resolve.FixedList, resolve.Map:
		return true
	}
	return false
}

// perByte returns how many slots a value can need for each of its bytes, with
// the slot that says where it begins: 3, of which a list of a list of one needs
// all. A list<T>[n] has no byte of its own for its three.
func (s *shapes) perByte(v *plan.Val) int {
	if isFixed(v) {
		return 3
	}
	switch v.Kind {
	case resolve.Struct, resolve.Union:
		return s.of(v.Type).perByte
	case resolve.Optional, resolve.List, resolve.Map:
		return s.perByte(v.Elem)
	case resolve.FixedList:
		bytes := int(v.Len) * least(v.Elem)
		return s.perByte(v.Elem) + (3+bytes-1)/bytes
	}
	return 3
}

// checks reports whether some bytes of the right length are no valid value, of
// a type of fixed size.
func (s *shapes) checks(v *plan.Val) bool {
	switch v.Kind {
	case resolve.Bool, resolve.Enum, resolve.Union:
		return true
	case resolve.Struct:
		return s.of(v.Type).checks
	case resolve.FixedList:
		return s.checks(v.Elem)
	}
	return false
}

// typeFrame is frame of a type, typeGrows grows.
func (s *shapes) typeFrame(t *plan.Type) int {
	if t.Kind == resolve.Struct || t.Kind == resolve.Union {
		return s.of(t).frame
	}
	return s.frame(t.Under)
}

func (s *shapes) typeGrows(t *plan.Type) bool {
	if t.Kind == resolve.Struct || t.Kind == resolve.Union {
		return s.of(t).grows
	}
	return s.grows(t.Under)
}

func (s *shapes) typePerByte(t *plan.Type) int {
	if t.Kind == resolve.Struct || t.Kind == resolve.Union {
		return s.of(t).perByte
	}
	return s.perByte(t.Under)
}

func (s *shapes) typeChecks(t *plan.Type) bool {
	if t.Kind == resolve.Struct || t.Kind == resolve.Union {
		return s.of(t).checks
	}
	return s.checks(t.Under)
}
