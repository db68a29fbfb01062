package bwlife

import (
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
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
	return r.sym(fr.id, v, "")
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
	self := r.sym(fr.id, in, "")
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

// branch takes one side of a condition. It reports false where that cannot be.
func (r *run) branch(fr *frame, s *state, c value, want bool) bool {
	switch c.kind {
	case isTrue:
		return want
	case isFalse:
		return !want
	case many:
		r.uncounted(s)
	case symbol:
		c = r.condition(condKey{op: "true", x: c})
	}
	if c.kind != cond {
		return true
	}
	return r.assume(fr, s, c.id, want != c.neg, false)
}

// assume notes that a condition holds, or does not. With hope it was not tested. It reports false
// where that contradicts what is known.
func (r *run) assume(fr *frame, s *state, id int32, b, hope bool) bool {
	if known, ok := s.conds.get(id); ok {
		if known == b && !hope {
			s.hopes.drop(id)
		}
		return known == b
	}
	k := r.conds.keys[id]
	s.conds.set(id, b)
	if hope {
		s.hopes.set(id, true)
	}
	switch {
	case k.op == "==" && b:
		for other, v := range s.conds.all() {
			if o := r.conds.keys[other]; other != id && v && o.op == "==" && o.x == k.x && o.lit != "" && k.lit != "" && o.lit != k.lit {
				return false
			}
		}
		if k.lit == "sentinel" { // it is an error that is not nil
			return r.assume(fr, s, r.condition(condKey{op: "nil", x: k.x}).id, false, hope)
		}
	case k.op == "true" && b && k.x.kind == symbol:
		if call, ok := r.symbols.keys[k.x.id].v.(*ssa.Call); ok && isErrorTest(call) && r.symbols.keys[k.x.id].frame == fr.id {
			if e := r.eval(fr, s, call.Call.Args[0]); e.kind == symbol {
				if isEndOfContext(call) {
					r.abandoned(s, r.symbols.keys[e.id])
				}
				return r.assume(fr, s, r.condition(condKey{op: "nil", x: e}).id, false, hope)
			}
		}
	case k.op == "nil" && b && r.spec.call == nil:
		if m := s.main(); m.phase == live && r.infos[0].null.id == id {
			m.phase = absent
		}
	}
	return true
}

// isErrorTest reports whether a call is true only for errors that are not nil.
func isErrorTest(call *ssa.Call) bool {
	f := callee(&call.Call)
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "errors" && (f.Name() == "Is" || f.Name() == "As")
}

// compare is a comparison as a condition.
func (r *run) compare(fr *frame, s *state, in *ssa.BinOp) value {
	op, x, y := in.Op, in.X, in.Y
	if _, ok := x.(*ssa.Const); ok {
		x, y = y, x
		op = map[token.Token]token.Token{token.LSS: token.GTR, token.GTR: token.LSS, token.LEQ: token.GEQ, token.GEQ: token.LEQ}[op]
		if op == token.ILLEGAL {
			op = in.Op
		}
	}
	neg := false
	switch op {
	case token.NEQ:
		op, neg = token.EQL, true
	case token.GEQ:
		op, neg = token.LSS, true
	case token.GTR:
		op, neg = token.LEQ, true
	}
	var c value
	switch op {
	case token.EQL, token.LSS, token.LEQ:
		c = r.relation(fr, s, op, x, y)
	}
	switch {
	case c.kind == cond:
		c.neg = c.neg != neg
	case c.kind == isTrue && neg:
		c.kind = isFalse
	case c.kind == isFalse && neg:
		c.kind = isTrue
	}
	return c
}

func (r *run) relation(fr *frame, s *state, op token.Token, x, y ssa.Value) value {
	a, b := r.eval(fr, s, x), r.eval(fr, s, y)
	if a.counts() && b.counts() {
		return order(op, a, b)
	}
	if c, ok := y.(*ssa.Const); ok {
		switch {
		case c.Value == nil:
			return r.nilness(s, a)
		case a.kind == symbol && c.Value.Kind() != constant.Bool:
			return r.condition(condKey{op: op.String(), x: a, lit: c.Value.ExactString()})
		}
		return r.sameBool(a, c)
	}
	if op == token.EQL && isSentinel(y) && a.kind == symbol {
		return r.condition(condKey{op: "==", x: a, y: b, lit: "sentinel"})
	}
	if op == token.EQL && isSentinel(x) && b.kind == symbol {
		return r.condition(condKey{op: "==", x: b, y: a, lit: "sentinel"})
	}
	if op == token.EQL && b.kind == isNil {
		return r.nilness(s, a)
	}
	if op == token.EQL && a.kind == isNil {
		return r.nilness(s, b)
	}
	if a.kind == symbol && b.kind == symbol {
		return r.condition(condKey{op: op.String(), x: a, y: b})
	}
	if a.kind == symbol && b.kind == number {
		return r.condition(condKey{op: op.String(), x: a, lit: strconv.Itoa(int(b.id))})
	}
	if a.kind == number && b.kind == symbol { // whether a loop from 0 is entered, say
		back := map[token.Token]token.Token{token.EQL: token.EQL, token.LSS: token.LEQ, token.LEQ: token.LSS}[op]
		c := r.condition(condKey{op: back.String(), x: b, lit: strconv.Itoa(int(a.id))})
		c.neg = op != token.EQL
		return c
	}
	return value{}
}

// nilness is the condition that a value is nil.
func (r *run) nilness(s *state, v value) value {
	switch v.kind {
	case isNil:
		return value{kind: isTrue}
	case nonNil, place, closed:
		return value{kind: isFalse}
	case symbol:
		if r.sentinel(v) {
			return value{kind: isFalse}
		}
		if failed := r.notMade(v); failed.kind == cond {
			return failed
		}
		if k := r.symbols.keys[v.id]; k.path == "" {
			if call, ok := k.v.(*ssa.Call); ok && r.a.endsWindow(call, 0) {
				return value{kind: isTrue}
			}
		}
		return r.condition(condKey{op: "nil", x: v})
	case object:
		if v.id != 0 || r.spec.call == nil {
			return r.infos[v.id].null
		}
		m, null := s.main(), r.infos[0].null
		if _, known := s.conds.get(null.id); null.kind == cond && known {
			return null // whoever asks finds out whether the call failed
		}
		if m.phase == absent {
			return value{kind: isTrue}
		}
		return value{kind: isFalse}
	}
	return value{}
}

// sameBool is a comparison with true or false.
func (r *run) sameBool(a value, c *ssa.Const) value {
	if c.Value == nil || c.Value.Kind() != constant.Bool {
		return value{}
	}
	if a.kind == symbol {
		a = r.condition(condKey{op: "true", x: a})
	}
	if constant.BoolVal(c.Value) {
		return a
	}
	return not(a)
}

// not is the opposite of a bool.
func not(v value) value {
	switch v.kind {
	case isTrue:
		v.kind = isFalse
	case isFalse:
		v.kind = isTrue
	case cond:
		v.neg = !v.neg
	case many:
	default:
		return value{}
	}
	return v
}

// notMade is the condition that the call has failed which a symbol is a new handle of: then it is nil, and else it is not.
func (r *run) notMade(v value) value {
	k := r.symbols.keys[v.id]
	call, ok := k.v.(*ssa.Call)
	if !ok || len(k.path) < 2 || k.path[0] != '#' {
		return value{}
	}
	obj := callee(&call.Call)
	if obj == nil {
		return value{}
	}
	sum := r.a.effects(obj)
	if sum == nil {
		return value{}
	}
	for _, f := range sum.Fresh {
		if k.path == "#"+strconv.Itoa(f.Result) && len(f.When) == 1 && f.When[0].Result && f.When[0].Is == facts.Nil && f.When[0].Index != f.Result {
			c := r.condition(condKey{op: "nil", x: r.sym(k.frame, k.v, "#"+strconv.Itoa(f.When[0].Index))})
			return not(c)
		}
	}
	return value{}
}

// sentinel reports whether a symbol is what such a variable holds.
func (r *run) sentinel(v value) bool {
	k := r.symbols.keys[v.id]
	return k.path == "" && k.v != nil && isSentinel(k.v)
}

// isSentinel reports whether a value is an error that a package has as a variable, as io.EOF.
func isSentinel(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return false
	}
	g, ok := load.X.(*ssa.Global)
	return ok && isError(load.Type()) && (strings.HasPrefix(strings.ToLower(g.Name()), "err") || g.Name() == "EOF")
}
