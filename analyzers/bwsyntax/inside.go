package bwsyntax

import (
	"go/ast"
	"go/types"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// part is a value of a kind, or a pointer to one, that lies in a struct.
type part struct {
	typ  types.Type
	at   int64 // bytes from the beginning
	size int64
	name string // the fields on the way: ".conn.mr"
}

// relaid looks at (*T)(unsafe.Pointer(p)), where p points to a struct that has handles in it, or T is one: each must lie where
// the same one lies. A struct that goes through unsafe.Pointer and comes back as what it was is nobody's harm, as is its beginning.
func (c *check) relaid(cur inspector.Cursor, n *ast.CallExpr, to types.Type) {
	var from types.Type
	for _, e := range c.origin(n.Args[0]).path {
		if t := c.info.TypeOf(e); t != nil && !isUnsafePointer(t) {
			from = t
			break
		}
	}
	if from == nil {
		return
	}
	p, isPointer := from.Underlying().(*types.Pointer)
	q, wants := to.Underlying().(*types.Pointer)
	if !isPointer || !wants || types.Identical(p.Elem(), q.Elem()) {
		return
	}
	have, size, ok := c.parts(p.Elem())
	want, wanted, ok2 := c.parts(q.Elem())
	if !ok || !ok2 {
		return
	}
	if c.sliced(cur) {
		wanted = size // as bytes, all of it
	}
	if isByte(p.Elem()) {
		size = wanted // how many there are does not show
	}
	if h, ok := missing(have, want, wanted); ok {
		c.report(diag.Laundered, n, nil, "unsafe.Pointer takes off what the type %s of the field %s says", c.name(h.typ), h.name)
	} else if h, ok := missing(want, have, size); ok {
		c.report(diag.Laundered, n, nil, "unsafe.Pointer makes the field %s a %s of what may be none", h.name, c.name(h.typ))
	}
}

// sliced reports whether a pointer is for unsafe.Slice.
func (c *check) sliced(cur inspector.Cursor) bool {
	if kind, _ := cur.ParentEdge(); kind != edge.CallExpr_Args {
		return false
	}
	call := cur.Parent().Node().(*ast.CallExpr)
	return c.info.Types[call.Fun].IsBuiltin() && c.builtinName(call) == "Slice"
}

// missing is one of the parts that lies within size bytes and has no equal.
func missing(parts, in []part, size int64) (part, bool) {
search:
	for _, p := range parts {
		if p.at+p.size > size {
			continue
		}
		for _, q := range in {
			if q.at == p.at && types.Identical(q.typ, p.typ) {
				continue search
			}
		}
		return p, true
	}
	return part{}, false
}

// maxParts is how many fields are looked at in a struct.
const maxParts = 1000

// parts are those in a struct, and its size in bytes. It is not ok where that depends on type parameters.
func (c *check) parts(t types.Type) (list []part, size int64, ok bool) {
	left := maxParts
	ok = c.collect(t, 0, "", &left, &list)
	if ok {
		size = c.pass.TypesSizes.Sizeof(t)
	}
	return list, size, ok
}

func (c *check) collect(t types.Type, at int64, name string, left *int, list *[]part) bool {
	if *left--; *left < 0 || open(t) {
		return false
	}
	if name != "" && c.known.carried(t) != nil {
		*list = append(*list, part{t, at, c.pass.TypesSizes.Sizeof(t), name})
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		fields := make([]*types.Var, u.NumFields())
		for i := range fields {
			if fields[i] = u.Field(i); open(fields[i].Type()) {
				return false
			}
		}
		for i, offset := range c.pass.TypesSizes.Offsetsof(fields) {
			if !c.collect(fields[i].Type(), at+offset, name+"."+fields[i].Name(), left, list) {
				return false
			}
		}
	case *types.Array:
		if open(u.Elem()) {
			return false
		}
		if u.Len() > 0 { // what the first has, the others have
			return c.collect(u.Elem(), at, name+"[0]", left, list)
		}
	}
	return true
}
