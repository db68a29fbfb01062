package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	_ "embed"

	"golang.org/x/tools/go/ast/astutil"
	"golang.org/x/tools/go/packages"
)

const (
	corpus   = "analyzers/testdata/life"
	runtime  = "github.com/fidelityframework/barewire-gen/runtime"
	life     = "github.com/fidelityframework/barewire-gen/" + corpus
	shimPath = "httpcorpus/shim"
)

//go:embed shim/shim.go
var shim []byte

// translate writes the corpus over responses to dir, and gives its functions by key.
func translate(root, dir string) (map[string]*function, error) {
	dirs, err := filepath.Glob(filepath.Join(root, corpus, "*"))
	if err != nil {
		return nil, err
	}
	var patterns []string
	for _, d := range dirs {
		if base := filepath.Base(d); base != "sample" {
			patterns = append(patterns, "./"+corpus+"/"+base)
		}
	}
	pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: root}, patterns...)
	if err != nil {
		return nil, err
	}
	if packages.PrintErrors(pkgs) > 0 {
		return nil, fmt.Errorf("the corpus does not compile")
	}
	all := map[string]*function{}
	if err := write(filepath.Join(dir, "shim", "shim.go"), shim); err != nil {
		return nil, err
	}
	if err := write(filepath.Join(dir, "go.mod"), []byte("module httpcorpus\n\ngo 1.25.0\n")); err != nil {
		return nil, err
	}
	for _, p := range pkgs {
		for i, f := range p.Syntax {
			collect(p, f, all)
			(&translator{p.Fset, p.TypesInfo, f}).file()
			name := filepath.Base(p.CompiledGoFiles[i])
			if err := writeFile(filepath.Join(dir, p.Name, name), p.Fset, f); err != nil {
				return nil, err
			}
		}
	}
	return all, prune(dir, all)
}

func write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

func writeFile(path string, fset *token.FileSet, f *ast.File) error {
	f.Comments = nil
	var b strings.Builder
	if err := format.Node(&b, fset, f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return write(path, []byte(b.String()))
}

// collect notes the functions of a file that say of themselves what they are.
func collect(p *packages.Package, f *ast.File, all map[string]*function) {
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || !named.MatchString(fn.Name.Name) {
			continue
		}
		x := &function{key: keyOf(p.Name, fn), wrong: strings.HasPrefix(fn.Name.Name, "Bad")}
		for _, g := range f.Comments {
			for _, c := range g.List {
				if c.Pos() < fn.Pos() || c.Pos() > fn.End()+200 || p.Fset.Position(c.Pos()).Line > p.Fset.Position(fn.End()).Line {
					continue
				}
				for _, m := range wantRE.FindAllStringSubmatch(c.Text, -1) {
					x.codes = append(x.codes, m[1])
				}
			}
		}
		if x.wrong && len(x.codes) == 0 {
			x.left = "ours misses it, so that there is no code"
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && slices.Contains([]string{"Register", "Deregister", "Also"}, id.Name) {
				x.moves = true
			}
			return true
		})
		if operates(p.TypesInfo, fn) {
			x.left = "it has operations, spans or slices of memory"
		}
		all[x.key] = x
	}
}

// operates reports whether something in a function is of a type that responses have nothing of.
func operates(info *types.Info, fn *ast.FuncDecl) (yes bool) {
	ast.Inspect(fn, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		t := types.Unalias(info.TypeOf(e))
		if t == nil {
			return true
		}
		if s, ok := t.Underlying().(*types.Slice); ok {
			if nt, ok := types.Unalias(s.Elem()).(*types.Named); ok && nt.Obj().Name() == "Tick" {
				yes = true
			}
		}
		if nt, ok := t.(*types.Named); ok && nt.Obj().Pkg() != nil && strings.HasPrefix(nt.Obj().Pkg().Path(), runtime) {
			switch nt.Obj().Name() {
			case "Op", "AtomicOp", "Batch", "Scoped", "LocalField", "Notification":
				yes = true
			}
		}
		return !yes
	})
	return yes
}

