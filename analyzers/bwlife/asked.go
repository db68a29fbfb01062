package bwlife

import (
	"go/constant"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// maxQuestion is how many blocks a function may have that is taken for a question.
const maxQuestion = 64

// asksOnly are packages of the standard library whose functions give the same answer when they are asked the same: as far as
// that goes for a finding.
var asksOnly = []string{"bytes", "cmp", "errors", "maps", "path", "path/filepath", "slices", "strings", "unicode", "unicode/utf8"}

// asks reports whether a function only looks at what it is given, and at memory: with loops, and under locks. Asked the same twice it
// may give two answers, but a finding that rests on that is none that is sure.
func (a *analyzer) asks(fn *ssa.Function) bool {
	if fn == nil {
		return false
	}
	if o := fn.Origin(); o != nil {
		fn = o
	}
	yes, ok := a.asking[fn]
	if !ok {
		a.asking[fn] = false // while it is looked at: it may call itself
		yes = a.onlyAsks(fn)
		a.asking[fn] = yes
	}
	return yes
}

func (a *analyzer) onlyAsks(fn *ssa.Function) bool {
	obj, _ := fn.Object().(*types.Func)
	if obj == nil {
		return false
	}
	if std(obj.Pkg()) {
		return obj.Pkg() != nil && (slices.Contains(asksOnly, obj.Pkg().Path()) || obj.Pkg().Path() == "sync/atomic" && obj.Name() == "Load")
	}
	if obj.Pkg() != a.pass.Pkg {
		sum := a.effects(obj.Origin())
		return sum != nil && sum.Asks
	}
	if len(fn.Blocks) == 0 || len(fn.Blocks) > maxQuestion || a.declared[obj] {
		return false
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if !a.looks(in) {
				return false
			}
		}
	}
	return true
}

// looks reports whether an instruction has no effect but on what is the function's own, and on locks.
func (a *analyzer) looks(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Store:
		_, own := rootOf(in.Addr).(*ssa.Alloc)
		return own
	case *ssa.UnOp:
		return in.Op != token.ARROW
	case ssa.CallInstruction:
		if _, spawns := in.(*ssa.Go); spawns {
			return false
		}
		if b, ok := in.Common().Value.(*ssa.Builtin); ok {
			return b.Name() == "len" || b.Name() == "cap" || b.Name() == "min" || b.Name() == "max" || b.Name() == "ssa:wrapnilchk"
		}
		obj := callee(in.Common())
		return obj != nil && (isLock(obj) || a.asks(in.Common().StaticCallee()))
	case *ssa.MapUpdate, *ssa.Send, *ssa.Select, *ssa.MakeClosure, *ssa.Panic:
		return false
	}
	return true
}

func isLock(f *types.Func) bool {
	if f.Pkg() == nil || f.Pkg().Path() != "sync" {
		return false
	}
	switch f.Name() {
	case "Lock", "Unlock", "RLock", "RUnlock":
		return true
	}
	return false
}

// questions are the answers of a function that are asked for more than once: by each later one the first. Those in loops are left out: there the
// answer is to change.
func (a *analyzer) questions(fn *ssa.Function, loops []bool) (first map[ssa.Value]ssa.Value) {
	var list []ssa.Value
	for _, b := range fn.Blocks {
		if loops[b.Index] {
			continue
		}
		for _, in := range b.Instrs {
			v, ok := in.(ssa.Value)
			if !ok || !a.question(v) {
				continue
			}
			if i := slices.IndexFunc(list, func(x ssa.Value) bool { return sameValue(x, v, 0) }); i >= 0 {
				if first == nil {
					first = map[ssa.Value]ssa.Value{}
				}
				first[v] = list[i]
			} else if len(list) < maxQuestions {
				list = append(list, v)
			}
		}
	}
	return first
}

// maxQuestions is how many different ones a function may have, for the time that comparing them takes.
const maxQuestions = 256

// question reports whether a value is read from memory, or asked for, and something that programs decide by.
func (a *analyzer) question(v ssa.Value) bool {
	b, ok := v.Type().Underlying().(*types.Basic)
	if !ok || b.Kind() == types.UnsafePointer {
		return false
	}
	switch v := v.(type) {
	case *ssa.UnOp:
		return v.Op == token.MUL && decidedBy(v)
	case *ssa.Call:
		return !v.Call.IsInvoke() && len(v.Call.Args) > 0 && decidedBy(v) && callee(&v.Call) != nil && a.asks(v.Call.StaticCallee())
	}
	return false
}

// decidedBy reports whether a test is about a value, at once or in a comparison.
func decidedBy(v ssa.Value) bool {
	return v.Referrers() != nil && slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.If, *ssa.Phi, *ssa.Store, *ssa.Return:
			return true
		case *ssa.UnOp:
			return ref.Op == token.NOT
		case *ssa.BinOp:
			switch ref.Op {
			case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
				return true
			}
		}
		return false
	})
}

// sameValue reports whether two values are worked out alike: from the same, by the same.
func sameValue(x, y ssa.Value, depth int) bool {
	if x == y {
		return true
	}
	if depth > 6 {
		return false
	}
	switch x := x.(type) {
	case *ssa.Const:
		y, ok := y.(*ssa.Const)
		return ok && types.Identical(x.Type(), y.Type()) && (x.Value == nil) == (y.Value == nil) && (x.Value == nil || constant.Compare(x.Value, token.EQL, y.Value))
	case *ssa.UnOp:
		y, ok := y.(*ssa.UnOp)
		return ok && x.Op == y.Op && x.Op != token.ARROW && sameValue(x.X, y.X, depth+1)
	case *ssa.FieldAddr:
		y, ok := y.(*ssa.FieldAddr)
		return ok && x.Field == y.Field && sameValue(x.X, y.X, depth+1)
	case *ssa.Field:
		y, ok := y.(*ssa.Field)
		return ok && x.Field == y.Field && sameValue(x.X, y.X, depth+1)
	case *ssa.ChangeType:
		y, ok := y.(*ssa.ChangeType)
		return ok && types.Identical(x.Type(), y.Type()) && sameValue(x.X, y.X, depth+1)
	case *ssa.MakeInterface:
		y, ok := y.(*ssa.MakeInterface)
		return ok && types.Identical(x.Type(), y.Type()) && sameValue(x.X, y.X, depth+1)
	case *ssa.Call:
		y, ok := y.(*ssa.Call)
		return ok && !x.Call.IsInvoke() && !y.Call.IsInvoke() && x.Call.StaticCallee() != nil && x.Call.StaticCallee() == y.Call.StaticCallee() &&
			slices.EqualFunc(x.Call.Args, y.Call.Args, func(a, b ssa.Value) bool { return sameValue(a, b, depth+1) })
	}
	return false
}
