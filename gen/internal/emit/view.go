package emit

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// viewer writes the views of one type.
type viewer struct {
	t      *plan.Type
	s      *shapes
	g      *gocode.Code
	nested []*plan.Val // unnamed lists and maps that still need a view of their own
	seen   map[string]bool
}

// views writes a type's views: one over the bytes of a fixed layout, or one
// that an index leads through a message of variable size.
func views(e *emitter, g *gocode.Code, t *plan.Type) {
	if !hasView(t) {
		return
	}
	if e.shapes == nil {
		e.shapes = newShapes()
	}
	v := &viewer{t: t, s: e.shapes, g: g, seen: map[string]bool{}}
	switch {
	case t.Alias != nil:
		v.alias(t)
		return
	case t.Layout().IsFixed():
		v.fixedType(t)
	default:
		v.indexedType(t)
	}
	// Views of nested lists may need others.
	for len(v.nested) > 0 {
		n := v.nested[0]
		v.nested = v.nested[1:]
		v.listView(n, v.nest(n), "")
	}
}

// hasView reports whether a type has a view. A scalar, a string or data has
// nothing to look into.
func hasView(t *plan.Type) bool {
	return t.HasView()
}

// nest is the name of a list's or map's view type. One that the schema does
// not name is written after the type that it is in.
func (e *viewer) nest(v *plan.Val) string {
	if v.Type != nil {
		return bare(v.Type).Name(plan.View)
	}
	name := v.View
	if v.ViewIn == e.t && !e.seen[name] {
		e.seen[name] = true
		e.nested = append(e.nested, v)
	}
	return name
}

// alias writes the view of a second name of a type.
//
//	type ClientView = CustomerView
func (e *viewer) alias(t *plan.Type) {
	b, view := bare(t), t.Name(plan.View)
	e.g.Line(view+" is a "+b.Name(plan.View)+".", "type %s = %s", view, b.Name(plan.View))
	if !t.Named {
		return
	}
	of, base := t.Name(plan.ViewOf), b.Name(plan.ViewOf)
	doc := of + " is " + base + "."
	effect(e.g, t, "views=0 of b on ok")
	if b.Layout().IsFixed() {
		e.g.Func(doc, fmt.Sprintf("%s(b []byte) (%s, error)", of, view), func(w *gocode.Body) { w.P("return %s(b)", base) })
		return
	}
	e.g.Func(doc, fmt.Sprintf("%s(b []byte, ix *wire.Index) (%s, error)", of, view), func(w *gocode.Body) {
		w.P("return %s(b, ix)", base)
	})
}

// listView writes the view type of a list or map: v stands for it, name is the
// view's name.
func (e *viewer) listView(v *plan.Val, name, doc string) {
	if doc == "" {
		doc = name + " is the view of a " + kindWord(v) + " in a message; it is good as long as the view that it came from."
	}
	switch size, fixed := 0, false; {
	case v.Kind == resolve.Map:
		e.g.Line(doc, "type %s wire.View", name)
		e.mapMethods(v, name)
	default:
		if size, fixed = fixedSize(v.Elem); fixed {
			e.g.Line(doc, "type %s wire.Packed", name)
			e.packedMethods(v, name, size)
			return
		}
		e.g.Line(doc, "type %s wire.View", name)
		e.listMethods(v, name)
	}
}

func kindWord(v *plan.Val) string {
	if v.Kind == resolve.Map {
		return "map"
	}
	return "list"
}

// packedMethods writes the methods of a view of elements of fixed size.
func (e *viewer) packedMethods(v *plan.Val, name string, size int) {
	elem := e.viewGo(v.Elem)
	e.g.Func("Len returns how many elements there are.", fmt.Sprintf("(l %s) Len() int", name), func(b *gocode.Body) {
		b.P("return wire.Packed(l).Len(%d)", size)
	})
	viewsOf(e.g, e.t, v.Elem, "l")
	e.g.Func("At returns the element with index i. It panics as a slice does if there is none.", fmt.Sprintf("(l %s) At(i int) %s", name, elem), func(b *gocode.Body) {
		b.P("q := wire.Packed(l).At(i, %d)", size)
		b.P("return %s", e.fixed(v.Elem, spot{arr: "q"}))
	})
	e.all(name, elem)
	effect(e.g, e.t, "views=0 of l")
	e.g.Func("Bytes returns the elements' bytes, the message's own.", fmt.Sprintf("(l %s) Bytes() []byte", name), func(b *gocode.Body) {
		b.P("return wire.Packed(l).Bytes()")
	})
}

// listMethods writes the methods of a view of elements of variable size.
func (e *viewer) listMethods(v *plan.Val, name string) {
	elem, stride := e.viewGo(v.Elem), e.s.stride(v.Elem)
	e.g.Func("Len returns how many elements there are.", fmt.Sprintf("(l %s) Len() int", name), func(b *gocode.Body) {
		b.P("return wire.View(l).Elems(%d).Len()", stride)
	})
	viewsOf(e.g, e.t, v.Elem, "l")
	e.g.Func("At returns the element with index i in constant time. It panics as a slice does if there is none.", fmt.Sprintf("(l %s) At(i int) %s", name, elem), func(b *gocode.Body) {
		b.P("u := wire.View(l).Elems(%d).At(i)", stride)
		b.P("return %s", e.indexed(v.Elem, "u"))
	})
	e.all(name, elem)
}

