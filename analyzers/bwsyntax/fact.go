package bwsyntax

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

// Known is a package's fact: what directives say of the types and functions of this package
// and of those that it imports. Facts about packages reach only those who import them
// directly, so each package hands on what it was told. All is sorted: the go command makes
// cache keys of the bytes.
type Known struct {
	Types     []Type
	Functions []Function // only generated code may use them
	Markers   []Marker
	Schemas   []Schema
	Meetings  []Meeting
	Runtime   []string // paths of packages that are trusted, and say what their functions do
}

// Type is a type that a directive says the kind of.
type Type struct{ Path, Name, Kind string }

// Function is a function that only generated code may use. Methods and fields are named with their type:
// "Lease.Blocks".
type Function struct{ Path, Name string }

// Marker is what a type stands for, or the reference in a field: Word is residency or access.
type Marker struct{ Path, Name, Word, Value string }

// Schema is the schema that a type is of: its name, and the hash of what it says.
type Schema struct{ Path, Name, Schema, Hash string }

// Meeting is a call that meets peers under a constant name, for elements of a schema.
type Meeting struct{ Path, Function, Name, Schema, Hash string }

// Effects is a function's fact: those of its effects that are looked for in calls. They do not travel in Known: generated
// packages have thousands, and who calls a function mostly imports its package.
type Effects struct{ List []Effect }

// Effect is a result that is memory of a parameter (views), or a number (address) or a reference (narrows) that is of
// it; or a parameter that is a name (names), or may be nil (optional), with the result -1.
type Effect struct {
	Verb       string
	Result, Of int // Of counts as go/ssa does: the receiver is the first
}

// AFact marks what the analysis framework may store.
func (*Known) AFact()   {}
func (*Effects) AFact() {}

// String says what they are, for tests.
func (e *Effects) String() string { return fmt.Sprint(e.List) }

// String says how much is known, for tests.
func (k *Known) String() string {
	return fmt.Sprintf("%d types, %d functions, %d markers, %d schemas", len(k.Types), len(k.Functions), len(k.Markers), len(k.Schemas))
}

// empty reports whether nothing is known.
func (k *Known) empty() bool {
	return len(k.Types)+len(k.Functions)+len(k.Markers)+len(k.Schemas)+len(k.Meetings)+len(k.Runtime) == 0
}

// add takes what another package knows.
func (k *Known) add(o *Known) {
	k.Types = append(k.Types, o.Types...)
	k.Functions = append(k.Functions, o.Functions...)
	k.Markers = append(k.Markers, o.Markers...)
	k.Schemas = append(k.Schemas, o.Schemas...)
	k.Meetings = append(k.Meetings, o.Meetings...)
	k.Runtime = append(k.Runtime, o.Runtime...)
}

// sort brings all into the order in which it is encoded, and drops what is there twice.
func (k *Known) sort() {
	slices.SortFunc(k.Types, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(k.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	slices.SortFunc(k.Markers, func(a, b Marker) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Word, b.Word), cmp.Compare(a.Value, b.Value))
	})
	slices.SortFunc(k.Schemas, func(a, b Schema) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Hash, b.Hash))
	})
	slices.SortFunc(k.Meetings, func(a, b Meeting) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Schema, b.Schema), cmp.Compare(a.Hash, b.Hash), cmp.Compare(a.Function, b.Function))
	})
	k.Meetings = slices.Compact(k.Meetings)
	slices.Sort(k.Runtime)
	k.Runtime = slices.Compact(k.Runtime)
	k.Types, k.Functions = slices.Compact(k.Types), slices.Compact(k.Functions)
	k.Markers, k.Schemas = slices.Compact(k.Markers), slices.Compact(k.Schemas)
}

// knownOf puts together what a package says and what its imports do. It is nil where that is nothing.
func knownOf(pass *analysis.Pass, own Known) *Known {
	all := own
	for _, imp := range pass.Pkg.Imports() {
		var k Known
		if pass.ImportPackageFact(imp, &k) {
			all.add(&k)
		}
	}
	if all.empty() {
		return nil
	}
	all.sort()
	return &all
}

// lookup answers what is known, for one package. What kinds of types that package declares itself it does not know:
// it may do with its own handles what it likes.
type lookup struct {
	kinds     map[Function]string
	functions map[Function]bool
	packages  map[string]bool
	markers   map[Function]Marker
	schemas   map[Function]Schema
	effects   map[*types.Func][]Effect
	imported  func(types.Object, analysis.Fact) bool
}

