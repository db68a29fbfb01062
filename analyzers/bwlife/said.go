package bwlife

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// Here are the comparisons of declared.go that are about results: what they are of, and whose.

// compareDerived looks for results that are of a parameter, where the directive says nothing of that.
func (a *analyzer) compareDerived(fn *ssa.Function, p facts.Param, said *facts.Func) {
	var cases []facts.Case
	if what, ok := said.Param(p.Index, ""); ok {
		cases = what.Cases
	}
	if ends(cases) != "" || keeps(cases) {
		return // it is the function's own: what comes of it may be, too
	}
	what := map[string]string{directive.Window: "a window on", mapped: "a window on", directive.Op: "an operation that has", "fill": "an operation that has", directive.View: "a view of", carved: "a handle on a part of"}
	done := map[int]bool{}
	for _, c := range p.Cases {
		for _, d := range c.Derived {
			_, isFunc := fn.Signature.Results().At(d.Result).Type().Underlying().(*types.Signature)
			if what[d.Kind] == "" || isFunc || done[d.Result] || derivedFrom(cases, d.Result) {
				continue
			}
			done[d.Result] = true
			a.lie(fn, fmt.Sprintf("result %d is %s `%s`, and the directive of %s does not say so", d.Result, what[d.Kind], fn.Params[p.Index].Name(), fn.Name()))
		}
	}
}

// derivedFrom reports whether a result has something to do with the parameter in one of the cases.
func derivedFrom(cases []facts.Case, result int) bool {
	return slices.ContainsFunc(cases, func(c facts.Case) bool {
		return slices.ContainsFunc(c.Derived, func(d facts.Derived) bool { return d.Result == result && d.Kind != "count" })
	})
}

// compareFresh looks for results that are new, where the directive does not say so, and for those that are said to be, and are a
// parameter that its caller still has.
func (a *analyzer) compareFresh(fn *ssa.Function, said, does *facts.Func) {
	isFresh := func(list []facts.Fresh, i int) bool {
		return slices.ContainsFunc(list, func(f facts.Fresh) bool { return f.Result == i })
	}
	for i := range fn.Signature.Results().Len() {
		k := a.kindOf(fn.Signature.Results().At(i).Type())
		if k != directive.Handle && k != directive.Window {
			continue
		}
		switch p := a.untouched(fn, i); {
		case isFresh(does.Fresh, i) && !isFresh(said.Fresh, i) && !slices.Contains(does.Booked, i) && a.onlyCallers(fn, i):
			a.lie(fn, fmt.Sprintf("result %d is new and the caller's to release, and the directive of %s does not say so", i, fn.Name()))
		case isFresh(said.Fresh, i) && p != nil && !a.takes(said, slices.Index(fn.Params, p)):
			a.lie(fn, fmt.Sprintf("result %d is `%s`, which the caller has already, and the directive of %s says that it is new", i, p.Name(), fn.Name()))
		}
	}
}

// onlyCallers reports whether what a function gives as a result surely is nobody else's, nor ended by a function that it gives beside it.
func (a *analyzer) onlyCallers(fn *ssa.Function, result int) bool {
	for v := range fn.Signature.Results().Variables() {
		if _, isFunc := v.Type().Underlying().(*types.Signature); isFunc {
			return false
		}
	}
	return !slices.ContainsFunc(returned(fn, result), func(v ssa.Value) bool {
		switch v.(type) {
		case *ssa.Const:
			return false
		case *ssa.Call, *ssa.Extract:
			return !a.onlyPassed(v)
		}
		return true
	})
}

// takes reports whether a parameter is said to be no more its caller's, on some way.
func (a *analyzer) takes(said *facts.Func, i int) bool {
	what, ok := said.Param(i, "")
	return ok && (ends(what.Cases) != "" || given(what.Cases))
}

