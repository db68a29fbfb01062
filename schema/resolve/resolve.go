// Package resolve gives a parsed schema its meaning: names looked up, tags and
// values numbered, annotations understood, and every rule of BARE checked.
//
// What a given draft or another compiler would refuse, and we accept, is not
// decided here but in package lint. The one exception is data as a map's key,
// which drafts before 13 forbid: --spec 11 and 12 make it an error.
package resolve

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Options selects the rules.
type Options struct {
	Spec int // a draft's number, 11 to 14; 0 accepts what real files use
}

// Files resolves files that were given together. Those with the same #@package
// see each other's types; those without one see each other's.
//
// The schema is never nil. Where the list has errors it is what could be
// understood: types with a fault are Invalid, and no type contains itself. It
// is empty where the files have more than one run takes.
func Files(files []*ast.File, opts Options) (*Schema, diag.List) {
	r := &resolver{opts: opts, schema: &Schema{}}
	if d := tooMuch(files); d != nil {
		r.report(d)
		return r.schema, r.diags
	}
	for _, f := range files {
		r.file(f)
	}
	for _, ns := range r.schema.Namespaces {
		r.declareAll(ns)
	}
	for _, ns := range r.schema.Namespaces {
		r.namespace(ns)
	}
	r.order()
	for _, ns := range r.schema.Namespaces {
		r.ns = ns
		for _, f := range ns.Files {
			for _, d := range f.Decls {
				r.check(d)
			}
		}
	}
	return r.schema, r.diags
}

// resolver is one run.
type resolver struct {
	opts   Options
	schema *Schema
	diags  diag.List
	errors int // how many of diags are errors

	ns        *Namespace // the one that is being resolved
	decl      *Decl      // the one that is being built
	undefined map[string]*diag.Diagnostic
	guesses   int  // nearest spellings looked for so far
	alone     bool // it is said that files of one package are given together

	// Nodes are made in pieces: a large schema has a hundred thousand.
	types   pool[Type]
	fields  pool[Field]
	members pool[Member]
	values  pool[EnumValue]
	decls   pool[Decl]
}

// pool hands out zeroed nodes from larger pieces.
type pool[T any] []T

func (p *pool[T]) new() *T {
	if len(*p) == 0 {
		*p = make([]T, 128)
	}
	t := &(*p)[0]
	*p = (*p)[1:]
	return t
}

// report keeps a diagnostic, and returns it. After MaxErrors errors it says so
// and keeps no more.
func (r *resolver) report(d *diag.Diagnostic) *diag.Diagnostic {
	if r.full() {
		return d
	}
	kept := d
	if d.Severity == diag.Error {
		r.errors++
	}
	if r.full() {
		kept = diag.Errorf(diag.TooManyErrors, d.Primary.Span, "more than %d errors; the others are not shown", diag.MaxErrors)
	}
	r.diags = append(r.diags, kept)
	return d
}

// full reports whether nothing more is kept.
func (r *resolver) full() bool { return r.errors > diag.MaxErrors }

// file puts a file into its namespace.
func (r *resolver) file(syntax *ast.File) {
	f := &File{Syntax: syntax}
	name := r.packageOf(syntax)
	for _, ns := range r.schema.Namespaces {
		if ns.Package == name {
			f.NS = ns
		}
	}
	if f.NS == nil {
		f.NS = &Namespace{Package: name, Types: map[string]*Decl{}}
		r.schema.Namespaces = append(r.schema.Namespaces, f.NS)
	}
	f.NS.Files = append(f.NS.Files, f)
	f.Doc = fileDoc(syntax)
}

// fileDoc is the plain comments at the top of a file that belong to no
// declaration: up to the first declaration or its doc comment.
func fileDoc(f *ast.File) (doc []string) {
	end := len(f.Src.Text())
	if len(f.Decls) > 0 {
		d := f.Decls[0]
		end = d.Span.Start
		for _, c := range d.Doc {
			end = min(end, c.Span.Start)
		}
	}
	for i, c := range f.Comments {
		if c.Span.Start >= end {
			break
		}
		if strings.HasPrefix(c.Span.Text(), "#@") {
			continue
		}
		if i > 0 && len(doc) > 0 && c.Span.Pos().Line > f.Comments[i-1].Span.Pos().Line+1 {
			doc = append(doc, "")
		}
		doc = append(doc, docLine(c))
	}
	return doc
}

// docLines are comments without their # and the space behind it.
func docLines(comments []*ast.Comment) []string {
	if len(comments) == 0 {
		return nil
	}
	lines := make([]string, len(comments))
	for i, c := range comments {
		lines[i] = docLine(c)
	}
	return lines
}

// docLine takes ## for #: that is how bare-ts marks a doc comment.
func docLine(c *ast.Comment) string {
	return strings.TrimPrefix(strings.TrimLeft(c.Text(), "#"), " ")
}

// declareAll declares the types of all files of a namespace. Messages tell of those
// in other namespaces, so all are declared before one is built.
func (r *resolver) declareAll(ns *Namespace) {
	for _, f := range ns.Files {
		f.Decls = make([]*Decl, 0, len(f.Syntax.Decls))
		for _, syntax := range f.Syntax.Decls {
			r.declare(f, syntax)
		}
	}
}

// namespace builds the types of all its files.
func (r *resolver) namespace(ns *Namespace) {
	r.ns, r.undefined = ns, map[string]*diag.Diagnostic{}
	for _, f := range ns.Files {
		r.strays(f)
		for _, d := range f.Decls {
			r.build(d)
		}
	}
}

func (r *resolver) declare(f *File, syntax *ast.Decl) {
	d := r.decls.new()
	*d = Decl{Name: syntax.Name.Name, At: syntax.Name.Span, Doc: docLines(syntax.Doc), File: f, Syntax: syntax}
	f.Decls = append(f.Decls, d)
	if d.Name == "" {
		return // the parser has said so
	}
	if first := f.NS.Types[d.Name]; first != nil {
		r.report(diag.Errorf(diag.DuplicateType, d.At, "`%s` is declared twice", d.Name).
			Also(first.At, "first declared here"))
		return
	}
	f.NS.Types[d.Name] = d
}

func (r *resolver) build(d *Decl) {
	r.decl = d
	d.Type = r.typ(d.Syntax.Type)
	r.annotateDecl(d)
}
