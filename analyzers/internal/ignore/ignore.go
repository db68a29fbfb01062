// Package ignore keeps findings back that somebody has looked at and found to be none:
//
//	barewire.New(none, 1) //barewire:ignore BW5002 the test wants the error
//
// The comment is for the line that it stands on, or for the next one where it stands alone.
//
// Several analyzers look at a package, and none sees what the others find. So each code
// belongs to one of them, and only that one reports an ignore of the code
// that had nothing to ignore.
package ignore

import (
	"go/ast"
	"go/token"
	"slices"

	"golang.org/x/tools/go/analysis"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Filter stands between an analyzer and its pass.
type Filter struct {
	pass    *analysis.Pass
	codes   []diag.Code
	ignores map[key][]*ignore // as they stand
}

// key is a line of a file.
type key struct {
	file string
	line int
}

type ignore struct {
	code    string
	comment *ast.Comment
	alone   bool // on its line
	used    bool
}

// New reads the ignores of a pass, for an analyzer whose codes are those given.
func New(pass *analysis.Pass, codes ...diag.Code) *Filter {
	f := &Filter{pass: pass, codes: codes, ignores: map[key][]*ignore{}}
	for _, file := range pass.Files {
		f.read(file)
	}
	return f
}

// read notes the ignores of a file that are for this analyzer. Those that are wrong are no ignores: bwsyntax reports them.
func (f *Filter) read(file *ast.File) {
	var code map[int]bool // lines where something else than a comment begins; made when it is needed
	for _, group := range file.Comments {
		for _, c := range group.List {
			d, ok, err := directive.Parse(c.Text)
			if !ok || err != nil || d.Word != directive.Ignore || !slices.Contains(f.codes, diag.Code(d.Name)) {
				continue
			}
			if code == nil {
				code = linesOf(f.pass.Fset, file)
			}
			at := f.pass.Fset.Position(c.Pos())
			line := at.Line
			for !code[line] && line < at.Line+len(group.List)+1 {
				line++ // it stands alone, perhaps above other comments
			}
			k := key{at.Filename, line}
			f.ignores[k] = append(f.ignores[k], &ignore{code: d.Name, comment: c, alone: line != at.Line})
		}
	}
}

// linesOf has the lines of a file that code begins or ends on.
func linesOf(fset *token.FileSet, file *ast.File) map[int]bool {
	lines := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n.(type) {
		case nil, *ast.Comment, *ast.CommentGroup, *ast.File:
		default:
			lines[fset.Position(n.Pos()).Line] = true
			lines[fset.Position(n.End()).Line] = true
		}
		return true
	})
	return lines
}

// Report reports a finding, unless it is ignored. Its Category is the code.
func (f *Filter) Report(d analysis.Diagnostic) {
	if !f.Ignores(diag.Code(d.Category), d.Pos) {
		f.pass.Report(d)
	}
}

// Ignores reports whether a finding of a code would be ignored at a place. The ignore has then had something to
// ignore: who asks reports nothing.
func (f *Filter) Ignores(code diag.Code, pos token.Pos) bool {
	at := f.pass.Fset.Position(pos)
	for _, i := range f.ignores[key{at.Filename, at.Line}] {
		if i.code == string(code) {
			i.used = true
			return true
		}
	}
	return false
}

// Done reports the ignores that had nothing to ignore. It is called once, after the last Report.
func (f *Filter) Done() {
	var stale []*ignore
	for _, list := range f.ignores {
		for _, i := range list {
			if !i.used {
				stale = append(stale, i)
			}
		}
	}
	slices.SortFunc(stale, func(a, b *ignore) int { return int(a.comment.Pos() - b.comment.Pos()) })
	for _, i := range stale {
		from, to := i.extent(f.pass.Fset)
		f.pass.Report(analysis.Diagnostic{
			Pos: i.comment.Pos(), End: i.comment.End(), Category: string(diag.StaleIgnore),
			Message: "nothing here is to be ignored: there is no finding " + i.code,
			SuggestedFixes: []analysis.SuggestedFix{{
				Message:   "remove the ignore",
				TextEdits: []analysis.TextEdit{{Pos: from, End: to}},
			}},
		})
	}
}

// extent is what goes when an ignore does: it, or its line.
func (i *ignore) extent(fset *token.FileSet) (from, to token.Pos) {
	from, to = i.comment.Pos(), i.comment.End()
	file := fset.File(from)
	if line := file.PositionFor(from, false).Line; i.alone && line < file.LineCount() {
		from, to = file.LineStart(line), file.LineStart(line+1)
	}
	return from, to
}
