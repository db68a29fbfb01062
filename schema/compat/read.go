package compat

import (
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// Reach is what a reader makes of the messages of a writer.
type Reach uint8

// From worst to best. A message is misread where it decodes into something else
// than what was written: a wrong number, a wrong field.
const (
	None Reach = iota // messages are misread, or all are refused
	Some              // some messages are refused, and none is misread
	All               // every message is read as it was written
)

// String is the word of JSON and of the table in docs/compat.md.
func (r Reach) String() string { return [...]string{"no", "some", "yes"}[r] }

// reader works out what a reader of one type makes of messages of another. The
// verdict holds wherever the types stand: bytes that are left over, or missing, are
// read as parts of what follows.
//
// Bytes alone do not decide: two fields of one type that change places decode well
// and are misread. So where both sides have a name, it must stand at the same place.
// A name that only one side has is taken for a new name of what stands there.
type reader struct {
	w, r *layout.Layouts // the writer's, the reader's
	memo map[[2]*resolve.Type]Reach
}

func newReader(w, r *layout.Layouts) *reader {
	return &reader{w, r, map[[2]*resolve.Type]Reach{}}
}

// read is what a reader of type r makes of what a writer of type w wrote.
func (x *reader) read(w, r *resolve.Type) Reach {
	w, r = w.Resolve(), r.Resolve()
	key := [2]*resolve.Type{w, r}
	if known, ok := x.memo[key]; ok {
		return known
	}
	v := x.types(w, r)
	x.memo[key] = v
	return v
}

func (x *reader) types(w, r *resolve.Type) Reach {
	if ws, ok := numbersOf(w); ok {
		if rs, ok := numbersOf(r); ok {
			return readNumbers(ws, rs)
		}
	}
	switch {
	case isSequence(w) && isSequence(r) && w.Kind != r.Kind || w.Kind == resolve.Struct && isSequence(r) || r.Kind == resolve.Struct && isSequence(w):
		return x.sequences(w, r)
	case w.Kind == resolve.Struct || r.Kind == resolve.Struct:
		return x.structs(items(nil, "", w), items(nil, "", r))
	case isCounted(w) && isCounted(r):
		return x.counted(w, r)
	case w.Kind == resolve.Optional && r.Kind == resolve.Optional:
		return x.read(w.Elem, r.Elem)
	case w.Kind == resolve.Optional && isCounted(r):
		return x.optionalAsList(w, r)
	case isCounted(w) && r.Kind == resolve.Optional:
		return x.listAsOptional(w, r)
	case isTagged(w) && isTagged(r):
		return x.unions(w, r)
	case isSequence(w) && isSequence(r):
		return x.sequences(w, r)
	case w.Kind == r.Kind && w.Kind != resolve.Invalid:
		return All // int, i16 to i64, floats, void
	}
	return None
}

// min of reaches is what a message of several parts gets.
func worst(a, b Reach) Reach { return min(a, b) }

// isCounted: a number, then so many items.
func isCounted(t *resolve.Type) bool {
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.List, resolve.Map:
		return true
	}
	return false
}

// isSequence: a fixed number of items, one after another.
func isSequence(t *resolve.Type) bool {
	return t.Kind == resolve.FixedData || t.Kind == resolve.FixedList
}

// isTagged: a number that says what follows. An optional is one of 0, nothing, and 1, the value.
func isTagged(t *resolve.Type) bool {
	return t.Kind == resolve.Optional || t.Kind == resolve.Union
}

var aByte = &resolve.Type{Kind: resolve.U8}

// element is what a list of bytes by any name has many of.
func element(t *resolve.Type) *resolve.Type {
	switch t.Kind {
	case resolve.Str, resolve.Data, resolve.FixedData:
		return aByte
	case resolve.Map:
		return &resolve.Type{Kind: resolve.Struct, Fields: []*resolve.Field{{Name: "key", Type: t.Key}, {Name: "value", Type: t.Elem}}}
	}
	return t.Elem
}

