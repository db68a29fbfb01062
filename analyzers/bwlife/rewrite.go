package bwlife

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/printer"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ast/astutil"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// around are the nodes around a place, the innermost first, and the file that it is in: nil if that is generated.
func (a *analyzer) around(at token.Pos) (file *ast.File, path []ast.Node) {
	for _, f := range a.pass.Files {
		if f.FileStart <= at && at < f.FileEnd && !ast.IsGenerated(f) {
			path, _ = astutil.PathEnclosingInterval(f, at, at)
			return f, path
		}
	}
	return nil, nil
}

// statement is the innermost statement around a place that stands in a list of statements, and the function that it is
// in.
func statement(path []ast.Node) (st ast.Stmt, fn *ast.FuncType) {
	for i, n := range path {
		switch n := n.(type) {
		case *ast.FuncLit:
			return st, n.Type
		case *ast.FuncDecl:
			return st, n.Type
		case ast.Stmt:
			if st != nil || i+1 == len(path) {
				continue
			}
			switch path[i+1].(type) {
			case *ast.BlockStmt, *ast.CaseClause, *ast.CommClause:
				st = n
			}
		}
	}
	return nil, nil
}

// fixWait waits for an operation before its region is released, if the function can return the error: the operation
// and a context have names there, and the region is released by whoever calls, or later.
func (a *analyzer) fixWait(rep report) []analysis.SuggestedFix {
	file, path := a.around(rep.pos)
	if file == nil || rep.call != nil || !rep.dominated || a.checked[rep.op] == token.NoPos {
		return nil
	}
	st, fn := statement(path)
	names := a.names[rep.op]
	if st == nil || len(names) == 0 || !token.IsIdentifier(names[0]) || names[0] == "_" {
		return nil
	}
	if _, deferred := st.(*ast.DeferStmt); deferred {
		return nil
	}
	op, ctx := a.inScope(names[0], st.Pos()), a.contextIn(fn, st.Pos())
	zeros, ok := a.zeros(fn)
	if op == nil || ctx == "" || !ok {
		return nil
	}
	method := a.waiter(op.Type())
	if method == "" {
		return nil
	}
	text := fmt.Sprintf("if err := %s.%s(%s); err != nil {\nreturn %serr\n}\n", names[0], method, ctx, zeros)
	return edit("wait for "+names[0]+" first", analysis.TextEdit{Pos: st.Pos(), End: st.Pos(), NewText: []byte(text)})
}

func edit(message string, edits ...analysis.TextEdit) []analysis.SuggestedFix {
	return []analysis.SuggestedFix{{Message: message, TextEdits: edits}}
}

// inScope is the variable that a name stands for at a place, nil if none.
func (a *analyzer) inScope(name string, at token.Pos) *types.Var {
	scope := a.pass.Pkg.Scope().Innermost(at)
	if scope == nil {
		return nil
	}
	_, obj := scope.LookupParent(name, at)
	v, _ := obj.(*types.Var)
	return v
}

// contextIn is the name of a function's first parameter that is a context, where it still stands for that.
func (a *analyzer) contextIn(fn *ast.FuncType, at token.Pos) string {
	for _, f := range fn.Params.List {
		for _, id := range f.Names {
			v, _ := a.pass.TypesInfo.Defs[id].(*types.Var)
			if v != nil && isContext(v.Type()) && a.inScope(id.Name, at) == v {
				return id.Name
			}
		}
	}
	return ""
}

func isContext(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "context" && n.Obj().Name() == "Context"
}

// zeros are the results before the error, as they are returned with one: "nil, 0, ". ok is false where the last is no error, or
// where a zero value has no short form.
func (a *analyzer) zeros(fn *ast.FuncType) (text string, ok bool) {
	if fn.Results == nil {
		return "", false
	}
	var all []types.Type
	for _, f := range fn.Results.List {
		for range max(1, len(f.Names)) {
			all = append(all, a.pass.TypesInfo.TypeOf(f.Type))
		}
	}
	for i, t := range all {
		if i == len(all)-1 {
			return text, isError(t)
		}
		switch u := t.Underlying().(type) {
		case *types.Pointer, *types.Slice, *types.Map, *types.Chan, *types.Signature:
			text += "nil, "
		case *types.Basic:
			switch {
			case u.Info()&types.IsNumeric != 0:
				text += "0, "
			case u.Info()&types.IsString != 0:
				text += `"", `
			case u.Info()&types.IsBoolean != 0:
				text += "false, "
			default:
				return "", false
			}
		default:
			return "", false
		}
	}
	return "", false
}

