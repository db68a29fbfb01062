package bwsyntax

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// elsewhere are the residencies whose memory this processor does not reach, or not at any time.
var elsewhere = []string{"gpu", "managed", "cxl_shared"}

// pointerMade looks at T(x), where x may be an address that is none of this processor's: T is unsafe.Pointer and x a number, or
// T is a pointer and x an unsafe.Pointer.
func (c *check) pointerMade(n *ast.CallExpr, from types.Type) {
	o := c.origin(n.Args[0])
	number := isNumber(from)
	for i, e := range o.path {
		t := c.info.TypeOf(e)
		if sel, ok := e.(*ast.SelectorExpr); ok && number && c.known.kind(deref(c.info.TypeOf(sel.X))) == directive.Capability {
			c.report(diag.DeviceAddress, n, nil, "the %s of a %s is a place in the peer's memory: it makes no pointer here", sel.Sel.Name, c.name(deref(c.info.TypeOf(sel.X))))
			return
		}
		if i == 0 || c.known.kind(deref(t)) == "" {
			continue
		}
		switch where := c.known.marked(t, directive.Residency); {
		case number && o.through(directive.Address):
			c.report(diag.DeviceAddress, n, also(e.Pos(), e.End(), "it is the address of this %s", c.name(deref(t))), "this number is what peers and devices find memory by: it makes no pointer here")
			return
		case slices.Contains(elsewhere, where) && !c.numbers(o) && (o.through(directive.Address) || o.through(directive.Views)):
			c.report(diag.DeviceAddress, n, also(e.Pos(), e.End(), "its memory is %s", where), "%s memory has no address that this program can use", where)
			return
		case where == "" && o.through(directive.Views):
			c.depends(n, t, points)
		}
	}
}

// numbers reports whether a pointer was a number on its way: where it ceased to be one it is reported.
func (c *check) numbers(o origin) bool {
	return slices.ContainsFunc(o.path, func(e ast.Expr) bool { t := c.info.TypeOf(e); return t != nil && isNumber(t) })
}

func isNumber(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Info()&types.IsInteger != 0
}

// deref is what a pointer points to, or the type itself.
func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}

// exposed looks at a pointer or slice of Go over memory that a peer may write meanwhile: bytes of an element that are taken for a value.
func (c *check) exposed(n *ast.CallExpr, o origin, to types.Type) {
	switch types.Unalias(to).(type) {
	case *types.Pointer, *types.Slice:
		c.writable(n, o, c.name(to))
	}
}

// addressed looks at unsafe.Pointer(x), and at unsafe's functions that give memory.
func (c *check) addressed(cur inspector.Cursor, n *ast.CallExpr) {
	if len(n.Args) == 0 || c.atomically(cur) {
		return
	}
	c.writable(n, c.origin(n.Args[0]), "a pointer")
}

// writable reports memory that a peer may write.
func (c *check) writable(n *ast.CallExpr, o origin, as string) {
	if !o.through(directive.Views) {
		return
	}
	for _, e := range o.path[1:] {
		t := c.info.TypeOf(e)
		if k := c.known.kind(deref(t)); k != directive.Window && k != directive.Handle {
			continue
		}
		if access := c.known.marked(t, directive.Access); access == "" {
			c.depends(n, t, exposes)
		} else if peerWrites(access) {
			c.report(diag.PeerWritable, n, also(e.Pos(), e.End(), "peers may change it: %s", access), "%s over memory that a peer may change while it is read", as)
		}
		return
	}
}

// peerWrites reports whether peers may change memory that has an access.
func peerWrites(access string) bool {
	return strings.Contains(access, "write") || strings.Contains(access, "atomic")
}

// atomically reports whether a conversion is for a function of sync/atomic.
func (c *check) atomically(cur inspector.Cursor) bool {
	for range 4 {
		cur = cur.Parent()
		switch n := cur.Node().(type) {
		case *ast.CallExpr:
			if fn := c.callee(n); fn != nil {
				return fn.Pkg() != nil && fn.Pkg().Path() == "sync/atomic"
			}
		case *ast.ParenExpr, *ast.StarExpr:
		default:
			return false
		}
	}
	return false
}
