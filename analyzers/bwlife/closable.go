package bwlife

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// closeMethod is the method of interfaces and type parameters that is followed: what a function does with an io.Closer.
const closeMethod = "Close"

// closable reports whether a type is an interface, or a type parameter, with a method Close that takes nothing: handles may be given for it.
func closable(t types.Type) bool {
	if !types.IsInterface(t) {
		return false
	}
	obj, _, _ := types.LookupFieldOrMethod(t, false, nil, closeMethod)
	f, ok := obj.(*types.Func)
	return ok && f.Signature().Params().Len() == 0
}

// closesUnseen reports whether a call closes what the run follows, which is there as an interface or a type parameter.
func (r *run) closesUnseen(site ssa.CallInstruction, t target) bool {
	c := site.Common()
	return c.IsInvoke() && c.Method.Name() == closeMethod && len(t.args) == 1 && t.args[0] == value{kind: object} && closable(r.infos[0].typ)
}

// closing is what such a method is taken to do; whether it does the callers find out: see endsBy.
func closing(sig *types.Signature) *facts.Func {
	ended := facts.Case{Uses: true, Post: facts.Released, How: closeMethod}
	cases := []facts.Case{ended}
	if last := sig.Results().Len() - 1; last >= 0 && isError(sig.Results().At(last).Type()) {
		ended.When = []facts.Cond{{Result: true, Index: last, Is: facts.Nil}}
		failed := facts.Case{Uses: true, Post: facts.Unknown, When: []facts.Cond{{Result: true, Index: last, Is: facts.NonNil}}}
		cases = []facts.Case{ended, failed}
	}
	return &facts.Func{Params: []facts.Param{{Cases: cases}}, Flushes: true, Hears: true}
}

// endsBy reports whether a method of a type ends what it is called on. Of what is an interface again the next caller finds out.
func (a *analyzer) endsBy(t types.Type, method string) bool {
	if closable(t) {
		return true
	}
	obj, _, _ := types.LookupFieldOrMethod(t, true, nil, method)
	f, ok := obj.(*types.Func)
	if !ok {
		return false
	}
	sum := a.effects(f)
	if sum == nil {
		return false
	}
	p, ok := sum.Param(0, "")
	return ok && ends(p.Cases) != ""
}

// closesAll is what a function does with each element of a slice that it is given, if it surely closes them all: by a loop over it that has no other end
// than that of the slice. The cases are nil if it does not.
func (a *analyzer) closesAll(fn *ssa.Function, p *ssa.Parameter) []facts.Case {
	s, ok := p.Type().Underlying().(*types.Slice)
	if !ok || a.kindOf(s.Elem()) == "" && !closable(s.Elem()) || p.Referrers() == nil {
		return nil
	}
	for _, ref := range *p.Referrers() {
		at, ok := ref.(*ssa.IndexAddr)
		if !ok || at.X != ssa.Value(p) || !a.wholeLoop(fn, p, at) {
			continue
		}
		if method, ok := a.closedIn(at); ok {
			ended := facts.Case{Uses: true, Post: facts.Released, How: fn.Name(), Method: method}
			if last := fn.Signature.Results().Len() - 1; last >= 0 && isError(fn.Signature.Results().At(last).Type()) {
				ended.When = []facts.Cond{{Result: true, Index: last, Is: facts.Nil}}
				return []facts.Case{ended, {Uses: true, Post: facts.Unknown, When: []facts.Cond{{Result: true, Index: last, Is: facts.NonNil}}}}
			}
			return []facts.Case{ended}
		}
	}
	return nil
}

// wholeLoop reports whether an element is taken in a loop over all of a slice, which every way through the function goes through: what follows
// the loop comes from where the index is compared with the length, and from nowhere else.
func (a *analyzer) wholeLoop(fn *ssa.Function, p *ssa.Parameter, at *ssa.IndexAddr) bool {
	body := at.Block()
	if len(body.Preds) != 1 {
		return false
	}
	head := body.Preds[0]
	test, ok := head.Instrs[len(head.Instrs)-1].(*ssa.If)
	if !ok || head.Succs[0] != body || !onAllWays(fn, head) {
		return false
	}
	less, ok := test.Cond.(*ssa.BinOp)
	if !ok || less.X != at.Index {
		return false
	}
	n, ok := less.Y.(*ssa.Call)
	if !ok || len(n.Call.Args) != 1 || n.Call.Args[0] != ssa.Value(p) {
		return false
	}
	if b, ok := n.Call.Value.(*ssa.Builtin); !ok || b.Name() != "len" {
		return false
	}
	step, ok := at.Index.(*ssa.BinOp) // a range over a slice counts from -1
	if !ok || step.Block() != head {
		return false
	}
	if one, ok := wholeNumber(step.Y); !ok || one != 1 {
		return false
	}
	for _, b := range fn.Blocks { // no way out of the loop but by the head
		if !body.Dominates(b) {
			continue
		}
		if len(b.Succs) == 0 {
			return false
		}
		for _, succ := range b.Succs {
			if succ != head && !body.Dominates(succ) {
				return false
			}
		}
	}
	return true
}

// closedIn looks for a call on the way round the loop, whatever happens, that closes the element at an address: by a method that surely
// does, or by the method of an interface that callers know more of.
func (a *analyzer) closedIn(at *ssa.IndexAddr) (method string, ok bool) {
	head := at.Block().Preds[0]
	always := func(b *ssa.BasicBlock) bool {
		for _, pred := range head.Preds {
			if at.Block().Dominates(pred) && !b.Dominates(pred) {
				return false
			}
		}
		return true
	}
	for _, ref := range *at.Referrers() {
		load, ok := ref.(*ssa.UnOp)
		if !ok || load.Referrers() == nil {
			continue
		}
		for _, use := range *load.Referrers() {
			call, ok := use.(*ssa.Call)
			switch {
			case !ok || !always(call.Block()):
			case call.Call.IsInvoke():
				if call.Call.Value == ssa.Value(load) && call.Call.Method.Name() == closeMethod && closable(load.Type()) {
					return closeMethod, true
				}
			case len(call.Call.Args) > 0 && call.Call.Args[0] == ssa.Value(load):
				obj := callee(&call.Call)
				if obj == nil || a.kindOf(load.Type()) == "" {
					continue
				}
				if sum := a.effects(obj); sum != nil {
					if p, ok := sum.Param(0, ""); ok && ends(p.Cases) != "" && p.Cases[0].Method == "" && sureToEnd(p.Cases) {
						return "", true
					}
				}
			}
		}
	}
	return "", false
}

// sureToEnd reports whether a call ends what it is given whenever it does not fail.
func sureToEnd(cases []facts.Case) bool {
	for _, c := range cases {
		failed := len(c.When) == 1 && c.When[0].Result && c.When[0].Is == facts.NonNil
		if c.Post != facts.Released && !(failed && c.Post == facts.Unknown) {
			return false
		}
	}
	return len(cases) > 0
}
