package bwsyntax

import (
	"go/ast"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// conversion looks at T(x).
func (c *check) conversion(cur inspector.Cursor, n *ast.CallExpr) {
	if len(n.Args) != 1 {
		return
	}
	to, from := c.info.TypeOf(n.Fun), c.info.TypeOf(n.Args[0])
	if to == nil || from == nil {
		return
	}
	switch {
	case isUnsafePointer(to):
		if h := c.pointed(from); h != nil {
			c.report(diag.Laundered, n, nil, "unsafe.Pointer takes off what the type %s says", c.name(h))
			return
		}
		if c.pointerMade(n, from); !isNumber(from) {
			c.addressed(cur, n)
		}
	case isUnsafePointer(from):
		if h := c.pointed(to); h != nil {
			c.report(diag.Laundered, n, nil, "unsafe.Pointer makes a %s of what may be none", c.name(h))
			return
		}
		c.cast(n, to)
		c.relaid(cur, n, to)
		c.pointerMade(n, from)
	default:
		// Between types declared over the same one: the compiler keeps the types of the runtime apart.
		h, t := c.pointedOrSelf(from), c.pointedOrSelf(to)
		if h != nil && t == nil && !types.IsInterface(to) {
			c.report(diag.Laundered, n, nil, "%s is a type of its own: it takes off what %s says", c.name(to), c.name(h))
		} else if h == nil && t != nil && !types.IsInterface(from) && !c.info.Types[n.Args[0]].IsNil() {
			c.report(diag.Laundered, n, nil, "%s is a type of its own, and no %s", c.name(from), c.name(t))
		}
	}
}

func isUnsafePointer(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.UnsafePointer
}

// pointed is the type of a kind that a pointer leads to.
func (c *check) pointed(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return c.known.carried(p.Elem())
	}
	return nil
}

// pointedOrSelf is a type, or the one that it points to, if a directive says its kind.
func (c *check) pointedOrSelf(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if c.known.kind(t) != "" {
		return t
	}
	return nil
}

// declared looks at a type that is declared over one of the runtime's.
func (c *check) declared(n *ast.TypeSpec) {
	if n.Assign.IsValid() {
		return // an alias is the same type
	}
	if h := c.pointedOrSelf(c.info.TypeOf(n.Type)); h != nil {
		c.report(diag.Laundered, n.Name, nil, "`%s` is a type of its own: it takes off what %s says; write `type %s = …` for another name",
			n.Name.Name, c.name(h), n.Name.Name)
	}
}

// asserted looks at x.(T) where it is known what x holds.
func (c *check) asserted(x, typ ast.Expr) {
	held := c.held(x)
	if held == nil {
		return
	}
	from, to := c.info.TypeOf(held), c.info.TypeOf(typ)
	h, t := c.pointedOrSelf(from), c.pointedOrSelf(to)
	if h == nil || t == nil || types.Identical(from, to) || open(from) || open(to) {
		return
	}
	c.report(diag.NeverThatType, typ, also(held.Pos(), held.End(), "this is a %s", c.name(from)),
		"a %s is never a %s", c.name(from), c.name(to))
}

// held is the value in an interface: v of any(v), or of a local variable that never gets another. It is nil where that is not known.
func (c *check) held(x ast.Expr) ast.Expr {
	x = ast.Unparen(x)
	if id, ok := x.(*ast.Ident); ok {
		v, _ := c.info.Uses[id].(*types.Var)
		d, ok := c.defs[v]
		if !ok || d.result >= 0 || !types.IsInterface(v.Type()) {
			return nil
		}
		x = d.value
	}
	if call, fn := c.ofReflect(ast.Unparen(x)); fn != nil && fn.Name() == "Interface" && isMethod(fn) {
		if sel, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
			x = c.boxedByReflect(sel.X)
		}
	} else if call, ok := ast.Unparen(x).(*ast.CallExpr); ok && len(call.Args) == 1 && c.info.Types[call.Fun].IsType() && types.IsInterface(c.info.TypeOf(call.Fun)) {
		x = call.Args[0]
	}
	if x == nil {
		return nil
	}
	if t := c.info.TypeOf(x); t == nil || types.IsInterface(t) {
		return nil
	}
	return x
}

// switched looks at switch any(v).(type).
func (c *check) switched(n *ast.TypeSwitchStmt) {
	var x ast.Expr
	switch s := n.Assign.(type) {
	case *ast.ExprStmt:
		x = s.X
	case *ast.AssignStmt:
		if len(s.Rhs) == 1 {
			x = s.Rhs[0]
		}
	}
	assert, ok := x.(*ast.TypeAssertExpr)
	if !ok {
		return
	}
	for _, s := range n.Body.List {
		if s, ok := s.(*ast.CaseClause); ok {
			for _, typ := range s.List {
				if !c.info.Types[typ].IsNil() {
					c.asserted(assert.X, typ)
				}
			}
		}
	}
}

// open reports whether a type depends on type parameters.
func open(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Pointer:
		return open(t.Elem())
	case *types.Slice:
		return open(t.Elem())
	case *types.Array:
		return open(t.Elem())
	case *types.Named:
		for arg := range t.TypeArgs().Types() {
			if open(arg) {
				return true
			}
		}
	}
	return false
}

// linknames looks for //go:linkname of what belongs to the runtime's packages.
func (c *check) linknames(f *ast.File) {
	for _, group := range f.Comments {
		for _, comment := range group.List {
			words := strings.Fields(comment.Text)
			if len(words) != 3 || words[0] != "//go:linkname" {
				continue
			}
			for path := range c.known.packages {
				if rest, ok := strings.CutPrefix(words[2], path); ok && (strings.HasPrefix(rest, ".") || strings.HasPrefix(rest, "/")) {
					c.report(diag.Laundered, comment, nil, "go:linkname reaches behind the types of %s", path)
					break
				}
			}
		}
	}
}

// minted looks for functions that only generated code may use.
func (c *check) minted(n *ast.Ident) {
	fn, ok := c.info.Uses[n].(*types.Func)
	if !ok || !c.known.functions[key(fn.Origin())] || fn.Signature().Recv() != nil {
		return
	}
	c.report(diag.MintedByHand, n, nil, "%s is for generated code only: say in the schema what is meant, and use what is generated", fn.Name())
}
