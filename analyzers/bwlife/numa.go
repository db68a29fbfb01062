package bwlife

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// onNode looks for memory of one node that is touched where the goroutine surely is pinned to another, and notes what callers have to
// know of nodes.
func (a *analyzer) onNode(fn *ssa.Function, sum *facts.Func) {
	if sum != nil {
		a.nodesOfResults(fn, sum)
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if call, ok := in.(*ssa.Call); ok {
				a.runsOn(call)
			}
		}
	}
	pin := a.onlyPin(fn)
	if pin == nil {
		return
	}
	node, _ := a.nodeIn(&pin.Call, a.effects(callee(&pin.Call)).Pins[0], 0)
	switch how := unpinned(pin, 0); {
	case how == somewhere || node.Is == facts.NoBound:
		return
	case sum != nil && how == byCaller && onAllWays(fn, pin.Block()):
		sum.Pins = append(sum.Pins, node)
	case sum != nil:
		a.runsParams(fn, pin, node, sum)
	}
	if node.Is != facts.IsConst {
		return
	}
	for _, in := range after(fn, pin) {
		a.touchFrom(node.V, pin, in)
	}
}

// onlyPin is the call by which a function pins its goroutine, nil if there is none, or another.
func (a *analyzer) onlyPin(fn *ssa.Function) (pin *ssa.Call) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			site, ok := in.(ssa.CallInstruction)
			if !ok || !a.pins(site.Common()) {
				continue
			}
			call, now := in.(*ssa.Call)
			if !now || pin != nil {
				return nil
			}
			pin = call
		}
	}
	return pin
}

func (a *analyzer) pins(c *ssa.CallCommon) bool {
	obj := callee(c)
	if obj == nil {
		return false
	}
	sum := a.effects(obj)
	return sum != nil && len(sum.Pins) == 1
}

// after are the instructions that come after a call on all ways on which they come at all, and not where it failed.
func after(fn *ssa.Function, call *ssa.Call) (list []ssa.Instruction) {
	failed := failure(call)
	for _, b := range fn.Blocks {
		switch {
		case failed != nil && failed.Dominates(b):
		case b == call.Block():
			list = append(list, b.Instrs[slices.Index(b.Instrs, ssa.Instruction(call)):]...)
		case call.Block().Dominates(b):
			list = append(list, b.Instrs...)
		}
	}
	return list
}

// failure is the block to which the program goes if a call failed, nil if there is none that is for that only.
func failure(call *ssa.Call) *ssa.BasicBlock {
	for _, ref := range *call.Referrers() {
		err, ok := ref.(*ssa.Extract)
		if !ok || !isError(err.Type()) {
			continue
		}
		for _, ref := range *err.Referrers() {
			test, ok := ref.(*ssa.BinOp)
			if !ok || test.Op != token.NEQ && test.Op != token.EQL || len(*test.Referrers()) != 1 {
				continue
			}
			if branch, ok := (*test.Referrers())[0].(*ssa.If); ok {
				succ := branch.Block().Succs[0]
				if test.Op == token.EQL {
					succ = branch.Block().Succs[1]
				}
				if len(succ.Preds) == 1 {
					return succ
				}
			}
		}
	}
	return nil
}

// unpinning is where a function that came with a pin is called.
type unpinning int

const (
	byCaller  unpinning = iota // not in this function: at most it is returned
	atTheEnd                   // by a defer
	somewhere                  // somewhere else, or it is given away
)

// unpinned looks for the calls of the functions that came with a pin.
func unpinned(v ssa.Value, depth int) (how unpinning) {
	if depth > 3 || v.Referrers() == nil {
		return somewhere
	}
	_, isFunc := v.Type().Underlying().(*types.Signature)
	for _, ref := range *v.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Extract:
			if _, isFunc := ref.Type().Underlying().(*types.Signature); isFunc {
				how = max(how, unpinned(ref, depth+1))
			}
		case *ssa.Defer:
			how = max(how, atTheEnd)
		case *ssa.Return, *ssa.DebugRef:
		default:
			if isFunc {
				return somewhere
			}
		}
	}
	return how
}

