package bwlife

import (
	"fmt"
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// placed is memory whose node is a constant, and the call that made it.
type placed struct {
	node int64
	made *ssa.Call
}

// placement follows a value back to the call that allocated its memory: through views, windows, and what the memory was moved to.
func (a *analyzer) placement(v ssa.Value, depth int) (p placed, ok bool) {
	if depth > maxOrigin {
		return p, false
	}
	result := 0
	switch x := v.(type) {
	case *ssa.Extract:
		v, result = x.Tuple, x.Index
	case *ssa.IndexAddr:
		return a.placement(x.X, depth+1)
	case *ssa.FieldAddr:
		return a.placement(x.X, depth+1)
	case *ssa.Slice:
		return a.placement(x.X, depth+1)
	case *ssa.ChangeType:
		return a.placement(x.X, depth+1)
	case *ssa.UnOp:
		if only := onlyValue(x.X); x.Op == token.MUL && only != nil {
			return a.placement(only, depth+1)
		}
	case *ssa.FreeVar:
		if c := captured(x); c != nil {
			return a.placement(c, depth+1)
		}
	}
	call, isCall := v.(*ssa.Call)
	if !isCall {
		return p, false
	}
	obj := callee(&call.Call)
	if obj == nil {
		return p, false
	}
	sum := a.effects(obj)
	if sum == nil {
		return p, false
	}
	for _, n := range sum.Nodes {
		if n.A == result && n.B < len(call.Call.Args) {
			node, ok := wholeNumber(call.Call.Args[n.B])
			return placed{node, call}, ok && node >= 0
		}
	}
	for _, q := range sum.Params {
		if q.Path == "" && q.Index < len(call.Call.Args) && a.handsOn(sum, q, result, call) {
			return a.placement(call.Call.Args[q.Index], depth+1)
		}
	}
	return p, false
}

// handsOn reports whether a result is of the memory of a parameter.
func (a *analyzer) handsOn(sum *facts.Func, q facts.Param, result int, call *ssa.Call) bool {
	for _, c := range q.Cases {
		for _, d := range c.Derived {
			if d.Result == result && d.Kind != "count" {
				return true
			}
		}
		if c.Post == facts.Moved && a.kindOf(call.Call.Signature().Results().At(result).Type()) != "" {
			return true
		}
	}
	return false
}

func wholeNumber(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}

// onNode looks for memory of one node that is touched where the goroutine surely is pinned to another: by the only such call of the
// function, which comes before on every way, and whose end the function does not ask for but at its own.
func (a *analyzer) onNode(fn *ssa.Function) {
	var pin *ssa.Call
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok || !a.pins(call) {
				continue
			}
			if pin != nil {
				return
			}
			pin = call
		}
	}
	if pin == nil || unpinned(pin, 0) {
		return
	}
	node, ok := wholeNumber(pin.Call.Args[a.effects(callee(&pin.Call)).Pins[0]])
	if !ok || node < 0 {
		return
	}
	for _, b := range fn.Blocks {
		if !pin.Block().Dominates(b) {
			continue
		}
		after := b != pin.Block()
		for _, in := range b.Instrs {
			after = after || in == ssa.Instruction(pin)
			if after {
				a.touchFrom(node, pin, in)
			}
		}
	}
}

func (a *analyzer) pins(call *ssa.Call) bool {
	obj := callee(&call.Call)
	if obj == nil {
		return false
	}
	sum := a.effects(obj)
	return sum != nil && len(sum.Pins) == 1 && sum.Pins[0] < len(call.Call.Args)
}

// unpinned reports whether a function that came with a pin is used otherwise than in a defer: called, or given away.
func unpinned(v ssa.Value, depth int) bool {
	if depth > 3 || v.Referrers() == nil {
		return depth > 3
	}
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Extract:
			if _, isFunc := ref.Type().Underlying().(*types.Signature); isFunc && unpinned(ref, depth+1) {
				return true
			}
		case *ssa.Defer, *ssa.DebugRef:
		default:
			if _, isFunc := v.Type().Underlying().(*types.Signature); isFunc {
				return true
			}
		}
	}
	return false
}

// touchFrom is an instruction that runs on a node.
func (a *analyzer) touchFrom(node int64, pin *ssa.Call, in ssa.Instruction) {
	var touched []ssa.Value
	switch in := in.(type) {
	case *ssa.Store:
		touched = append(touched, in.Addr)
	case *ssa.UnOp:
		if _, element := in.X.(*ssa.IndexAddr); in.Op == token.MUL && element {
			touched = append(touched, in.X)
		}
	case *ssa.Call:
		obj := callee(&in.Call)
		if obj == nil {
			return
		}
		if sum := a.effects(obj); sum != nil {
			for _, list := range [][]int{sum.Reads, sum.Writes} {
				for _, i := range list {
					if i < len(in.Call.Args) {
						touched = append(touched, in.Call.Args[i])
					}
				}
			}
		}
	}
	for _, v := range touched {
		p, ok := a.placement(v, 0)
		if !ok || p.node == node {
			continue
		}
		name := "what " + callee(&p.made.Call).Name() + " gives"
		if names := a.names[p.made.Pos()]; len(names) > 0 && names[0] != "_" {
			name = names[0]
		}
		typ := types.TypeString(p.made.Call.Signature().Results().At(0).Type(), func(p *types.Package) string { return p.Name() })
		a.reports = append(a.reports, report{code: diag.WrongNode, pos: in.Pos(),
			text:    fmt.Sprintf("memory of `%s` (%s) on node %d is touched by a goroutine that is pinned to node %d", name, typ, p.node, node),
			related: []related{{p.made.Pos(), name + " is made here"}, {pin.Pos(), "the goroutine is pinned here"}}})
	}
}
