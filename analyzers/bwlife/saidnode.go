package bwlife

import (
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// Here are the comparisons of declared.go that are about nodes, and about functions that are called.

// compareNodes looks for nodes that are said to be a parameter's, and are none of its business, and for memory that is moved to another
// without a word.
func (a *analyzer) compareNodes(fn *ssa.Function, said, does *facts.Func) {
	for i := range fn.Signature.Results().Len() {
		if p := a.otherNode(fn, nodesOf(said.Nodes, i), nodesOf(does.Nodes, i)); p != nil {
			a.lieOfNode(fn, fmt.Sprintf("memory of result %d", i), p, nodesOf(does.Nodes, i)[0])
		}
	}
	for i, f := range fn.Params {
		if p := a.otherNode(fn, nodesOf(said.Runs, i), nodesOf(does.Runs, i)); p != nil {
			a.lieOfNode(fn, fmt.Sprintf("the goroutine that calls `%s`", f.Name()), p, nodesOf(does.Runs, i)[0])
		}
		if a.movesOnce(f) && !slices.Contains(said.Migrates, i) {
			a.lie(fn, fmt.Sprintf("the memory of `%s` is moved to another node, and the directive of %s does not say so", f.Name(), fn.Name()))
		}
	}
	for _, i := range said.Migrates {
		if unused(fn.Params[i]) && a.staysHere(fn, nil) {
			a.lie(fn, fmt.Sprintf("nothing is done with `%s`, and the directive of %s says that it may be moved to another node", fn.Params[i].Name(), fn.Name()))
		}
	}
	if p := a.otherNode(fn, said.Pins, does.Pins); p != nil {
		a.lieOfNode(fn, "the goroutine", p, does.Pins[0])
	} else if len(said.Pins) > 0 && a.staysHere(fn, nil) {
		a.lie(fn, fmt.Sprintf("nothing pins the goroutine, and the directive of %s says so; where the body cannot show it, add //barewire:trust and why", fn.Name()))
	}
}

func (a *analyzer) lieOfNode(fn *ssa.Function, what string, p *ssa.Parameter, does facts.Bound) {
	node := fmt.Sprint(does.V)
	if does.Is == facts.IsParam {
		node = "`" + fn.Params[does.V].Name() + "`"
	}
	a.lie(fn, fmt.Sprintf("%s is on node %s, and the directive of %s says on that of `%s`", what, node, fn.Name(), p.Name()))
}

func nodesOf(list []facts.OnNode, what int) (nodes []facts.Bound) {
	for _, n := range list {
		if n.What == what {
			nodes = append(nodes, n.Node)
		}
	}
	return nodes
}

// otherNode is the parameter that is said to be a node's number where another number is the node, nil if that is not sure. A parameter that is
// tested somewhere may be known to be that number.
func (a *analyzer) otherNode(fn *ssa.Function, said, does []facts.Bound) *ssa.Parameter {
	if len(said) != 1 || len(does) != 1 || said[0].Is != facts.IsParam || said[0] == does[0] {
		return nil
	}
	p := fn.Params[said[0].V]
	if does[0].Is == facts.IsType || !isInteger(p.Type()) || does[0].Is == facts.IsParam && !isInteger(fn.Params[does[0].V].Type()) {
		return nil
	}
	for _, ref := range *p.Referrers() {
		call, ok := ref.(*ssa.Call)
		if !ok || callee(&call.Call) == nil {
			return nil
		}
		if sum := a.effects(callee(&call.Call)); sum == nil || len(sum.Nodes)+len(sum.Pins)+len(sum.Runs) == 0 {
			return nil // a check, for all that is known
		}
	}
	return p
}

func isInteger(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// movesOnce reports whether the memory of a parameter is moved by one call: more may bring it back.
func (a *analyzer) movesOnce(p *ssa.Parameter) bool {
	calls := 0
	for _, ref := range *p.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Call:
			if a.migratesIn(&ref.Call, p) {
				if calls++; a.loops(ref) {
					return false
				}
			}
		case *ssa.Store, *ssa.MakeClosure, *ssa.Defer, *ssa.Go, *ssa.Phi, *ssa.MakeInterface:
			return false
		}
	}
	return calls == 1
}

