package bwsyntax_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/bwsyntax"
)

// listed is a package as `go list` shows it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
	ImportMap               map[string]string
	DepOnly                 bool
	Error                   *trouble
	DepsErrors              []*trouble
}

type trouble struct{ Err string }

// list asks the go command for packages and what they import, built, as they are without cgo.
func list(t *testing.T, patterns ...string) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", append([]string{"list", "-e", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles,ImportMap,DepOnly,Error,DepsErrors"}, patterns...)...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, errs.Bytes())
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// TestOthers runs the analyzer over code that has nothing to do with the runtime: the standard library and all of x/tools. It is told that all types of
// what a package imports are handles, windows and so on in turn, and that every third function is for
// generated code, so that it looks at as much as it can. It must not panic, and must find the same twice. Every package is looked at,
// or the test says which was not and why, and fails unless what it needs is in no module of ours.
func TestOthers(t *testing.T) {
	if testing.Short() {
		t.Skip(oneGoroutine)
	}
	all := list(t, "std", "golang.org/x/tools/...")
	exports := map[string]string{}
	for _, p := range all {
		exports[p.ImportPath] = p.Export
	}
	seen, empty, found := 0, 0, map[string]int{}
	for _, p := range all {
		if len(p.GoFiles) == 0 && p.Error == nil || p.ImportPath == "unsafe" {
			empty++ // it has tests only
			continue
		}
		pass, err := load(p, exports)
		if err != nil {
			if t.Logf("left out: %s: %v", p.ImportPath, err); !p.othersModule() {
				t.Errorf("%s cannot be looked at", p.ImportPath)
			}
			continue
		}
		first, second := runOver(t, pass), runOver(t, pass)
		if fmt.Sprint(first) != fmt.Sprint(second) {
			t.Errorf("%s: findings differ from run to run", p.ImportPath)
		}
		for _, d := range first {
			found[d.Category]++
		}
		seen++
	}
	t.Logf("%d of %d packages, and %d without code but tests; found %v", seen, len(all), empty, found)
	if seen < 450 {
		t.Errorf("only %d packages were looked at", seen)
	}
	for _, code := range []string{"BW5001", "BW5002", "BW5003", "BW5005"} {
		if found[code] == 0 {
			t.Errorf("there is no %s in all of it; does the test look at anything?", code)
		}
	}
}

// othersModule reports whether the package needs a module which this one does not require.
func (p listed) othersModule() bool {
	for _, e := range append(p.DepsErrors, p.Error) {
		if e != nil && (strings.Contains(e.Err, "no required module provides package") || strings.Contains(e.Err, "missing go.sum entry")) {
			return true
		}
	}
	return false
}

// load type-checks a package.
func load(p listed, exports map[string]string) (*analysis.Pass, error) {
	fset := token.NewFileSet()
	var files []*ast.File
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Implicits: map[ast.Node]types.Object{}, Instances: map[*ast.Ident]types.Instance{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Scopes: map[ast.Node]*types.Scope{},
	}
	conf := types.Config{Importer: importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		if mapped, ok := p.ImportMap[path]; ok {
			path = mapped
		}
		return os.Open(exports[path])
	})}
	pkg, err := conf.Check(p.ImportPath, fset, files, info)
	if err != nil {
		return nil, err
	}
	return &analysis.Pass{Analyzer: bwsyntax.Analyzer, Fset: fset, Files: files, Pkg: pkg, TypesInfo: info, TypesSizes: types.SizesFor("gc", "amd64")}, nil
}

// runOver runs the analyzer over a package with made-up knowledge of its imports.
func runOver(t *testing.T, pass *analysis.Pass) (found []analysis.Diagnostic) {
	kinds := []string{"handle", "window", "op", "view", "remote", "place", "grant", "capability"}
	pass.ImportPackageFact = func(p *types.Package, fact analysis.Fact) bool {
		known := fact.(*bwsyntax.Known)
		for i, name := range p.Scope().Names() {
			switch p.Scope().Lookup(name).(type) {
			case *types.TypeName:
				known.Types = append(known.Types, bwsyntax.Type{Path: p.Path(), Name: name, Kind: kinds[i%len(kinds)]})
				known.Schemas = append(known.Schemas, bwsyntax.Schema{Path: p.Path(), Name: name, Schema: "x", Hash: fmt.Sprint(i % 3)})
				known.Markers = append(known.Markers, bwsyntax.Marker{Path: p.Path(), Name: name, Word: []string{"access", "residency"}[i%2], Value: []string{"remote_write", "gpu"}[i%2]})
			case *types.Func:
				if i%3 == 0 {
					known.Functions = append(known.Functions, bwsyntax.Function{Path: p.Path(), Name: name})
				}
			}
		}
		return true
	}
	pass.ExportPackageFact = func(analysis.Fact) {}
	pass.ExportObjectFact = func(types.Object, analysis.Fact) {}
	pass.ImportObjectFact = func(o types.Object, fact analysis.Fact) bool {
		fn, ok := o.(*types.Func)
		if !ok {
			return false
		}
		n := fn.Signature().Params().Len()
		verb := []string{"views", "address", "narrows", "names", "alias"}[len(fn.Name())%5]
		*fact.(*bwsyntax.Effects) = bwsyntax.Effects{List: []bwsyntax.Effect{{Verb: verb, Of: n / 2}}}
		return true
	}
	pass.Report = func(d analysis.Diagnostic) {
		if !d.Pos.IsValid() || d.End < d.Pos || d.Category == "" || d.Message == "" {
			t.Errorf("%s: a finding without a place or a text: %+v", pass.Pkg.Path(), d)
		}
		found = append(found, d)
	}
	if _, err := bwsyntax.Analyzer.Run(pass); err != nil {
		t.Errorf("%s: %v", pass.Pkg.Path(), err)
	}
	return found
}
