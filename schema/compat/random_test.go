package compat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fidelityframework/barewire-gen/internal/schemagen"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// changer makes a new version of a schema: copies of its types with one or two changes.
type changer struct{ *rand.Rand }

// print writes all types of a schema, changed or not.
func (c changer) print(s *schema.Schema, changed map[*resolve.Decl]*resolve.Type) string {
	var b strings.Builder
	for _, d := range s.Order {
		t := d.Type
		if n := changed[d]; n != nil {
			t = n
		}
		fmt.Fprintf(&b, "type %s %s\n", d.Name, t)
	}
	return b.String()
}

// change returns a copy of a type with a change at some place.
func (c changer) change(t *resolve.Type) *resolve.Type {
	n := *t
	if c.IntN(3) > 0 {
		switch {
		case len(t.Fields) > 0:
			n.Fields = slices.Clone(t.Fields)
			i := c.IntN(len(n.Fields))
			f := *n.Fields[i]
			f.Type = c.change(f.Type)
			n.Fields[i] = &f
			return &n
		case len(t.Members) > 0:
			n.Members = slices.Clone(t.Members)
			i := c.IntN(len(n.Members))
			m := *n.Members[i]
			m.Type = c.change(m.Type)
			n.Members[i] = &m
			return &n
		case t.Elem != nil:
			n.Elem = c.change(t.Elem)
			return &n
		}
	}
	return c.here(&n)
}

// neighbours are types whose bytes are alike in part.
var neighbours = [][]resolve.Kind{
	{resolve.Bool, resolve.U8, resolve.Uint, resolve.I8}, {resolve.Str, resolve.Data}, {resolve.U16, resolve.U32, resolve.I32, resolve.F32},
	{resolve.U64, resolve.Int, resolve.Uint},
}

func (c changer) here(t *resolve.Type) *resolve.Type {
	switch t.Kind {
	case resolve.Struct:
		t.Fields = c.fields(slices.Clone(t.Fields))
		return t
	case resolve.Union:
		c.members(t)
		return t
	case resolve.Enum:
		c.values(t)
		return t
	case resolve.Optional:
		if c.IntN(2) == 0 {
			return &resolve.Type{Kind: resolve.List, Elem: t.Elem}
		}
		return t.Elem
	case resolve.List:
		if c.IntN(2) == 0 {
			return &resolve.Type{Kind: resolve.Optional, Elem: t.Elem}
		}
		return &resolve.Type{Kind: resolve.FixedList, Elem: t.Elem, Len: 2}
	case resolve.FixedData, resolve.FixedList:
		t.Len += uint64(c.IntN(2))
		return t
	}
	var of []resolve.Kind
	for _, n := range neighbours {
		if slices.Contains(n, t.Kind) {
			of = append(of, n...)
		}
	}
	switch {
	case len(of) > 0 && c.IntN(3) > 0:
		return &resolve.Type{Kind: of[c.IntN(len(of))]}
	case t.Kind == resolve.Void:
		return t
	case c.IntN(2) == 0:
		return &resolve.Type{Kind: resolve.Optional, Elem: t}
	case t.Kind == resolve.Bool || t.Kind == resolve.U8 || t.Kind == resolve.Uint:
		return &resolve.Type{Kind: resolve.Enum, Values: []*resolve.EnumValue{{Name: "NEW0", Value: 0}, {Name: "NEW1", Value: 1}}}
	}
	return &resolve.Type{Kind: resolve.Struct, Fields: []*resolve.Field{{Name: "only", Type: t}}}
}

func (c changer) fields(list []*resolve.Field) []*resolve.Field {
	i := c.IntN(len(list))
	switch c.IntN(4) {
	case 0:
		return slices.Insert(list, i, &resolve.Field{Name: "fresh", Type: &resolve.Type{Kind: resolve.U8}})
	case 1:
		if len(list) > 1 {
			return slices.Delete(list, i, i+1)
		}
	case 2:
		j := c.IntN(len(list))
		list[i], list[j] = list[j], list[i]
		return list
	}
	f := *list[i]
	f.Name = "renamedField"
	list[i] = &f
	return list
}

