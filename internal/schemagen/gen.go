package schemagen

import (
	"fmt"
	"strings"

	"pgregory.net/rapid"
)

// Schemas generates valid schemas of a sub-language.
func Schemas(l Lang) *rapid.Generator[*Schema] {
	if l.Decls == 0 {
		l.Decls = 6
	}
	if l.Depth == 0 {
		l.Depth = 4
	}
	if l.MaxNumber == 0 {
		l.MaxNumber = 1<<64 - 1
	}
	return rapid.Custom(func(t *rapid.T) *Schema {
		g := &generator{T: t, Lang: l, inUnion: map[*Decl]bool{}, names: map[string]bool{}, valueNames: map[string]bool{}}
		return g.schema()
	})
}

type generator struct {
	*rapid.T
	Lang
	decls      []*Decl
	budget     int // types that may still be made for this declaration
	inUnion    map[*Decl]bool
	names      map[string]bool // declared names, folded
	valueNames map[string]bool // of all enums, where UniqueValues wants that
}

func (g *generator) n(lo, hi int, label string) int { return rapid.IntRange(lo, hi).Draw(g.T, label) }
func (g *generator) one(of int) bool                { return g.n(1, of, "chance") == of }

func pick[E any](g *generator, of []E) E { return of[g.n(0, len(of)-1, "pick")] }

func (g *generator) schema() *Schema {
	s := &Schema{Forward: g.Forward && g.one(2)}
	for range g.n(min(2, g.Lang.Decls), g.Lang.Decls, "declarations") {
		d := &Decl{Name: g.unique(g.names, typeNames, g.Prefix)}
		g.budget = 24
		d.Type = g.declared()
		g.decls = append(g.decls, d)
	}
	s.Decls = g.decls
	return s
}

// fold is how the compiler tells Go names apart, or stricter.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// unique draws a name that no other of the set folds to.
func (g *generator) unique(taken map[string]bool, from []string, prefix string) string {
	name := prefix + pick(g, from)
	for i := 2; taken[fold(name)]; i++ {
		name = fmt.Sprintf("%s%s%d", prefix, pick(g, from), i)
	}
	taken[fold(name)] = true
	return name
}

// declared makes the type of a declaration.
func (g *generator) declared() *Type {
	kinds := []Kind{Struct, Struct, Struct, Struct, Union, Union, Enum, Void, Ref, List, FixedList, Map, Data, FixedData, Str, U32}
	if !g.NoOptionalAlias {
		kinds = append(kinds, Optional)
	}
	k := pick(g, kinds)
	switch { // what cannot be made yet
	case k == Ref && len(g.refs(nil)) == 0, k == Union && g.OnlyNamedMembers && len(g.members()) == 0:
		k = Struct
	}
	if k == Enum && g.FixedEnums && g.one(2) {
		return g.fixedEnum()
	}
	if k == U32 {
		k = pick(g, scalars)
	}
	t := g.make(k, g.Lang.Depth)
	g.max(t)
	return t
}

// max may set #@max on a type that a field or a declaration has.
func (g *generator) max(t *Type) {
	switch t.Kind {
	case Str, Data, List, Map:
		if !g.NoAnnotations && g.one(3) {
			t.Max = uint64(g.n(1, 12, "max"))
		}
	}
}

// refs are the declared types that fit.
func (g *generator) refs(fits func(*Type) bool) (refs []*Type) {
	for _, d := range g.decls {
		pointer := d.Type.Under().Kind == Optional || d.Type.Under().Kind == Union
		if t := (&Type{Kind: Ref, Decl: d}); fits == nil && !(g.NoOptionalAlias && pointer) || fits != nil && fits(t) {
			refs = append(refs, t)
		}
	}
	return refs
}

// members are the declared types that a union of declared types may have.
func (g *generator) members() []*Type {
	return g.refs(func(t *Type) bool {
		k := t.Under().Kind
		return k != Optional && k != Union && !(g.OneUnionPerType && g.inUnion[t.Decl])
	})
}

