package bwsyntax

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// byValue is the handle that a variable of a type has in itself, not behind a pointer; nil if there is none.
func (c *check) byValue(t types.Type) types.Type {
	for range 8 {
		if t == nil {
			return nil
		}
		if c.known.kind(t) == directive.Handle {
			return t
		}
		a, ok := types.Unalias(t).(*types.Array)
		if !ok {
			return nil
		}
		t = a.Elem()
	}
	return nil
}

// forged reports a handle that something makes.
func (c *check) forged(at ast.Node, h types.Type, how string) {
	c.report(diag.ForgedHandle, at, nil, "%s a %s that no allocator made: use a pointer, which is nil until there is one", how, c.name(h))
}

// literal looks at a composite literal. In unsafe.Sizeof(T{}) nothing is made.
func (c *check) literal(cur inspector.Cursor, n *ast.CompositeLit) {
	if call, ok := cur.Parent().Node().(*ast.CallExpr); ok && c.info.Types[call.Fun].IsBuiltin() && c.info.Types[call].Value != nil {
		return
	}
	t := c.info.TypeOf(n)
	if p, ok := t.(*types.Pointer); ok && n.Type == nil {
		t = p.Elem() // {} in a literal of pointers is &T{}
	}
	if h := c.byValue(t); h != nil {
		c.forged(n, h, "the literal is")
	}
}

// builtin looks at new and make.
func (c *check) builtin(n *ast.CallExpr) {
	id, ok := ast.Unparen(n.Fun).(*ast.Ident)
	if !ok || len(n.Args) == 0 {
		return
	}
	t := c.info.TypeOf(n.Args[0])
	switch id.Name {
	case "new":
		if h := c.byValue(t); h != nil {
			c.forged(n, h, "new makes")
		}
	case "make":
		if h := c.byValue(element(t)); h != nil {
			c.forged(n, h, "each element is")
		}
	}
}

// element is what a slice, map or channel holds.
func element(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	switch u := t.Underlying().(type) {
	case *types.Slice:
		return u.Elem()
	case *types.Map:
		return u.Elem()
	case *types.Chan:
		return u.Elem()
	}
	return nil
}

// variable looks at a declaration of variables without values.
func (c *check) variable(n *ast.ValueSpec) {
	if len(n.Values) > 0 || n.Type == nil {
		return
	}
	if h := c.byValue(c.info.TypeOf(n.Type)); h != nil {
		for _, name := range n.Names {
			c.forged(name, h, "`"+name.Name+"` is")
		}
	}
}

// fields looks at the fields of a struct.
func (c *check) fields(n *ast.StructType) {
	for _, f := range n.Fields.List {
		if h := c.byValue(c.info.TypeOf(f.Type)); h != nil {
			c.forged(f.Type, h, "the field holds")
		}
	}
}