func (c changer) members(t *resolve.Type) {
	t.Members = slices.Clone(t.Members)
	i := c.IntN(len(t.Members))
	switch c.IntN(3) {
	case 0:
		last := uint64(0)
		for _, m := range t.Members {
			last = max(last, m.Tag)
		}
		if last < 1<<64-1 {
			t.Members = append(t.Members, &resolve.Member{Tag: last + 1, Type: &resolve.Type{Kind: resolve.FixedData, Len: 77}})
		}
	case 1:
		if len(t.Members) > 1 {
			t.Members = slices.Delete(t.Members, i, i+1)
		}
	default:
		j := c.IntN(len(t.Members))
		a, b := *t.Members[i], *t.Members[j]
		a.Type, b.Type = b.Type, a.Type
		t.Members[i], t.Members[j] = &a, &b
	}
}

func (c changer) values(t *resolve.Type) {
	t.Values = slices.Clone(t.Values)
	i := c.IntN(len(t.Values))
	v := *t.Values[i]
	switch c.IntN(3) {
	case 0:
		if last := t.Values[len(t.Values)-1].Value; last < 1<<64-1 {
			t.Values = append(t.Values, &resolve.EnumValue{Name: "FRESH", Value: last + 1})
		}
		return
	case 1:
		if len(t.Values) > 1 {
			t.Values = slices.Delete(t.Values, i, i+1)
			return
		}
	}
	v.Name = "OTHER"
	t.Values[i] = &v
}

// TestRandomOnTheWire changes random schemas at random, and holds the verdict on every type to what becomes
// of messages: what is said to be read must be read, and what may be refused must not be misread.
// The other way round a reader may fare better than is said, where few messages were tried.
func TestRandomOnTheWire(t *testing.T) {
	var tried, better, some, none int
	rapid.Check(t, func(t *rapid.T) {
		lang := schemagen.Lang{NoAnnotations: true, Decls: 4}
		text := schemagen.Schemas(lang).Draw(t, "schema").Print(schemagen.New, 1, true)
		seed := rapid.Uint64().Draw(t, "seed")
		old, errs := schema.Compile([]*source.File{source.NewFile("old.bare", []byte(text))}, schema.Options{})
		if old == nil {
			t.Fatal(errs, text)
		}
		c := changer{rand.New(rand.NewPCG(seed, 3))}
		d := old.Order[c.IntN(len(old.Order))]
		next := c.print(old, map[*resolve.Decl]*resolve.Type{d: c.change(d.Type)})
		now, _ := schema.Compile([]*source.File{source.NewFile("new.bare", []byte(next))}, schema.Options{})
		if now == nil {
			return // a map's key became a list, or a member came twice
		}
		r := compat.Compare(side(old), side(now), compat.Options{Only: []compat.Concern{compat.Wire}})
		worst := compat.Verdict{NewReadsOld: compat.All, OldReadsNew: compat.All}
		left := 3 // of the types behind the one that changed, which may have it
		for _, o := range old.Order[slices.Index(old.Order, d):] {
			if left--; left < 0 {
				break
			}
			n := now.Namespaces[0].Types[o.Name]
			if n == nil {
				continue
			}
			back, fwd := try(t, o, n, 40, seed), try(t, n, o, 40, seed)
			said := compat.Wires(side(old), side(now), o.Type, n.Type)
			worst.NewReadsOld = min(worst.NewReadsOld, said.NewReadsOld)
			worst.OldReadsNew = min(worst.OldReadsNew, said.OldReadsNew)
			for _, x := range []struct {
				said compat.Reach
				all  []observed
			}{{said.NewReadsOld, back}, {said.OldReadsNew, fwd}} {
				tried++
				switch got := reach(x.all); {
				case got < x.said && !(x.said == compat.Some && !misread(x.all)):
					t.Fatalf("`%s`: said %v, observed %v %v\n%s\n%s", o.Name, x.said, got, x.all, text, next)
				case got > x.said:
					better++
				}
				switch x.said {
				case compat.Some:
					some++
				case compat.None:
					none++
				}
			}
		}
		if r.Verdict.NewReadsOld > worst.NewReadsOld || r.Verdict.OldReadsNew > worst.OldReadsNew {
			t.Fatalf("no finding for a change of messages: %+v, but %+v\n%s\n%s\n%v", r.Verdict, worst, text, next, diag.List(r.Findings))
		}
	})
	t.Logf("%d verdicts, %d none, %d some; for %d messages fared better", tried, none, some, better)
}

func misread(all []observed) bool {
	return slices.ContainsFunc(all, func(o observed) bool { return o.misread > 0 })
}
