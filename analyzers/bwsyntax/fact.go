package bwsyntax

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"

	"golang.org/x/tools/go/analysis"
)

// Known is a package's fact: what directives say of the types and functions of this package
// and of those that it imports. Facts about packages reach only those who import them
// directly, so each package hands on what it was told. All is sorted: the go command makes
// cache keys of the bytes.
type Known struct {
	Types     []Type
	Functions []Function // only generated code may use them
}

// Type is a type that a directive says the kind of.
type Type struct{ Path, Name, Kind string }

// Function is a function that only generated code may use.
type Function struct{ Path, Name string }

// AFact marks what the analysis framework may store.
func (*Known) AFact() {}

// String says how much is known, for tests.
func (k *Known) String() string {
	return fmt.Sprintf("%d types, %d functions", len(k.Types), len(k.Functions))
}

// knownOf puts together what a package says and what its imports do, and hands it on. It is nil
// where that is nothing.
func knownOf(pass *analysis.Pass, own Known) *Known {
	all := own
	for _, imp := range pass.Pkg.Imports() {
		var k Known
		if pass.ImportPackageFact(imp, &k) {
			all.Types = append(all.Types, k.Types...)
			all.Functions = append(all.Functions, k.Functions...)
		}
	}
	if len(all.Types) == 0 && len(all.Functions) == 0 {
		return nil
	}
	slices.SortFunc(all.Types, func(a, b Type) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Kind, b.Kind))
	})
	slices.SortFunc(all.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Name, b.Name))
	})
	all.Types, all.Functions = slices.Compact(all.Types), slices.Compact(all.Functions)
	pass.ExportPackageFact(&all)
	return &all
}

// lookup answers what is known, for one package. What that package declares itself it does not know:
// it may do with its own types what it likes.
type lookup struct {
	kinds     map[Function]string
	functions map[Function]bool
	packages  map[string]bool
}

func index(k *Known, self *types.Package) *lookup {
	l := &lookup{kinds: map[Function]string{}, functions: map[Function]bool{}, packages: map[string]bool{}}
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
	return l
}

// key names a package-level object.
func key(o types.Object) Function {
	if o.Pkg() == nil {
		return Function{}
	}
	return Function{o.Pkg().Path(), o.Name()}
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