// counted reads one counted thing as another.
func (x *reader) counted(w, r *resolve.Type) Reach {
	v := All
	switch {
	case w.Kind == resolve.Map && r.Kind == resolve.Map:
		v = worst(x.read(w.Key, r.Key), x.read(w.Elem, r.Elem))
	case w.Kind == resolve.Map || r.Kind == resolve.Map:
		we, re := element(w), element(r)
		v = x.structs(items(nil, "", we.Resolve()), itemsLike(re, we))
		if r.Kind == resolve.Map {
			v = worst(v, Some) // keys may come twice, which a map refuses
		}
	default:
		v = x.read(element(w), element(r))
		if r.Kind == resolve.Str && w.Kind != resolve.Str {
			v = worst(v, Some) // not all bytes are UTF-8
		}
	}
	if r.Max > 0 && (w.Max == 0 || w.Max > r.Max) {
		v = worst(v, Some)
	}
	return v
}

// itemsLike is the items of an entry, whatever the other side calls its two parts.
func itemsLike(t, like *resolve.Type) []item {
	list := items(nil, "", t.Resolve())
	if other := items(nil, "", like.Resolve()); len(other) == len(list) {
		for i := range list {
			list[i].name = other[i].name
		}
	}
	return list
}

func (x *reader) optionalAsList(w, r *resolve.Type) Reach {
	if r.Kind == resolve.Map {
		return None
	}
	v := x.read(w.Elem, element(r))
	if r.Kind == resolve.Str {
		v = worst(v, Some)
	}
	return v
}

func (x *reader) listAsOptional(w, r *resolve.Type) Reach {
	if w.Kind == resolve.Map {
		return None
	}
	v := x.read(element(w), r.Elem)
	if w.Max != 1 {
		v = worst(v, Some) // two or more items
	}
	return v
}

// alternative is one type behind a tag.
type alternative struct {
	tag  uint64
	name string
	typ  *resolve.Type
}

var nothing = &resolve.Type{Kind: resolve.Void}

func alternatives(t *resolve.Type) (as []alternative) {
	if t.Kind == resolve.Optional {
		return []alternative{{0, "void", nothing}, {1, t.Elem.String(), t.Elem}}
	}
	for _, m := range t.Members {
		as = append(as, alternative{m.Tag, m.Type.String(), m.Type})
	}
	return as
}

func (x *reader) unions(w, r *resolve.Type) Reach {
	ws, rs := alternatives(w), alternatives(r)
	tags, names := map[uint64]alternative{}, map[string]uint64{}
	for _, a := range rs {
		tags[a.tag], names[a.name] = a, a.tag
	}
	v, any := All, false
	for _, a := range ws {
		b, known := tags[a.tag]
		tag, named := names[a.name]
		switch {
		case !known:
			v = worst(v, Some) // an unknown tag is refused
			continue
		case named && tag != a.tag:
			return None // it is there, by another tag, and this one is something else
		}
		any = true
		v = worst(v, x.read(a.typ, b.typ))
	}
	if !any {
		return None
	}
	return v
}

// sequences reads a fixed number of items as another, or as the fields of a struct.
func (x *reader) sequences(w, r *resolve.Type) Reach {
	if isSequence(w) && isSequence(r) && w.Len == r.Len {
		return x.read(element(w), element(r))
	}
	a, ok := expand(w)
	b, ok2 := expand(r)
	if !ok || !ok2 {
		return None
	}
	return x.structs(a, b)
}

// mostItems is how many items a sequence may have for it to be compared with a
// struct's fields.
const mostItems = 256

func expand(t *resolve.Type) ([]item, bool) {
	if !isSequence(t) {
		return items(nil, "", t), true
	}
	one := items(nil, "", element(t).Resolve())
	if t.Len > mostItems || t.Len*uint64(len(one)) > mostItems {
		return nil, false
	}
	var all []item
	for range t.Len {
		for _, i := range one {
			i.name = "" // an item has no name
			all = append(all, i)
		}
	}
	return all, true
}