// untouched is the parameter that a function gives as a result wherever it gives one, and does nothing else with; nil if there is none. The type
// is another package's: one that is counted here, say, may have another owner with each call.
func (a *analyzer) untouched(fn *ssa.Function, result int) (p *ssa.Parameter) {
	for _, v := range returned(fn, result) {
		q, ok := v.(*ssa.Parameter)
		switch {
		case isNilConst(v):
		case !ok || p != nil && p != q:
			return nil
		default:
			p = q
		}
	}
	if p == nil || a.isOurs(p.Type()) {
		return nil
	}
	for _, ref := range *p.Referrers() {
		switch ref.(type) {
		case *ssa.Return, *ssa.Phi, *ssa.BinOp:
		default:
			return nil
		}
	}
	return p
}

// isOurs reports whether a type is declared in the package.
func (a *analyzer) isOurs(t types.Type) bool {
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	return !ok || n.Obj().Pkg() == a.pass.Pkg
}

// compareViews looks for results that are said to be good as long as a parameter is, and are copies of it. Other memory that is made is
// silent: there may be an address in it, or what stands for one.
func (a *analyzer) compareViews(fn *ssa.Function, said *facts.Func) {
	for _, p := range said.Params {
		for i := range fn.Signature.Results().Len() {
			view := slices.ContainsFunc(p.Cases, func(c facts.Case) bool {
				return slices.ContainsFunc(c.Derived, func(d facts.Derived) bool { return d.Result == i && d.Kind == directive.View })
			})
			if view && a.copied(fn, i, fn.Params[p.Index]) {
				a.lie(fn, fmt.Sprintf("result %d is a copy, and the directive of %s says that it is good as long as `%s` is", i, fn.Name(), fn.Params[p.Index].Name()))
			}
		}
	}
}

// copied reports whether a result is a copy of elements without pointers of a parameter, wherever it is not nil.
func (a *analyzer) copied(fn *ssa.Function, result int, p *ssa.Parameter) bool {
	s, ok := fn.Signature.Results().At(result).Type().Underlying().(*types.Slice)
	if !ok {
		return false
	}
	if b, basic := s.Elem().Underlying().(*types.Basic); !basic || b.Info()&(types.IsNumeric|types.IsBoolean) == 0 || b.Kind() == types.Uintptr {
		return false
	}
	some := false
	for _, v := range returned(fn, result) {
		if isNilConst(v) {
			continue
		}
		if some = true; !a.copies(v, p) {
			return false
		}
	}
	return some
}

// copies reports whether a value is a clone of a parameter, or of a view of it.
func (a *analyzer) copies(v ssa.Value, p *ssa.Parameter) bool {
	call, ok := v.(*ssa.Call)
	if !ok {
		return false
	}
	var from ssa.Value
	if b, ok := call.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" && isNilConst(call.Call.Args[0]) {
		from = call.Call.Args[1]
	} else if obj := callee(&call.Call); obj != nil && obj.Pkg() != nil && obj.Name() == "Clone" && (obj.Pkg().Path() == "bytes" || obj.Pkg().Path() == "slices") {
		from = call.Call.Args[0]
	}
	if from == p {
		return true
	}
	view, ok := from.(*ssa.Call)
	if !ok || callee(&view.Call) == nil {
		return false
	}
	sum := a.effects(callee(&view.Call))
	return sum != nil && slices.ContainsFunc(sum.Params, func(q facts.Param) bool {
		return q.Path == "" && q.Index < len(view.Call.Args) && view.Call.Args[q.Index] == p && derivedFrom(q.Cases, 0)
	})
}

// returned are the values that a result may have.
func returned(fn *ssa.Function, result int) (list []ssa.Value) {
	seen := map[ssa.Value]bool{}
	var add func(v ssa.Value)
	add = func(v ssa.Value) {
		if seen[v] {
			return
		}
		seen[v] = true
		if phi, ok := v.(*ssa.Phi); ok {
			for _, e := range phi.Edges {
				add(e)
			}
			return
		}
		list = append(list, v)
	}
	for _, b := range fn.Blocks {
		if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok && result < len(ret.Results) {
			add(ret.Results[result])
		}
	}
	return list
}

func isNilConst(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}
