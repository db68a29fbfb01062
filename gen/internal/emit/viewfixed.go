package emit

import (
	"fmt"
	"strings"

	"github.com/fidelityframework/barewire-gen/gen/internal/gocode"
	"github.com/fidelityframework/barewire-gen/gen/internal/plan"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
)

// fixedType writes the view of a type of fixed size: a pointer to its bytes.
func (e *viewer) fixedType(t *plan.Type) {
	name, size := t.Name(plan.View), int(t.Layout().Min)
	if t.Kind == resolve.FixedList {
		e.listView(t.Under, name, fmt.Sprintf("%s reads and writes a %s in place, over its %d bytes.", name, t.Go, size))
		e.fixedViewOf(t, name, fmt.Sprintf("%s(wire.PackedOf(b[:%d:%d]))", name, size, size))
		e.whole(t, name, "wire.Packed(v).Bytes()")
		e.validFunc(t)
		return
	}
	doc := fmt.Sprintf("%s reads and writes a %s in place, over its %d bytes, which must\nstay where they are. Getters do not validate: Validate does. The zero value\nis a view of nothing; its accessors panic.", name, t.Go, size)
	e.g.Line(doc, "type %s struct{ p *[%d]byte }", name, size)
	if t.Named {
		e.fixedViewOf(t, name, fmt.Sprintf("%s{(*[%d]byte)(b)}", name, size))
	}
	if t.Region != nil {
		schemaOf(e.g, t)
	}
	effect(e.g, t, "views=0 of v")
	e.g.Func("Bytes returns the view's bytes, which are a message.", fmt.Sprintf("(v %s) Bytes() []byte", name), func(b *gocode.Body) {
		b.P("return v.p[:]")
	})
	e.whole(t, name, "v.p[:]")
	if t.Kind == resolve.Union {
		e.fixedUnion(t, name)
	} else {
		at := spot{arr: "v.p"}
		for _, f := range t.Fields {
			n, _ := fixedSize(f.Val)
			if !f.Pad {
				e.fixedField(f, name, at)
			}
			at = at.add(n)
		}
	}
	e.validFunc(t)
}

func (e *viewer) validFunc(t *plan.Type) {
	if e.s.typeChecks(t) {
		e.s.valid(e.g, t)
	}
}

// fixedViewOf writes what makes the view.
//
//	func TickViewOf(b []byte) (TickView, error)
func (e *viewer) fixedViewOf(t *plan.Type, name, made string) {
	of, size := t.Name(plan.ViewOf), int(t.Layout().Min)
	doc := fmt.Sprintf("%s returns a view of the first %d bytes of b. It checks their number,\nnot their values; an error wraps a *wire.Error.", of, size)
	effect(e.g, t, "views=0 of b on ok")
	e.g.Func(doc, fmt.Sprintf("%s(b []byte) (v %s, err error)", of, name), func(b *gocode.Body) {
		b.Block("if len(b) < %d", size)
		b.P("return v, %s", cutError(t))
		b.End()
		b.P("return %s, nil", made)
	})
	if hasFaults(t) {
		e.fault(t)
	}
}

// whole writes the methods for all the bytes of a view of a type that the
// schema names: Validate, Load and Store.
func (e *viewer) whole(t *plan.Type, name, bytes string) {
	if !t.Named {
		return
	}
	doc := "Validate checks that the bytes are a " + t.Go + ", as UnmarshalBinary does, with the same errors."
	if !e.s.typeChecks(t) {
		doc = "Validate returns nil: any bytes are a " + t.Go + "."
	}
	e.g.Func(doc, fmt.Sprintf("(v %s) Validate() error", name), func(b *gocode.Body) {
		if e.s.typeChecks(t) {
			e.refuse(b, t, bytes)
		}
		b.P("return nil")
	})
	e.g.Func("Load decodes the bytes into x.", fmt.Sprintf("(v %s) Load(x *%s) error", name, t.Go), func(b *gocode.Body) {
		b.P("return x.UnmarshalBinary(%s)", bytes)
	})
	e.g.Func("Store encodes x over the bytes. After an error they are partly written.", fmt.Sprintf("(v %s) Store(x *%s) error", name, t.Go), func(b *gocode.Body) {
		b.P("_, err := x.AppendBinary(%s[:0])", bytes)
		b.P("return err")
	})
}

