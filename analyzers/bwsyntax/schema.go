package bwsyntax

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// cast looks at memory of elements of one schema that a conversion from unsafe.Pointer makes a pointer to those of
// another.
func (c *check) cast(n *ast.CallExpr, to types.Type) {
	want, ok := c.known.schema(to)
	if !ok {
		return
	}
	if have, from := c.elements(c.origin(n.Args[0]), want); from != nil {
		c.mismatch(n, from, have, want, c.name(to))
	}
}

// castOfBytes looks at bytes of elements of one schema that a function takes for those of another: TradeOver(QuoteAt(w, 0).Bytes()).
func (c *check) castOfBytes(n *ast.CallExpr) {
	for _, e := range c.known.effectsOf(c.callee(n), directive.Views) {
		arg := c.argument(n, e.Of)
		to := c.result(n, e.Result)
		if arg == nil || to == nil || !isBytes(c.info.TypeOf(arg)) {
			continue
		}
		o := c.origin(arg)
		c.exposed(n, o, to)
		if want, ok := c.known.schema(to); ok {
			if have, from := c.elements(o, want); from != nil {
				c.mismatch(n, from, have, want, c.name(to))
			}
		}
	}
}

// elements is the schema of the elements that a value comes from, and the expression that says so: nil where there is none, or
// they begin with a value of the type that they are taken for.
func (c *check) elements(o origin, as Schema) (Schema, ast.Expr) {
	for _, e := range o.path {
		t := c.info.TypeOf(e)
		have, ok := c.known.schema(t)
		if !ok {
			continue
		}
		if c.known.begins(t, as) {
			return Schema{}, nil
		}
		return have, e
	}
	return Schema{}, nil
}

// begins reports whether the elements of a type begin with what a schema says.
func (l *lookup) begins(t types.Type, want Schema) bool {
	at := named(elementOf(t))
	for range 8 {
		if at == nil {
			return false
		}
		s, _ := l.schema(at)
		if s.Hash == want.Hash {
			return true
		}
		of, ok := at.Underlying().(*types.Struct)
		if s.Name != "" && ok && of.NumFields() == 1 {
			of, ok = l.valueOf(at, s) // it is a view
		}
		if !ok || of.NumFields() == 0 {
			return false
		}
		at = named(of.Field(0).Type())
	}
	return false
}

// valueOf is the struct type of a schema that a view is of.
func (l *lookup) valueOf(view *types.Named, s Schema) (*types.Struct, bool) {
	for _, other := range l.schemas {
		if other.Hash != s.Hash || other.Path != s.Path || other.Name == s.Name {
			continue
		}
		if obj := view.Obj().Pkg().Scope().Lookup(other.Name); obj != nil {
			of, ok := obj.Type().Underlying().(*types.Struct)
			return of, ok
		}
	}
	return nil, false
}

// elementOf is what a slice, array or handle has elements of, or a pointer points to.
func elementOf(t types.Type) types.Type {
	for range 4 {
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		case *types.Named:
			if u.TypeArgs().Len() == 0 {
				return t
			}
			t = u.TypeArgs().At(0)
		default:
			return t
		}
	}
	return t
}

func (c *check) mismatch(at ast.Node, from ast.Expr, have, want Schema, as string) {
	if have.Hash == want.Hash {
		return
	}
	what := "elements of " + have.Schema
	if have.Schema == want.Schema {
		what += ", of another version of the schema (" + short(have.Hash) + ", not " + short(want.Hash) + "),"
	}
	c.report(diag.OtherSchema, at, also(from.Pos(), from.End(), "this is of %s", have.Schema), "%s are taken for %s", what, as)
}

// short is the beginning of a hash, as errors of the runtime show it.
func short(hash string) string { return hash[:min(8, len(hash))] }

// result is the type of one of a call's results.
func (c *check) result(n *ast.CallExpr, i int) types.Type {
	t := c.info.TypeOf(n)
	if tuple, ok := t.(*types.Tuple); ok {
		if i < 0 || i >= tuple.Len() {
			return nil
		}
		return tuple.At(i).Type()
	}
	if i != 0 {
		return nil
	}
	return t
}

func isBytes(t types.Type) bool {
	if t == nil {
		return false
	}
	s, ok := t.Underlying().(*types.Slice)
	return ok && isByte(s.Elem())
}

func isByte(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uint8
}

// meeting is a call that meets peers under a name.
type meeting struct {
	call           *ast.CallExpr
	function, name string
	schema         Schema
}

