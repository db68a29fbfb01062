package resolve

import (
	"go/token"
	"math/bits"
	"strconv"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// noArgs reports arguments where there can be none.
func (r *resolver) noArgs(a *ast.Annotation) bool {
	if len(a.Args) > 0 {
		r.wrongArgs(a, a.Args[0].Span, "`#@%s` takes no argument", a.Name.Name)
		return false
	}
	return true
}

// oneWord is the annotation's only argument, which is plain.
func (r *resolver) oneWord(a *ast.Annotation) (ast.Ident, bool) {
	switch {
	case len(a.Args) == 0:
		r.wrongArgs(a, a.Span, "`#@%s` needs an argument", a.Name.Name)
		return ast.Ident{}, false
	case len(a.Args) > 1:
		r.wrongArgs(a, a.Args[1].Span, "`#@%s` takes one argument", a.Name.Name)
		return ast.Ident{}, false
	}
	return r.plain(a, a.Args[0])
}

// plain is an argument that is a word or number without key or arguments.
func (r *resolver) plain(a *ast.Annotation, arg *ast.Arg) (ast.Ident, bool) {
	switch {
	case arg.Key.Name != "":
		r.wrongArgs(a, arg.Key.Span, "`#@%s` has no `%s`", a.Name.Name, arg.Key.Name)
		return ast.Ident{}, false
	case len(arg.Args) > 0:
		r.wrongArgs(a, arg.Args[0].Span, "`%s` takes no argument", arg.Value.Name)
		return ast.Ident{}, false
	}
	return arg.Value, true
}

// number is an argument that is a whole number, at least 1.
func (r *resolver) number(a *ast.Annotation, word ast.Ident) (uint64, bool) {
	n, err := strconv.ParseUint(word.Name, 10, 64)
	switch {
	case err != nil && isDigits(word.Name):
		r.wrongArgs(a, word.Span, "this number does not fit in 64 bits")
	case err != nil:
		r.wrongArgs(a, word.Span, "`%s` is not a number", word.Name)
	case n == 0:
		r.wrongArgs(a, word.Span, "the number is zero")
	default:
		return n, true
	}
	return 0, false
}

func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// mostAlign is the greatest #@align: a huge page of 1 GiB.
const mostAlign = 1 << 30

func (r *resolver) align(a *ast.Annotation, on target) {
	word, ok := r.oneWord(a)
	if !ok {
		return
	}
	n, ok := r.number(a, word)
	switch {
	case !ok:
	case bits.OnesCount64(n) != 1:
		d := r.wrongArgs(a, word.Span, "%d is not a power of two", n)
		if n < mostAlign {
			d.Helpf("the powers of two next to it are %d and %d", 1<<(bits.Len64(n)-1), 1<<bits.Len64(n))
		}
	case n > mostAlign:
		r.wrongArgs(a, word.Span, "%d is more than memory can be aligned to: the greatest is %d", n, mostAlign)
	default:
		on.decl.Align, on.decl.AlignAt = n, a.Span
	}
}

func (r *resolver) cacheline(a *ast.Annotation, on target) {
	line := uint64(64)
	if len(a.Args) > 0 {
		word, ok := r.oneWord(a)
		if !ok {
			return
		}
		if line, ok = r.number(a, word); !ok {
			return
		}
		if line != 64 && line != 128 {
			r.wrongArgs(a, word.Span, "a cache line has 64 or 128 bytes, not %d", line)
			return
		}
	}
	on.field.Cacheline, on.field.LineAt = line, a.Span
}

// pad takes data[n] as it is written, no name for it: padding has no type in Go.
func (r *resolver) pad(a *ast.Annotation, on target) {
	if !r.noArgs(a) || on.typ.Kind == Invalid {
		return
	}
	if on.typ.Kind != FixedData {
		r.report(diag.Errorf(diag.AnnotationType, on.typ.At, "padding is `data[n]`, not %s", quote(on.typ)).
			Also(a.Span, "`#@pad` asks for it"))
		return
	}
	on.field.Pad, on.field.PadAt = true, a.Span
}

// max binds to the outermost type where it stands, or to the type declared.
func (r *resolver) max(a *ast.Annotation, on target) {
	word, ok := r.oneWord(a)
	if !ok {
		return
	}
	n, ok := r.number(a, word)
	if !ok {
		return
	}
	switch t := on.typ; t.Kind {
	case Str, Data, List, Map:
		t.Max, t.MaxAt = n, a.Span
	case Invalid:
	default:
		d := diag.Errorf(diag.AnnotationType, t.At, "`#@max` cannot limit %s", quote(t)).Also(a.Span, "it stands here")
		switch t.Kind {
		case Ref:
			d.Helpf("a named type carries its own limit: `#@max(%d)` above the declaration of `%s`", n, t.Decl.Name)
			d.Also(t.Decl.At, "`%s` is declared here", t.Decl.Name)
		case FixedData, FixedList:
			d.Helpf("its length is fixed already")
		case Optional:
			d.Helpf("give what is in it a name: `#@max(%d)` above `type Name %s`", n, t.Elem.Short())
		default:
			d.Helpf("it limits a str or data in bytes, a list in elements, a map in entries")
		}
		r.report(d)
	}
}

func (r *resolver) goName(a *ast.Annotation, on target) {
	if len(a.Args) == 0 {
		r.wrongArgs(a, a.Span, "`#@go` needs an argument")
		return
	}
	var name ast.Ident
	for _, arg := range a.Args {
		switch {
		case arg.Key.Name == "type":
			r.report(diag.Errorf(diag.ReservedAnnotation, arg.Span, "`#@go(type=…)` is reserved and does nothing yet").
				Helpf("convert to your own type where the generated one is used"))
		case arg.Key.Name != "name":
			r.wrongArgs(a, arg.Span, "`#@go` takes `name=…`")
		case len(arg.Args) > 0:
			r.wrongArgs(a, arg.Args[0].Span, "`name` takes no argument")
		case name.Name != "":
			r.wrongArgs(a, arg.Span, "`name` stands here twice")
		default:
			name = arg.Value
		}
	}
	switch {
	case on.decl != nil:
		on.decl.GoName = name
	case on.field != nil:
		on.field.GoName = name
	case on.member != nil:
		on.member.GoName = name
	case on.value != nil:
		on.value.GoName = name
	}
}

// badPackage says why a word cannot name a Go package; "" where it can.
func badPackage(name string) string {
	switch {
	case token.IsKeyword(name):
		return "it is a keyword"
	case name == "_" || !token.IsIdentifier(name):
		return "it is not an identifier"
	}
	return ""
}
