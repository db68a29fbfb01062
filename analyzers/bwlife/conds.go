package bwlife

import (
	"go/constant"
	"go/token"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

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
	if k := r.conds.keys[c.id]; r.doubts[k.x] {
		if _, known := s.conds.get(c.id); !known {
			s.hopes.set(-1, true)
		}
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
		case a.kind == symbol && r.counted(a) && below(op, c):
			return value{kind: isFalse}
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
