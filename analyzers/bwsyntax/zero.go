package bwsyntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// made says where the values of a kind come from.
var made = map[string]string{
	directive.Handle:  "regions come from allocators and rdma.Register, and what they are of is opened",
	directive.Window:  "windows come from Open",
	directive.Op:      "operations come from the functions that post them",
	directive.View:    "it comes from a region or a window",
	directive.Remote:  "references come from peers",
	directive.Place:   "places come from generated functions, as SampleInCPU()",
	directive.Grant:   "grants come from generated functions, as SampleRemoteRead()",
	directive.Witness: "witnesses come from the device that was asked",
}

// arguments looks for zero values that are given to a function of the runtime, or whose method is called. Only calls that
// return an error are looked at: there a zero value is always one.
func (c *check) arguments(n *ast.CallExpr) {
	fn := c.callee(n)
	if fn == nil || fn.Pkg() == nil || !c.known.packages[fn.Pkg().Path()] {
		return
	}
	sig := fn.Signature()
	results := sig.Results()
	if results.Len() == 0 || !isError(results.At(results.Len()-1).Type()) {
		return
	}
	called, _ := c.info.TypeOf(n.Fun).(*types.Signature) // with type arguments
	first := 0
	if sig.Recv() != nil {
		first = 1
	}
	for i, arg := range n.Args {
		if c.optional(fn, first+i) {
			continue
		}
		t := c.info.TypeOf(arg)
		if c.info.Types[arg].IsNil() && called != nil && i < called.Params().Len() {
			t = called.Params().At(i).Type()
		}
		c.given(fn, arg, t)
	}
	if sel, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr); ok && sig.Recv() != nil && !c.optional(fn, 0) {
		c.given(fn, sel.X, c.info.TypeOf(sel.X))
	}
}

// optional reports whether a parameter may be nil, as its function says.
func (c *check) optional(fn *types.Func, i int) bool {
	return slices.ContainsFunc(c.known.effectsOf(fn, directive.Optional), func(e Effect) bool { return e.Of == i })
}

// given looks at one argument or receiver of a call, of type t.
func (c *check) given(fn *types.Func, arg ast.Expr, t types.Type) {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	kind := c.known.kind(t)
	if kind == "" {
		return
	}
	if v := c.zeroVariable(arg); v != nil {
		c.report(diag.ZeroArgument, arg, also(v.Pos(), v.Pos()+token.Pos(len(v.Name())), "`%s` is declared here, and never gets a value", v.Name()),
			"`%s` is the zero %s when %s is called: %s", v.Name(), c.name(v.Type()), fn.Name(), made[kind])
	} else if c.isZero(arg) && kind != directive.Handle {
		c.report(diag.ZeroArgument, arg, nil, "%s is given the zero %s: %s", fn.Name(), c.name(t), made[kind])
	} else if kind == directive.Handle && c.isNil(arg) {
		c.report(diag.ZeroArgument, arg, nil, "%s is given no %s, but nil: %s", fn.Name(), c.name(t), made[kind])
	}
}

// isZero reports whether an expression is T{} or *new(T).
func (c *check) isZero(e ast.Expr) bool {
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		return len(e.Elts) == 0
	case *ast.StarExpr:
		call, ok := ast.Unparen(e.X).(*ast.CallExpr)
		if !ok || len(call.Args) != 1 {
			return false
		}
		id, ok := ast.Unparen(call.Fun).(*ast.Ident)
		return ok && id.Name == "new" && c.info.Types[call.Fun].IsBuiltin() && c.info.Types[call.Args[0]].IsType()
	}
	return false
}

// isNil reports whether an expression is nil, converted or not.
func (c *check) isNil(e ast.Expr) bool {
	e = ast.Unparen(e)
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 1 && c.info.Types[call.Fun].IsType() {
		e = call.Args[0]
	}
	return c.info.Types[e].IsNil()
}

// zeroVariable is the variable that an expression names, if that never gets a value.
func (c *check) zeroVariable(e ast.Expr) *types.Var {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := c.info.Uses[id].(*types.Var)
	if !ok || !c.zeros[v] {
		return nil
	}
	return v
}