func keyOf(pkg string, fn *ast.FuncDecl) string {
	recv := ""
	if fn.Recv != nil && len(fn.Recv.List) == 1 {
		ast.Inspect(fn.Recv.List[0].Type, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok && recv == "" {
				recv = id.Name + "."
			}
			return recv == ""
		})
	}
	return pkg + "." + recv + fn.Name.Name
}

// translator changes one file.
type translator struct {
	fset *token.FileSet
	info *types.Info
	f    *ast.File
}

func (t *translator) file() {
	for _, im := range t.f.Imports {
		path := strings.Trim(im.Path.Value, `"`)
		switch path {
		case runtime, runtime + "/rdma", life + "/sample":
			name := filepath.Base(path)
			if path == runtime {
				name = "barewire"
			}
			if im.Name == nil {
				im.Name = ast.NewIdent(name)
			}
			im.Path.Value = `"` + shimPath + `"`
		case life + "/help":
			im.Path.Value = `"httpcorpus/help"`
		}
	}
	astutil.AddNamedImport(t.fset, t.f, "shim", shimPath)
	astutil.AddImport(t.fset, t.f, "net/http") // as files with responses do: bodyclose leaves others out
	t.f.Decls = append(t.f.Decls, &ast.GenDecl{Tok: token.VAR, Specs: []ast.Spec{&ast.ValueSpec{
		Names: []*ast.Ident{ast.NewIdent("_"), ast.NewIdent("_")}, Values: []ast.Expr{sel(ast.NewIdent("shim"), "Len"), sel(ast.NewIdent("http"), "NoBody")},
	}}})
	var results []*types.Tuple // of the functions around
	astutil.Apply(t.f, func(c *astutil.Cursor) bool {
		if e, ok := c.Node().(ast.Expr); ok {
			if as := t.asType(e); as != nil {
				c.Replace(as)
				return false
			}
		}
		switch n := c.Node().(type) {
		case *ast.Field:
			return len(n.Names) > 0 || !t.embedded(n) // its name is that of the type
		case *ast.FuncDecl:
			results = append(results, t.info.Defs[n.Name].(*types.Func).Signature().Results())
		case *ast.FuncLit:
			results = append(results, t.info.TypeOf(n).(*types.Signature).Results())
		case *ast.CallExpr:
			t.arguments(n)
		case *ast.ReturnStmt:
			if res := results[len(results)-1]; len(n.Results) == res.Len() {
				for i := range n.Results {
					n.Results[i] = t.closer(n.Results[i], res.At(i).Type())
				}
			}
		case *ast.AssignStmt:
			if n.Tok == token.ASSIGN && len(n.Lhs) == len(n.Rhs) {
				for i := range n.Rhs {
					n.Rhs[i] = t.closer(n.Rhs[i], t.info.TypeOf(n.Lhs[i]))
				}
			}
		case *ast.ValueSpec:
			if n.Type != nil {
				for i := range n.Values {
					n.Values[i] = t.closer(n.Values[i], t.info.TypeOf(n.Type))
				}
			}
		}
		return true
	}, func(c *astutil.Cursor) bool {
		switch n := c.Node().(type) {
		case *ast.FuncDecl, *ast.FuncLit:
			results = results[:len(results)-1]
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok {
				t.method(n, s)
			}
		case *ast.SelectorExpr:
			if t.isMethod(n) && n.Sel.Name == "Close" {
				c.Replace(sel(sel(n.X, "Body"), "Close"))
			}
		}
		return true
	})
	for _, d := range t.f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Type.TypeParams != nil {
			dropTypeParams(fn)
		}
	}
}

