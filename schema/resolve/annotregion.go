package resolve

import (
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

var (
	residencies = []string{CPU, NUMA, CXL, CXLShared, GPU, Managed, Unified}
	rights      = []string{"local", "remote_read", "remote_write", "remote_atomic"}
	// registrable residencies may be the target of DMA: it is coherent there.
	registrable = []string{CPU, NUMA, CXL, GPU, Unified}
	// fallbacks are the residencies that can fall back to unified memory.
	fallbacks = []string{CPU, NUMA, CXL}
)

// mostNode is the greatest number that a NUMA node of Linux has: its kernels are built for 1024 at most (CONFIG_NODES_SHIFT).
const mostNode = 1023

// refSize is the size of the message that carries a typed remote reference.
const refSize = 48

// wrongWord reports a word that is none of those that can stand there.
func (r *resolver) wrongWord(a *ast.Annotation, word ast.Ident, what string, words []string) {
	d := diag.Errorf(diag.AnnotationArgument, word.Span, "there is no %s `%s`", what, word.Name)
	if guess := nearest(word.Name, slices.Values(words)); guess != "" {
		d.Helpf("did you mean `%s`?", guess).Fix("write "+guess, diag.Edit{Span: word.Span, New: guess})
	} else {
		d.Helpf("there are %s", list(words, "", "and"))
	}
	r.report(d)
}

func (r *resolver) residency(a *ast.Annotation, on target) {
	d := on.decl
	var fallback *ast.Arg
	for _, arg := range a.Args {
		if arg.Key.Name != "" {
			if r.fallback(a, arg, fallback) {
				fallback = arg
			}
			continue
		}
		p := Place{Residency: arg.Value.Name, Node: -1, At: arg.Span}
		if p.Residency == "fallback" {
			r.report(diag.Errorf(diag.AnnotationArgument, arg.Span, "`fallback` says to what: `fallback=unified`").
				Fix("write fallback=unified", diag.Edit{Span: arg.Span, New: "fallback=unified"}))
			continue
		}
		if !slices.Contains(residencies, p.Residency) {
			r.wrongWord(a, arg.Value, "residency", residencies)
			continue
		}
		if len(arg.Args) > 0 && !r.node(a, arg, &p) {
			continue
		}
		if i := slices.IndexFunc(d.Residency, func(q Place) bool { return q.Residency == p.Residency }); i >= 0 {
			e := diag.Errorf(diag.AnnotationArgument, arg.Span, "`%s` is listed twice", p.Residency).Also(d.Residency[i].At, "first here")
			if p.Residency == NUMA {
				e.Helpf("the schema names one node or none; allocators take any other: `numa.New(1, place, n)`")
			}
			r.report(e)
			continue
		}
		d.Residency = append(d.Residency, p)
	}
	if !slices.ContainsFunc(a.Args, func(arg *ast.Arg) bool { return arg.Key.Name == "" }) {
		r.wrongArgs(a, a.Span, "`#@residency` needs at least one place").Helpf("there are %s", list(residencies, "", "and"))
	}
	d.PlacesAt = a.Span
	if fallback == nil {
		return
	}
	d.Fallback = true
	for _, p := range d.Residency {
		if !slices.Contains(fallbacks, p.Residency) {
			r.report(diag.Errorf(diag.AnnotationArgument, fallback.Span, "`%s` cannot fall back to unified memory", p.Residency).
				Also(p.At, "listed here").Helpf("leave out `fallback=unified`, which is for all that are listed, or `%s`; only %s can fall back", p.Residency, list(fallbacks, "", "and")))
			return
		}
	}
}

// fallback checks fallback=unified.
func (r *resolver) fallback(a *ast.Annotation, arg, first *ast.Arg) bool {
	switch {
	case arg.Key.Name != "fallback":
		d := diag.Errorf(diag.AnnotationArgument, arg.Key.Span, "`#@residency` has no `%s=`", arg.Key.Name)
		switch {
		case arg.Key.Name == NUMA:
			d.Helpf("write `numa(%s)`", arg.Value.Name)
		case nearest(arg.Key.Name, slices.Values([]string{"fallback"})) != "":
			d.Helpf("did you mean `fallback`?")
		default:
			d.Helpf("there is `fallback=unified`")
		}
		r.report(d)
	case arg.Value.Name != Unified || len(arg.Args) > 0:
		r.report(diag.Errorf(diag.AnnotationArgument, arg.Value.Span, "the only fallback is `unified`").
			Helpf("memory of the machine's own stands for any other, and its type says `Unified`").Fix("write unified", diag.Edit{Span: arg.Value.Span, New: Unified}))
	case first != nil:
		r.wrongArgs(a, arg.Span, "`fallback` stands here twice").Also(first.Span, "first here")
	default:
		return true
	}
	return false
}

// node understands numa(N).
func (r *resolver) node(a *ast.Annotation, arg *ast.Arg, p *Place) bool {
	inner := arg.Args[0]
	switch n, err := strconv.ParseUint(inner.Value.Name, 10, 32); {
	case p.Residency != NUMA:
		r.report(diag.Errorf(diag.AnnotationArgument, arg.Span, "`%s` takes no argument", p.Residency).
			Helpf("only `numa` does, the number of a node").Fix("write "+p.Residency, diag.Edit{Span: arg.Span, New: p.Residency}))
	case len(arg.Args) > 1 || inner.Key.Name != "" || len(inner.Args) > 0 || err != nil:
		r.report(diag.Errorf(diag.AnnotationArgument, inner.Span, "`numa` takes the number of a node").Helpf("write `numa(0)`"))
	case n > mostNode:
		r.report(diag.Errorf(diag.AnnotationArgument, inner.Span, "no machine has a node %d: Linux numbers them from 0 to %d", n, mostNode))
	default:
		p.Node = int(n)
		return true
	}
	return false
}

// rightsOf understands a list of rights.
func (r *resolver) rightsOf(a *ast.Annotation, args []*ast.Arg, words []string) (list []Right) {
	for _, arg := range args {
		word, ok := r.plain(a, arg)
		if !ok {
			continue
		}
		if !slices.Contains(words, word.Name) {
			r.wrongWord(a, word, "right", words)
			continue
		}
		if i := slices.IndexFunc(list, func(q Right) bool { return q.Name == word.Name }); i >= 0 {
			r.report(diag.Errorf(diag.AnnotationArgument, word.Span, "`%s` is listed twice", word.Name).Also(list[i].At, "first here"))
			continue
		}
		list = append(list, Right{word.Name, word.Span})
	}
	return list
}

func (r *resolver) register(a *ast.Annotation, on target) {
	if len(a.Args) == 0 {
		r.wrongArgs(a, a.Span, "`#@register` needs at least one right").Helpf("there are %s", list(rights, "", "and"))
		return
	}
	on.decl.Rights, on.decl.RightsAt = r.rightsOf(a, a.Args, rights), a.Span
}

func (r *resolver) ref(a *ast.Annotation, on target) {
	if len(a.Args) == 0 {
		r.wrongArgs(a, a.Span, "`#@ref` needs the type that it points to")
		return
	}
	name, ok := r.plain(a, a.Args[0])
	if !ok {
		return
	}
	to := &RefTo{Decl: r.ns.Types[name.Name], At: name.Span}
	if to.Decl == nil {
		r.undefinedName(name.Name, name.Span)
	}
	if len(a.Args) == 1 {
		r.wrongArgs(a, a.Span, "`#@ref` needs the rights that it carries").Helpf("there are %s", list(rights[1:], "", "and"))
	}
	to.Rights = r.rightsOf(a, a.Args[1:], rights[1:])
	switch {
	case on.typ.Kind == Invalid || to.Decl == nil:
	case on.typ.Kind != FixedData || on.typ.Len != refSize:
		r.report(diag.Errorf(diag.AnnotationType, on.typ.At, "a remote reference is `data[%d]`, not %s", refSize, quote(on.typ)).
			Also(a.Span, "`#@ref` asks for it").Fix("write data[48]", diag.Edit{Span: on.typ.At, New: "data[48]"}))
	default:
		on.field.Ref = to
	}
}

// checkField checks a field's annotations against what is behind names.
func (r *resolver) checkField(f *Field) {
	if f.Atomic {
		r.checkAtomic(f)
	}
	if f.Ref == nil {
		return
	}
	if f.Pad {
		r.report(diag.Errorf(diag.AnnotationConflict, f.PadAt, "a remote reference is not padding").Also(f.Ref.At, "it points to this"))
	}
	to := f.Ref.Decl
	for _, right := range f.Ref.Rights {
		if !slices.ContainsFunc(to.Rights, func(q Right) bool { return q.Name == right.Name }) {
			var all []string // those that it lists, and this one
			for _, q := range to.Rights {
				all = append(all, q.Name)
			}
			all = append(all, right.Name)
			at := to.RightsAt
			if !at.IsValid() {
				at = to.At
			}
			r.report(diag.Errorf(diag.AnnotationConflict, right.At, "regions of `%s` never grant %s", to.Name, right.Name).
				Also(at, "its `#@register` would have to list it").
				Helpf("write `#@register(%s)` above `%s`", strings.Join(all, ", "), to.Name))
		}
	}
}

// checkRegions checks a type's annotations against each other.
func (r *resolver) checkRegions(d *Decl) {
	if len(d.Rights) == 0 || len(d.Residency) == 0 {
		return
	}
	if slices.ContainsFunc(d.Residency, func(p Place) bool { return slices.Contains(registrable, p.Residency) }) {
		return
	}
	r.report(diag.Errorf(diag.AnnotationConflict, d.RightsAt, "regions of `%s` can never be registered", d.Name).
		Also(where(d.PlacesAt, d.At), "they live only where a device's access is not coherent").
		Helpf("list one of %s, or leave out `#@register`", list(registrable, "", "or")))
}

func where(at, or source.Span) source.Span {
	if at.IsValid() {
		return at
	}
	return or
}
