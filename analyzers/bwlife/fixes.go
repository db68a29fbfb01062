package bwlife

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// checks notes, for calls whose error is tested by the next statement, where that statement ends: there a
// defer may stand.
func (a *analyzer) checks(list []ast.Stmt) {
	for i := 0; i+1 < len(list); i++ {
		as, ok := list[i].(*ast.AssignStmt)
		if !ok || len(as.Rhs) != 1 {
			continue
		}
		call, ok := ast.Unparen(as.Rhs[0]).(*ast.CallExpr)
		test, isIf := list[i+1].(*ast.IfStmt)
		if !ok || !isIf || test.Init != nil || test.Else != nil || len(test.Body.List) == 0 {
			continue
		}
		if _, leaves := test.Body.List[len(test.Body.List)-1].(*ast.ReturnStmt); leaves && testsError(test.Cond, as.Lhs[len(as.Lhs)-1]) {
			a.checked[call.Lparen] = test.End()
		}
	}
}

// testsError reports whether a condition is err != nil, for the variable that was assigned.
func testsError(cond, err ast.Expr) bool {
	b, ok := cond.(*ast.BinaryExpr)
	if !ok || b.Op != token.NEQ {
		return false
	}
	x, ok := b.X.(*ast.Ident)
	y, isNil := b.Y.(*ast.Ident)
	e, named := err.(*ast.Ident)
	return ok && isNil && named && x.Name == e.Name && y.Name == "nil"
}

// fix is how a finding can surely be mended: the same way, on all ways to it.
func (a *analyzer) fix(same []report) []analysis.SuggestedFix {
	first := a.fixOne(same[0])
	for _, rep := range same[1:] {
		if !reflect.DeepEqual(a.fixOne(rep), first) {
			return nil
		}
	}
	return first
}

func (a *analyzer) fixOne(rep report) []analysis.SuggestedFix {
	switch rep.code {
	case diag.Leak, diag.WindowLeak:
		return a.fixLeak(rep)
	case diag.ReleaseInFlight:
		return a.fixWait(rep)
	case diag.DoubleRelease:
		return a.fixTwice(rep)
	case diag.IgnoredError:
		return a.fixIgnored(rep)
	case diag.ViewOutlives:
		return a.fixView(rep)
	}
	return nil
}

// fixLeak closes what nothing on any path closes or gives away: by a defer behind the error check.
func (a *analyzer) fixLeak(rep report) []analysis.SuggestedFix {
	if file, _ := a.around(rep.pos); file == nil {
		return nil
	}
	if rep.call == nil || !rep.never || !token.IsIdentifier(rep.name) || a.loops(rep.call) {
		return nil
	}
	at, ok := a.checked[rep.call.Pos()]
	method := a.closer(rep.typ)
	if !ok || method == "" {
		return nil
	}
	text := fmt.Sprintf("defer %s.%s()", rep.name, method)
	return []analysis.SuggestedFix{{
		Message:   "insert " + text,
		TextEdits: []analysis.TextEdit{{Pos: at, End: at, NewText: []byte("\n" + text)}},
	}}
}

// closer is the method without parameters that ends a handle, by its effects.
func (a *analyzer) closer(t types.Type) string {
	return a.ending(t, func(sig *types.Signature, _ facts.Case) bool { return sig.Params().Len() == 0 })
}

// waiter is the method that waits for an operation: it takes a context, gives an error, and always waits.
func (a *analyzer) waiter(t types.Type) string {
	return a.ending(t, func(sig *types.Signature, c facts.Case) bool {
		return sig.Params().Len() == 1 && isContext(sig.Params().At(0).Type()) &&
			sig.Results().Len() == 1 && isError(sig.Results().At(0).Type()) && len(c.When) == 0
	})
}

// ending is the first method that ends what it is called on, and fits.
func (a *analyzer) ending(t types.Type, fits func(*types.Signature, facts.Case) bool) string {
	set := types.NewMethodSet(t)
	for i := range set.Len() {
		f, ok := set.At(i).Obj().(*types.Func)
		if !ok {
			continue
		}
		sum := a.effects(f)
		if sum == nil {
			continue
		}
		if p, ok := sum.Param(0, ""); ok && len(p.Cases) > 0 && p.Cases[0].Post == facts.Released && fits(f.Signature(), p.Cases[0]) {
			return f.Name()
		}
	}
	return ""
}