var scalars = []Kind{Uint, U8, U16, U32, U64, Int, I8, I16, I32, I64, F32, F64, Bool, Str, Data, FixedData}

// typ makes any type that may stand in a struct, list, optional or map.
func (g *generator) typ(depth int) *Type {
	g.budget--
	if refs := g.refs(func(t *Type) bool { return !t.IsVoid() }); len(refs) > 0 && g.one(3) {
		return pick(g, refs)
	}
	if depth <= 0 || g.budget <= 0 || g.one(2) {
		return g.make(pick(g, scalars), 0)
	}
	kinds := []Kind{Optional, List, List, FixedList, Map, Struct}
	if !g.NoAnonymous {
		kinds = append(kinds, Enum, Union, Union)
	}
	return g.make(pick(g, kinds), depth)
}

func (g *generator) make(k Kind, depth int) *Type {
	t := &Type{Kind: k}
	switch k {
	case Ref:
		return pick(g, g.refs(nil))
	case FixedData:
		t.Len = uint64(pick(g, []int{1, 2, 3, 4, 8, 16, 17, 40}))
	case Enum:
		t.Values = g.enumValues(g.MaxNumber)
	case Optional, List:
		t.Elem = g.typ(depth - 1)
		for g.NoNestedOptionals && k == Optional && t.Elem.Under().Kind == Optional {
			t.Elem = g.make(pick(g, scalars), 0)
		}
	case FixedList:
		t.Elem = g.typ(depth - 1)
		t.Len = uint64(pick(g, []int{1, 2, 3, 5, 8}))
		if t.Elem.weight() > 40 {
			t.Len = 1
		}
	case Map:
		t.Key = g.key()
		t.Elem = g.typ(depth - 1)
		if g.NoPointersInMaps && t.Elem.holdsPointer() {
			t.Elem = g.make(pick(g, scalars), 0)
		}
	case Struct:
		g.fields(t, depth)
	case Union:
		g.union(t, depth)
	}
	return t
}

// weight counts the values that lie in every value of t.
func (t *Type) weight() (n uint64) {
	switch t.Kind {
	case Ref:
		return t.Decl.Type.weight()
	case Optional:
		return t.Elem.weight()
	case FixedList:
		return t.Len * t.Elem.weight()
	case Struct:
		for _, f := range t.Fields {
			n += f.Type.weight()
		}
		return n
	case Union:
		for _, m := range t.Members {
			n = max(n, m.Type.weight())
		}
		return n + 1
	}
	return 1
}

// holdsPointer reports whether go-bare's Go type of t has a pointer, an
// interface or an array of them in it that one decoding leaves to the next.
func (t *Type) holdsPointer() bool {
	switch u := t.Under(); u.Kind {
	case Optional, Union:
		return true
	case FixedList:
		return u.Elem.holdsPointer()
	case Struct:
		for _, f := range u.Fields {
			if f.Type.holdsPointer() {
				return true
			}
		}
	}
	return false
}

func (g *generator) key() *Type {
	fits := func(t *Type) bool {
		k := t.Under().Kind
		return t.IsKey() && !(g.NoDataKeys && (k == Data || k == FixedData)) && !(g.NoAnonymous && k == Data)
	}
	if refs := g.refs(fits); len(refs) > 0 && g.one(2) {
		return pick(g, refs)
	}
	for {
		kinds := scalars
		if !g.NoAnonymous {
			kinds = append([]Kind{Enum}, scalars...)
		}
		if t := g.make(pick(g, kinds), 0); fits(t) {
			return t
		}
	}
}