// runsParams notes the parameters that are called where the goroutine is pinned, and nowhere else.
func (a *analyzer) runsParams(fn *ssa.Function, pin *ssa.Call, node facts.Bound, sum *facts.Func) {
	sure := after(fn, pin)
	for i, p := range fn.Params {
		if _, isFunc := p.Type().Underlying().(*types.Signature); !isFunc || p.Referrers() == nil || len(*p.Referrers()) == 0 {
			continue
		}
		called := !slices.ContainsFunc(*p.Referrers(), func(ref ssa.Instruction) bool {
			call, ok := ref.(*ssa.Call)
			return !ok || call.Call.Value != ssa.Value(p) || slices.Contains(call.Call.Args, ssa.Value(p)) || !slices.Contains(sure, ref)
		})
		if called {
			sum.Runs = append(sum.Runs, facts.OnNode{What: i, Node: node})
		}
	}
}

// runsOn is a call that may run function literals on a node.
func (a *analyzer) runsOn(call *ssa.Call) {
	obj := callee(&call.Call)
	if obj == nil {
		return
	}
	sum := a.effects(obj)
	if sum == nil {
		return
	}
	for _, r := range sum.Runs {
		node, _ := a.nodeIn(&call.Call, r.Node, 0)
		if node.Is != facts.IsConst || r.What >= len(call.Call.Args) {
			continue
		}
		mc, ok := call.Call.Args[r.What].(*ssa.MakeClosure)
		if !ok {
			continue
		}
		body := mc.Fn.(*ssa.Function)
		if body.Parent() == nil || a.pinsAnywhere(body) {
			continue
		}
		for _, b := range body.Blocks {
			for _, in := range b.Instrs {
				a.touchFrom(node.V, call, in)
			}
		}
	}
}

// pinsAnywhere reports whether a function may pin its goroutine itself.
func (a *analyzer) pinsAnywhere(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if site, ok := in.(ssa.CallInstruction); ok && a.pins(site.Common()) {
				return true
			}
		}
	}
	return false
}

// touchFrom is an instruction that runs on a node, since a call.
func (a *analyzer) touchFrom(node int, pin *ssa.Call, in ssa.Instruction) {
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
		p := a.placement(v, 0)
		if n, ok := p.number(); ok && n != node {
			a.wrongNode(node, pin, in, p)
		}
	}
}

func (a *analyzer) wrongNode(node int, pin *ssa.Call, in ssa.Instruction, p placed) {
	name, typ := a.called(p.what)
	qualifier := func(p *types.Package) string { return p.Name() }
	a.reports = append(a.reports, report{code: diag.WrongNode, pos: in.Pos(),
		text:    fmt.Sprintf("memory of `%s` (%s) on node %d is touched by a goroutine that is pinned to node %d", name, types.TypeString(typ, qualifier), p.node.V, node),
		related: []related{{p.what.Pos(), name + " comes from here"}, {pin.Pos(), "the goroutine is pinned here"}}})
}

// called is what a program calls a value, and its type.
func (a *analyzer) called(v ssa.Value) (string, types.Type) {
	result := 0
	switch x := v.(type) {
	case *ssa.Extract:
		v, result = x.Tuple, x.Index
	case *ssa.Parameter:
		return x.Name(), x.Type()
	}
	typ := v.Type()
	if t, ok := typ.(*types.Tuple); ok {
		typ = t.At(result).Type()
	}
	if names := a.names[v.Pos()]; result < len(names) && names[result] != "_" {
		return names[result], typ
	}
	if call, ok := v.(*ssa.Call); ok && callee(&call.Call) != nil {
		return "what " + callee(&call.Call).Name() + " gives", typ
	}
	return "what is here", typ
}