// asType is the type of responses where an expression is that of handles; nil where it is not. Aliases would do, but bodyclose looks for the
// name.
func (t *translator) asType(e ast.Expr) ast.Expr {
	tv, ok := t.info.Types[e]
	if _, pointer := types.Unalias(tv.Type).(*types.Pointer); !ok || !tv.IsType() || pointer || !isHandle(tv.Type) {
		return nil
	}
	response := sel(ast.NewIdent("http"), "Response")
	if types.Unalias(tv.Type).(*types.Named).Obj().Name() == "Window" {
		return &ast.StarExpr{X: response}
	}
	return response
}

// embedded reports whether a field without a name is of a struct, and of handles.
func (t *translator) embedded(f *ast.Field) bool {
	for s := range t.structs() {
		for _, g := range s.Fields.List {
			if f == g {
				return isHandle(t.info.TypeOf(f.Type))
			}
		}
	}
	return false
}

func (t *translator) structs() map[*ast.StructType]bool {
	all := map[*ast.StructType]bool{}
	ast.Inspect(t.f, func(n ast.Node) bool {
		if s, ok := n.(*ast.StructType); ok {
			all[s] = true
		}
		return true
	})
	return all
}

// dropTypeParams takes out the type parameters that nothing names any more: what access a handle had.
func dropTypeParams(fn *ast.FuncDecl) {
	used := map[string]bool{}
	note := func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			used[id.Name] = true
		}
		return true
	}
	ast.Inspect(fn.Type.Params, note)
	if fn.Type.Results != nil {
		ast.Inspect(fn.Type.Results, note)
	}
	if fn.Body != nil {
		ast.Inspect(fn.Body, note)
	}
	var list []*ast.Field
	for _, f := range fn.Type.TypeParams.List {
		var names []*ast.Ident
		for _, n := range f.Names {
			if used[n.Name] {
				names = append(names, n)
			}
		}
		if f.Names = names; len(names) > 0 {
			list = append(list, f)
		}
	}
	if fn.Type.TypeParams.List = list; len(list) == 0 {
		fn.Type.TypeParams = nil
	}
}

func sel(x ast.Expr, name string) *ast.SelectorExpr {
	return &ast.SelectorExpr{X: x, Sel: ast.NewIdent(name)}
}

// isMethod reports whether a selector is a method of a region or window.
func (t *translator) isMethod(s *ast.SelectorExpr) bool {
	x := t.info.Selections[s]
	return x != nil && x.Kind() == types.MethodVal && x.Obj().(*types.Func).Signature().Recv() != nil && isHandle(x.Obj().(*types.Func).Signature().Recv().Type())
}

func isHandle(t types.Type) bool {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == runtime && (n.Obj().Name() == "Region" || n.Obj().Name() == "Window")
}

// method makes functions of the shim of calls of methods that responses do not have.
func (t *translator) method(call *ast.CallExpr, s *ast.SelectorExpr) {
	name, ok := map[string]string{"Len": "Len", "String": "String", "Span": "SpanOf"}[s.Sel.Name]
	if !ok || !t.isMethod(s) {
		return
	}
	x := s.X
	typ := t.info.Selections[s].Recv()
	for _, i := range t.info.Selections[s].Index()[:len(t.info.Selections[s].Index())-1] { // embedded
		if p, ok := typ.Underlying().(*types.Pointer); ok {
			typ = p.Elem()
		}
		f := typ.Underlying().(*types.Struct).Field(i)
		x, typ = sel(x, f.Name()), f.Type()
	}
	call.Fun = sel(ast.NewIdent("shim"), name)
	call.Args = append([]ast.Expr{x}, call.Args...)
}

