package compat

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// types compares what stands at one place in the two versions. Path names the place
// for people: Order.items[].
func (c *comparer) types(o, n *resolve.Type, path string, at, was source.Span) {
	switch {
	case o.Kind == resolve.Ref && n.Kind == resolve.Ref:
		if c.pairs[o.Decl] != n.Decl {
			c.retyped(o, n, path)
		}
		return // what changed in the type is said where it is declared
	case o.Kind != n.Kind, o.Kind == resolve.Enum && o.Base != n.Base:
		c.retyped(o, n, path)
		return
	}
	if o.Max != n.Max {
		c.limit(o, n, path, at, was)
	}
	switch o.Kind {
	case resolve.FixedData, resolve.FixedList:
		if o.Len != n.Len {
			c.found(lengthChanged, n.At, o.At, Verdict{Source: true}, "`%s` has a length of %d, and had %d", path, n.Len, o.Len).
				Helpf("%s", c.insteadOf("the new length"))
		}
	case resolve.Enum:
		c.values(o, n, path)
	case resolve.Union:
		c.members(o, n, path)
	case resolve.Struct:
		c.fields(o, n, path)
	case resolve.Map:
		c.types(o.Key, n.Key, path+"{key}", n.Key.At, o.Key.At)
	}
	if o.Elem != nil && n.Elem != nil {
		c.types(o.Elem, n.Elem, path+map[resolve.Kind]string{resolve.Optional: "?", resolve.Map: "{}"}[o.Kind]+brackets(o), n.Elem.At, o.Elem.At)
	}
}

func brackets(t *resolve.Type) string {
	if t.Kind == resolve.List || t.Kind == resolve.FixedList {
		return "[]"
	}
	return ""
}

// wire is what the two versions of a type make of each other's messages.
func (c *comparer) wire(o, n *resolve.Type) Verdict {
	return Verdict{NewReadsOld: c.back.read(o, n), OldReadsNew: c.fwd.read(n, o)}
}

func (c *comparer) retyped(o, n *resolve.Type, path string) {
	v := c.wire(o, n)
	v.Source = goWord(o) != goWord(n)
	d := c.found(typeChanged, n.At, o.At, v, "`%s` is %s, and was %s", path, quote(n), quote(o))
	if v.NewReadsOld < All || v.OldReadsNew < All {
		d.Helpf("%s", c.insteadOf("the new type"))
	} else {
		d.Helpf("on the wire they are the same: keep %s, or change programs with it", quote(o))
	}
}

// goWord is a word for the type in Go: two types with one word are one type there.
func goWord(t *resolve.Type) string {
	switch t.Kind {
	case resolve.Uint:
		return resolve.U64.String()
	case resolve.Int:
		return resolve.I64.String()
	case resolve.Data:
		return "list<u8>"
	case resolve.List:
		return "list<" + goWord(t.Elem) + ">"
	case resolve.FixedList:
		return fmt.Sprintf("list<%s>[%d]", goWord(t.Elem), t.Len)
	case resolve.Optional:
		return "optional<" + goWord(t.Elem) + ">"
	case resolve.Map:
		return "map<" + t.Key.String() + "><" + goWord(t.Elem) + ">"
	}
	return t.String()
}

// limit reports another #@max.
func (c *comparer) limit(o, n *resolve.Type, path string, at, was source.Span) {
	if n.MaxAt.IsValid() {
		at = n.MaxAt
	}
	if o.MaxAt.IsValid() {
		was = o.MaxAt
	}
	v := Verdict{NewReadsOld: All, OldReadsNew: All}
	more := n.Max == 0 || o.Max != 0 && n.Max > o.Max
	if more {
		v.OldReadsNew = Some
	} else {
		v.NewReadsOld = Some
	}
	d := c.found(limitChanged, at, was, v, "`%s` has %s, and had %s", path, most(n.Max), most(o.Max))
	if more {
		d.Helpf("let all readers have the new limit before one writer uses it")
	} else {
		d.Helpf("keep the limit, and let writers write less")
	}
}

func most(limit uint64) string {
	if limit == 0 {
		return "no limit"
	}
	return fmt.Sprintf("a limit of %d", limit)
}

// quote is a type in words.
func quote(t *resolve.Type) string {
	if t.Kind == resolve.Enum && t.Base != resolve.Invalid {
		return "`enum " + t.Base.String() + "`"
	}
	return "`" + t.Short() + "`"
}

// class reports that what generated code offers for a type by its class is gone.
func (c *comparer) class(o, n *resolve.Decl) {
	was, is := c.old.Layouts.Of(o.Type).Class, c.now.Layouts.Of(n.Type).Class
	lost := ""
	switch {
	case was == is, was == layout.Fixed && is == layout.Castable, was == layout.Variable && is == layout.Bounded:
		return // more is offered than was
	case n.Type.Resolve().Kind == resolve.Enum:
		return
	case was == layout.Castable && is == layout.Fixed:
		lost = "the functions that take bytes as `*%[1]s` and `[]%[1]s` are gone"
	case was >= layout.Fixed:
		lost = "`%[1]sBinarySize` is gone, and views need an index"
	case was == layout.Bounded && is == layout.Variable:
		lost = "the functions for slots of `%[1]s` are gone"
	default:
		lost = "views of `%[1]s` are made in another way"
	}
	d := c.found(classChanged, n.At, o.At, Verdict{Source: true, NewReadsOld: All, OldReadsNew: All},
		"`%s` is %s, and was %s", n.Name, is, was)
	d.Notef("SOURCE: "+lost, n.Name).
		Helpf("declare a new type for what is new, or change the programs that use those first")
	if why := c.now.Layouts.Of(n.Type).WhyNot; why != "" && is < layout.Castable {
		d.Notef("%s", why)
	}
}
