package bwlife

import (
	"encoding/binary"
	"go/token"
	"maps"
	"slices"
	"sort"

	"golang.org/x/tools/go/ssa"
)

// phase is what has become of an object.
type phase uint8

const (
	unborn phase = iota // the program was not there yet
	absent              // the call that makes it failed
	live
	dead // released, moved, waited for
	lost // nothing is known
)

// thing is an object in a state.
type thing struct {
	id    int32
	phase phase
	free  bool // somebody else has it too: it is not ours to release
	used  bool // of a parameter: it was used while it was good
	moved bool // of a dead one
	quiet bool // of an operation: its error was not looked at
	stale bool // of an operation or a view: which elements it is about, or whether it goes on, is not sure any more
	how   string
	at    token.Pos // where it was made, while it is live; where it ended, when dead
}

// slot is an SSA value in an activation.
type slot struct {
	frame int32
	v     ssa.Value
}

// deferred is a call that runs when its activation ends.
type deferred struct {
	frame int32
	call  *ssa.Defer
	fn    value
	args  []value
}

// state is one way that the program may have come to where it is: what is known of
// values, of memory, of conditions and of the objects.
type state struct {
	env    map[slot]value
	mem    map[int32]value // by place
	leaked map[int32]bool  // roots (symbols) that others can write to
	conds  map[int32]bool  // by condition
	hopes  map[int32]bool  // conditions that were assumed and not tested: nothing is reported where a call may have failed
	things []thing         // sorted by id; the first is the one that is followed
	defers []deferred
}

func newState() *state {
	return &state{env: map[slot]value{}, mem: map[int32]value{}, leaked: map[int32]bool{}, conds: map[int32]bool{}, hopes: map[int32]bool{}}
}

func (s *state) clone() *state {
	return &state{
		env: maps.Clone(s.env), mem: maps.Clone(s.mem), leaked: maps.Clone(s.leaked), conds: maps.Clone(s.conds),
		hopes: maps.Clone(s.hopes), things: slices.Clone(s.things), defers: slices.Clone(s.defers),
	}
}

// main is the object that is followed.
func (s *state) main() *thing { return &s.things[0] }

func (s *state) thing(id int32) *thing {
	for i := range s.things {
		if s.things[i].id == id {
			return &s.things[i]
		}
	}
	return nil
}

// set adds an object, or puts it in place of the one that had its number.
func (s *state) set(t thing) {
	i := sort.Search(len(s.things), func(i int) bool { return s.things[i].id >= t.id })
	if i < len(s.things) && s.things[i].id == t.id {
		s.things[i] = t
		return
	}
	s.things = slices.Insert(s.things, i, t)
}

// replace puts another value wherever old is.
func (s *state) replace(match func(value) bool, in *interner) {
	hit := func(v value) bool { return contains(in, v, match, 0) }
	for k, v := range s.env {
		if hit(v) {
			s.env[k] = value{}
		}
	}
	for k, v := range s.mem {
		if hit(v) {
			s.mem[k] = value{}
		}
	}
	for i := range s.defers {
		d := &s.defers[i]
		if hit(d.fn) {
			d.fn = value{}
		}
		if slices.ContainsFunc(d.args, hit) {
			d.args = slices.Clone(d.args)
			for j, a := range d.args {
				if hit(a) {
					d.args[j] = value{}
				}
			}
		}
	}
}

// contains reports whether v, or a part of it, is such.
func contains(in *interner, v value, match func(value) bool, depth int) (found bool) {
	if match(v) {
		return true
	}
	if depth > 4 {
		return false
	}
	in.eachPart(v, func(_ string, p value) { found = found || contains(in, p, match, depth+1) })
	return found
}

// refers reports whether anything in the state is such a value.
func (s *state) refers(in *interner, match func(value) bool) bool {
	for _, v := range s.env {
		if contains(in, v, match, 0) {
			return true
		}
	}
	for _, v := range s.mem {
		if contains(in, v, match, 0) {
			return true
		}
	}
	for _, d := range s.defers {
		if contains(in, d.fn, match, 0) {
			return true
		}
		for _, a := range d.args {
			if contains(in, a, match, 0) {
				return true
			}
		}
	}
	return false
}

// key is the same for states that are the same.
func (s *state) key(r *run) string {
	var b []byte
	num := func(v value) uint64 {
		n := uint64(v.kind)<<40 | uint64(uint32(v.id))<<1
		if v.neg {
			n |= 1
		}
		return n
	}
	var list [][2]uint64
	flush := func() {
		slices.SortFunc(list, func(x, y [2]uint64) int { return slices.Compare(x[:], y[:]) })
		for _, e := range list {
			b = binary.AppendUvarint(b, e[0])
			b = binary.AppendUvarint(b, e[1])
		}
		b = append(b, 0xff, 0xff)
		list = list[:0]
	}
	for k, v := range s.env {
		list = append(list, [2]uint64{uint64(k.frame)<<32 | uint64(r.number(k.v)), num(v)})
	}
	flush()
	for k, v := range s.mem {
		list = append(list, [2]uint64{uint64(k), num(v)})
	}
	flush()
	if s.hopes[-1] {
		b = append(b, 1)
	}
	for k := range s.leaked {
		list = append(list, [2]uint64{uint64(k), 1})
	}
	flush()
	for k, v := range s.conds {
		n := uint64(0)
		if v {
			n = 1
		}
		if s.hopes[k] {
			n |= 2
		}
		list = append(list, [2]uint64{uint64(k), n})
	}
	flush()
	flag := func(b bool, n uint64) uint64 {
		if b {
			return n
		}
		return 0
	}
	for _, t := range s.things {
		list = append(list, [2]uint64{uint64(t.id), uint64(t.phase) | flag(t.free, 8) | flag(t.used, 16) | flag(t.moved, 32) | flag(t.quiet, 64) | flag(t.stale, 128) | uint64(t.at)<<8})
	}
	flush()
	for _, d := range s.defers {
		list = append(list, [2]uint64{uint64(d.frame)<<32 | uint64(d.call.Pos()), num(d.fn)})
		for _, a := range d.args {
			list = append(list, [2]uint64{0, num(a)})
		}
		for _, e := range list {
			b = binary.AppendUvarint(b, e[0])
			b = binary.AppendUvarint(b, e[1])
		}
		list = list[:0]
	}
	return string(b)
}