// arguments gives the body where an io.Closer is asked for.
func (t *translator) arguments(call *ast.CallExpr) {
	sig, ok := t.info.TypeOf(call.Fun).(*types.Signature)
	if !ok {
		return
	}
	if id, ok := ast.Unparen(call.Fun).(*ast.Ident); ok { // of a generic function: as it is declared
		if f, ok := t.info.Uses[id].(*types.Func); ok {
			sig = f.Origin().Signature()
		}
	}
	if s, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		if f, ok := t.info.Uses[s.Sel].(*types.Func); ok {
			sig = f.Origin().Signature()
		}
	}
	for i := range call.Args {
		switch n := sig.Params().Len(); {
		case i < n-1 || i < n && !sig.Variadic():
			call.Args[i] = t.closer(call.Args[i], sig.Params().At(i).Type())
		}
	}
}

// closer gives the body of a handle where what it is for wants something that closes.
func (t *translator) closer(x ast.Expr, want types.Type) ast.Expr {
	if want == nil || t.info.TypeOf(x) == nil || !isHandle(t.info.TypeOf(x)) {
		return x
	}
	if tp, ok := types.Unalias(want).(*types.TypeParam); ok {
		want = tp.Constraint()
	}
	iface, ok := want.Underlying().(*types.Interface)
	if !ok || iface.NumMethods() == 0 {
		return x
	}
	return sel(x, "Body")
}

// prune takes out what does not compile, until all does.
func prune(dir string, all map[string]*function) error {
	for range 40 {
		pkgs, err := packages.Load(&packages.Config{Mode: packages.LoadSyntax, Dir: dir}, "./...")
		if err != nil {
			return err
		}
		faults := 0
		for _, p := range pkgs {
			bad := map[string]map[int]bool{} // lines with an error, by file
			for _, e := range p.TypeErrors {
				at := e.Fset.Position(e.Pos)
				if bad[at.Filename] == nil {
					bad[at.Filename] = map[int]bool{}
				}
				bad[at.Filename][at.Line] = true
				faults++
			}
			if len(p.TypeErrors) == 0 && len(p.Errors) > 0 {
				return fmt.Errorf("%s: %v", p.PkgPath, p.Errors[0])
			}
			for i, f := range p.Syntax {
				if lines := bad[p.CompiledGoFiles[i]]; lines != nil {
					drop(p, f, lines, all)
					if err := writeFile(p.CompiledGoFiles[i], p.Fset, f); err != nil {
						return err
					}
				}
			}
		}
		if faults == 0 {
			return nil
		}
	}
	return fmt.Errorf("the translation still does not compile")
}

// drop takes the declarations out that have errors on their lines.
func drop(p *packages.Package, f *ast.File, lines map[int]bool, all map[string]*function) {
	hit := func(n ast.Node) bool {
		for l := p.Fset.Position(n.Pos()).Line; l <= p.Fset.Position(n.End()).Line; l++ {
			if lines[l] {
				return true
			}
		}
		return false
	}
	var decls []ast.Decl
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && hit(fn) {
			if x := all[keyOf(p.Name, fn)]; x != nil && x.left == "" {
				x.left = "it does not compile over responses"
			}
			continue
		}
		if g, ok := d.(*ast.GenDecl); ok {
			var specs []ast.Spec
			for _, s := range g.Specs {
				if !hit(s) {
					specs = append(specs, s)
				}
			}
			if g.Specs = specs; len(specs) == 0 {
				continue
			}
		}
		decls = append(decls, d)
	}
	f.Decls = decls
}

// places are where functions are.
type places map[string][]span

type span struct {
	from, to int
	key      string
}

func (p places) at(file string, line int) string {
	for _, s := range p[filepath.Clean(file)] {
		if s.from <= line && line <= s.to {
			return s.key
		}
	}
	return ""
}

// index finds the functions in the files of the packages below a directory.
func index(dir string, want func(pkg string) bool) (places, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	p := places{}
	return p, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
			return err
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, 0)
		if err != nil || !want(f.Name.Name) {
			return err
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok {
				p[path] = append(p[path], span{fset.Position(fn.Pos()).Line, fset.Position(fn.End()).Line, keyOf(f.Name.Name, fn)})
			}
		}
		return nil
	})
}