// all writes a list's iterator over At.
func (e *viewer) all(name, elem string) {
	e.g.Func("All iterates over the elements with their indices.", fmt.Sprintf("(l %s) All() iter.Seq2[int, %s]", name, elem), func(b *gocode.Body) {
		b.Block("return func(yield func(int, %s) bool)", elem)
		b.Block("for i := range l.Len()")
		b.Block("if !yield(i, l.At(i))")
		b.P("return")
		b.End()
		b.End()
		b.End()
	})
}

// mapMethods writes the methods of a map's view.
func (e *viewer) mapMethods(v *plan.Val, name string) {
	key, val := e.keyGo(v.Key), e.viewGo(v.Elem)
	stride, keyEnd := e.s.mapStride(v)
	value := "u.After(0, 0, 1)"
	if !keyEnd {
		n, _ := fixedSize(v.Key)
		value = fmt.Sprintf("u.In(%d, 0)", n)
	}
	value = e.indexed(v.Elem, value)
	e.g.Func("Len returns how many entries there are.", fmt.Sprintf("(m %s) Len() int", name), func(b *gocode.Body) {
		b.P("return wire.View(m).Elems(%d).Len()", stride)
	})
	doc := "At returns the entry that is the i-th in the message, in constant time. It panics as a slice does if there is none."
	if v.Key.Big {
		doc += "\nThe key is the message's own memory."
	}
	e.g.Func(doc, fmt.Sprintf("(m %s) At(i int) (%s, %s)", name, key, val), func(b *gocode.Body) {
		b.P("u := wire.View(m).Elems(%d).At(i)", stride)
		b.P("return %s, %s", e.key(v.Key, "u"), value)
	})
	e.g.Func("All iterates over the entries in the message's order.", fmt.Sprintf("(m %s) All() iter.Seq2[%s, %s]", name, key, val), func(b *gocode.Body) {
		b.Block("return func(yield func(%s, %s) bool)", key, val)
		b.Block("for i := range m.Len()")
		b.Block("if !yield(m.At(i))")
		b.P("return")
		b.End()
		b.End()
		b.End()
	})
	viewsOf(e.g, e.t, v.Elem, "m")
	e.g.Func("Get returns the value of a key: by halving if the keys ascend in the message, as ours do, else by looking at each.", fmt.Sprintf("(m %s) Get(key %s) (value %s, ok bool)", name, key, val), func(b *gocode.Body) {
		b.P("u, ok := wire.FindKey(wire.View(m), %d, %s, %s)", stride, orderedKey(v.Key), keyFunc(v.Key))
		b.Block("if !ok")
		b.P("return value, false")
		b.End()
		b.P("return %s, true", value)
	})
}

// keyGo is the Go type in which views give and take a map's key: the Go map's,
// but a large one by pointer, so that no call copies it to the stack.
func (e *viewer) keyGo(k *plan.Val) string {
	if k.Big {
		return e.viewGo(k)
	}
	return k.Go
}

// key reads a map's key at u, as keyGo says.
func (e *viewer) key(k *plan.Val, u string) string {
	switch k.Kind {
	case resolve.FixedData:
		if k.Big {
			return e.indexed(k, u)
		}
		return "*" + e.indexed(k, u)
	case resolve.Data:
		return conv(k, u+".Str()")
	}
	return e.indexed(k, u)
}

// orderedKey turns key into what keyFunc's function returns.
func orderedKey(k *plan.Val) string {
	bits := 8 * k.Layout.Min
	switch k.Kind {
	case resolve.FixedData:
		if k.Big {
			return fmt.Sprintf("unsafe.String(&key[0], %d)", k.Len) // a copy would be as large
		}
		return "string(key[:])"
	case resolve.Bool:
		return "wire.BoolByte(" + plain(k, "bool", "key") + ")"
	case resolve.Str, resolve.Data:
		return plain(k, "string", "key")
	case resolve.Enum:
		if n, ok := fixedSize(k); ok && (bare(k.Type).EnumFixed || n == 1) {
			return fmt.Sprintf("uint%d(key)", bits)
		}
		return "uint64(key)"
	case resolve.Uint:
		return plain(k, "uint64", "key")
	case resolve.Int:
		return plain(k, "int64", "key")
	case resolve.F32, resolve.F64:
		return plain(k, fmt.Sprintf("float%d", bits), "key")
	case resolve.I8, resolve.I16, resolve.I32, resolve.I64:
		return plain(k, fmt.Sprintf("int%d", bits), "key")
	}
	return plain(k, fmt.Sprintf("uint%d", bits), "key")
}
