package bwlife

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// eval is what is known of an SSA value.
func (r *run) eval(fr *frame, s *state, v ssa.Value) value {
	switch v := v.(type) {
	case nil:
		return value{}
	case *ssa.Const:
		return constantOf(v)
	case *ssa.Function:
		return r.closure(v, nil)
	case *ssa.Global:
		return r.at(r.sym(0, v, ""), "")
	case *ssa.Builtin:
		return value{}
	case *ssa.Alloc:
		return r.at(r.sym(fr.id, v, ""), "")
	}
	if val, ok := s.env.get(slot{fr.id, v}); ok {
		return val
	}
	return r.sym(fr.id, fr.sh.asked(v), "")
}

// constantOf is what is known of a constant.
func constantOf(v *ssa.Const) value {
	switch {
	case v.Value == nil && nillable(v.Type()):
		return value{kind: isNil}
	case v.Value != nil && v.Value.Kind() == constant.Bool:
		if constant.BoolVal(v.Value) {
			return value{kind: isTrue}
		}
		return value{kind: isFalse}
	case v.Value != nil && v.Value.Kind() == constant.Int:
		if n, ok := constant.Int64Val(v.Value); ok && int64(int32(n)) == n {
			return value{kind: number, id: int32(n)}
		}
	}
	return value{}
}

func nillable(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature, *types.Interface:
		return true
	}
	return false
}

// address is a pointer as a place.
func (r *run) address(v value) value {
	switch v.kind {
	case place:
		return v
	case symbol:
		return r.at(v, "")
	}
	return value{}
}

// own reports whether a place is memory of this function that nobody else writes to.
func (r *run) own(s *state, p value) bool {
	root := r.places.keys[p.id].root
	if root.kind != symbol || r.leaked(s, p) {
		return false
	}
	_, ok := r.symbols.keys[root.id].v.(*ssa.Alloc)
	return ok && r.symbols.keys[root.id].path == ""
}

// leaked reports whether others can write to a place. Who has the address of a field, a mutex's say, does not come to the fields beside it.
func (r *run) leaked(s *state, p value) bool {
	k := r.places.keys[p.id]
	for id := range s.leaked.all() {
		if o := r.places.keys[id]; o.root == k.root && (within(o.path, k.path) || within(k.path, o.path)) {
			return true
		}
	}
	return false
}

// within reports whether a path leads to what another leads to, or into it.
func within(path, of string) bool {
	return len(path) >= len(of) && path[:len(of)] == of && (len(path) == len(of) || of == "" || path[len(of)] == '.')
}

// load is what a place holds; in is the instruction that reads it.
func (r *run) load(fr *frame, s *state, p value, in ssa.Value) value {
	k := r.places.keys[p.id]
	settled := k.path == "" && r.isSettled(k.root)
	if v, ok := s.mem.get(p.id); ok && (v.kind != unknown || !settled) {
		return v
	}
	var parts []part
	for id, v := range s.mem.all() {
		if o := r.places.keys[id]; o.root == k.root && v.kind != unknown {
			if len(o.path) > len(k.path) && o.path[:len(k.path)] == k.path && o.path[len(k.path)] == '.' {
				parts = append(parts, part{o.path[len(k.path):], v})
			}
			if len(o.path) < len(k.path) && k.path[:len(o.path)] == o.path {
				return r.field(v, k.path[len(o.path):])
			}
		}
	}
	self := r.sym(fr.id, fr.sh.asked(in), "")
	if len(parts) > 0 {
		return r.whole(self, parts)
	}
	if r.own(s, p) {
		return zero(in.Type(), self)
	}
	if settled {
		if root := r.symbols.keys[k.root.id]; isFreeVar(root.v) {
			return r.sym(root.frame, root.v, "*") // whichever instruction reads it, in whichever turn of a loop
		}
	}
	if flag := r.flagAt(fr, s, k, in); flag.kind == symbol {
		return flag
	}
	if k.root.kind == symbol && (!r.leaked(s, p) || settled) {
		if r.isMain(k.root, k.path) {
			return value{kind: object}
		}
		s.mem.set(p.id, self)
	}
	return self
}

func isFreeVar(v ssa.Value) bool {
	_, ok := v.(*ssa.FreeVar)
	return ok
}

