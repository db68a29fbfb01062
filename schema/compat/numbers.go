package compat

import "github.com/fidelityframework/barewire-gen/schema/resolve"

// numbers is a type whose bytes are one whole number: which ones there are, and how
// they are written.
type numbers struct {
	form   form
	values []*resolve.EnumValue // nil: all that the form can say, or 0 and 1 for bool
	isBool bool
}

// form is how a number is written.
type form uint8

const (
	varint form = iota // uint, enum
	one                // u8, bool, enum of one byte
	two
	four
	eight
	signed // i8: the numbers of one byte below 128 look the same
)

// numbersOf is the type as numbers; no is what has no such form.
func numbersOf(t *resolve.Type) (n numbers, ok bool) {
	switch t.Kind {
	case resolve.Uint:
		return numbers{form: varint}, true
	case resolve.U8:
		return numbers{form: one}, true
	case resolve.I8:
		return numbers{form: signed}, true
	case resolve.U16:
		return numbers{form: two}, true
	case resolve.U32:
		return numbers{form: four}, true
	case resolve.U64:
		return numbers{form: eight}, true
	case resolve.Bool:
		return numbers{form: one, isBool: true}, true
	case resolve.Enum:
		n.values = t.Values
		switch t.Base {
		case resolve.U8:
			n.form = one
		case resolve.U16:
			n.form = two
		case resolve.U32:
			n.form = four
		case resolve.U64:
			n.form = eight
		}
		return n, true
	}
	return n, false
}

func (n numbers) finite() bool { return n.isBool || n.values != nil }

// has reports whether the number can be written.
func (n numbers) has(v uint64) bool {
	if n.isBool {
		return v < 2
	}
	if n.values == nil {
		return true
	}
	for _, e := range n.values {
		if e.Value == v {
			return true
		}
	}
	return false
}

// each is the numbers of a finite set.
func (n numbers) each() (all []uint64) {
	if n.isBool {
		return []uint64{0, 1}
	}
	for _, e := range n.values {
		all = append(all, e.Value)
	}
	return all
}

// small reports whether all numbers are below 128: then they are one byte in every
// form that has one byte.
func (n numbers) small() bool {
	if !n.finite() {
		return false
	}
	for _, v := range n.each() {
		if v >= 0x80 {
			return false
		}
	}
	return true
}

// short reports whether the form writes numbers below 128 as that byte.
func (f form) short() bool { return f == varint || f == one || f == signed }

func readNumbers(w, r numbers) Reach {
	if renumbered(w, r) {
		return None
	}
	switch {
	case w.form == r.form:
	case !w.form.short() || !r.form.short():
		return None // of another width
	case w.small():
	case r.small():
		// What is not below 128 begins with a byte that none of the reader's has.
	default:
		return None
	}
	switch {
	case !r.finite():
		return All
	case !w.finite():
		return Some
	}
	read, all := false, true
	for _, v := range w.each() {
		if r.has(v) {
			read = true
		} else {
			all = false
		}
	}
	switch {
	case !read:
		return None
	case all:
		return All
	}
	return Some
}

// renumbered reports whether a name stands for one number here and for another there.
func renumbered(w, r numbers) bool {
	if w.values == nil || r.values == nil {
		return false
	}
	byName := make(map[string]uint64, len(r.values))
	for _, e := range r.values {
		byName[e.Name] = e.Value
	}
	for _, e := range w.values {
		if v, ok := byName[e.Name]; ok && v != e.Value {
			return true
		}
	}
	return false
}
