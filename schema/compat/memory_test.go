package compat_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/compat"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// memoryPair is two versions of a region's type.
type memoryPair struct {
	name     string
	old, now *schema.Schema
	o, n     *resolve.Decl
	text     string
}

// observeMemory holds what is said of regions to what the C compiler makes of both versions. It returns how many pairs
// lie the same and how many do not.
func observeMemory(t *testing.T, pairs []memoryPair) (same, other int) {
	t.Helper()
	cc := compiler(t)
	w := &cWriter{names: map[*resolve.Decl]string{}}
	var kept []memoryPair
	for i, p := range pairs {
		types, text := w.types.String(), w.main.String()
		w.bad = false
		w.element(p.o, fmt.Sprintf("old%d", i))
		w.element(p.n, fmt.Sprintf("new%d", i))
		if w.bad { // a varint of several bytes
			w.types.Reset()
			w.main.Reset()
			w.types.WriteString(types)
			w.main.WriteString(text)
			continue
		}
		p.name = fmt.Sprint(i) + " " + p.name
		kept = append(kept, p)
	}
	elements := w.run(t, cc)
	for _, p := range kept {
		i, _, _ := strings.Cut(p.name, " ")
		old, now := elements["old"+i], elements["new"+i]
		for _, x := range []struct {
			s *schema.Schema
			d *resolve.Decl
			e cElement
		}{{p.old, p.o, old}, {p.now, p.n, now}} {
			l := x.s.Layouts.Of(x.d.Type)
			if x.e.slot {
				l.Max, l.Need = x.s.Layouts.Slot(x.d.Type, x.d), 0
			}
			if l.Max != uint64(x.e.size) || l.Need != uint64(x.e.align) {
				t.Errorf("%s: `%s` has %d bytes at multiples of %d, and in C %d at %d\n%s", p.name, x.d.Name, l.Max, l.Need, x.e.size, x.e.align, p.text)
			}
		}
		why, sees := old.sees(now)
		if why2, back := now.sees(old); sees && !back {
			why, sees = why2, false
		}
		r := compat.Compare(side(p.old), side(p.now), compat.Options{Only: []compat.Concern{compat.Memory}})
		said := slices.ContainsFunc(r.Findings, func(d *diag.Diagnostic) bool {
			return d.Code == diag.LayoutChanged && d.Primary.Span == p.n.At
		})
		if said == sees {
			t.Errorf("%s: BW4051 is said: %v, and in C the same is seen: %v %s\n%v\n%s", p.name, said, sees, why, r.Findings, p.text)
		}
		if !sees && !r.Verdict.Memory {
			t.Errorf("%s: MEMORY breaks, and nothing is said: %s\n%s", p.name, why, p.text)
		}
		if resolve.Hash(p.o) != resolve.Hash(p.n) && !r.Verdict.Memory {
			t.Errorf("%s: peers refuse each other's hash, and nothing is said\n%s", p.name, p.text)
		}
		if sees {
			same++
		} else {
			other++
		}
	}
	return same, other
}

// inRegions reports whether regions of a type can be made.
func inRegions(s *schema.Schema, d *resolve.Decl) bool {
	return s.Layouts.Of(d.Type).Class >= layout.Bounded && len(d.Residency)+len(d.Rights) > 0
}

// TestCellsInMemory holds the table's regions to the C compiler.
func TestCellsInMemory(t *testing.T) {
	var pairs []memoryPair
	for _, c := range compat.Cells {
		old, now := compiled(t, "old.bare", c.Old), compiled(t, "new.bare", c.New)
		o, n := root(old), root(now)
		if strings.Contains(c.Change, "residency") {
			continue // it lies the same wherever it lives
		}
		if c.Kind != "region" || !inRegions(old, o) || !inRegions(now, n) {
			continue
		}
		pairs = append(pairs, memoryPair{c.Change, old, now, o, n, c.Old + "\n" + c.New})
	}
	same, other := observeMemory(t, pairs)
	t.Logf("%d the same, %d not", same, other)
	if same < 5 || other < 4 {
		t.Errorf("too few cells: %d the same, %d not", same, other)
	}
}

