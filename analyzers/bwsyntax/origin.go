package bwsyntax

import (
	"go/ast"
	"go/token"
	"go/types"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

// def is what a variable holds: an expression, or one of the results of a call.
type def struct {
	value  ast.Expr
	result int // -1: the value itself
}

// origin is where a value comes from: the expressions that lead to it, itself first, and what calls did on the way.
// Each is what the one before it is made of, or points into: of `&b[0]` it is b, of a variable that never gets another value
// what it was declared with, of a call whose directive says that its result is memory of a parameter that argument.
type origin struct {
	path []ast.Expr
	did  []directive.Verb
}

// through reports whether a call on the way had an effect.
func (o origin) through(verb directive.Verb) bool {
	for _, v := range o.did {
		if v == verb {
			return true
		}
	}
	return false
}

// maxOrigin is how many steps are followed.
const maxOrigin = 32

// origin follows an expression back.
func (c *check) origin(e ast.Expr) (o origin) {
	place := false // e stands for where it is, not for its value: it is under & or is sliced
	result := -1   // which result of the call e is meant
	for range maxOrigin {
		e = ast.Unparen(e)
		o.path = append(o.path, e)
		var next ast.Expr
		switch x := e.(type) {
		case *ast.Ident:
			if v, ok := c.info.Uses[x].(*types.Var); ok && !place {
				if d, ok := c.defs[v]; ok {
					next, result = d.value, d.result
					e = next
					continue
				}
			}
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				next, place = x.X, true
			}
		case *ast.BinaryExpr:
			if x.Op == token.ADD || x.Op == token.SUB {
				next = x.X
			}
		case *ast.StarExpr:
			if place {
				next, place = x.X, false
			}
		case *ast.SelectorExpr:
			if place && c.info.Selections[x] != nil {
				next, place = x.X, !c.pointer(x.X)
			}
		case *ast.IndexExpr:
			if place {
				next, place = x.X, c.array(x.X)
			}
		case *ast.SliceExpr:
			next, place = x.X, c.array(x.X)
		case *ast.CallExpr:
			var verb directive.Verb
			if next, verb = c.madeOf(x, max(result, 0)); verb != "" {
				o.did = append(o.did, verb)
			}
			place = false
		}
		if next == nil {
			return o
		}
		e, result = next, -1
	}
	return o
}

func (c *check) pointer(e ast.Expr) bool {
	t := c.info.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Pointer)
	return ok
}

func (c *check) array(e ast.Expr) bool {
	t := c.info.TypeOf(e)
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// madeOf is the argument that a call's result is made of, and the effect by which it is; nil where there is none.
func (c *check) madeOf(n *ast.CallExpr, result int) (ast.Expr, directive.Verb) {
	switch fun := c.info.Types[n.Fun]; {
	case len(n.Args) == 0 && !isMethod(c.callee(n)):
		return nil, ""
	case fun.IsType():
		return n.Args[0], ""
	case fun.IsBuiltin():
		if sameMemory[c.builtinName(n)] {
			return n.Args[0], ""
		}
		return nil, ""
	}
	for _, e := range c.known.effectsOf(c.callee(n), directive.Views, directive.Address, directive.Narrows, directive.Alias) {
		if e.Result == result {
			return c.argument(n, e.Of), directive.Verb(e.Verb)
		}
	}
	return nil, ""
}

// sameMemory are the functions of package unsafe whose result is memory of their first argument.
var sameMemory = map[string]bool{"Add": true, "Slice": true, "SliceData": true, "String": true, "StringData": true}

// builtinName is the name of a built-in function, without the package unsafe's.
func (c *check) builtinName(n *ast.CallExpr) string {
	switch f := ast.Unparen(n.Fun).(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

func isMethod(fn *types.Func) bool { return fn != nil && fn.Signature().Recv() != nil }

// argument is what a call gives for a parameter, where the receiver is the first; nil where that does not show.
func (c *check) argument(n *ast.CallExpr, at int) ast.Expr {
	fn := c.callee(n)
	if isMethod(fn) {
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if s := c.info.Selections[sel]; s == nil || s.Kind() != types.MethodVal {
			return nil // a method expression: the receiver is an argument
		}
		if at == 0 {
			return sel.X
		}
		at--
	}
	if at < 0 || at >= len(n.Args) || n.Ellipsis.IsValid() {
		return nil
	}
	return n.Args[at]
}