func index(k *Known, pass *analysis.Pass, own map[*types.Func][]Effect) *lookup {
	self := pass.Pkg
	l := &lookup{
		kinds: map[Function]string{}, functions: map[Function]bool{}, packages: map[string]bool{},
		markers: map[Function]Marker{}, schemas: map[Function]Schema{}, effects: maps.Clone(own), imported: pass.ImportObjectFact,
	}
	for _, t := range k.Types {
		if t.Path != self.Path() {
			l.kinds[Function{t.Path, t.Name}], l.packages[t.Path] = t.Kind, true
		}
	}
	for _, f := range k.Functions {
		if f.Path != self.Path() {
			l.functions[f], l.packages[f.Path] = true, true
		}
	}
	for _, path := range k.Runtime {
		if path != self.Path() {
			l.packages[path] = true
		}
	}
	for _, m := range k.Markers {
		l.markers[Function{m.Path, m.Name}] = m
	}
	for _, s := range k.Schemas {
		l.schemas[Function{s.Path, s.Name}] = s
	}
	return l
}

// key names a package-level object, or a method or field by its type and its own name.
func key(o types.Object) Function {
	if o == nil || o.Pkg() == nil {
		return Function{}
	}
	if fn, ok := o.(*types.Func); ok {
		if recv := fn.Signature().Recv(); recv != nil {
			return member(recv.Type(), fn.Name())
		}
	}
	return Function{o.Pkg().Path(), o.Name()}
}

// member names a method or a field of a type, or of the type that a pointer leads to.
func member(t types.Type, name string) Function {
	if n := named(t); n != nil && n.Obj().Pkg() != nil {
		return Function{n.Obj().Pkg().Path(), n.Obj().Name() + "." + name}
	}
	return Function{}
}

// named is a type's origin, or that of the type that it points to; nil where that has no name.
func named(t types.Type) *types.Named {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return n.Origin()
	}
	return nil
}

// kind is what a directive says of a type: "handle", "window", …; "" where none does.
func (l *lookup) kind(t types.Type) string {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		return l.kinds[key(n.Origin().Obj())]
	}
	return ""
}

// carried is the type of a kind that a type leads to, through pointers, slices and arrays; nil where there is none.
func (l *lookup) carried(t types.Type) types.Type {
	for range 8 { // recursive types do not end
		if t == nil {
			return nil
		}
		if l.kind(t) != "" {
			return t
		}
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
		case *types.Slice:
			t = u.Elem()
		case *types.Array:
			t = u.Elem()
		default:
			return nil
		}
	}
	return nil
}

// marked is what a type's arguments say of residency or access, whichever word is asked for: "cpu", "remote_read"; "" where that
// is not known, as in generic code.
func (l *lookup) marked(t types.Type, word string) string {
	for _, arg := range arguments(t) {
		if n := named(arg); n != nil {
			if m, ok := l.markers[key(n.Obj())]; ok && m.Word == word {
				return m.Value
			}
		}
	}
	return ""
}

// schema is the schema that a type is of, or its elements are: of T itself, *T, []T, and of a handle for T.
func (l *lookup) schema(t types.Type) (s Schema, ok bool) {
	for range 4 {
		if t == nil {
			return s, false
		}
		switch u := types.Unalias(t).(type) {
		case *types.Pointer:
			t = u.Elem()
			continue
		case *types.Slice:
			t = u.Elem()
			continue
		case *types.Array:
			t = u.Elem()
			continue
		case *types.Named:
			if s, ok := l.schemas[key(u.Origin().Obj())]; ok {
				return s, true
			}
			if l.kinds[key(u.Origin().Obj())] == "" || u.TypeArgs().Len() == 0 {
				return s, false
			}
			t = u.TypeArgs().At(0)
			continue
		}
		return s, false
	}
	return s, false
}

// arguments are the type arguments of a type, or of the one that it points to.
func arguments(t types.Type) (list []types.Type) {
	if t == nil {
		return nil
	}
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	if n, ok := types.Unalias(t).(*types.Named); ok {
		for arg := range n.TypeArgs().Types() {
			list = append(list, arg)
		}
	}
	return list
}

// effectsOf is the effects of a function with one of some verbs.
func (l *lookup) effectsOf(fn *types.Func, verbs ...directive.Verb) (list []Effect) {
	if fn == nil {
		return nil
	}
	fn = fn.Origin()
	all, ok := l.effects[fn]
	if !ok {
		var f Effects
		if fn.Pkg() != nil && l.imported(fn, &f) {
			all = f.List
		}
		l.effects[fn] = all
	}
	for _, e := range all {
		if slices.Contains(verbs, directive.Verb(e.Verb)) {
			list = append(list, e)
		}
	}
	return list
}
