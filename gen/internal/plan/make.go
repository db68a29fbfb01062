package plan

import (
	"go/token"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Make plans one namespace. The list has what is wrong with its names and what
// was renamed; the package is whole also where there are errors, but must not
// be emitted then.
//
// Names are settled in an order that makes the schema's own names win: first
// all types that the schema names, then what is made from them where it stands
// (constants of enums, lifted types, members of unions), then what generated
// code derives from types (views, sizes).
func Make(ns *resolve.Namespace, layouts *layout.Layouts, opts Options) (*Package, diag.List) {
	m := &maker{
		pkg:    &Package{NS: ns, Options: opts, layouts: layouts},
		names:  newScope(),
		paths:  map[string]bool{},
		byDecl: map[*resolve.Decl]*Type{},
		rename: map[string]bool{},
		region: regionTypes(ns),
	}
	m.packageName()
	for _, f := range ns.Files {
		m.file(f)
	}
	for _, f := range m.pkg.Files {
		for _, t := range f.Types {
			m.build(t)
		}
	}
	for _, f := range m.pkg.Files {
		f.Types = withLifted(f.Types)
		m.pkg.Types = append(m.pkg.Types, f.Types...)
	}
	for _, t := range m.pkg.Types {
		m.derive(t)
	}
	for _, t := range m.pkg.Types {
		m.listViews(t)
	}
	for _, t := range m.pkg.Types {
		m.regions(t)
	}
	for _, t := range m.pkg.Types {
		m.capabilities(t)
	}
	for old := range m.rename {
		m.pkg.Renamed = append(m.pkg.Renamed, old)
	}
	sort.Strings(m.pkg.Renamed)
	if m.diags.HasErrors() { // what follows from a clash is no news
		m.diags = slices.DeleteFunc(m.diags, func(d *diag.Diagnostic) bool { return d.Severity != diag.Error })
	}
	return m.pkg, m.diags
}

type maker struct {
	pkg    *Package
	diags  diag.List
	names  scope // package level
	paths  map[string]bool
	byDecl map[*resolve.Decl]*Type
	rename map[string]bool        // keys of Options.Rename that were used
	region map[*resolve.Decl]bool // regionTypes
}

func (m *maker) packageName() {
	p := m.pkg
	p.Name = p.Options.Package
	if p.Name == "" {
		p.Name = p.NS.Package
	}
	switch {
	case p.Name == "":
		m.report(diag.Errorf(diag.NoPackageName, source.Span{}, "no package name: give --package, or #@package(name) in the schema"))
	case !token.IsIdentifier(p.Name) || p.Name == "_":
		m.report(diag.Errorf(diag.BadPackageName, source.Span{}, "the package name `%s` is not a Go identifier", p.Name))
	}
}

// file claims the names of a file's types.
func (m *maker) file(rf *resolve.File) {
	name := ""
	if rf.Syntax != nil && rf.Syntax.Src != nil {
		name = rf.Syntax.Src.Name()
	}
	base := path.Base(strings.ReplaceAll(name, `\`, "/"))
	f := &File{Source: name, Base: base, Name: goFile(base), Doc: rf.Doc, Package: m.pkg}
	m.pkg.Files = append(m.pkg.Files, f)
	for _, d := range rf.Decls {
		t := &Type{Named: true, Schema: d.Name, Decl: d, Doc: d.Doc, At: d.At, Wire: d.Type, File: f, Kind: d.Type.Resolve().Kind}
		t.Go = m.given(d.GoName, d.Name, d.At)
		if t.Go == "" {
			t.Go = TypeName(d.Name)
		}
		me := owner{"type `" + d.Name + "`", d.At}
		if other, taken := m.names.take(t.Go, me); taken {
			m.clash(me, other, t.Go)
		}
		m.paths[t.Go] = true
		m.byDecl[d] = t
		f.Types = append(f.Types, t)
	}
}

// goFile is the Go file's name for a schema file's: telemetry_bare.go. The go
// command does not see files that begin with a dot or an underscore.
func goFile(base string) string {
	name := strings.TrimLeft(strings.TrimSuffix(base, path.Ext(base)), "._")
	if name == "" {
		name = "schema"
	}
	return name + "_bare.go"
}

// given is the Go name that the user gave: with --rename by the schema's path,
// or with #@go(name=…). It is empty where there is none. One that Go does not
// take is reported, and stands for the name that the help suggests, so that it
// hides no clash and makes none that would be gone with it.
func (m *maker) given(annotated ast.Ident, schemaPath string, at source.Span) string {
	name := annotated.Name
	if n, ok := m.pkg.Options.Rename[schemaPath]; ok {
		m.rename[schemaPath] = true
		name = n
	} else if name != "" {
		at = annotated.Span
	}
	if name == "" || token.IsExported(name) && token.IsIdentifier(name) {
		return name
	}
	better := Exported(name)
	m.report(diag.Errorf(diag.BadGoName, at, "`%s` is not an exported Go identifier", name).
		Helpf("begin with a capital letter and use letters, digits and _ only, as in `%s`", better))
	return better
}

// UnknownRenames reports the renames that no namespace could use.
func UnknownRenames(renames map[string]string, used map[string]bool) diag.List {
	var unknown []string
	for old := range renames {
		if !used[old] {
			unknown = append(unknown, old)
		}
	}
	sort.Strings(unknown)
	var found diag.List
	for _, old := range unknown {
		found = append(found, diag.Errorf(diag.UnknownRename, source.Span{}, "--rename %s=%s: the schema has no `%s`", old, renames[old], old).
			Helpf("write `Type`, `Type.field`, or the Go name of a type that the schema does not name"))
	}
	return found
}

// derive settles the package-level names that generated code derives.
func (m *maker) derive(t *Type) {
	me := owner{"generated code for `" + t.Schema + "`", t.At}
	for _, p := range typePatterns(t, !m.pkg.Options.NoViews) {
		want := p.expand(t.Go)
		got, other, changed := m.names.free(want, me)
		if changed {
			m.changed(me, other, want, got)
			if t.names == nil {
				t.names = map[Pattern]string{}
			}
			t.names[p] = got
		}
	}
	if t.Kind == resolve.Union && t.Alias == nil {
		for _, u := range t.Members {
			u.Kind = m.derived(t.Name(KindType)+u.Word, owner{"generated code for `" + t.Schema + "`", u.At})
		}
	}
}

// derived takes a package-level name for something that is made from names of
// the schema.
func (m *maker) derived(want string, me owner) string {
	got, other, changed := m.names.free(want, me)
	if changed {
		m.changed(me, other, want, got)
	}
	return got
}

func (m *maker) report(d *diag.Diagnostic) { m.diags = append(m.diags, d) }

// clash reports two names of the schema that are one in Go.
func (m *maker) clash(me, other owner, name string) {
	d := diag.Errorf(diag.GoNameClash, me.at, "%s and %s both become `%s` in Go", me.what, other.what, name)
	if other.at.IsValid() {
		d.Also(other.at, "%s is here", other.what)
	}
	m.report(d.Helpf("give one of them another name with #@go(name=…), or with --rename"))
}

// changed reports that a name got a suffix.
func (m *maker) changed(me, other owner, want, got string) {
	d := diag.Errorf(diag.GoNameChanged, me.at, "`%s` is called `%s` in Go: `%s` is taken by %s", want, got, want, other.what)
	if other.at.IsValid() {
		d.Also(other.at, "%s is here", other.what)
	}
	m.report(d)
}

// path makes a path unique in the package.
func (m *maker) path(want string) string {
	for m.paths[want] {
		want += "_"
	}
	m.paths[want] = true
	return want
}

// withLifted puts the types lifted out of each type behind it.
func withLifted(ts []*Type) []*Type {
	var out []*Type
	var walk func(t *Type)
	walk = func(t *Type) {
		out = append(out, t)
		for _, l := range t.lifted {
			walk(l)
		}
	}
	for _, t := range ts {
		walk(t)
	}
	return out
}