// refuse writes the check of Validate. A check or two stand in line, where a
// call of the function that has them would be too much for Validate to be inlined.
func (e *viewer) refuse(b *gocode.Body, t *plan.Type, bytes string) {
	fail := fmt.Sprintf("return %s.Refuse(%s)", typeVar(t), bytes)
	array, direct := strings.CutSuffix(bytes, "[:]")
	if direct && t.Kind == resolve.Struct && e.s.fewChecks(t) {
		c := &checker{shapes: e.s, b: b, fail: fail, faults: t}
		c.fields(t, spot{arr: array})
		return
	}
	if !direct {
		array = fmt.Sprintf("(*[%d]byte)(%s)", t.Layout().Min, bytes)
	}
	b.Block("if !%s(%s)", validFunc(t), array)
	b.P("%s", fail)
	b.End()
}

// fixedField writes the accessors of a field.
func (e *viewer) fixedField(f *plan.Field, name string, at spot) {
	if f.Val.Kind == resolve.FixedList && f.Val.Type == nil {
		e.fixedItems(f, name, at)
		return
	}
	get := f.View(plan.Get)
	if f.Capability != nil {
		e.g.Directive("%s", accessOf(f))
	}
	viewsOf(e.g, e.t, f.Val, "v")
	e.g.Func(getterDoc(get, f), fmt.Sprintf("(v %s) %s() %s", name, get, e.viewGo(f.Val)), func(b *gocode.Body) {
		b.P("return %s", e.fixed(f.Val, at))
	})
	if store := e.store(f.Val, at, "x"); store != "" {
		set := f.View(plan.Set)
		e.g.Func(set+" writes "+f.Schema+".", fmt.Sprintf("(v %s) %s(x %s)", name, set, paramGo(f.Val)), func(b *gocode.Body) {
			b.P("%s", store)
		})
	}
}

// fixedItems writes the accessors of a list of fixed length: of one element,
// and of all.
func (e *viewer) fixedItems(f *plan.Field, name string, at spot) {
	elem := f.Val.Elem
	size, _ := fixedSize(elem)
	all := at.own(int(f.Val.Layout.Min)) // an index out of range must not reach the next field
	item := spot{arr: all, base: times("i", size)}
	check := func(b *gocode.Body) {
		if size > 1 { // so the panic names the index, and the compiler checks nothing else
			b.P("_ = [%d]struct{}{}[i]", f.Val.Len)
		}
	}
	get, length := f.View(plan.Get), f.View(plan.Len)
	viewsOf(e.g, e.t, elem, "v")
	e.g.Func(get+" reads the element of "+f.Schema+" with index i. It panics as an array does if\nthere is none.", fmt.Sprintf("(v %s) %s(i int) %s", name, get, e.viewGo(elem)), func(b *gocode.Body) {
		check(b)
		b.P("return %s", e.fixed(elem, item))
	})
	if store := e.store(elem, item, "x"); store != "" {
		set := f.View(plan.Set)
		e.g.Func(set+" writes the element with index i.", fmt.Sprintf("(v %s) %s(i int, x %s)", name, set, paramGo(elem)), func(b *gocode.Body) {
			check(b)
			b.P("%s", store)
		})
	}
	e.g.Func(fmt.Sprintf("%s is %d.", length, f.Val.Len), fmt.Sprintf("(v %s) %s() int", name, length), func(b *gocode.Body) {
		b.P("return %d", f.Val.Len)
	})
	iterate := f.View(plan.All)
	e.g.Func(iterate+" iterates over the elements of "+f.Schema+" with their indices.", fmt.Sprintf("(v %s) %s() iter.Seq2[int, %s]", name, iterate, e.viewGo(elem)), func(b *gocode.Body) {
		b.P("q := %s", all)
		b.Block("return func(yield func(int, %s) bool)", e.viewGo(elem))
		b.Block("for i := range %d", f.Val.Len)
		b.Block("if !yield(i, %s)", e.fixed(elem, spot{arr: "q", base: times("i", size)}))
		b.P("return")
		b.End()
		b.End()
		b.End()
	})
	if goType := numberGo(elem); goType != "" {
		slice := f.View(plan.Slice)
		doc := slice + " returns " + f.Schema + " as a slice over the same memory, or an error\n(wire.ErrAlign, wire.ErrBigEndian) where that cannot be."
		effect(e.g, e.t, "views=0 of v on ok")
		e.g.Func(doc, fmt.Sprintf("(v %s) %s() ([]%s, error)", name, slice, goType), func(b *gocode.Body) {
			b.P("return wire.SliceOver[%s](%s)", goType, all)
		})
	}
}