// TestRandomInMemory holds what is said of random regions, of which something was changed, to the C compiler.
func TestRandomInMemory(t *testing.T) {
	n := 700
	if testing.Short() {
		n = 100
	}
	var pairs []memoryPair
	changes := map[string]int{}
	for seed := range n {
		r := memoryChanger{rand.New(rand.NewPCG(uint64(seed), 21))}
		types := r.types()
		old := r.mended(r.print(types))
		if old == nil {
			continue
		}
		// What was mended has padding that the model does not have: it is read again.
		types = modelOf(old)
		change := r.change(types)
		text := r.print(types)
		now, _ := schema.Compile([]*source.File{source.NewFile("new.bare", []byte(text))}, schema.Options{})
		if now == nil {
			continue
		}
		for _, o := range old.Order {
			m := now.Namespaces[0].Types[o.Name]
			if m == nil || !inRegions(old, o) || !inRegions(now, m) {
				continue
			}
			changes[change]++
			pairs = append(pairs, memoryPair{change, old, now, o, m, string(old.Namespaces[0].Files[0].Syntax.Src.Text()) + "--\n" + text})
		}
	}
	same, other := observeMemory(t, pairs)
	t.Logf("%d the same, %d not; %v", same, other, changes)
	if !testing.Short() && (same < 300 || other < 150) {
		t.Errorf("too few: %d the same, %d not", same, other)
	}
}

// memoryType is a type of a model that is easily changed.
type memoryType struct {
	name, head string // head is what stands above it
	fields     []memoryField
	values     []string // of an enum
	members    []string // of a union
}

type memoryField struct{ above, name, typ string }

type memoryChanger struct{ *rand.Rand }

func (r memoryChanger) pick(list ...string) string { return list[r.IntN(len(list))] }

func (r memoryChanger) types() (list []*memoryType) {
	list = append(list, &memoryType{name: "E", values: []string{"A", "B"}})
	for i := range 2 + r.IntN(3) {
		t := &memoryType{name: fmt.Sprintf("T%d", i)}
		if r.IntN(4) == 0 && i > 0 {
			t.members = []string{r.pick("u16", "i16", "data[2]"), r.pick("list<u8>[2]", "struct { p: u8 q: u8 }", "struct { p: u8 q: E }")}
			list = append(list, t)
			continue
		}
		t.head = "#@residency(cpu)\n"
		for f := range 1 + r.IntN(5) {
			x := memoryField{name: fmt.Sprintf("f%d", f), typ: r.scalar()}
			switch r.IntN(9) {
			case 0:
				x.above, x.typ = "#@pad\n", fmt.Sprintf("data[%d]", 1+r.IntN(8))
			case 1:
				x.above, x.typ = "#@atomic\n", r.pick("u64", "u32", "i64")
			case 2:
				x.typ = fmt.Sprintf("list<%s>[%d]", r.scalar(), 1+r.IntN(3))
			case 3:
				if i > 0 {
					x.typ = fmt.Sprintf("T%d", r.IntN(i))
				}
			case 4:
				if i > 0 {
					x.typ = fmt.Sprintf("list<T%d>[2]", r.IntN(i))
				}
			case 5:
				switch r.IntN(4) {
				case 0:
					x.above = "#@cacheline\n"
				case 1:
					x.above, x.typ = fmt.Sprintf("#@max(%d)\n", 1+r.IntN(20)), r.pick("str", "list<u16>", "map<u8><E>")
				case 2:
					x.typ = r.pick("uint", "optional<u32>", "optional<E>")
				}
			}
			t.fields = append(t.fields, x)
		}
		list = append(list, t)
	}
	return list
}

func (r memoryChanger) scalar() string {
	return r.pick("u8", "u16", "u32", "u64", "i32", "f32", "f64", "bool", "E", "data[4]", "data[2]")
}

func (r memoryChanger) print(list []*memoryType) string {
	var b strings.Builder
	for _, t := range list {
		switch {
		case t.values != nil:
			fmt.Fprintf(&b, "type %s enum { %s }\n", t.name, strings.Join(t.values, " "))
		case t.members != nil:
			fmt.Fprintf(&b, "type %s union { %s }\n", t.name, strings.Join(t.members, " | "))
		default:
			fmt.Fprintf(&b, "%stype %s struct {\n", t.head, t.name)
			for _, f := range t.fields {
				fmt.Fprintf(&b, "%s%s: %s\n", f.above, f.name, f.typ)
			}
			b.WriteString("}\n")
		}
	}
	return b.String()
}

// mended compiles a text after its errors are mended with padding; nil where that is not enough.
func (r memoryChanger) mended(text string) *schema.Schema {
	f := schema.Fix([]*source.File{source.NewFile("old.bare", []byte(text))}, schema.FixOptions{Breaking: r.IntN(2) == 0})
	s, list := schema.Compile(f.Files, schema.Options{})
	if s == nil { // without advice on what is no error
		for range 3 {
			for _, d := range list {
				if d.Severity == diag.Error && len(d.Fixes) == 0 {
					return nil
				}
			}
			f = schema.Fix(f.Files, schema.FixOptions{Breaking: true})
			if s, list = schema.Compile(f.Files, schema.Options{}); s != nil {
				break
			}
		}
	}
	return s
}

