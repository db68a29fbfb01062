// Package compat compares two versions of a schema, for those who have to live with
// both: programs that use the generated Go (SOURCE), programs that read each other's
// messages (WIRE), and peers that look into the same memory (MEMORY).
//
// Types are matched by name within a package, fields, values and members by name
// within them. What a reader makes of a writer's messages is worked out from the
// two types alone, whatever they are called: see [Reach]. Every kind of change, with
// an example and what is said about it, is in [Cells].
package compat

import (
	"cmp"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/layout"
	"github.com/fidelityframework/barewire-gen/schema/resolve"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// Side is one version of a schema. It must be free of errors.
type Side struct {
	Schema  *resolve.Schema
	Layouts *layout.Layouts
}

// Concern is whom a change breaks.
type Concern string

// The concerns, as tags of diagnostics carry them.
const (
	Source Concern = "source" // Go programs that use the generated code
	Wire   Concern = "wire"   // who reads messages that the other version wrote
	Memory Concern = "memory" // who maps or reaches memory of the other version
)

// Concerns lists them in the order of their table.
var Concerns = []Concern{Source, Wire, Memory}

// Options selects what is compared.
type Options struct {
	Only   []Concern                // nothing: all
	GoName func(name string) string // what a field's or member's name is in Go; nil: as written
}

func (o Options) wants(c Concern) bool { return len(o.Only) == 0 || slices.Contains(o.Only, c) }

// Verdict is what a change means to each concern.
type Verdict struct {
	Source      bool  // Go programs may have to change
	NewReadsOld Reach // a reader of the new version, with messages of the old one
	OldReadsNew Reach // the reverse
	Memory      bool  // peers of the two versions do not see the same in one memory
}

// Report is what a comparison found.
type Report struct {
	Findings diag.List // sorted by places in the new version
	Verdict  Verdict   // the worst of all findings: what somebody must be ready for
}

// Compare tells what changed from an old version to a new one and breaks somebody.
// A finding is an error, but where all that it says is that old readers refuse some new
// messages, as with a member appended to a union: that is a warning.
//
// The primary place of a finding is in the new version, and a related one in the old.
// Where something is gone, the primary place is what it was in.
func Compare(old, now Side, opts Options) Report {
	if opts.GoName == nil {
		opts.GoName = func(name string) string { return name }
	}
	c := &comparer{
		old: old, now: now, opts: opts,
		back: newReader(old.Layouts, now.Layouts), fwd: newReader(now.Layouts, old.Layouts),
		pairs: map[*resolve.Decl]*resolve.Decl{}, renamed: map[string]string{},
		users: users(now.Schema), verdict: Verdict{NewReadsOld: All, OldReadsNew: All},
	}
	for _, p := range c.namespaces() {
		c.match(p.old, p.now)
	}
	for _, p := range c.namespaces() {
		c.namespace(p.old, p.now)
	}
	c.regions()
	c.diags.Sort(sources(now.Schema))
	return Report{c.diags, c.verdict}
}

func sources(s *resolve.Schema) (files []*source.File) {
	for _, ns := range s.Namespaces {
		for _, f := range ns.Files {
			files = append(files, f.Syntax.Src)
		}
	}
	return files
}

// comparer is one run.
type comparer struct {
	old, now  Side
	opts      Options
	back, fwd *reader
	pairs     map[*resolve.Decl]*resolve.Decl // from old to new
	renamed   map[string]string               // old name to new one
	users     map[*resolve.Decl][]*resolve.Decl
	diags     diag.List
	verdict   Verdict

	decl *resolve.Decl // the one of the new version that is being compared
}

// namespacePair is two namespaces that are one package in two versions.
type namespacePair struct{ old, now *resolve.Namespace }

func (c *comparer) namespaces() (pairs []namespacePair) {
	olds, nows := c.old.Schema.Namespaces, c.now.Schema.Namespaces
	if len(olds) == 1 && len(nows) == 1 {
		return []namespacePair{{olds[0], nows[0]}}
	}
	for _, o := range olds {
		p := namespacePair{old: o}
		for _, n := range nows {
			if n.Package == o.Package {
				p.now = n
			}
		}
		pairs = append(pairs, p)
	}
	return pairs
}

// decls lists what a namespace declares, in the order of the source.
func decls(ns *resolve.Namespace) (all []*resolve.Decl) {
	if ns == nil {
		return nil
	}
	for _, f := range ns.Files {
		all = append(all, f.Decls...)
	}
	return all
}

// match pairs the types of two namespaces: those of one name, then those of which
// the name is gone and the bytes and names inside are those of exactly one new type.
func (c *comparer) match(old, now *resolve.Namespace) {
	if now == nil {
		return
	}
	fresh := map[string][]*resolve.Decl{}
	for _, n := range decls(now) {
		if old.Types[n.Name] == nil {
			body := n.Type.String()
			fresh[body] = append(fresh[body], n)
		}
	}
	for _, o := range decls(old) {
		if n := now.Types[o.Name]; n != nil {
			c.pairs[o] = n
		} else if same := fresh[o.Type.String()]; len(same) == 1 {
			c.pairs[o] = same[0]
			c.renamed[o.Name] = same[0].Name
			fresh[o.Type.String()] = nil
		}
	}
}

func (c *comparer) namespace(old, now *resolve.Namespace) {
	if now == nil {
		for _, o := range decls(old) {
			c.typeGone(o, c.firstPlace(), "")
		}
		return
	}
	if old.Package != now.Package {
		c.found(packageChanged, packagePlace(now), packagePlace(old), Verdict{Source: true, NewReadsOld: All, OldReadsNew: All},
			"the package is %s, and was %s", quoted(now.Package), quoted(old.Package)).
			Helpf("keep the package, or change the programs that import it with it")
	}
	var at source.Span // where a type that is gone would be: behind the one before it
	var of, gone *source.File
	for _, o := range decls(old) {
		n := c.pairs[o]
		if f := o.At.File; f != of {
			of, gone, at = f, nil, source.Span{File: counterpart(f, old, now)}
			if at.File == nil {
				gone, at = f, source.Span{File: now.Files[0].Syntax.Src}
			}
		}
		if n == nil {
			c.typeGone(o, at, lostFile(gone))
			continue
		}
		if gone == nil && n.At.File == at.File {
			at = n.At
		}
		c.decl = n
		if o.Name != n.Name {
			c.found(typeRenamed, n.At, o.At, Verdict{Source: true, NewReadsOld: All, OldReadsNew: All}, "`%s` is called `%s` now", o.Name, n.Name).
				Helpf("`#@go(name=%s)` above it keeps the name in Go", c.goName(o.GoName.Name, o.Name))
		} else if c.goName(o.GoName.Name, o.Name) != c.goName(n.GoName.Name, n.Name) {
			c.found(goNameChanged, n.At, o.At, Verdict{Source: true, NewReadsOld: All, OldReadsNew: All},
				"`%s` has another name in Go", n.Name).
				Helpf("`#@go(name=%s)` above it keeps the old one", c.goName(o.GoName.Name, o.Name))
		}
		c.types(o.Type, n.Type, n.Name, n.At, o.At)
		c.class(o, n)
	}
}

// counterpart is the file of the new version that has the name of an old one, or nil. Where each version has one file, it is
// that one.
func counterpart(f *source.File, old, now *resolve.Namespace) *source.File {
	if len(old.Files) == 1 && len(now.Files) == 1 {
		return now.Files[0].Syntax.Src
	}
	for _, n := range now.Files {
		if base(n.Syntax.Src) == base(f) {
			return n.Syntax.Src
		}
	}
	return nil
}

// base is a file's name without its directory, and without the commit that git has it at.
func base(f *source.File) string {
	name := f.Name()
	return name[strings.LastIndexAny(name, `/\:`)+1:]
}

func lostFile(f *source.File) string {
	if f == nil {
		return ""
	}
	return ", and no file is called `" + base(f) + "` any more"
}

// goName is a name in Go: the given one, or what becomes of the schema's.
func (c *comparer) goName(given, name string) string { return cmp.Or(given, c.opts.GoName(name)) }

func (c *comparer) firstPlace() source.Span {
	files := sources(c.now.Schema)
	if len(files) == 0 {
		return source.Span{}
	}
	return source.Span{File: files[0]}
}

// packagePlace is where a namespace says its package, or its first file's start.
func packagePlace(ns *resolve.Namespace) source.Span {
	for _, f := range ns.Files {
		for _, a := range f.Syntax.Annots {
			if a.Name.Name == "package" {
				return a.Span
			}
		}
	}
	return source.Span{File: ns.Files[0].Syntax.Src}
}

func quoted(pkg string) string {
	if pkg == "" {
		return "not said"
	}
	return "`" + pkg + "`"
}

// typeGone reports a type that is no more. Who has messages of it and nothing around
// it cannot read them any longer; elsewhere the change is what took its place.
func (c *comparer) typeGone(o *resolve.Decl, at source.Span, file string) {
	v := Verdict{Source: true, NewReadsOld: All, OldReadsNew: All, Memory: isRegion(o)}
	if !c.usedIn(c.old.Schema, o) {
		v.NewReadsOld = None
	}
	c.decl = nil
	d := c.found(typeRemoved, at, o.At, v, "`%s` is gone%s", o.Name, file)
	if v.NewReadsOld < All {
		d.Helpf("keep `%s` for as long as there are messages of it", o.Name)
	} else {
		d.Helpf("keep `%s` until no program uses it", o.Name)
	}
}

func (c *comparer) usedIn(s *resolve.Schema, d *resolve.Decl) bool {
	return len(users(s)[d]) > 0
}

// users says for each type of a schema which others name it.
func users(s *resolve.Schema) map[*resolve.Decl][]*resolve.Decl {
	all := map[*resolve.Decl][]*resolve.Decl{}
	for _, d := range s.Order {
		each(d.Type, func(t *resolve.Type) {
			if t.Kind == resolve.Ref && !slices.Contains(all[t.Decl], d) {
				all[t.Decl] = append(all[t.Decl], d)
			}
		})
	}
	return all
}

// each visits a type and what stands in it, but does not follow names.
func each(t *resolve.Type, visit func(*resolve.Type)) {
	visit(t)
	for _, f := range t.Fields {
		each(f.Type, visit)
	}
	for _, m := range t.Members {
		each(m.Type, visit)
	}
	if t.Key != nil {
		each(t.Key, visit)
	}
	if t.Elem != nil {
		each(t.Elem, visit)
	}
}

// roots are the types that a type is part of and that are part of none themselves.
func (c *comparer) roots(d *resolve.Decl) (names []string) {
	seen := map[*resolve.Decl]bool{}
	todo := []*resolve.Decl{d}
	for len(todo) > 0 {
		d := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[d] {
			continue
		}
		seen[d] = true
		if len(c.users[d]) == 0 {
			names = append(names, "`"+d.Name+"`")
		}
		todo = append(todo, c.users[d]...)
	}
	slices.Sort(names)
	return names
}

// listed is names in a sentence; of many only the first.
func listed(names []string) string {
	const most = 4
	if len(names) > most {
		return strings.Join(names[:most], ", ") + " and " + number(len(names)-most) + " more"
	}
	return strings.Join(names, ", ")
}

// Wires tells what the readers of two versions of one type make of each other's messages. Of the
// verdict only that is set.
func Wires(old, now Side, o, n *resolve.Type) Verdict {
	return Verdict{
		NewReadsOld: newReader(old.Layouts, now.Layouts).read(o, n),
		OldReadsNew: newReader(now.Layouts, old.Layouts).read(n, o),
	}
}
