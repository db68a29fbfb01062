package resolve

import (
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// place is what an annotation can stand on.
type place uint8

const (
	onFile place = 1 << iota
	onType
	onField
	onMember
	onValue
)

// title names the place for people.
func (p place) title() string {
	switch p {
	case onFile:
		return "a file"
	case onType:
		return "a type"
	case onField:
		return "a field"
	case onMember:
		return "a member of a union"
	case onValue:
		return "a value of an enum"
	}
	return "a type or a field"
}

// annotation is one word of the annotation language.
type annotation struct {
	places place
	needs  string // for help: where it stands
	use    string // for help, between backticks: how it is written
	apply  func(r *resolver, a *ast.Annotation, on target)
}

// target is what an annotation stands on.
type target struct {
	place  place
	decl   *Decl      // onType
	field  *Field     // onField
	member *Member    // onMember
	value  *EnumValue // onValue
	typ    *Type      // the type declared, or the field's or member's
}

// annotations is the language: design, section 2.
var annotations map[string]annotation

func init() { // not a literal: the functions use the table for their help
	annotations = map[string]annotation{
		"package":   {onFile, "at the top of a file, above the first declaration", "#@package(name)", nil},
		"residency": {onType, "above a type", "#@residency(cxl, fallback=unified)", (*resolver).residency},
		"register":  {onType, "above a type", "#@register(remote_read, remote_write)", (*resolver).register},
		"align":     {onType, "above a type", "#@align(64)", (*resolver).align},
		"cacheline": {onField, "above a field", "#@cacheline", (*resolver).cacheline},
		"atomic":    {onField, "above a field", "#@atomic` or `#@atomic(sequence)", (*resolver).atomic},
		"pad":       {onField, "above a field of type data[n]", "#@pad", (*resolver).pad},
		"max":       {onType | onField, "above a type or field that is a str, data, list or map", "#@max(32)", (*resolver).max},
		"ref":       {onField, "above a field of type data[48]", "#@ref(Type, remote_read)", (*resolver).ref},
		"go":        {onType | onField | onMember | onValue, "above what it names", "#@go(name=UserID)", (*resolver).goName},
	}
}

// packageOf is the package that a file names, or "". It also checks the
// annotation; a second one is an error.
func (r *resolver) packageOf(f *ast.File) (name string) {
	var first *ast.Annotation
	for _, a := range fileAnnotations(f) {
		if first != nil {
			r.duplicate(a, first)
			continue
		}
		first = a
		word, ok := r.oneWord(a)
		if !ok {
			continue
		}
		if why := badPackage(word.Name); why != "" {
			r.report(diag.Errorf(diag.BadPackageName, word.Span, "`%s` cannot be the name of a Go package: %s", word.Name, why))
			continue
		}
		name = word.Name
	}
	return name
}

// fileAnnotations are the #@package annotations at the top of the file. One that
// stands right above the first declaration, without a blank line, counts.
func fileAnnotations(f *ast.File) (list []*ast.Annotation) {
	end := len(f.Src.Text())
	if len(f.Decls) > 0 {
		end = f.Decls[0].Span.Start
		list = slices.Clone(f.Decls[0].Annots)
	}
	for _, a := range f.Annots {
		if a.Span.Start < end {
			list = append(list, a)
		}
	}
	list = slices.DeleteFunc(list, func(a *ast.Annotation) bool { return a.Name.Name != "package" || a.Span.Start > end })
	slices.SortFunc(list, func(a, b *ast.Annotation) int { return a.Span.Start - b.Span.Start })
	return list
}

// strays reports annotations that belong to nothing.
func (r *resolver) strays(f *File) {
	for _, c := range f.Syntax.Comments {
		r.spaced(c)
	}
	top := fileAnnotations(f.Syntax)
	for _, a := range f.Syntax.Annots {
		if slices.Contains(top, a) {
			continue
		}
		w, known := r.known(a)
		switch {
		case !known:
		case w.places == onFile:
			r.report(diag.Errorf(diag.AnnotationPlace, a.Span, "`#@%s` cannot stand here", a.Name.Name).
				Helpf("it stands %s", w.needs))
		default:
			r.report(diag.Errorf(diag.StrayAnnotation, a.Span, "this annotation belongs to nothing").
				Helpf("it stands %s, without a blank line between, or behind it on the same line", w.needs))
		}
	}
}

// spaced remarks on a comment that would be an annotation without the space
// behind its #: one of the words alone, or with arguments.
func (r *resolver) spaced(c *ast.Comment) {
	text := c.Text()
	rest := strings.TrimLeft(text, " \t")
	if len(rest) == len(text) || rest == "" || rest[0] != '@' {
		return
	}
	word, args, _ := strings.Cut(rest[1:], "(")
	if _, is := annotations[word]; !is || args != "" && !strings.HasSuffix(args, ")") {
		return
	}
	gap := source.Span{File: c.Span.File, Start: c.Span.Start + 1, End: c.Span.Start + 1 + len(text) - len(rest)}
	r.report(diag.Errorf(diag.SpacedAnnotation, c.Span, "this comment is no annotation: a space stands in front of the `@`").
		Helpf("write `#%s` if it is meant to be one", rest).
		Fix("remove the space", diag.Edit{Span: gap}))
}

// known looks an annotation's word up, and reports one that does not exist.
func (r *resolver) known(a *ast.Annotation) (annotation, bool) {
	w, ok := annotations[a.Name.Name]
	if ok {
		return w, true
	}
	d := diag.Errorf(diag.UnknownAnnotation, a.Name.Span, "there is no annotation `#@%s`", a.Name.Name)
	if guess := nearest(a.Name.Name, mapKeys(annotations)); guess != "" {
		d.Helpf("did you mean `#@%s`?", guess).Fix("write "+guess, diag.Edit{Span: a.Name.Span, New: guess})
	} else {
		d.Helpf("there are %s", list(slices.Sorted(mapKeys(annotations)), "#@", "and"))
	}
	r.report(d)
	return annotation{}, false
}

func mapKeys[V any](m map[string]V) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

// list is words for a sentence: a, b and c.
func list(words []string, prefix, last string) string {
	var b strings.Builder
	for i, w := range words {
		switch {
		case i > 0 && i == len(words)-1:
			b.WriteString(" " + last + " ")
		case i > 0:
			b.WriteString(", ")
		}
		b.WriteString("`" + prefix + w + "`")
	}
	return b.String()
}

// annotate understands the annotations on a declaration, field, member or value.
func (r *resolver) annotate(annots []*ast.Annotation, on target) {
	for i, a := range annots {
		w, known := r.known(a)
		switch {
		case !known:
			continue
		case w.places == onFile && on.place == onType && slices.Contains(fileAnnotations(r.decl.File.Syntax), a):
			continue // understood with the file
		case w.places&on.place == 0:
			r.misplaced(a, w, on)
			continue
		}
		if j := slices.IndexFunc(annots[:i], func(b *ast.Annotation) bool { return b.Name.Name == a.Name.Name }); j >= 0 {
			r.duplicate(a, annots[j])
			continue
		}
		w.apply(r, a, on)
	}
}

func (r *resolver) misplaced(a *ast.Annotation, w annotation, on target) {
	d := diag.Errorf(diag.AnnotationPlace, a.Span, "`#@%s` cannot stand on %s", a.Name.Name, on.place.title()).
		Helpf("it stands %s", w.needs)
	if a.Name.Name == "max" && on.place == onMember {
		d.Helpf("give the member a name: `#@max(…)` above `type Name %s`, and list `Name` here", on.typ.Short())
	}
	r.report(d)
}

func (r *resolver) duplicate(a, first *ast.Annotation) {
	d := diag.Errorf(diag.DuplicateAnnotation, a.Span, "`#@%s` stands here twice", a.Name.Name).
		Also(first.Span, "first here")
	switch a.Name.Name {
	case "residency", "register":
		d.Helpf("write one `#@%s` with all the arguments", a.Name.Name)
	case "atomic":
		d.Helpf("keep `#@atomic(sequence)` for a sequence, `#@atomic` for anything else")
	case "package":
		d.Message = "`#@package` stands in this file twice"
	}
	r.report(d)
}

func (r *resolver) annotateDecl(d *Decl) {
	if len(d.Syntax.Annots) > 0 {
		r.annotate(d.Syntax.Annots, target{place: onType, decl: d, typ: d.Type})
	}
}

func (r *resolver) annotateField(f *Field) {
	if len(f.Syntax.Annots) > 0 {
		r.annotate(f.Syntax.Annots, target{place: onField, field: f, typ: f.Type})
	}
}

func (r *resolver) annotateMember(m *Member, syntax *ast.Member) {
	if len(syntax.Annots) > 0 {
		r.annotate(syntax.Annots, target{place: onMember, member: m, typ: m.Type})
	}
}

func (r *resolver) annotateValue(v *EnumValue, syntax *ast.EnumValue) {
	if len(syntax.Annots) > 0 {
		r.annotate(syntax.Annots, target{place: onValue, value: v})
	}
}

// wrongArgs reports arguments that an annotation does not take.
func (r *resolver) wrongArgs(a *ast.Annotation, at source.Span, format string, args ...any) *diag.Diagnostic {
	return r.report(diag.Errorf(diag.AnnotationArgument, at, format, args...).
		Helpf("write `%s`", annotations[a.Name.Name].use))
}