// fixTwice takes a second release away, where the first always comes before it.
func (a *analyzer) fixTwice(rep report) []analysis.SuggestedFix {
	file, path := a.around(rep.pos)
	if file == nil || !rep.dominated {
		return nil
	}
	st, _ := statement(path)
	var call ast.Expr
	switch st := st.(type) {
	case *ast.ExprStmt:
		call = st.X
	case *ast.AssignStmt:
		if id, ok := st.Lhs[0].(*ast.Ident); ok && id.Name == "_" && len(st.Lhs) == 1 && st.Tok == token.ASSIGN {
			call = st.Rhs[0]
		}
	case *ast.DeferStmt:
		if st.Defer == rep.pos && len(st.Call.Args) == 0 {
			if _, method := st.Call.Fun.(*ast.SelectorExpr); method {
				return edit("remove the deferred release", analysis.TextEdit{Pos: st.Pos(), End: st.End()})
			}
		}
	}
	c, ok := call.(*ast.CallExpr)
	if !ok || c.Lparen != rep.pos || len(c.Args) > 0 {
		return nil
	}
	return edit("remove the second release", analysis.TextEdit{Pos: st.Pos(), End: st.End()})
}

// fixView copies a slice that is returned, before its window is closed by a deferred call.
func (a *analyzer) fixView(rep report) []analysis.SuggestedFix {
	file, path := a.around(rep.pos)
	if file == nil || len(path) == 0 || rep.code != diag.ViewOutlives || rep.returned == 0 {
		return nil
	}
	i := slices.IndexFunc(path, func(n ast.Node) bool { _, ok := n.(*ast.ReturnStmt); return ok })
	if i < 0 {
		return nil
	}
	ret := path[i].(*ast.ReturnStmt)
	if rep.returned > len(ret.Results) || rep.results != len(ret.Results) {
		return nil
	}
	x := ret.Results[rep.returned-1]
	if _, ok := a.pass.TypesInfo.TypeOf(x).Underlying().(*types.Slice); !ok {
		return nil
	}
	var text bytes.Buffer
	if err := printer.Fprint(&text, a.pass.Fset, x); err != nil {
		return nil
	}
	name, imports := a.importOf(file, "slices", x.Pos())
	if name == "" {
		return nil
	}
	return edit("copy it", append(imports, analysis.TextEdit{Pos: x.Pos(), End: x.End(), NewText: []byte(name + ".Clone(" + text.String() + ")")})...)
}

// importOf is the name of a package of the standard library in a file, and the edits that import it where nothing does. The name is
// empty where it stands for something else.
func (a *analyzer) importOf(file *ast.File, path string, at token.Pos) (name string, edits []analysis.TextEdit) {
	for _, im := range file.Imports {
		if p, err := strconv.Unquote(im.Path.Value); err != nil || p != path {
			continue
		}
		if name = path; im.Name != nil {
			name = im.Name.Name
		}
		if name == "_" || name == "." {
			return "", nil
		}
		return name, nil
	}
	if scope := a.pass.Pkg.Scope().Innermost(at); scope == nil {
		return "", nil
	} else if _, obj := scope.LookupParent(path, at); obj != nil {
		return "", nil
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT || !g.Lparen.IsValid() {
			continue
		}
		for _, spec := range g.Specs { // in its place in the order of the first group
			im := spec.(*ast.ImportSpec)
			if strings.Trim(im.Path.Value, `"`) > path {
				return path, []analysis.TextEdit{{Pos: im.Pos(), End: im.Pos(), NewText: []byte(strconv.Quote(path) + "\n")}}
			}
		}
		return path, []analysis.TextEdit{{Pos: g.Rparen, End: g.Rparen, NewText: []byte(strconv.Quote(path) + "\n")}}
	}
	return "", nil
}
