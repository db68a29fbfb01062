package bwlife

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// maxCount is how far numbers are counted, and -maxCount how far down: references to a handle, say. Each is a state of its own.
const maxCount = 4

// arithmetic is what an operation on numbers gives, where both are known. In loops it is known only where it gives 0, the index of the
// first turn of a range: beyond, loops are not counted. What is kept in memory and grows beyond maxCount is many.
func (r *run) arithmetic(fr *frame, s *state, in *ssa.BinOp) value {
	x, y := r.eval(fr, s, in.X), r.eval(fr, s, in.Y)
	kept := isLoad(in.X) || isLoad(in.Y)
	if kept && (x.kind == many && y.counts() || y.kind == many && x.counts()) {
		return value{kind: many}
	}
	if x.kind != number || y.kind != number {
		return value{}
	}
	var n int64
	switch in.Op {
	case token.ADD:
		n = int64(x.id) + int64(y.id)
	case token.SUB:
		n = int64(x.id) - int64(y.id)
	case token.MUL:
		n = int64(x.id) * int64(y.id)
	default:
		return value{}
	}
	switch {
	case n == 0 && in.Op == token.ADD:
		return value{kind: number}
	case r.a.loops(in):
		return value{}
	case -maxCount <= n && n <= maxCount && (n >= 0 || !unsigned(in.Type())):
		return value{kind: number, id: int32(n)}
	case kept:
		return value{kind: many}
	}
	return value{}
}

// isLoad reports whether a value was read from memory.
func isLoad(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	return ok && load.Op == token.MUL
}

func unsigned(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsUnsigned != 0
}

// counts reports whether a value is a number that is known, or once was.
func (v value) counts() bool { return v.kind == number || v.kind == many }

// order compares numbers. Of one that is no longer counted nothing can be told.
func order(op token.Token, x, y value) value {
	if x.kind == many || y.kind == many {
		return value{kind: many}
	}
	a, b := x.id, y.id
	if op == token.EQL && a == b || op == token.LSS && a < b || op == token.LEQ && a <= b {
		return value{kind: isTrue}
	}
	return value{kind: isFalse}
}

// uncounted is a test of a number that is no longer counted. Which of several such tests go which way belongs together, and how is not
// known: so nothing more is said of the object.
func (r *run) uncounted(s *state) {
	if s.main().phase != unborn {
		r.lose(s, 0)
	}
}

// counted reports whether a symbol is the number of a later turn of a loop, which is above 0: it was 0 or more, and 1 or more was added.
func (r *run) counted(v value) bool {
	k := r.symbols.keys[v.id]
	next, ok := k.v.(*ssa.BinOp)
	if !ok || k.path != "" || next.Op != token.ADD || !constantFrom(next.Y, 1) {
		return false
	}
	phi, ok := next.X.(*ssa.Phi)
	if !ok {
		return false
	}
	for _, e := range phi.Edges {
		if e != ssa.Value(next) && !constantFrom(e, 0) {
			return false
		}
	}
	return true
}

// constantFrom reports whether a value is a whole number that is known, and at least n.
func constantFrom(v ssa.Value, n int64) bool {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return false
	}
	return constant.Compare(c.Value, token.GEQ, constant.MakeInt64(n))
}

// below reports whether a comparison with a constant is false for all numbers above 0.
func below(op token.Token, c *ssa.Const) bool {
	if c.Value == nil || c.Value.Kind() != constant.Int {
		return false
	}
	if op == token.LSS {
		return !constantFrom(c, 2)
	}
	return !constantFrom(c, 1)
}