func (g *generator) fields(t *Type, depth int) {
	names := map[string]bool{}
	from := fieldNames
	switch {
	case g.PlainFields:
		from = plainNames
	case g.CamelCase:
		from = camelNames
	}
	for i := range g.n(1, 7, "fields") {
		f := &Field{Name: g.unique(names, from, ""), Type: g.typ(depth - 1)}
		if i > 0 && !g.NoAnnotations && g.one(10) {
			f.Pad, f.Type = true, g.make(FixedData, 0)
		}
		g.max(f.Type)
		t.Fields = append(t.Fields, f)
	}
}

func (g *generator) union(t *Type, depth int) {
	have := map[string]bool{}
	next := uint64(0)
	for range g.n(1, 5, "members") {
		m := &Member{Type: g.member(depth - 1), Tag: next}
		if m.Type == nil {
			break
		}
		id := m.Type.text()
		if have[id] {
			continue
		}
		have[id] = true
		if m.Type.Kind == Ref {
			g.inUnion[m.Type.Decl] = true
		}
		if g.one(4) {
			m.Tag += g.gap(g.MaxNumber - next)
		}
		t.Members = append(t.Members, m)
		if m.Tag == g.MaxNumber {
			break
		}
		next = m.Tag + 1
	}
}

// text tells types apart as a union must.
func (t *Type) text() string {
	p := &printer{}
	s := Schema{Decls: []*Decl{{Name: "X", Type: t}}}
	p.WriteString(s.Print(New, 1, true))
	return p.String()
}

func (g *generator) member(depth int) *Type {
	if g.OnlyNamedMembers {
		if m := g.members(); len(m) > 0 {
			return pick(g, m)
		}
		return nil
	}
	if refs := g.refs(nil); len(refs) > 0 && g.one(2) {
		return pick(g, refs)
	}
	if g.one(6) {
		return &Type{Kind: Void}
	}
	return g.typ(depth)
}

// gap is a step in numbering: often small, sometimes over a varint's border,
// at most the room that is left.
func (g *generator) gap(room uint64) uint64 {
	step := pick(g, []uint64{1, 2, 5, 100, 127, 128, 300, 20_000, 1 << 31, 1 << 32, 1 << 52, 1 << 63, room})
	return min(step, room)
}

func (g *generator) enumValues(limit uint64) (values []*EnumValue) {
	names := map[string]bool{}
	if g.UniqueValues {
		names = g.valueNames
	}
	next := uint64(0)
	for range g.n(1, 6, "values") {
		v := &EnumValue{Name: g.unique(names, valueNames, ""), Value: next}
		if g.one(4) {
			v.Value += g.gap(limit - next)
		}
		values = append(values, v)
		if v.Value == limit {
			break
		}
		next = v.Value + 1
	}
	return values
}

func (g *generator) fixedEnum() *Type {
	base := pick(g, []Kind{U8, U16, U32, U64})
	limit := min(g.MaxNumber, 1<<(8*uint(width(base)))-1)
	return &Type{Kind: Enum, Base: base, Values: g.enumValues(limit)}
}

var (
	typeNames  = []string{"Alpha", "Beta", "HttpUrl", "Node", "Sample", "Id", "Range", "Customer", "Wire", "Box"}
	valueNames = []string{"FOO", "BAR_BAZ", "OK", "A", "UNKNOWN", "HTTP_2", "ID", "X9", "STRING", "TYPE"}
	plainNames = []string{
		"a", "id", "userId", "name", "func", "range", "error", "value", "len", "size", "equal", "clone", "bytes", "validate", "load", "store",
		"x", "b", "d", "p", "err", "wire", "nil", "append", "url2", "marshalBinary", "unmarshalBinary", "appendBinary", "binarySize",
		"decodeStream", "read", "write", "close", "unwrap",
	}
	camelNames = append([]string{"type", "string", "map", "enum", "optional", "data", "u8", "decode", "encode"}, plainNames...)
	fieldNames = append([]string{"user_name", "Upper", "snake_id_2", "PascalCase", "json_url"}, camelNames...)
)
