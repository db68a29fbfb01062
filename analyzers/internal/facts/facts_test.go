package facts

import (
	"bytes"
	"encoding/gob"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

const source = `package p

type T struct{}

func (t *T) Close() error                              { return nil }
func Move(dom int, t *T, other *T) (u *T, err error)   { return t, nil }
func Done(t *T) bool                                   { return true }
func Post(dst, src *T) (*T, error)                     { return nil, nil }
func With(t *T, use func(*T) error) error              { return use(t) }
func Run(node int, f func())                           {}
func On[N any]() *T                                    { return nil }
`

func signature(t *testing.T, name string) *types.Signature {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	conf := types.Config{Importer: importer.Default()}
	pkg, err := conf.Check("p", fset, []*ast.File{f}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if recv, method, ok := strings.Cut(name, "."); ok {
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(pkg.Scope().Lookup(recv).Type()), true, pkg, method)
		return obj.(*types.Func).Signature()
	}
	return pkg.Scope().Lookup(name).(*types.Func).Signature()
}

func parse(t *testing.T, effect string) []directive.Clause {
	t.Helper()
	d, ok, err := directive.Parse("//barewire:effect " + effect)
	if !ok || err != nil {
		t.Fatalf("%s: %v", effect, err)
	}
	return d.Clauses
}

func TestFromDirective(t *testing.T) {
	for _, c := range []struct{ name, effect, want string }{
		{"T.Close", "releases=t", "0:released used[]"},
		{"T.Close", "address=0 of t", "0:same used[]"},
		{"Move", "narrows=0 of t, names=dom", "1:same used[]"},
		{"T.Close", "releases=t on ok", "0:released used[r0 nil]; 0:unknown used[r0 nonnil]"},
		{"Move", "moves=t on ok, fresh=0 on ok", "1:moved used[r1 nil]; 1:same used[r1 nonnil]; fresh 0[r1 nil]"},
		{"Done", "waits=t on true", "0:released[r0 true]; 0:same[r0 false]"},
		{"T.Close", "acquires=t on ok, needs=t", "0:same used needed acquired[r0 nil]; 0:same used needed[r0 nonnil]"},
		{"T.Close", "hands=t, yields=t, cleans=t", "0:same used yielded cleaned handed[]"},
		{"T.Close", "excludes=t, tells=0", "0:same used excluded[]; tells [0]"},
		{"T.Close", "reads=t, writes=t, hears=t, places=t, migrates=t", "reads [0]; writes [0]; places [0]; migrates [0]; hears"},
		{"Post", "fills=0 of dst on ok, meets=src of dst", "0:same used fill=0[r1 nil]; 0:same used[r1 nonnil]; 1 meets 0"},
		{"Move", "within=0 of dom, fresh=0 on ok", "fresh 0[r1 nil]; 0 within 0"},
		{"Post", "starts=0 of dst on ok, uses=src", "0:same used op=0[r1 nil]; 0:same used[r1 nonnil]; 1:same used[]"},
		{"Move", "node=0 of dom, pins=dom", "0 on node p0; pins [p0]"},
		{"Run", "runs=f of node", "runs 1 on node p0"},
		{"On", "node=0 of N, pins=N", "0 on node type 0; pins [type 0]"},
		{"With", "lends=use of t", "0:same used[]; lends 0 to 1"},
	} {
		f, err := FromDirective("F", signature(t, c.name), parse(t, c.effect))
		if err != nil || f.String() != c.want {
			t.Errorf("%s %s: %v, %v; want %s", c.name, c.effect, f, err, c.want)
		}
	}
	for _, c := range []struct{ name, effect, want string }{
		{"T.Close", "releases=x", "no parameter or receiver x"},
		{"T.Close", "acquires=x", "no parameter or receiver x"},
		{"T.Close", "pins=x", "no parameter or receiver x"},
		{"On", "pins=M", "no parameter or receiver M"},
		{"Run", "runs=x of node", "no parameter or receiver x"},
		{"T.Close", "meets=t of x", "no parameter or receiver x"},
		{"T.Close", "within=3 of t", `"3" is not the number of a result`},
		{"T.Close", "ends=0 of 4", `"4" is not the number of a result`},
		{"Move", "views=0 of t at x", "no parameter or receiver x"},
		{"T.Close", "fresh=1", `"1" is not the number of a result`},
		{"T.Close", "fresh=t", `"t" is not the number of a result`},
		{"T.Close", "releases=t on true", "on true wants a bool"},
		{"Done", "waits=t on ok", "on ok wants an error"},
		{"T.Close", "releases=t on ok, uses=t on fail", "another condition"},
	} {
		if _, err := FromDirective("F", signature(t, c.name), parse(t, c.effect)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v; want %q", c.name, c.effect, err, c.want)
		}
	}
}

// TestDeterministic: the go command makes cache keys of the bytes, so a fact has the same each time.
func TestDeterministic(t *testing.T) {
	make := func(i int) *Func {
		f := &Func{NeverNil: []int{1, 0}, Lends: []Lend{{2, 1}, {1, 0}}, Reads: []int{3, i % 2, 1 - i%2}, Writes: []int{2, 1},
			Closes: []Close{{2, i % 2}, {2, 1 - i%2}}, Within: []Pair{{i % 2, 0}, {1 - i%2, 0}}, Meets: []Pair{{i % 2, 5}, {1 - i%2, 5}}}
		for n := range 8 {
			n = (n + i) % 8
			f.Params = append(f.Params, Param{Index: n, Path: ".a", Cases: []Case{
				{When: []Cond{{true, 1, Nil}, {false, n, True}}, Post: Moved, How: "Move"},
				{When: []Cond{{false, n, False}, {true, 1, Nil}}, Derived: []Derived{{Result: 1, Kind: "view", Part: Extent{Lo: Bound{IsParam, 1}}}, {Result: 0, Kind: "op"}}},
			}})
			f.Fresh = append(f.Fresh, Fresh{Result: n, When: []Cond{{true, 8, Nil}}})
		}
		f.Sort()
		return f
	}
	var first []byte
	for i := range 200 {
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(make(i)); err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b.Bytes()
		}
		if !bytes.Equal(first, b.Bytes()) {
			t.Fatalf("encoding %d differs", i)
		}
	}
}