// modelOf reads the model of a schema.
func modelOf(s *schema.Schema) (list []*memoryType) {
	for _, f := range s.Namespaces[0].Files {
		for _, d := range f.Decls {
			t := &memoryType{name: d.Name}
			if len(d.Residency) > 0 {
				t.head = "#@residency(cpu)\n"
			}
			for _, v := range d.Type.Values {
				t.values = append(t.values, v.Name)
			}
			for _, m := range d.Type.Members {
				t.members = append(t.members, m.Type.String())
			}
			for _, f := range d.Type.Fields {
				x := memoryField{name: f.Name, typ: f.Type.String()}
				switch {
				case f.Pad:
					x.above = "#@pad\n"
				case f.Atomic:
					x.above = "#@atomic\n"
				case f.Type.Max > 0:
					x.above = fmt.Sprintf("#@max(%d)\n", f.Type.Max)
				}
				if f.Cacheline > 0 {
					x.above += "#@cacheline\n"
				}
				t.fields = append(t.fields, x)
			}
			list = append(list, t)
		}
	}
	return list
}

// change changes one thing, and says what.
func (r memoryChanger) change(list []*memoryType) string {
	t := list[r.IntN(len(list))]
	if t.values != nil { // seldom, since little can become of it
		t = list[r.IntN(len(list))]
	}
	switch {
	case t.values != nil:
		t.values = append(t.values, "C")
		return "value added"
	case t.members != nil:
		switch r.IntN(3) {
		case 0:
			slices.Reverse(t.members)
			return "members swapped"
		case 1:
			t.members[0] = r.pick("u16", "i16", "data[2]", "struct { p: u8 q: u8 }")
			return "member replaced"
		}
		t.members[1] = r.pick("struct { q: u8 p: u8 }", "struct { p: E q: u8 }", "struct { p: u8 q: u8 }", "list<u8>[2]")
		return "member's inside changed"
	}
	i, j := r.IntN(len(t.fields)), r.IntN(len(t.fields))
	f := &t.fields[i]
	if strings.HasPrefix(f.above, "#@max") {
		f.above = fmt.Sprintf("#@max(%d)\n", 1+r.IntN(20))
		return "limit changed"
	}
	switch r.IntN(9) {
	case 0:
		f.name = "renamed"
		return "field renamed"
	case 1:
		t.fields[i], t.fields[j] = t.fields[j], t.fields[i]
		return "fields swapped"
	case 2:
		t.fields[i].name, t.fields[j].name = t.fields[j].name, t.fields[i].name
		return "names swapped"
	case 3:
		f.typ = r.scalar()
		return "type changed"
	case 4:
		if other, ok := map[string]string{"u32": "f32", "u64": "f64", "u8": "E", "data[4]": "u32", "data[2]": "list<u8>[2]", "E": "u8", "f32": "i32", "bool": "u8",
			"i32": "data[4]", "u16": "data[2]", "f64": "u64"}[f.typ]; ok {
			f.typ = other
			if r.IntN(2) == 0 {
				f.name = "renamed"
			}
			return "type of one size"
		}
	case 5:
		if n := 0; f.above == "#@pad\n" {
			if _, err := fmt.Sscanf(f.typ, "data[%d]", &n); err == nil && n >= 4 {
				rest := memoryField{"#@pad\n", "left", fmt.Sprintf("data[%d]", n-4)}
				*f = memoryField{"", "taken", r.pick("u32", "data[4]", "f32")}
				if n > 4 {
					t.fields = slices.Insert(t.fields, i+1, rest)
				}
				return "padding taken"
			}
		}
		f.above, f.typ = "#@pad\n", map[string]string{"u8": "data[1]", "u16": "data[2]", "u32": "data[4]", "u64": "data[8]"}[f.typ]
		if f.typ == "" {
			f.typ = "data[4]"
		}
		return "field made padding"
	case 6:
		t.fields = slices.Insert(t.fields, i, memoryField{"", "fresh", r.scalar()})
		return "field added"
	case 7:
		if len(t.fields) > 1 {
			t.fields = slices.Delete(t.fields, i, i+1)
			return "field removed"
		}
	}
	if f.above == "#@atomic\n" {
		f.above = ""
	} else if f.above == "" && (f.typ == "u64" || f.typ == "u32") {
		f.above = "#@atomic\n"
	}
	return "atomic or not"
}
