package bwsyntax

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// narrowed looks at a call that makes a reference with the rights of its type, out of one that must have them.
func (c *check) narrowed(n *ast.CallExpr) {
	for _, e := range c.known.effectsOf(c.callee(n), directive.Narrows) {
		arg, to := c.argument(n, e.Of), c.result(n, e.Result)
		if arg == nil || to == nil {
			continue
		}
		want := c.known.marked(to, directive.Access)
		have, says := c.granted(arg)
		if want == "" || have == "" || within(want, have) {
			continue
		}
		c.report(diag.MoreRights, n, also(says.Pos(), says.End(), "this is for %s", have), "the reference is for %s, and %s asks for %s: it fails", have, c.callee(n).Name(), want)
	}
}

// granted is the access that a reference has, by its type or by that of the field whose bytes it is; "" where that is not known.
func (c *check) granted(e ast.Expr) (access string, says ast.Expr) {
	if a := c.known.marked(c.info.TypeOf(e), directive.Access); a != "" {
		return a, e
	}
	return c.inField(e)
}

// inField is the access of a reference whose bytes a value is: those of a field, or of what a getter gives.
func (c *check) inField(e ast.Expr) (access string, says ast.Expr) {
	for _, e := range c.origin(e).path {
		var of Function
		switch x := e.(type) {
		case *ast.SelectorExpr:
			if s := c.info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
				of = member(s.Recv(), x.Sel.Name)
			}
		case *ast.CallExpr:
			if fn := c.callee(x); fn != nil {
				of = key(fn.Origin())
			}
		}
		if m, ok := c.known.markers[of]; ok && m.Word == directive.Access {
			return m.Value, e
		}
	}
	return "", nil
}

// within reports whether one access is part of another: "remote_read" of "remote_read_atomic".
func within(part, of string) bool {
	all := rights(of)
	for _, r := range rights(part) {
		if !slices.Contains(all, r) {
			return false
		}
	}
	return true
}

// rights are what an access lets peers do.
func rights(access string) []string {
	rest, ok := strings.CutPrefix(access, "remote_")
	if !ok {
		return nil
	}
	return strings.Split(rest, "_")
}

// madeUp looks at a literal of what only a peer can grant.
func (c *check) madeUp(n *ast.CompositeLit) {
	if len(n.Elts) > 0 && c.known.kind(c.info.TypeOf(n)) == directive.Capability {
		c.report(diag.MoreRights, n, nil, "a %s is what a peer granted, and this one is made up", c.name(c.info.TypeOf(n)))
	}
}

// assigned looks at what is written into what a peer granted. To take rights away is nobody's harm.
func (c *check) assigned(n *ast.AssignStmt) {
	switch n.Tok {
	case token.AND_ASSIGN, token.AND_NOT_ASSIGN:
		return
	}
	for i, left := range n.Lhs {
		if n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) {
			if b, ok := ast.Unparen(n.Rhs[i]).(*ast.BinaryExpr); ok && (b.Op == token.AND || b.Op == token.AND_NOT) && types.ExprString(b.X) == types.ExprString(left) {
				continue
			}
		}
		c.tampered(left)
	}
}

// putInto looks at numbers that are put into the bytes of a reference: binary.LittleEndian.PutUint16(lease.Blocks[44:], 3).
func (c *check) putInto(n *ast.CallExpr) {
	fn := c.callee(n)
	if fn == nil || fn.Pkg() == nil || fn.Pkg().Path() != "encoding/binary" || !strings.HasPrefix(fn.Name(), "Put") || len(n.Args) == 0 {
		return
	}
	if access, of := c.inField(n.Args[0]); access != "" {
		c.report(diag.MoreRights, n, nil, "the bytes of the reference %s are changed by hand: its owner gave it for %s", types.ExprString(of), access)
	}
}

// tampered looks at an expression that gets another value.
func (c *check) tampered(left ast.Expr) {
	if i, ok := ast.Unparen(left).(*ast.IndexExpr); ok {
		if access, of := c.inField(&ast.UnaryExpr{Op: token.AND, X: i}); access != "" {
			c.report(diag.MoreRights, left, nil, "the bytes of the reference %s are changed by hand: its owner gave it for %s", types.ExprString(of), access)
		}
		return
	}
	sel, ok := ast.Unparen(left).(*ast.SelectorExpr)
	if !ok || c.info.Selections[sel] == nil {
		return
	}
	t := c.info.TypeOf(sel.X)
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if c.known.kind(t) == directive.Capability {
		c.report(diag.MoreRights, left, nil, "a %s is what a peer granted: with another %s it is made up", c.name(t), sel.Sel.Name)
	}
}