// compareLoans looks for functions that are said to be called, with a window or on a node, and never are.
func (a *analyzer) compareLoans(fn *ssa.Function, said *facts.Func) {
	funcs := map[int]bool{}
	for _, l := range said.Lends {
		funcs[l.Func] = true
	}
	for _, r := range said.Runs {
		funcs[r.What] = true
		node := r.Node
		if node.Is != facts.IsParam || !isInteger(fn.Params[node.V].Type()) || !unused(fn.Params[node.V]) || unused(fn.Params[r.What]) {
			continue
		}
		if f := fn.Params[r.What]; onlyCalled(f) && a.staysHere(fn, f) {
			a.lie(fn, fmt.Sprintf("`%s` is called where nothing pins the goroutine, and the directive of %s says on the node of `%s`", f.Name(), fn.Name(), fn.Params[node.V].Name()))
		}
	}
	for i, f := range fn.Params {
		if funcs[i] && unused(f) {
			a.lie(fn, fmt.Sprintf("`%s` is not called, and the directive of %s says so", f.Name(), fn.Name()))
		}
	}
}

func unused(p *ssa.Parameter) bool { return p.Referrers() == nil || len(*p.Referrers()) == 0 }

// onlyCalled reports whether nothing happens to a function but calls.
func onlyCalled(f *ssa.Parameter) bool {
	return !slices.ContainsFunc(*f.Referrers(), func(ref ssa.Instruction) bool {
		call, ok := ref.(*ssa.Call)
		return !ok || call.Call.Value != ssa.Value(f) || slices.Contains(call.Call.Args, ssa.Value(f))
	})
}

// harmless are packages of the standard library whose functions neither bind threads nor move memory.
var harmless = []string{"bytes", "context", "errors", "fmt", "log", "maps", "math", "math/bits", "runtime", "slices", "sort", "strconv", "strings", "sync", "sync/atomic", "time"}

// staysHere reports whether a function surely neither binds its thread nor moves memory: it calls nothing that could, but for the parameter
// that is given.
func (a *analyzer) staysHere(fn *ssa.Function, but *ssa.Parameter) bool {
	return a.harmless(fn, but, map[*ssa.Function]bool{})
}

func (a *analyzer) harmless(fn *ssa.Function, but *ssa.Parameter, seen map[*ssa.Function]bool) bool {
	if seen[fn] {
		return true
	}
	seen[fn] = true
	if obj := fn.Object(); obj != nil && obj.Pkg() != nil && slices.Contains(harmless, obj.Pkg().Path()) {
		return true
	}
	if obj, _ := fn.Object().(*types.Func); fn.Pkg != a.pkg || len(fn.Blocks) == 0 || len(seen) > 1 && obj != nil && a.declared[obj] {
		return false
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(ssa.CallInstruction); ok && c.Common().IsInvoke() {
				return false
			}
			for _, op := range in.Operands(nil) {
				if !a.harmlessValue(*op, but, seen) {
					return false
				}
			}
		}
	}
	return true
}

// harmlessValue reports whether a value is no function that could do something else.
func (a *analyzer) harmlessValue(v ssa.Value, but *ssa.Parameter, seen map[*ssa.Function]bool) bool {
	switch v := v.(type) {
	case nil, *ssa.Builtin:
		return true
	case *ssa.Function:
		return a.harmless(v, but, seen)
	case *ssa.MakeClosure: // its function is an operand where it is made
		return true
	case *ssa.Parameter:
		if v == but {
			return true
		}
	}
	_, isFunc := v.Type().Underlying().(*types.Signature)
	return !isFunc || isNilConst(v)
}
