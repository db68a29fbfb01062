package bwsyntax

import (
	"go/ast"
	"go/types"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// ways are the methods of reflect.Value that lead around a type.
var ways = map[string]bool{
	"Convert": true, "Elem": true, "Field": true, "FieldByIndex": true, "FieldByName": true, "Fields": true, "Pointer": true,
	"Set": true, "SetZero": true, "UnsafeAddr": true, "UnsafePointer": true, "Addr": true,
}

// reflected looks at methods of reflect.Value that lead around the type of a handle, and at reflect.New and
// Zero of such a type.
func (c *check) reflected(n *ast.CallExpr) {
	fn := c.callee(n)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "reflect" {
		return
	}
	if isMethod(fn) {
		sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if !ok || !ways[fn.Name()] {
			return
		}
		if value := c.reflectedValue(sel.X); value != nil {
			if h := c.known.carried(c.info.TypeOf(value)); h != nil {
				c.report(diag.Laundered, n, nil, "reflect's %s leads around what the type %s says", fn.Name(), c.name(h))
			}
		}
		return
	}
	switch fn.Name() {
	case "New", "NewAt", "Zero", "MakeSlice":
		if len(n.Args) == 0 {
			return
		}
		if h := c.reflectedType(n.Args[0]); h != nil {
			c.report(diag.Laundered, n, nil, "reflect.%s makes a %s that is none", fn.Name(), c.name(h))
		}
	}
}

// reflectedValue is x of reflect.ValueOf(x), which e is, or a part of. It is nil where another of the ways
// lies between: that one is reported.
func (c *check) reflectedValue(e ast.Expr) ast.Expr {
	for range maxOrigin {
		e = ast.Unparen(e)
		if id, ok := e.(*ast.Ident); ok {
			v, _ := c.info.Uses[id].(*types.Var)
			d, ok := c.defs[v]
			if !ok || d.result >= 0 {
				return nil
			}
			e = d.value
			continue
		}
		call, fn := c.ofReflect(e)
		if fn == nil {
			return nil
		}
		switch {
		case isMethod(fn):
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok || ways[fn.Name()] {
				return nil
			}
			e = sel.X
		case fn.Name() == "ValueOf" && len(call.Args) == 1:
			return call.Args[0]
		case fn.Name() == "Indirect" && len(call.Args) == 1:
			e = call.Args[0]
		default:
			return nil
		}
	}
	return nil
}

// ofReflect is a call of a function or method of package reflect.
func (c *check) ofReflect(e ast.Expr) (*ast.CallExpr, *types.Func) {
	call, ok := e.(*ast.CallExpr)
	if !ok {
		return nil, nil
	}
	fn := c.callee(call)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "reflect" {
		return nil, nil
	}
	return call, fn
}

// reflectedType is the type of a kind that reflect.TypeOf(x) or reflect.TypeFor[T]() leads to.
func (c *check) reflectedType(e ast.Expr) types.Type {
	for range maxOrigin {
		e = ast.Unparen(e)
		if id, ok := e.(*ast.Ident); ok {
			v, _ := c.info.Uses[id].(*types.Var)
			d, ok := c.defs[v]
			if !ok || d.result >= 0 {
				return nil
			}
			e = d.value
			continue
		}
		call, fn := c.ofReflect(e)
		if fn == nil {
			return nil
		}
		switch {
		case fn.Name() == "TypeOf" && len(call.Args) == 1:
			return c.known.carried(c.info.TypeOf(call.Args[0]))
		case fn.Name() == "TypeFor":
			if f, ok := ast.Unparen(call.Fun).(*ast.IndexExpr); ok {
				return c.known.carried(c.info.TypeOf(f.Index))
			}
			return nil
		case fn.Name() == "Elem" && isMethod(fn):
			sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr)
			if !ok {
				return nil
			}
			e = sel.X
		default:
			return nil
		}
	}
	return nil
}

// boxedByReflect is x of a reflect.Value that is reflect.ValueOf(x), and no part of it.
func (c *check) boxedByReflect(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if id, ok := e.(*ast.Ident); ok {
		v, _ := c.info.Uses[id].(*types.Var)
		d, ok := c.defs[v]
		if !ok || d.result >= 0 {
			return nil
		}
		e = ast.Unparen(d.value)
	}
	if call, fn := c.ofReflect(e); fn != nil && fn.Name() == "ValueOf" && !isMethod(fn) && len(call.Args) == 1 {
		return call.Args[0]
	}
	return nil
}