// isMain reports whether it is what this run follows that a parameter leads to, or a value that was found.
func (r *run) isMain(root value, path string) bool {
	if r.spec.call != nil || path != r.spec.path || path == "" {
		return false
	}
	k := r.symbols.keys[root.id]
	return k.frame == 0 && k.path == "" && k.v == r.source()
}

// source is what leads to what a run follows, if the function does not make it: a parameter, or a value that was found.
func (r *run) source() ssa.Value {
	if r.spec.value != nil {
		return r.spec.value
	}
	return r.fn.Params[r.spec.param]
}

// zero is the zero value of a type; self stands for what cannot be said.
func zero(t types.Type, self value) value {
	if nillable(t) {
		return value{kind: isNil}
	}
	if b, ok := t.Underlying().(*types.Basic); ok {
		switch {
		case b.Kind() == types.Bool:
			return value{kind: isFalse}
		case b.Info()&types.IsInteger != 0:
			return value{kind: number}
		}
	}
	return self
}

// store puts a value into memory.
func (r *run) store(fr *frame, s *state, addr, v value, at token.Pos) {
	if addr.kind == object {
		r.use(s, addr.id, at)
		r.touch(s, addr.id, at, true)
		r.escape(s, v)
		return
	}
	p := r.address(addr)
	if p.kind != place {
		r.escape(s, v)
		return
	}
	k := r.places.keys[p.id]
	if k.root.kind == symbol {
		root := r.symbols.keys[k.root.id]
		r.answered(s, symKey{root.frame, root.v, root.path + k.path + "*"})
	}
	for id := range s.mem.all() {
		o := r.places.keys[id]
		if o.root == k.root && (len(o.path) > len(k.path) && o.path[:len(k.path)] == k.path || len(o.path) < len(k.path) && k.path[:len(o.path)] == o.path) {
			s.mem.drop(id)
		}
	}
	if !r.own(s, p) {
		r.escape(s, v)
		if k.root.kind == symbol && r.leaked(s, p) {
			s.mem.drop(p.id)
			return
		}
	}
	if v.kind == whole {
		s.mem.drop(p.id)
		for _, part := range r.wholes[v.id].parts {
			if f := r.below(p, part.path); f.kind == place {
				s.mem.set(f.id, part.val)
			}
		}
		return
	}
	s.mem.set(p.id, v)
}

// clear is an allocation: what was there before, in an earlier turn of a loop, is another.
func (r *run) clear(fr *frame, s *state, a *ssa.Alloc) {
	root := r.sym(fr.id, a, "")
	here := func(v value) bool { return v.kind == place && r.places.keys[v.id].root == root }
	r.loosen(s, here)
	old := false
	for id, v := range s.mem.all() {
		if r.places.keys[id].root == root {
			if v.kind == object {
				old = true
			}
			s.mem.drop(id)
		}
	}
	for id := range s.leaked.all() {
		if r.places.keys[id].root == root {
			s.leaked.drop(id)
		}
	}
	if old {
		s.main().free = true // whoever has the old address has it
	}
	s.replace(here, &r.interner)
}

// loosen gives away what deferred calls have that are about to be forgotten, because they have also captured something that is: they run
// nevertheless.
func (r *run) loosen(s *state, match func(value) bool) {
	for _, d := range s.defers {
		for _, v := range append([]value{d.fn}, d.args...) {
			if !contains(&r.interner, v, match, 0) {
				continue
			}
			for i := range s.things {
				if t := &s.things[i]; !r.leadsTo(s, v, t.id) {
					continue
				} else if t.free = true; t.id != 0 {
					t.phase = lost
				}
			}
		}
	}
}

// forget drops what is known of a symbol that gets another value, as in the next turn of a loop.
func (r *run) forget(fr *frame, s *state, v ssa.Value) {
	mine := func(x value) bool {
		if x.kind != symbol {
			return false
		}
		k := r.symbols.keys[x.id]
		return k.frame == fr.id && k.v == v
	}
	about := func(x value) bool {
		if x.kind == cond {
			k := r.conds.keys[x.id]
			return mine(k.x) || mine(k.y)
		}
		return mine(x)
	}
	for id := range s.conds.all() {
		if k := r.conds.keys[id]; mine(k.x) || mine(k.y) {
			s.conds.drop(id)
			s.hopes.drop(id)
		}
	}
	for id := range s.mem.all() {
		if mine(r.places.keys[id].root) {
			s.mem.drop(id)
		}
	}
	r.outdate(s, mine)
	r.loosen(s, about)
	s.replace(about, &r.interner)
}
