package bwlife

import (
	"encoding/binary"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// kind is what is known of a value.
type kind uint8

const (
	unknown kind = iota // nothing, not even which one it is
	isNil
	isTrue
	isFalse
	nonNil // not nil
	number // id is a whole number
	many   // a number that is no longer counted, or a test of one
	symbol // id is of symbols: one that is not known, and always the same
	cond   // id is of conditions: a bool that says whether it holds; neg: whether it does not
	object // id is of objects: the handle that is followed, or what comes from it
	place  // id is of places: an address
	closed // id is of closures: a function with what it captured
	whole  // id is of wholes: a struct, of whose fields something is known
	tuple  // id is of tuples: the results of a call
)

// value is what is known of an SSA value, or of what memory holds.
type value struct {
	kind kind
	neg  bool // of cond
	id   int32
}

// symKey names a symbol: an SSA value in an activation of its function, or a part of one.
type symKey struct {
	frame int32
	v     ssa.Value
	path  string // "#1": a result; ".mr": a field
}

// condKey names a condition: that sym is nil, that it is true, or that it has such a relation to another.
type condKey struct {
	op   string // "nil", "true", "==", "<", …
	x, y value
	lit  string // instead of y: a constant
}

// placeKey names an address: a root, which is an allocation or a pointer that is not known, and a path from it.
type placeKey struct {
	root value // symbol of the allocation or of the pointer
	path string
}

type closureInfo struct {
	fn   *ssa.Function
	bind []value
}

type part struct {
	path string
	val  value
}

type wholeInfo struct {
	sym   value // what the other fields are of
	parts []part
}

// table gives small numbers to keys, and the keys back.
type table[K comparable] struct {
	ids  map[K]int32
	keys []K
}

func (t *table[K]) id(k K) int32 {
	if id, ok := t.ids[k]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[K]int32{}
	}
	id := int32(len(t.keys))
	t.ids[k] = id
	t.keys = append(t.keys, k)
	return id
}

// interner has all that values refer to, for one run.
type interner struct {
	symbols  table[symKey]
	conds    table[condKey]
	places   table[placeKey]
	byText   map[string]value // closures, wholes and tuples, by what is in them
	key      []byte           // such a text, while it is written
	closures []closureInfo
	wholes   []wholeInfo
	tuples   [][]value
	kept     int    // values in closures, wholes and tuples
	special  symKey // the part of a parameter that is the object which is followed
}

func (in *interner) sym(frame int32, v ssa.Value, path string) value {
	return value{kind: symbol, id: in.symbols.id(symKey{frame, v, path})}
}

// fieldOf is a part of what is not known.
func (in *interner) fieldOf(sym value, path string) value {
	if sym.kind != symbol {
		return value{}
	}
	k := in.symbols.keys[sym.id]
	if len(k.path)+len(path) > 60 {
		return value{}
	}
	if full := (symKey{k.frame, k.v, k.path + path}); full == in.special && full.path != "" {
		return value{kind: object}
	}
	return in.sym(k.frame, k.v, k.path+path)
}

func (in *interner) condition(k condKey) value {
	return value{kind: cond, id: in.conds.id(k)}
}

func (in *interner) at(root value, path string) value {
	return value{kind: place, id: in.places.id(placeKey{root, path})}
}

// below is the address of a field.
func (in *interner) below(p value, path string) value {
	k := in.places.keys[p.id]
	if len(k.path)+len(path) > 60 {
		return value{}
	}
	return in.at(k.root, k.path+path)
}

// named gives values to what is written in in.key.
func (in *interner) named(make func() value) value {
	if v, ok := in.byText[string(in.key)]; ok {
		return v
	}
	if in.byText == nil {
		in.byText = map[string]value{}
	}
	v := make()
	in.byText[string(in.key)] = v
	return v
}

// write begins a key, or goes on with it.
func (in *interner) write(vals ...value) {
	for _, v := range vals {
		in.key = append(in.key, byte(v.kind))
		if v.neg {
			in.key = append(in.key, 0xff)
		}
		in.key = binary.AppendVarint(in.key, int64(v.id))
	}
}

func (in *interner) closure(fn *ssa.Function, bind []value) value {
	in.key = append(in.key[:0], 'f')
	in.write(in.sym(-1, fn, ""))
	in.write(bind...)
	return in.named(func() value {
		in.closures, in.kept = append(in.closures, closureInfo{fn, slices.Clone(bind)}), in.kept+len(bind)
		return value{kind: closed, id: int32(len(in.closures) - 1)}
	})
}

func (in *interner) whole(sym value, parts []part) value {
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.path, b.path) })
	in.key = append(in.key[:0], 'w')
	in.write(sym)
	for _, p := range parts {
		in.key = append(append(in.key, p.path...), 0)
		in.write(p.val)
	}
	return in.named(func() value {
		in.wholes, in.kept = append(in.wholes, wholeInfo{sym, parts}), in.kept+len(parts)
		return value{kind: whole, id: int32(len(in.wholes) - 1)}
	})
}

func (in *interner) results(vals []value) value {
	in.key = append(in.key[:0], 't')
	in.write(vals...)
	return in.named(func() value {
		in.tuples, in.kept = append(in.tuples, slices.Clone(vals)), in.kept+len(vals)
		return value{kind: tuple, id: int32(len(in.tuples) - 1)}
	})
}

// field is a field of a struct by value.
func (in *interner) field(v value, path string) value {
	switch v.kind {
	case symbol:
		return in.fieldOf(v, path)
	case whole:
		w := in.wholes[v.id]
		var parts []part
		for _, p := range w.parts {
			if p.path == path {
				return p.val
			}
			if rest, ok := strings.CutPrefix(p.path, path); ok && rest[0] == '.' {
				parts = append(parts, part{rest, p.val})
			}
		}
		sym := in.fieldOf(w.sym, path)
		if len(parts) > 0 {
			return in.whole(sym, parts)
		}
		return sym
	case object:
		return v // a part of a view is one
	}
	return value{}
}

// eachPart calls f for all values that are in v: of a struct its fields, of a closure what it captured.
func (in *interner) eachPart(v value, f func(path string, v value)) {
	switch v.kind {
	case whole:
		for _, p := range in.wholes[v.id].parts {
			f(p.path, p.val)
		}
	case closed:
		for _, b := range in.closures[v.id].bind {
			f("", b)
		}
	case tuple:
		for _, b := range in.tuples[v.id] {
			f("", b)
		}
	}
}
