package bwsyntax

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// reader reads the directives of a package, and reports those that are wrong.
type reader struct {
	pass    *analysis.Pass
	own     Known
	calls   map[*types.Func][]Effect // of this package's functions
	hashes  []hashed
	trusted bool // the package is
	says    bool // what functions of it do
}

func (r *reader) read() {
	r.calls = map[*types.Func][]Effect{}
	for _, f := range r.pass.Files {
		if !mentions(f) {
			continue
		}
		above := targets(f)
		for _, group := range f.Comments {
			for _, c := range group.List {
				r.comment(c, above[c])
			}
		}
	}
	if r.trusted && r.says {
		r.own.Runtime = []string{r.pass.Pkg.Path()}
	}
	r.stale()
}

// mentions reports whether a file has anything that looks like a directive.
func mentions(f *ast.File) bool {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if strings.Contains(c.Text, "barewire:") {
				return true
			}
		}
	}
	return false
}

// targets says for each comment that belongs to a declaration which one that is: a
// *ast.TypeSpec, *ast.FuncDecl, *ast.Field of an interface, field of a struct, or the *ast.File.
func targets(f *ast.File) map[*ast.Comment]ast.Node {
	above := map[*ast.Comment]ast.Node{}
	note := func(doc *ast.CommentGroup, n ast.Node) {
		if doc != nil {
			for _, c := range doc.List {
				above[c] = n
			}
		}
	}
	note(f.Doc, f)
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			note(d.Doc, d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if note(s.Doc, s); !d.Lparen.IsValid() {
					note(d.Doc, s)
				}
				switch t := s.Type.(type) {
				case *ast.InterfaceType:
					for _, m := range t.Methods.List {
						note(m.Doc, m)
					}
				case *ast.StructType:
					for _, f := range t.Fields.List {
						note(f.Doc, field{f, s.Name.Name})
					}
				}
			}
		}
	}
	return above
}

// field is a field of a struct type.
type field struct {
	*ast.Field
	of string // the type's name
}

// comment reads one comment, which stands above a declaration, or above nothing.
func (r *reader) comment(c *ast.Comment, above ast.Node) {
	d, ok, err := directive.Parse(c.Text)
	switch {
	case !ok:
		r.almost(c)
	case err != nil && d.Word == directive.Ignore && d.Name != "":
		r.report(diag.IgnoreNoReason, c, "%v", err)
	case err != nil:
		r.report(diag.BadDirective, c, "%v", err)
	case d.Word == directive.Ignore:
		r.ignored(c, d)
	default:
		r.placed(c, d, above)
	}
}

// ignored checks the code of an ignore.
func (r *reader) ignored(c *ast.Comment, d directive.Directive) {
	rule, ok := diag.Lookup(d.Name)
	switch {
	case !ok:
		r.report(diag.BadDirective, c, "there is no code %s", d.Name)
	case !strings.HasPrefix(d.Name, "BW5"):
		r.report(diag.BadDirective, c, "%s (%s) is nothing that is found in Go code", d.Name, rule.Name)
	}
}

// placed takes a directive that stands above a declaration of the right sort.
func (r *reader) placed(c *ast.Comment, d directive.Directive, above ast.Node) {
	_, isFile := above.(*ast.File)
	spec, isType := above.(*ast.TypeSpec)
	fn, isFunc := function(above)
	switch d.Word {
	case directive.Type, directive.Residency, directive.Access:
		name := r.markedBy(d.Word, above)
		switch {
		case isType && d.Word == directive.Type:
			r.own.Types = append(r.own.Types, Type{r.pass.Pkg.Path(), spec.Name.Name, d.Name})
		case name != "":
			r.own.Markers = append(r.own.Markers, Marker{r.pass.Pkg.Path(), name, d.Word, d.Name})
		case d.Word == directive.Access:
			r.report(diag.StrayDirective, c, "access belongs above the declaration of a type, a field or a method")
		default:
			r.report(diag.StrayDirective, c, "%s belongs above the declaration of a type", d.Word)
		}
	case directive.NodeOf:
		if !isType {
			r.report(diag.StrayDirective, c, "node belongs above the declaration of a type")
		}
	case directive.Schema:
		obj, _ := r.pass.TypesInfo.Defs[fn].(*types.Func)
		if obj == nil || obj.Signature().Recv() == nil || named(obj.Signature().Recv().Type()) == nil {
			r.report(diag.StrayDirective, c, "schema belongs above a method of the type that is of the schema")
			return
		}
		of := named(obj.Signature().Recv().Type()).Obj().Name()
		r.own.Schemas = append(r.own.Schemas, Schema{r.pass.Pkg.Path(), of, d.Name, d.Hash})
		r.hashes = append(r.hashes, hashed{d.Name, d.Hash, c})
	case directive.Effect, directive.Generated:
		if !isFunc {
			r.report(diag.StrayDirective, c, "%s belongs above the declaration of a function or a method", d.Word)
			return
		}
		obj, _ := r.pass.TypesInfo.Defs[fn].(*types.Func)
		if obj == nil {
			return
		}
		if d.Word == directive.Effect {
			if _, err := facts.FromDirective(fn.Name, obj.Signature(), d.Clauses); err != nil {
				r.report(diag.UnfitEffect, c, "%v", err)
				return
			}
			r.says = true
			r.effects(obj, d.Clauses)
		} else if obj.Signature().Recv() == nil {
			r.own.Functions = append(r.own.Functions, Function{r.pass.Pkg.Path(), fn.Name})
		} else {
			r.report(diag.StrayDirective, c, "generated is for functions, and %s is a method", fn.Name)
		}
	case directive.Trust:
		if !isFunc && !isFile {
			r.report(diag.StrayDirective, c, "trust belongs above the declaration of a function, or above a package clause")
		}
		r.trusted = r.trusted || isFile
	}
}

