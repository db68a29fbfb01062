package gen_test

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/gen"
	"github.com/fidelityframework/barewire-gen/internal/scratch"
	"github.com/fidelityframework/barewire-gen/schema"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// compile compiles one schema or ends the test.
func compile(t testing.TB, name, text string) *schema.Schema {
	t.Helper()
	s, found := schema.Compile([]*source.File{source.NewFile(name, []byte(text))}, schema.Options{})
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// variants are the options that every schema is generated with.
var variants = map[string]gen.Options{
	"plain":   {},
	"gobare":  {GoBare: true},
	"noviews": {NoViews: true},
}

// TestBuilds generates every ugly schema in every variant, and builds and vets
// it all in one module. The corpus is built, and run, in internal/difftest.
func TestBuilds(t *testing.T) {
	if testing.Short() {
		t.Skip("builds many packages")
	}
	m := scratch.New(t, "", "")
	for name, text := range ugly {
		for variant, opts := range variants {
			write(t, m, name+"_"+variant, compile(t, name+".bare", text), opts)
		}
	}
	if _, err := m.Go(nil, "vet", "./..."); err != nil {
		t.Error(err)
	}
}

// write generates a package into the module, after checking what must hold for
// every file.
func write(t *testing.T, m *scratch.Module, pkg string, s *schema.Schema, opts gen.Options) {
	t.Helper()
	opts.Package = pkg
	files, err := gen.Go(s, opts)
	if err != nil {
		t.Errorf("%s: %v", pkg, err)
		return
	}
	for _, f := range files {
		checkFile(t, pkg, f)
		m.Write(pkg+"/"+f.Name, f.Content)
	}
}

func checkFile(t *testing.T, pkg string, f gen.File) {
	t.Helper()
	formatted, err := format.Source(f.Content)
	if err != nil || !bytes.Equal(formatted, f.Content) {
		t.Errorf("%s: %s is not as gofmt has it: %v", pkg, f.Name, err)
	}
	tree, err := parser.ParseFile(token.NewFileSet(), f.Name, f.Content, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil || !ast.IsGenerated(tree) {
		t.Errorf("%s: %s is not marked as generated: %v", pkg, f.Name, err)
	}
	if bare := bytes.Contains(f.Content, []byte("go-bare\"")); bare != strings.HasSuffix(f.Name, "_gobare.go") {
		t.Errorf("%s: %s imports go-bare: %v", pkg, f.Name, bare)
	}
}

// TestDeterministic generates everything again, with one worker and with many.
func TestDeterministic(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(ugly)) {
		opts := gen.Options{Package: "p", GoBare: true}
		one := generate(t, name, opts)
		old := runtime.GOMAXPROCS(1)
		two := generate(t, name, opts)
		runtime.GOMAXPROCS(old)
		if len(one) != len(two) {
			t.Fatalf("%s: %d files, then %d", name, len(one), len(two))
		}
		for i := range one {
			if one[i].Name != two[i].Name || !bytes.Equal(one[i].Content, two[i].Content) {
				t.Errorf("%s: %s differs from run to run", name, one[i].Name)
			}
		}
	}
}

func generate(t *testing.T, name string, opts gen.Options) []gen.File {
	t.Helper()
	files, err := gen.Go(compile(t, name+".bare", ugly[name]), opts)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return files
}
