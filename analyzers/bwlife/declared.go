package bwlife

import (
	"fmt"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// compare holds the effects that a function's directive declares to what its body does: callers believe the directive. What
// is not known of the body is not held against it. doubts are the parameters of which something is not known on some way.
func (a *analyzer) compare(fn *ssa.Function, said, does *facts.Func, doubts map[int]doubt) {
	if a.believed[fn.Object()] {
		return
	}
	for _, p := range does.Params {
		if p.Path != "" || p.Index >= len(fn.Params) {
			continue
		}
		if what, ok := said.Param(p.Index, ""); ok {
			a.compareEnds(fn, p, what.Cases, doubts[p.Index])
		}
		a.compareDerived(fn, p, said)
	}
	a.compareFresh(fn, said, does)
	a.compareViews(fn, said)
	a.compareNodes(fn, said, does)
	a.compareLoans(fn, said)
}

// doubt is what is not known of a parameter.
type doubt uint8

const (
	lostWay  doubt = 1 << iota // on some way it goes where nothing is known
	outlives                   // on some way something of it, a window or a view, is there when the function returns
)

// compareEnds is about what becomes of a parameter.
func (a *analyzer) compareEnds(fn *ssa.Function, p facts.Param, said []facts.Case, d doubt) {
	how, name := ends(p.Cases), fn.Params[p.Index].Name()
	declared := ends(said)
	switch {
	case how != "" && declared == "" && keeps(said) && keeps(p.Cases): // a pool that is full: either way it is the caller's no more
	case how != "" && declared == "":
		a.lie(fn, fmt.Sprintf("`%s` is ended, and the directive of %s does not say so", name, how))
	case d&lostWay != 0 || !a.onlyPassed(fn.Params[p.Index]):
	case how == "" && declared != "" && !given(p.Cases):
		a.lie(fn, fmt.Sprintf("`%s` is not ended, and the directive of %s says so; where the body cannot show it, add //barewire:trust and why", name, fn.Name()))
	case declared != "" && spares(p, said):
		a.lie(fn, fmt.Sprintf("`%s` is left as it is on a way on which the directive of %s says that it is ended", name, fn.Name()))
	case d == 0 && keeps(said) && declared == "" && how == "" && !given(p.Cases) && !derives(p.Cases):
		a.lie(fn, fmt.Sprintf("`%s` is not kept, and the directive of %s says so; where the body cannot show it, add //barewire:trust and why", name, fn.Name()))
	}
}

// spares reports whether a function leaves a parameter as it is, and asks nothing of it, on a way on which it is said to end it.
func spares(p facts.Param, said []facts.Case) bool {
	return slices.ContainsFunc(p.Cases, func(c facts.Case) bool {
		if c.Post != facts.Same || c.Uses || slices.Contains(c.When, facts.Cond{Index: p.Index, Is: facts.Nil}) {
			return false // one that is nil has no end, and one that was asked may have had its end before
		}
		return slices.ContainsFunc(said, func(d facts.Case) bool {
			return (d.Post == facts.Released || d.Post == facts.Moved) &&
				!slices.ContainsFunc(d.When, func(x facts.Cond) bool { return !slices.Contains(c.When, x) })
		})
	})
}

// onlyPassed reports whether a value goes nowhere but to calls whose effects say what becomes of it, and out.
func (a *analyzer) onlyPassed(v ssa.Value) bool {
	return !slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		call, ok := ref.(ssa.CallInstruction)
		if !ok {
			switch ref.(type) {
			case *ssa.BinOp, *ssa.Return, *ssa.Phi:
				return false
			}
			return true
		}
		obj := callee(call.Common())
		if obj == nil {
			return true
		}
		sum := a.effects(obj)
		for i, arg := range call.Common().Args {
			if arg != v {
				continue
			}
			if sum == nil {
				return true
			}
			if _, said := sum.Param(i, ""); !said {
				return true
			}
		}
		return false
	})
}

func keeps(cases []facts.Case) bool {
	return slices.ContainsFunc(cases, func(c facts.Case) bool { return c.Post == facts.Kept })
}

func derives(cases []facts.Case) bool {
	return slices.ContainsFunc(cases, func(c facts.Case) bool { return len(c.Derived) > 0 })
}

func (a *analyzer) lie(fn *ssa.Function, text string) {
	a.reports = append(a.reports, report{code: diag.LyingDirective, pos: fn.Pos(), text: text})
}

// ends is what ends the parameter in one of the cases, "" if nothing does.
func ends(cases []facts.Case) string {
	for _, c := range cases {
		if c.Post == facts.Released || c.Post == facts.Moved {
			return c.How
		}
	}
	return ""
}

// given reports whether the parameter goes where nothing is known of it, in one of the cases.
func given(cases []facts.Case) bool {
	for _, c := range cases {
		if c.Post == facts.Kept || c.Post == facts.Unknown {
			return true
		}
	}
	return len(cases) == 0
}