// markedBy is what a residency or access is of: a type, or for access a field or a method, each by its name.
func (r *reader) markedBy(word string, above ast.Node) string {
	switch n := above.(type) {
	case *ast.TypeSpec:
		return n.Name.Name
	case field:
		if word == directive.Access && len(n.Names) == 1 {
			return n.of + "." + n.Names[0].Name
		}
	case *ast.FuncDecl:
		if fn, _ := r.pass.TypesInfo.Defs[n.Name].(*types.Func); fn != nil && fn.Signature().Recv() != nil && word == directive.Access {
			return key(fn).Name
		}
	}
	return ""
}

// effects notes those of a function's effects that are looked for in calls.
func (r *reader) effects(fn *types.Func, clauses []directive.Clause) {
	note := func(verb directive.Verb, result int, of string) {
		r.calls[fn] = append(r.calls[fn], Effect{string(verb), result, parameter(fn.Signature(), of)})
	}
	for _, c := range clauses {
		switch c.Verb {
		case directive.Views, directive.Address, directive.Narrows, directive.Alias:
			n, _ := strconv.Atoi(c.What) // FromDirective has looked at it
			note(c.Verb, n, c.Of)
		case directive.Names, directive.Optional:
			note(c.Verb, -1, c.What)
		}
	}
}

// parameter is the number of a parameter: the receiver is the first.
func parameter(sig *types.Signature, name string) int {
	at := 0
	if recv := sig.Recv(); recv != nil {
		if recv.Name() == name {
			return 0
		}
		at = 1
	}
	for i := range sig.Params().Len() {
		if sig.Params().At(i).Name() == name {
			return at + i
		}
	}
	return -1
}

// function is the name of a declared function or an interface's method.
func function(n ast.Node) (*ast.Ident, bool) {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Name, true
	case *ast.Field:
		if len(n.Names) == 1 {
			return n.Names[0], true
		}
	}
	return nil, false
}

// almost reports a comment that would be a directive but for the space before it.
func (r *reader) almost(c *ast.Comment) {
	rest, ok := strings.CutPrefix(c.Text, "//")
	bare := strings.TrimLeft(rest, " \t")
	if !ok || bare == rest {
		return
	}
	if _, ok, err := directive.Parse("//" + bare); !ok || err != nil {
		return // it is prose
	}
	at := c.Pos() + token.Pos(len("//"))
	r.pass.Report(analysis.Diagnostic{
		Pos: c.Pos(), End: c.End(), Category: string(diag.BadDirective),
		Message: "a directive has no space behind the slashes: this one does nothing",
		SuggestedFixes: []analysis.SuggestedFix{{
			Message:   "remove the space",
			TextEdits: []analysis.TextEdit{{Pos: at, End: at + token.Pos(len(rest)-len(bare))}},
		}},
	})
}

// report reports a wrong directive. It cannot be ignored: whoever can write the ignore can mend it.
func (r *reader) report(code diag.Code, c *ast.Comment, format string, args ...any) {
	r.pass.Report(analysis.Diagnostic{
		Pos: c.Pos(), End: c.End(), Category: string(code), Message: fmt.Sprintf(format, args...),
	})
}
