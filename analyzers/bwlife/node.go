package bwlife

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// placed is memory, or a place for it, whose node is known: a number, or what a parameter or a type parameter of the function says.
type placed struct {
	node facts.Bound
	what ssa.Value // the value that has a name, and whose call or type says it
}

// unplaced is what no node is known of.
var unplaced = placed{}

func (p placed) known() bool { return p.node.Is != facts.NoBound }

// number is the node, where it is one.
func (p placed) number() (int, bool) { return p.node.V, p.node.Is == facts.IsConst }

// placement follows a value back to what fixes its node: its type, or the call that allocated its memory, through views, windows, and what the
// memory was moved to. Where the two say different things nothing is known.
func (a *analyzer) placement(v ssa.Value, depth int) placed {
	if depth > maxOrigin || a.migrates(v, 0) {
		return unplaced
	}
	made := a.placedBy(v, depth)
	switch n, ok, unclear := a.nodeOfType(v.Type()); {
	case unclear:
		return unplaced
	case !ok:
		return made
	default:
		switch m, number := made.number(); {
		case !number:
			return placed{facts.Bound{Is: facts.IsConst, V: n}, v}
		case m != n:
			return unplaced
		}
		return made
	}
}

// placedBy is the same by what the value comes from.
func (a *analyzer) placedBy(v ssa.Value, depth int) placed {
	result := 0
	switch x := v.(type) {
	case *ssa.Extract:
		v, result = x.Tuple, x.Index
	case *ssa.IndexAddr:
		return a.placement(x.X, depth+1)
	case *ssa.FieldAddr:
		if k := a.kindOf(x.X.Type()); k != "" && k != directive.View {
			return unplaced // of the handle itself, not of its memory
		}
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
	case *ssa.Parameter:
		return placed{facts.Bound{Is: facts.IsParam, V: slices.Index(x.Parent().Params, x)}, x}
	}
	call, isCall := v.(*ssa.Call)
	if !isCall {
		return unplaced
	}
	obj := callee(&call.Call)
	if obj == nil {
		return unplaced
	}
	sum := a.effects(obj)
	if sum == nil {
		return unplaced
	}
	said := false
	for _, n := range sum.Nodes {
		if n.What != result {
			continue
		}
		said = true
		node, asked := a.nodeIn(&call.Call, n.Node, depth)
		if node.Is == facts.NoBound && !asked {
			continue // a number below 0: the next says it
		}
		return placed{node, call}
	}
	if said {
		return unplaced
	}
	for _, q := range sum.Params {
		if q.Path == "" && q.Index < len(call.Call.Args) && a.handsOn(sum, q, result, call) {
			return a.placement(call.Call.Args[q.Index], depth+1)
		}
	}
	return unplaced
}

// migrates reports whether memory is moved to another node somewhere in the function, or a literal of it: then it is not known when it is where.
func (a *analyzer) migrates(v ssa.Value, depth int) bool {
	if v.Referrers() == nil || depth > 4 {
		return false
	}
	return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case ssa.CallInstruction:
			return a.migratesIn(ref.Common(), v)
		case *ssa.Store: // a variable that holds it
			return ref.Val == v && a.migrates(ref.Addr, depth+1)
		case *ssa.UnOp:
			_, variable := v.Type().Underlying().(*types.Pointer)
			return variable && ref.Op == token.MUL && a.migrates(ref, depth+1)
		case *ssa.MakeClosure:
			for i, b := range ref.Bindings {
				if b == v && a.migrates(ref.Fn.(*ssa.Function).FreeVars[i], depth+1) {
					return true
				}
			}
		}
		return false
	})
}

func (a *analyzer) migratesIn(c *ssa.CallCommon, v ssa.Value) bool {
	obj := callee(c)
	if obj == nil {
		return false
	}
	sum := a.effects(obj)
	return sum != nil && slices.ContainsFunc(sum.Migrates, func(i int) bool { return i < len(c.Args) && c.Args[i] == v })
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

// nodeIn is a node that effects name, at a call. open: something is asked for, and it is not known what.
func (a *analyzer) nodeIn(c *ssa.CallCommon, b facts.Bound, depth int) (node facts.Bound, open bool) {
	switch b.Is {
	case facts.IsConst:
		return b, false
	case facts.IsType:
		fn := c.StaticCallee()
		if fn == nil || b.V >= len(fn.TypeArgs()) {
			return facts.Bound{}, true
		}
		n, ok, _ := a.nodeOfType(fn.TypeArgs()[b.V])
		if !ok {
			return facts.Bound{}, true
		}
		return facts.Bound{Is: facts.IsConst, V: n}, false
	case facts.IsParam:
		if b.V >= len(c.Args) {
			return facts.Bound{}, true
		}
		arg := c.Args[b.V]
		if n, ok := wholeNumber(arg); ok {
			if n < 0 || n != int64(int(n)) {
				return facts.Bound{}, false
			}
			return facts.Bound{Is: facts.IsConst, V: int(n)}, false
		}
		p := a.placement(arg, depth+1)
		return p.node, !p.known()
	}
	return facts.Bound{}, true
}

// nodeOfType is the node that a type fixes: its own, or the one of its type arguments. unclear: there are two, or one that is a
// type parameter, beside which none can be told.
func (a *analyzer) nodeOfType(t types.Type) (node int, ok, unclear bool) {
	t = types.Unalias(t)
	if p, isPointer := t.(*types.Pointer); isPointer {
		t = types.Unalias(p.Elem())
	}
	n, isNamed := t.(*types.Named)
	if !isNamed {
		return 0, false, false
	}
	node, ok = a.nodeOf(n)
	open := false
	for i := range n.TypeArgs().Len() {
		switch arg := types.Unalias(n.TypeArgs().At(i)).(type) {
		case *types.TypeParam:
			open = true
		case *types.Named:
			if m, is := a.nodeOf(arg); is && ok && m != node {
				return 0, false, true
			} else if is {
				node, ok = m, true
			}
		}
	}
	return node, ok && !open, ok && open
}

// nodeOf is the node that a directive gives a type.
func (a *analyzer) nodeOf(n *types.Named) (int, bool) {
	f := new(facts.Node)
	obj := n.Origin().Obj()
	known := obj.Pkg() != nil && a.pass.ImportObjectFact(obj, f)
	return f.Number, known
}

func wholeNumber(v ssa.Value) (int64, bool) {
	c, ok := v.(*ssa.Const)
	if !ok || c.Value == nil || c.Value.Kind() != constant.Int {
		return 0, false
	}
	return constant.Int64Val(c.Value)
}

// nodesOfResults notes on which nodes the results of a function are, where all ways out say the same.
func (a *analyzer) nodesOfResults(fn *ssa.Function, sum *facts.Func) {
	for i := range fn.Signature.Results().Len() {
		if a.kindOf(fn.Signature.Results().At(i).Type()) == "" {
			continue
		}
		var node facts.Bound
		same := true
		for _, b := range fn.Blocks {
			ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
			if !ok {
				continue
			}
			v := ret.Results[i]
			if c, isConst := v.(*ssa.Const); isConst && c.IsNil() {
				continue
			}
			p := a.placement(v, 0)
			if p.what == nil || !p.known() || node.Is != facts.NoBound && node != p.node {
				same = false
				break
			}
			if _, itself := p.what.(*ssa.Parameter); itself {
				same = false // what it is given: others say so
				break
			}
			node = p.node
		}
		if same && node.Is != facts.NoBound {
			sum.Nodes = append(sum.Nodes, facts.OnNode{What: i, Node: node})
		}
	}
}
