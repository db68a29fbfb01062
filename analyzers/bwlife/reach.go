package bwlife

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// idle reports whether nothing can come of a state any more: the object is gone, and nothing refers to it, or it is
// not made on any way from here.
func (r *run) idle(fr *frame, to *ssa.BasicBlock, s *state) bool {
	if r.spec.call == nil || r.trial {
		return false
	}
	switch m := s.main(); m.phase {
	case unborn:
		return fr.id == 0 && !r.ahead()[to.Index] && !r.givesHandles()
	case dead, absent:
		return !r.a.loops(r.spec.call) && !s.refers(&r.interner, func(v value) bool { return v.kind == object })
	}
	return false
}

// ahead are the blocks from which the program may come to the call that makes the object.
func (r *run) ahead() []bool {
	if r.leading == nil {
		r.leading = make([]bool, len(r.fn.Blocks))
		work := []*ssa.BasicBlock{r.spec.call.Block()}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if !r.leading[b.Index] {
				r.leading[b.Index] = true
				work = append(work, b.Preds...)
			}
		}
	}
	return r.leading
}

// behind are the blocks to which the program may come from the call that makes the object. Of an operation
// they are those where it may be in flight.
func (r *run) behind() []bool {
	if r.trailing != nil {
		return r.trailing
	}
	r.trailing = make([]bool, len(r.fn.Blocks))
	work := []*ssa.BasicBlock{r.spec.call.Block()}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if r.trailing[b.Index] {
			continue
		}
		r.trailing[b.Index] = true
		if r.spec.kind != directive.Op {
			work = append(work, b.Succs...)
		} else if !r.waitedIn(b) {
			work = append(work, r.afterMade(b)...)
		}
	}
	return r.trailing
}

// waitedIn reports whether a block waits for the operation that is followed, and somebody looks whether that went well.
func (r *run) waitedIn(b *ssa.BasicBlock) bool {
	made := b != r.spec.call.Block()
	for _, in := range b.Instrs {
		if made = made || in == ssa.Instruction(r.spec.call); !made {
			continue
		}
		call, ok := in.(*ssa.Call)
		if !ok || r.a.unlooked[call.Pos()] {
			continue
		}
		obj := callee(&call.Call)
		if obj == nil {
			continue
		}
		sum := r.a.effects(obj)
		for i, arg := range call.Call.Args {
			if !r.isMade(arg, r.spec.result) || sum == nil {
				continue
			}
			if p, ok := sum.Param(i, ""); ok && len(p.Cases) == 1 && p.Cases[0].Post == facts.Released && len(p.Cases[0].When) == 0 {
				return true
			}
		}
	}
	return false
}

// isMade reports whether a value is a result of the call that makes the object.
func (r *run) isMade(v ssa.Value, result int) bool {
	if v == ssa.Value(r.spec.call.Value()) {
		return result == 0
	}
	x, ok := v.(*ssa.Extract)
	return ok && x.Tuple == ssa.Value(r.spec.call.Value()) && x.Index == result
}

// afterMade are the blocks behind one; but not those that are only reached where the call that makes the object has failed.
func (r *run) afterMade(b *ssa.BasicBlock) []*ssa.BasicBlock {
	test, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return b.Succs
	}
	cond, ok := test.Cond.(*ssa.BinOp)
	if !ok {
		return b.Succs
	}
	last := r.spec.call.Common().Signature().Results().Len() - 1
	c, isConst := cond.Y.(*ssa.Const)
	if v := r.a.flowOf(r.fn).origin(cond.X); !isConst || c.Value != nil || v == nil || !isError(v.Type()) || !r.isMade(v, last) {
		return b.Succs
	}
	switch cond.Op {
	case token.NEQ:
		return b.Succs[1:]
	case token.EQL:
		return b.Succs[:1]
	}
	return b.Succs
}

// givesHandles reports whether the function may be one that makes handles for its callers: then all ways out matter.
func (r *run) givesHandles() bool {
	if r.gives == nil {
		gives, res := false, r.fn.Signature.Results()
		for i := range res.Len() {
			gives = gives || r.a.kindOf(res.At(i).Type()) != ""
		}
		r.gives = &gives
	}
	return *r.gives
}