// variables finds the local variables that are declared and never get a value behind that: those without one at all, and
// those that hold one.
func (c *check) variables() {
	c.zeros, c.defs = map[*types.Var]bool{}, map[*types.Var]def{}
	for cur := range c.root.Preorder((*ast.ValueSpec)(nil), (*ast.AssignStmt)(nil), (*ast.RangeStmt)(nil)) {
		switch n := cur.Node().(type) {
		case *ast.ValueSpec:
			if len(n.Values) == 0 && n.Type != nil && c.ofKind(c.info.TypeOf(n.Type)) {
				for _, name := range n.Names {
					if v := c.local(name); v != nil {
						c.zeros[v] = true
					}
				}
			}
			for i, name := range n.Names {
				c.define(name, i, len(n.Names), n.Values)
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if name, ok := left.(*ast.Ident); ok && n.Tok == token.DEFINE {
					c.define(name, i, len(n.Lhs), n.Rhs)
				}
			}
		case *ast.RangeStmt:
			// What a range gives is part of what it is over: the views of an iterator.
			if name, ok := n.Value.(*ast.Ident); ok && n.Tok == token.DEFINE {
				c.define(name, 0, 1, []ast.Expr{n.X})
			}
		}
	}
	if len(c.zeros) == 0 && len(c.defs) == 0 {
		return
	}
	for cur := range c.root.Preorder((*ast.Ident)(nil)) {
		v, ok := c.info.Uses[cur.Node().(*ast.Ident)].(*types.Var)
		if ok && written(c.info, cur) {
			delete(c.zeros, v)
			delete(c.defs, v)
		}
	}
}

// local is the variable that a name declares in a function.
func (c *check) local(name *ast.Ident) *types.Var {
	if v, ok := c.info.Defs[name].(*types.Var); ok && v.Parent() != c.pass.Pkg.Scope() {
		return v
	}
	return nil
}

// define notes what a variable gets where it is declared: the i-th of n, or of the results of one call.
func (c *check) define(name *ast.Ident, i, n int, values []ast.Expr) {
	v := c.local(name)
	if v == nil {
		return
	}
	switch len(values) {
	case n:
		c.defs[v] = def{values[i], -1}
	case 1:
		c.defs[v] = def{values[0], i}
	}
}

// ofKind reports whether a type is one that a directive says the kind of, or a pointer to it.
func (c *check) ofKind(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	return c.known.kind(t) != ""
}

// written reports whether a use of a variable may give it a value: it is assigned to, or
// its address is taken.
func written(info *types.Info, cur inspector.Cursor) bool {
	for cur.ParentEdgeKind() == edge.ParenExpr_X {
		cur = cur.Parent()
	}
	switch cur.ParentEdgeKind() {
	case edge.AssignStmt_Lhs, edge.RangeStmt_Key, edge.RangeStmt_Value, edge.IncDecStmt_X:
		return true
	case edge.UnaryExpr_X:
		return cur.Parent().Node().(*ast.UnaryExpr).Op == token.AND
	case edge.SelectorExpr_X:
		// A method on a pointer takes the address of a variable that is none.
		s := info.Selections[cur.Parent().Node().(*ast.SelectorExpr)]
		if s == nil || s.Kind() != types.MethodVal {
			return s != nil // a field
		}
		recv := s.Obj().(*types.Func).Signature().Recv()
		_, wants := types.Unalias(recv.Type()).(*types.Pointer)
		_, has := s.Recv().Underlying().(*types.Pointer)
		return wants && !has
	}
	return false
}

// callee is the function or method that a call names; nil if it is a value.
func (c *check) callee(n *ast.CallExpr) *types.Func {
	fun := ast.Unparen(n.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var id *ast.Ident
	switch f := ast.Unparen(fun).(type) {
	case *ast.Ident:
		id = f
	case *ast.SelectorExpr:
		id = f.Sel
	default:
		return nil
	}
	fn, _ := c.info.Uses[id].(*types.Func)
	return fn
}

func isError(t types.Type) bool {
	return types.Identical(t, types.Universe.Lookup("error").Type())
}
