package bwlife

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// maxAnswer is how many blocks a function may have that is run in place for its answer.
const maxAnswer = 16

// answers reports whether a function of the package only works out an answer, flags or errors, from flags, numbers, errors and what structs have of
// them: a check of arguments, say, or of what is owned. What it answers tells what it was asked about, so it is run in place.
func (a *analyzer) answers(fn *ssa.Function) bool {
	yes, ok := a.answering[fn]
	if !ok {
		a.answering[fn] = false // while it is looked at: it may call itself
		yes = a.onlyAnswers(fn)
		a.answering[fn] = yes
	}
	return yes
}

func (a *analyzer) onlyAnswers(fn *ssa.Function) bool {
	obj, _ := fn.Object().(*types.Func)
	if obj == nil || fn.Pkg != a.pkg || fn.Parent() != nil || fn.Synthetic != "" || a.declared[obj] || len(fn.Blocks) == 0 || len(fn.Blocks) > maxAnswer {
		return false
	}
	if len(fn.Params) == 0 || fn.Signature.Results().Len() == 0 {
		return false
	}
	for _, p := range fn.Params {
		if _, basic := p.Type().Underlying().(*types.Basic); !basic && !isError(p.Type()) && !a.plainStruct(p.Type()) {
			return false
		}
	}
	for i := range fn.Signature.Results().Len() {
		t := fn.Signature.Results().At(i).Type()
		if b, ok := t.Underlying().(*types.Basic); !isError(t) && (!ok || b.Kind() != types.Bool) {
			return false
		}
	}
	for i, b := range fn.Blocks {
		if a.shape(fn).loops[i] {
			return false
		}
		for _, in := range b.Instrs {
			if !a.computes(in) {
				return false
			}
		}
	}
	return true
}

// plainStruct reports whether a type is a struct, or a pointer to one, that is nothing which is followed itself.
func (a *analyzer) plainStruct(t types.Type) bool {
	if a.kindOf(t) != "" {
		return false
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	_, ok := t.Underlying().(*types.Struct)
	return ok
}

// computes reports whether an instruction has no effect but on what is the function's own.
func (a *analyzer) computes(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.If, *ssa.Jump, *ssa.Return, *ssa.Phi, *ssa.BinOp, *ssa.Convert, *ssa.ChangeType, *ssa.ChangeInterface, *ssa.MakeInterface,
		*ssa.Extract, *ssa.Alloc, *ssa.IndexAddr, *ssa.FieldAddr, *ssa.Field, *ssa.Slice, *ssa.RunDefers, *ssa.DebugRef:
		return true
	case *ssa.UnOp:
		return in.Op != token.ARROW
	case *ssa.Store:
		_, own := rootOf(in.Addr).(*ssa.Alloc)
		return own
	case *ssa.Defer:
		obj := callee(&in.Call)
		return obj != nil && isLock(obj)
	case *ssa.Call:
		if _, builtin := in.Call.Value.(*ssa.Builtin); builtin {
			return true
		}
		obj, fn := callee(&in.Call), in.Call.StaticCallee()
		return obj != nil && (std(obj.Pkg()) || a.answers(fn))
	}
	return false
}