// meets notes a call that meets peers under a constant name, for elements whose schema is known.
func (c *check) meets(n *ast.CallExpr) {
	fn := c.callee(n)
	for _, e := range c.known.effectsOf(fn, directive.Names) {
		arg := c.argument(n, e.Of)
		if arg == nil {
			continue
		}
		value := c.info.Types[arg].Value
		if value == nil || value.Kind() != constant.String {
			continue
		}
		for _, other := range n.Args {
			if s, ok := c.known.schema(c.info.TypeOf(other)); ok {
				c.met = append(c.met, meeting{n, fn.Name(), constant.StringVal(value), s})
				break
			}
		}
	}
}

// versions looks for names under which two versions of a schema meet: the peers of one of them refuse the other. Each call is compared with
// those before it, and with those of packages that are imported.
func (c *check) versions(known *Known) {
	imported := map[[2]string][]Meeting{} // by name and schema
	for _, m := range known.Meetings {
		k := [2]string{m.Name, m.Schema}
		imported[k] = append(imported[k], m)
	}
	slices.SortFunc(c.met, func(a, b meeting) int { return cmp.Compare(a.call.Pos(), b.call.Pos()) })
	first := map[[2]string]meeting{}
	for _, m := range c.met {
		known.Meetings = append(known.Meetings, Meeting{c.pass.Pkg.Path(), m.function, m.name, m.schema.Schema, m.schema.Hash})
		k := [2]string{m.name, m.schema.Schema}
		f, ok := first[k]
		if !ok {
			first[k] = m
		}
		is := fmt.Sprintf("%s meets peers as %q with %s %s", m.function, m.name, m.schema.Schema, short(m.schema.Hash))
		if ok && f.schema.Hash != m.schema.Hash {
			c.report(diag.TwoVersions, m.call, also(f.call.Pos(), f.call.End(), "here it is %s", short(f.schema.Hash)),
				"%s, and %s with %s: two versions of the schema", is, f.function, short(f.schema.Hash))
			continue
		}
		for _, o := range imported[k] {
			if o.Hash != m.schema.Hash {
				c.report(diag.TwoVersions, m.call, nil, "%s, and %s in %s with %s: two versions of the schema", is, o.Function, o.Path, short(o.Hash))
				break
			}
		}
	}
}

// hashed is a schema that a directive names.
type hashed struct {
	name, hash string
	comment    *ast.Comment
}

// stale compares the hashes that directives say to those that the code beside them has: a variable's Name and Hash. They differ
// where somebody changed generated code, or put two versions of it together.
func (r *reader) stale() {
	if len(r.hashes) == 0 {
		return
	}
	for _, f := range r.pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			if _, ok := n.(*ast.FuncDecl); ok {
				return false
			}
			lit, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			name, hash := r.described(lit)
			for _, h := range r.hashes {
				if h.name == name && hash != "" && h.hash != hash {
					r.report(diag.StaleSchema, h.comment, "%s is another version here (%s) than in the code below (%s): run barewire-gen generate again", name, short(h.hash), short(hash))
				}
			}
			return true
		})
	}
}

// described is the Name and the Hash of a literal that has both.
func (r *reader) described(lit *ast.CompositeLit) (name, hash string) {
	for _, e := range lit.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return "", ""
		}
		switch field, _ := kv.Key.(*ast.Ident); {
		case field == nil:
			return "", ""
		case field.Name == "Name":
			if v := r.pass.TypesInfo.Types[kv.Value].Value; v != nil && v.Kind() == constant.String {
				name = constant.StringVal(v)
			}
		case field.Name == "Hash":
			hash = r.digits(kv.Value)
		}
	}
	return name, hash
}

// digits is an array of bytes as hexadecimal digits.
func (r *reader) digits(e ast.Expr) string {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	var out []byte
	if a, ok := r.pass.TypesInfo.TypeOf(lit).(*types.Array); !ok || a.Len() != 32 || !isByte(a.Elem()) || len(lit.Elts) > 32 {
		return ""
	}
	for _, b := range lit.Elts {
		v := r.pass.TypesInfo.Types[b].Value
		if v == nil {
			return ""
		}
		n, ok := constant.Uint64Val(constant.ToInt(v))
		if !ok || n > 255 {
			return ""
		}
		out = fmt.Appendf(out, "%02x", n)
	}
	return string(out) + strings.Repeat("00", 32-len(lit.Elts))
}
