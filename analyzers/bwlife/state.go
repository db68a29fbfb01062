package bwlife

import (
	"cmp"
	"encoding/binary"
	"go/token"
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
	id     int32
	phase  phase
	free   bool // somebody else has it too: it is not ours to release
	used   bool // of a parameter: it was used while it was good
	tried  bool // of a parameter: it was used so by what takes nil, too
	moved  bool // of a dead one
	quiet  bool // of an operation: its error was not looked at
	stale  bool // of an operation or a view: which elements it is about, or whether it goes on, is not sure any more
	listed bool // of an operation: it is in a slice, and nobody has looked into that
	how    string
	at     token.Pos // where it was made, while it is live; where it ended, when dead
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
	env    dict[slot, value]
	mem    dict[int32, value] // by place
	leaked dict[int32, bool]  // places that others can write to, with what is in them
	conds  dict[int32, bool]  // by condition
	hopes  dict[int32, bool]  // conditions that were assumed and not tested: nothing is reported where a call may have failed
	things []thing            // sorted by id; the first is the one that is followed
	defers []deferred
}

func (s *state) clone() *state {
	return &state{
		env: s.env.clone(), mem: s.mem.clone(), leaked: s.leaked.clone(), conds: s.conds.clone(), hopes: s.hopes.clone(),
		things: slices.Clone(s.things), defers: slices.Clone(s.defers),
	}
}

// size is how many facts the state has.
func (s *state) size() int {
	n := s.env.len() + s.mem.len() + s.leaked.len() + s.conds.len() + s.hopes.len() + len(s.things)
	for _, d := range s.defers {
		n += 1 + len(d.args)
	}
	return n
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
	for k, v := range s.env.all() {
		if hit(v) {
			s.env.set(k, value{})
		}
	}
	for k, v := range s.mem.all() {
		if hit(v) {
			s.mem.set(k, value{})
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
	for _, v := range s.env.all() {
		if contains(in, v, match, 0) {
			return true
		}
	}
	for _, v := range s.mem.all() {
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

// key is the same for states that are the same, and come to the same place.
func (s *state) key(r *run, place uint64) string {
	k := &r.keys
	k.text = binary.AppendUvarint(k.text[:0], place)
	for id, v := range s.env.all() {
		k.add(uint64(id.frame)<<32|uint64(r.number(id.v)), v.number())
	}
	k.flush()
	for id, v := range s.mem.all() {
		k.add(uint64(id), v.number())
	}
	k.flush()
	for id := range s.leaked.all() {
		k.add(uint64(id), 1)
	}
	k.flush()
	for id, v := range s.conds.all() {
		k.add(uint64(id), flag(v, 1)|flag(s.hopes.has(id), 2))
	}
	if s.hopes.has(-1) {
		k.add(1<<40, 1)
	}
	k.flush()
	for _, t := range s.things {
		k.add(uint64(t.id), uint64(t.phase)|flag(t.free, 8)|flag(t.used, 16)|flag(t.moved, 32)|flag(t.quiet, 64)|flag(t.stale, 128)|flag(t.listed, 256)|flag(t.tried, 512)|uint64(t.at)<<10)
	}
	k.flush()
	for _, d := range s.defers {
		k.put(uint64(d.frame)<<32|uint64(d.call.Pos()), d.fn.number())
		for _, a := range d.args {
			k.put(0, a.number())
		}
	}
	return string(k.text)
}

// number is a value as one.
func (v value) number() uint64 {
	return uint64(v.kind)<<40 | uint64(uint32(v.id))<<1 | flag(v.neg, 1)
}

func flag(b bool, n uint64) uint64 {
	if b {
		return n
	}
	return 0
}

// keys writes keys of states: lists of pairs, in order.
type keys struct {
	text []byte
	list [][2]uint64
}

func (k *keys) add(a, b uint64) { k.list = append(k.list, [2]uint64{a, b}) }

func (k *keys) put(a, b uint64) {
	k.text = binary.AppendUvarint(binary.AppendUvarint(k.text, a), b)
}

func (k *keys) flush() {
	if len(k.list) > 1 {
		slices.SortFunc(k.list, func(x, y [2]uint64) int { return cmp.Compare(x[0], y[0]) })
	}
	for _, e := range k.list {
		k.put(e[0], e[1])
	}
	k.text = append(k.text, 0xff, 0xff)
	k.list = k.list[:0]
}
