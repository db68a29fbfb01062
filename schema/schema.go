package schema

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/lint"
	"github.com/fidelityframework/barewire-gen/schema/parser"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Options selects the language's rules.
type Options struct {
	Spec    int          // a draft's number, 11 to 14; 0 accepts what real files use and says who would not
	Granted lint.Granted // what programs grant, for lint; nil where nobody knows
}

// Schema is a compiled schema: what the files mean and how the types lie in memory.
// It does not change, so it may be shared.
type Schema struct {
	*resolve.Schema
	Layouts *layout.Layouts
}

// Compile reads files that belong together. The list has all that it found,
// sorted; the schema is nil where one of them is an error.
//
// A file of which parts cannot be read gives its syntax errors only. The others
// are still checked, but for names that it may have declared. Errors that cost no
// more than the place they are at hide no others.
func Compile(files []*source.File, opts Options) (*Schema, diag.List) {
	s, all := Analyze(files, opts)
	if all.HasErrors() {
		return nil, all
	}
	return s, all
}

// Analyze is [Compile] for those who want what is known of a schema that has errors,
// too, such as an editor. Where the list has errors, types may be
// of the kind Invalid, and parts may be missing.
func Analyze(files []*source.File, opts Options) (*Schema, diag.List) {
	parsed := make([]Parsed, len(files))
	for i, f := range files {
		parsed[i] = Parse(f)
	}
	return AnalyzeParsed(parsed, opts)
}

// Parsed is a file that has been read: its tree, and what is wrong with its syntax. It
// does not change, so it may be shared and analyzed several times.
type Parsed struct {
	Tree  *ast.File
	Found diag.List
}

// Parse reads one file.
func Parse(f *source.File) Parsed {
	tree, found := parser.Parse(f)
	return Parsed{tree, found}
}

// AnalyzeParsed is [Analyze] for files that have been read already.
func AnalyzeParsed(parsed []Parsed, opts Options) (*Schema, diag.List) {
	var all diag.List
	w := hidden{broken: map[*source.File]bool{}}
	trees := make([]*ast.File, len(parsed))
	files := make([]*source.File, len(parsed))
	for i, p := range parsed {
		trees[i], files[i] = p.Tree, p.Tree.Src
		w.parsed(p.Tree, p.Found)
		all = append(all, p.Found...)
	}
	s := &Schema{}
	var diags, more diag.List
	s.Schema, diags = resolve.Files(trees, resolve.Options{Spec: opts.Spec})
	s.Layouts, more = layout.New(s.Schema)
	diags = append(diags, more...)
	diags = append(diags, lint.Run(s.Schema, s.Layouts, lint.Options{Spec: opts.Spec})...)
	all = append(all, slices.DeleteFunc(diags, w.hides)...)
	all.Sort(files)
	return s, all
}

// hidden tells which faults are not worth telling next to errors of syntax: they
// may be gone when those are mended.
type hidden struct {
	broken map[*source.File]bool // parts of these files are not known
	annots bool                  // an annotation could not be read
}

func (h *hidden) parsed(tree *ast.File, diags diag.List) {
	if tree.Partial {
		h.broken[tree.Src] = true
	}
	for _, d := range diags {
		h.annots = h.annots || d.Code == diag.BadAnnotation
	}
}

func (h *hidden) hides(d *diag.Diagnostic) bool {
	switch {
	case len(h.broken) > 0 && (d.Code == diag.UndefinedType || h.broken[d.Primary.Span.File]):
		return true
	case h.annots:
		// What annotations grant, limit and align is not known.
		return d.Code == diag.AnnotationConflict || strings.HasPrefix(string(d.Code), "BW20")
	}
	return false
}

// Hash is the schema hash of a type: SHA-256 over [Canonical]. Types with one
// hash have the same bytes on the wire and the same names. It visits all that the
// type refers to.
func Hash(d *resolve.Decl) [32]byte { return resolve.Hash(d) }

// Canonical is the text that [Hash] is made of: a type and all it refers to, their
// names, numbers and limits. Comments, places, rights, Go names and the
// spelling that was chosen are not in it.
func Canonical(d *resolve.Decl) string { return resolve.Canonical(d) }
