package bwlife

import (
	"cmp"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/ignore"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// directives reads the comments of the package and exports what they say. It reports whether there is
// a directive about a type or a function.
func (a *analyzer) directives() (defines bool) {
	for _, f := range a.pass.Files {
		if hasTrust(f.Doc) {
			a.trusted = true
		}
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				defines = a.typeDirectives(d) || defines
			case *ast.FuncDecl:
				defines = a.funcDirectives(d) || defines
			}
		}
	}
	return defines
}

func hasTrust(doc *ast.CommentGroup) bool {
	if doc == nil {
		return false
	}
	for _, c := range doc.List {
		if d, ok, err := directive.Parse(c.Text); ok && err == nil && d.Word == directive.Trust {
			return true
		}
	}
	return false
}

// each calls f for the directives of a comment that are right; of those that are not, bwsyntax speaks.
func each(doc *ast.CommentGroup, f func(d directive.Directive)) {
	if doc == nil {
		return
	}
	for _, c := range doc.List {
		if d, ok, err := directive.Parse(c.Text); ok && err == nil {
			f(d)
		}
	}
}

func (a *analyzer) typeDirectives(d *ast.GenDecl) (defines bool) {
	for _, spec := range d.Specs {
		ts, ok := spec.(*ast.TypeSpec)
		if !ok {
			continue
		}
		obj, _ := a.pass.TypesInfo.Defs[ts.Name].(*types.TypeName)
		for _, doc := range []*ast.CommentGroup{d.Doc, ts.Doc, ts.Comment} {
			if doc == d.Doc && len(d.Specs) > 1 {
				continue
			}
			each(doc, func(x directive.Directive) {
				switch {
				case obj == nil:
				case x.Word == directive.Type:
					a.pass.ExportObjectFact(obj, &facts.Type{Kind: x.Name})
					defines = true
				case x.Word == directive.NodeOf:
					n, _ := strconv.Atoi(x.Name) // Parse has looked at it
					a.pass.ExportObjectFact(obj, &facts.Node{Number: n})
					defines = true
				case x.Word == directive.Residency || x.Word == directive.Access:
					a.pass.ExportObjectFact(obj, &facts.Marker{Word: x.Word, Name: x.Name})
					defines = true
				}
			})
		}
	}
	return defines
}

func (a *analyzer) funcDirectives(d *ast.FuncDecl) (defines bool) {
	var clauses []directive.Clause
	trust := false
	each(d.Doc, func(x directive.Directive) {
		switch x.Word {
		case directive.Effect:
			clauses = append(clauses, x.Clauses...)
		case directive.Trust:
			trust = true
		}
	})
	obj, _ := a.pass.TypesInfo.Defs[d.Name].(*types.Func)
	if len(clauses) == 0 || obj == nil {
		return false
	}
	sum, err := facts.FromDirective(d.Name.Name, obj.Signature(), clauses)
	if err != nil {
		return true // bwsyntax reports it
	}
	a.sums[obj], a.declared[obj], a.believed[obj] = sum, true, trust
	return true
}

// syntax notes what SSA form does not have: names, and calls whose results nobody takes.
func (a *analyzer) syntax() {
	assigned := func(lhs []ast.Expr, rhs []ast.Expr) {
		for i, e := range rhs {
			at := placeOf(e)
			to := lhs
			if len(rhs) > 1 {
				to = lhs[i : i+1]
			}
			for _, l := range to {
				a.names[at] = append(a.names[at], types.ExprString(l))
			}
		}
	}
	for _, f := range a.pass.Files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				assigned(n.Lhs, n.Rhs)
			case *ast.ValueSpec:
				var lhs []ast.Expr
				for _, id := range n.Names {
					lhs = append(lhs, id)
				}
				assigned(lhs, n.Values)
			case *ast.BlockStmt:
				a.checks(n.List)
			case *ast.RangeStmt:
				for _, e := range []ast.Expr{n.Key, n.Value} {
					name := "_"
					if e != nil {
						name = types.ExprString(e)
					}
					a.names[n.For] = append(a.names[n.For], name)
				}
			case *ast.ExprStmt:
				if call, ok := ast.Unparen(n.X).(*ast.CallExpr); ok {
					a.unlooked[call.Lparen] = true
				}
			}
			return true
		})
	}
}

// placeOf is the position that SSA form gives an expression.
func placeOf(e ast.Expr) token.Pos {
	switch e := ast.Unparen(e).(type) {
	case *ast.CallExpr:
		return e.Lparen
	case *ast.IndexExpr:
		return e.Lbrack
	case *ast.TypeAssertExpr:
		return e.Lparen
	case *ast.UnaryExpr:
		return e.OpPos
	}
	return e.Pos()
}

// nameOf is what the program calls the object that a run follows.
func (a *analyzer) nameOf(r *run) string {
	if r.spec.value != nil {
		return a.foundName(r.spec)
	}
	if r.spec.call == nil {
		return r.fn.Params[r.spec.param].Name() + r.spec.path
	}
	if names := a.names[r.spec.call.Pos()]; r.spec.kind != lentWindow && r.spec.result < len(names) && names[r.spec.result] != "_" {
		return names[r.spec.result]
	}
	obj := callee(r.spec.call.Common())
	if r.spec.kind == lentWindow {
		return "the window of " + obj.Name()
	}
	return "what " + obj.Name() + " gives"
}

// flush reports what was found, in the order of the places.
func (a *analyzer) flush() {
	out := ignore.New(a.pass, codes...)
	fails := map[token.Pos]bool{} // calls that surely fail make nothing that could leak
	for _, rep := range a.reports {
		fails[rep.pos] = fails[rep.pos] || refused(rep.code)
	}
	a.reports = slices.DeleteFunc(a.reports, func(rep report) bool { return fails[rep.pos] && !refused(rep.code) })
	slices.SortStableFunc(a.reports, func(x, y report) int { return cmp.Or(cmp.Compare(x.pos, y.pos), cmp.Compare(x.code, y.code)) })
	for i := 0; i < len(a.reports); {
		rep := a.reports[i]
		same := i + 1 // the same may be found on several ways
		for same < len(a.reports) && a.reports[same].pos == rep.pos && a.reports[same].code == rep.code {
			same++
		}
		d := analysis.Diagnostic{Pos: rep.pos, Category: string(rep.code), Message: rep.text, SuggestedFixes: a.fix(a.reports[i:same])}
		i = same
		for _, rel := range rep.related {
			if rel.pos.IsValid() {
				d.Related = append(d.Related, analysis.RelatedInformation{Pos: rel.pos, Message: rel.text})
			}
		}
		out.Report(d)
	}
	out.Done()
}

// codes are those that this analyzer reports.
var codes = []diag.Code{
	diag.UseAfterRelease, diag.DoubleRelease, diag.UseAfterMove, diag.Leak, diag.WindowLeak, diag.WindowAfterClose,
	diag.ReleaseBorrowed, diag.ReleaseInFlight, diag.DroppedOp, diag.IgnoredWait, diag.ViewOutlives, diag.ErrorPathUse,
	diag.LyingDirective, diag.TouchInFlight, diag.ReleaseShared, diag.ForeignDomain, diag.OutsideAcquire, diag.UnflushedWrite,
	diag.WrongNode, diag.ReadUnplaced, diag.AcquireLeak, diag.HostHas, diag.DroppedUnpin, diag.IgnoredError,
}