// numberGo is the Go type of a number whose memory is its message, else empty.
func numberGo(v *plan.Val) string {
	if v.Kind == resolve.U8 || numberList[v.Kind] {
		return v.Go
	}
	return ""
}

// fixedUnion writes the accessors of a union whose members are of one size.
func (e *viewer) fixedUnion(t *plan.Type, name string) {
	kind, at := t.Name(plan.KindType), spot{arr: "v.p"}
	size := tagSize(t)
	tag := "v.p[0]"
	if size > 1 {
		tag = fmt.Sprintf("wire.FixedVarint(%s)", at.bytes(size))
	}
	e.g.Func("Kind returns which member it is.", fmt.Sprintf("(v %s) Kind() %s", name, kind), func(b *gocode.Body) {
		b.P("return %s(%s)", kind, tag)
	})
	for _, m := range t.Members {
		as := t.MemberView(m, plan.As)
		cond := fmt.Sprintf("%s == %d", tag, m.Tag)
		if m.Val.Kind == resolve.Void {
			e.g.Func(as+" reports whether it is "+m.Schema+".", fmt.Sprintf("(v %s) %s() bool", name, as), func(b *gocode.Body) {
				b.P("return %s", cond)
			})
		} else {
			viewsOf(e.g, t, m.Val, "v")
			e.g.Func(as+" returns the value if it is "+m.Schema+", and whether it is.", fmt.Sprintf("(v %s) %s() (value %s, ok bool)", name, as, e.viewGo(m.Val)), func(b *gocode.Body) {
				b.Block("if %s", cond)
				b.P("return %s, true", e.fixed(m.Val, at.add(size)))
				b.End()
				b.P("return value, false")
			})
		}
		e.setMember(t, m, name, at)
	}
}

// setMember writes the setter of a union's member: with the value where it is
// a scalar, else one that returns the view to fill.
func (e *viewer) setMember(t *plan.Type, m *plan.Member, name string, at spot) {
	set, size := t.MemberView(m, plan.Set), tagSize(t)
	put := func(b *gocode.Body) {
		if size == 1 {
			b.P("v.p[0] = %d", m.Tag)
		} else {
			b.P("wire.PutVarint(%s, %d)", at.bytes(size), m.Tag)
		}
	}
	store := e.store(m.Val, at.add(size), "x")
	switch {
	case m.Val.Kind == resolve.Void:
		e.g.Func(set+" makes it "+m.Schema+".", fmt.Sprintf("(v %s) %s()", name, set), put)
	case store != "":
		e.g.Func(set+" makes it "+m.Schema+" with a value.", fmt.Sprintf("(v %s) %s(x %s)", name, set, paramGo(m.Val)), func(b *gocode.Body) {
			put(b)
			b.P("%s", store)
		})
	default:
		effect(e.g, t, "views=0 of v")
		e.g.Func(set+" makes it "+m.Schema+", all zero, and returns the view to fill.", fmt.Sprintf("(v %s) %s() %s", name, set, e.viewGo(m.Val)), func(b *gocode.Body) {
			put(b)
			n := int(m.Val.Layout.Min)
			b.P("clear(%s)", at.add(size).bytes(n))
			b.P("return %s", e.fixed(m.Val, at.add(size)))
		})
	}
}
