package bwlife

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// dropped looks for calls of a function whose results nobody takes: errors that say whether anything was done, and functions that
// unpin. No path matters.
func (a *analyzer) dropped(fn *ssa.Function) {
	for call, sum := range a.calls(fn) {
		obj := callee(&call.Call)
		for _, r := range sum.Tells {
			if a.takesNone(call) || a.takesOther(call, r) {
				a.reports = append(a.reports, report{code: diag.IgnoredError, pos: call.Pos(), call: call, dominated: a.takesNone(call),
					text: fmt.Sprintf("the error of %s is not looked at: nothing else says whether it did what it is for", obj.Name())})
			}
		}
		if len(sum.Pins) > 0 && a.dropsUnpin(fn, call, sum) {
			a.reports = append(a.reports, report{code: diag.DroppedUnpin, pos: call.Pos(),
				text: fmt.Sprintf("the function that %s gives is dropped: the goroutine stays pinned when `%s` has returned", obj.Name(), fn.Name())})
		}
	}
}

// takesNone reports whether a call stands alone.
func (a *analyzer) takesNone(call *ssa.Call) bool { return a.unlooked[call.Pos()] }

// takesOther reports whether a program gives a result no name, and another one: with _ for all it says that it is meant.
func (a *analyzer) takesOther(call *ssa.Call, result int) bool {
	names := a.names[call.Pos()]
	return result < len(names) && names[result] == "_" && slices.ContainsFunc(names, func(n string) bool { return n != "_" })
}

// dropsUnpin reports whether nobody can end a pin that surely is to end. A goroutine may stay pinned for as long as it lives: so
// only in functions that say they are called for a value, and in those that pin again, which the system refuses from there.
func (a *analyzer) dropsUnpin(fn *ssa.Function, call *ssa.Call, sum *facts.Func) bool {
	res := call.Call.Signature().Results()
	at := slices.IndexFunc(slices.Collect(res.Variables()), func(v *types.Var) bool {
		_, isFunc := v.Type().Underlying().(*types.Signature)
		return isFunc
	})
	if at < 0 || sum.Runs != nil || !a.takesNone(call) && !a.takesOther(call, at) {
		return false
	}
	return givesValue(fn) || a.loops(call) || a.pinsBesides(fn, call)
}

// givesValue reports whether a function with a name gives numbers, texts or flags, and nothing else but an error: it is called for them, and is no body
// of a goroutine.
func givesValue(fn *ssa.Function) bool {
	values := 0
	for v := range fn.Signature.Results().Variables() {
		switch _, basic := v.Type().Underlying().(*types.Basic); {
		case isError(v.Type()):
		case !basic:
			return false
		default:
			values++
		}
	}
	return fn.Parent() == nil && values > 0
}

// pinsBesides reports whether a function pins by another call behind that one.
func (a *analyzer) pinsBesides(fn *ssa.Function, call *ssa.Call) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if other, ok := in.(*ssa.Call); ok && other != call && a.pins(other.Common()) && call.Block().Dominates(b) && (b != call.Block() || other.Pos() > call.Pos()) {
				return true
			}
		}
	}
	return false
}

// fixIgnored returns the error of a call that stands alone, if the function can.
func (a *analyzer) fixIgnored(rep report) []analysis.SuggestedFix {
	file, path := a.around(rep.pos)
	if file == nil || !rep.dominated {
		return nil
	}
	st, fn := statement(path)
	alone, ok := st.(*ast.ExprStmt)
	if !ok {
		return nil
	}
	zeros, ok := a.zeros(fn)
	if !ok {
		return nil
	}
	blanks := ""
	for range rep.call.Common().Signature().Results().Len() - 1 {
		blanks += "_, "
	}
	return edit("return the error",
		analysis.TextEdit{Pos: alone.Pos(), End: alone.Pos(), NewText: []byte("if " + blanks + "err := ")},
		analysis.TextEdit{Pos: alone.End(), End: alone.End(), NewText: []byte("; err != nil {\nreturn " + zeros + "err\n}")})
}
