package resolve

import (
	"slices"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// sequence is the only argument that #@atomic takes.
const sequence = "sequence"

func (r *resolver) atomic(a *ast.Annotation, on target) {
	if len(a.Args) > 0 {
		word, ok := r.oneWord(a)
		if !ok {
			return
		}
		if word.Name != sequence {
			d := r.wrongArgs(a, word.Span, "`#@atomic` takes no argument `%s`", word.Name)
			if nearest(word.Name, slices.Values([]string{sequence})) != "" {
				d.Helpf("did you mean `%s`?", sequence).Fix("write "+sequence, diag.Edit{Span: word.Span, New: sequence})
			}
			return
		}
		on.field.Sequence = true // its place: checkSequence
	}
	on.field.Atomic, on.field.AtomicAt = true, a.Span // its type: checkAtomic
}

// checkAtomic checks the type of an #@atomic field. A field with a wrong one is
// none from here on.
func (r *resolver) checkAtomic(f *Field) {
	under := f.Type.Resolve()
	what := "`#@atomic` needs u64, i64, u32 or i32"
	switch under.Kind {
	case Invalid:
		f.Atomic, f.Sequence = false, false
		return
	case U64:
		return
	case I64, U32, I32:
		if !f.Sequence {
			return
		}
	}
	if f.Sequence {
		what = "`#@atomic(sequence)` needs u64"
	}
	d := diag.Errorf(diag.AnnotationType, f.Type.At, "%s, not %s", what, quote(f.Type)).
		Also(f.AtomicAt, "it stands here")
	switch under.Kind {
	case Uint, Int:
		d.Notef("%s has no fixed size", quote(under))
	case I64, U32, I32:
		d.Helpf("write `#@atomic` if `%s` is no sequence", f.Name)
	}
	if f.Sequence {
		d.Helpf("write `u64` if it is one: odd while the element is written, greater after")
	}
	r.report(d)
	f.Atomic, f.Sequence = false, false
}

// checkSequence checks that the sequence of a struct is the first of several
// fields: a reader knows from that alone where it is.
func (r *resolver) checkSequence(t *Type) {
	var seq *Field
	for i, f := range t.Fields {
		switch {
		case !f.Sequence:
			continue
		case seq != nil:
			r.report(diag.Errorf(diag.SequencePlace, f.AtomicAt, "`%s` is a second sequence: a struct has one", f.Name).
				Also(seq.AtomicAt, "`%s` is the first", seq.Name).
				Helpf("write `#@atomic` if it counts something else"))
			continue
		case i > 0:
			first := t.Fields[0]
			r.report(diag.Errorf(diag.SequencePlace, f.AtomicAt, "`%s` is not the first field, and a sequence must be", f.Name).
				Also(first.At, "`%s` is the first", first.Name).
				Helpf("move `%s` in front of `%s`, or write `#@atomic` if it counts something else", f.Name, first.Name))
		case !slices.ContainsFunc(t.Fields[1:], func(f *Field) bool { return !f.Pad }):
			d := diag.Errorf(diag.SequencePlace, f.AtomicAt, "`%s` is a sequence of nothing: there is no other field", f.Name)
			if len(t.Fields) > 1 {
				d.Also(t.Fields[1].At, "`%s` is padding", t.Fields[1].Name)
			}
			r.report(d.Helpf("write `#@atomic`: one word is read and written at once without a sequence"))
		}
		seq = f
	}
}
