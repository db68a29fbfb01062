package resolve

import (
	"math"

	"github.com/fidelityframework/barewire-gen/schema/ast"
	"github.com/fidelityframework/barewire-gen/schema/diag"
	"github.com/fidelityframework/barewire-gen/schema/source"
)

// prims are the built-in types that are one word.
var prims = map[string]Kind{
	"uint": Uint, "u8": U8, "u16": U16, "u32": U32, "u64": U64,
	"int": Int, "i8": I8, "i16": I16, "i32": I32, "i64": I64,
	"f32": F32, "f64": F64, "bool": Bool, "str": Str, "void": Void,
}

// typ builds a type. It checks what can be seen without following names.
func (r *resolver) typ(syntax ast.Type) *Type {
	t := r.types.new()
	if syntax == nil {
		return t
	}
	t.At = syntax.Pos()
	switch s := syntax.(type) {
	case *ast.Prim:
		t.Kind = prims[s.Name]
	case *ast.Named:
		r.named(t, s)
	case *ast.Data:
		t.Kind = Data
		if s.Len != nil {
			t.Kind = FixedData
			t.Len = r.length(t, s.Len, "data")
		}
	case *ast.Optional:
		t.Kind, t.Elem = Optional, r.typ(s.Elem)
	case *ast.List:
		t.Kind, t.Elem = List, r.typ(s.Elem)
		if s.Len != nil {
			t.Kind = FixedList
			t.Len = r.length(t, s.Len, "list<…>")
		}
	case *ast.Map:
		t.Kind, t.Key, t.Elem = Map, r.typ(s.Key), r.typ(s.Value)
	case *ast.Enum:
		t.Kind = Enum
		r.enum(t, s)
	case *ast.Union:
		t.Kind = Union
		r.union(t, s)
	case *ast.Struct:
		t.Kind = Struct
		r.structure(t, s)
	}
	return t
}

// length is the fixed length of t.
func (r *resolver) length(t *Type, n *ast.Int, of string) uint64 {
	if n.Err {
		t.Kind = Invalid
		return 0
	}
	if n.Value == 0 {
		r.report(diag.Errorf(diag.ZeroLength, n.Span, "the length is zero").
			Helpf("`%s[n]` has at least one element", of))
		t.Kind = Invalid
	}
	return n.Value
}

// named looks a type up. A name that is not declared is reported once.
func (r *resolver) named(t *Type, s *ast.Named) {
	if d := r.ns.Types[s.Name]; d != nil {
		t.Kind, t.Decl = Ref, d
		r.decl.refs = append(r.decl.refs, t)
		return
	}
	r.undefinedName(s.Name, s.Span)
}

func (r *resolver) undefinedName(name string, at source.Span) {
	if r.full() {
		return
	}
	if d := r.undefined[name]; d != nil {
		if len(d.Related) < 4 {
			d.Also(at, "used here too")
		}
		if len(d.Fixes) > 0 {
			fix := &d.Fixes[0]
			fix.Edits = append(fix.Edits, diag.Edit{Span: at, New: fix.Edits[0].New})
		}
		return
	}
	if r.declaredSmall(name) {
		return // its declaration has the error
	}
	d := r.report(diag.Errorf(diag.UndefinedType, at, "`%s` is not declared", name))
	r.undefined[name] = d
	for _, ns := range r.schema.Namespaces {
		if other := ns.Types[name]; other != nil && ns != r.ns {
			d.Also(other.At, "declared here, in %s", ns.title())
			d.Notef("packages do not share types")
			d.Helpf("files see each other's types where they have the same `#@package`")
			return
		}
	}
	if guess := r.guess(name); guess != "" {
		d.Helpf("did you mean `%s`?", guess)
		if guess := r.ns.Types[guess]; guess != nil {
			d.Also(guess.At, "`%s` is declared here", guess.Name)
		}
		d.Fix("write "+guess, diag.Edit{Span: at, New: guess})
	} else if !r.alone && len(r.schema.Namespaces) == 1 && len(r.ns.Files) == 1 {
		r.alone = true
		d.Helpf("if another file declares it, give the files of one package together")
	}
}

// declaredSmall reports whether a name is declared, but for the capital letter
// that it must start with.
func (r *resolver) declaredSmall(name string) bool {
	first := name[0]
	return first >= 'A' && first <= 'Z' && r.ns.Types[string(first-'A'+'a')+name[1:]] != nil
}

// title names a namespace for people.
func (ns *Namespace) title() string {
	if ns.Package == "" {
		return "a file without `#@package`"
	}
	return "package " + ns.Package
}

// enum numbers the values: one without a number has its predecessor's and one more.
func (r *resolver) enum(t *Type, s *ast.Enum) {
	if s.Base != nil {
		t.Base = prims[s.Base.Name]
	}
	if len(s.Values) == 0 {
		r.report(diag.Errorf(diag.EmptyEnum, s.Span, "the enum has no value").Helpf("an enum has at least one value"))
		t.Kind = Invalid
		return
	}
	names := newNames(len(s.Values))
	n := numbering{r: r, what: "value", code: diag.DuplicateValue}
	t.Values = make([]*EnumValue, 0, len(s.Values))
	for _, sv := range s.Values {
		v := r.values.new()
		*v = EnumValue{Name: sv.Name.Name, At: sv.Name.Span, Doc: docLines(sv.Doc), Syntax: sv}
		if first, dup := names.add(sv.Name); dup {
			r.report(diag.Errorf(diag.DuplicateValueName, v.At, "the enum has a value `%s` already", v.Name).
				Also(first, "first named here"))
		}
		v.Value = n.next(sv.Value, v.At, v.Name)
		r.fits(t, s, sv, v)
		r.annotateValue(v, sv)
		t.Values = append(t.Values, v)
	}
}

// fits checks a value of an enum whose size on the wire is fixed.
func (r *resolver) fits(t *Type, s *ast.Enum, sv *ast.EnumValue, v *EnumValue) {
	greatest := uint64(math.MaxUint64)
	switch t.Base {
	case U8:
		greatest = math.MaxUint8
	case U16:
		greatest = math.MaxUint16
	case U32:
		greatest = math.MaxUint32
	}
	if v.Value <= greatest {
		return
	}
	at := v.At
	if sv.Value != nil {
		at = sv.Value.Span
	}
	r.report(diag.Errorf(diag.EnumTooWide, at, "%d does not fit in a %s: the greatest is %d", v.Value, s.Base.Name, greatest).
		Also(s.Base.Span, "the enum is stored as %s", s.Base.Name))
}

// numbering gives the values of an enum or the tags of a union.
type numbering struct {
	r     *resolver
	what  string // value or tag
	code  diag.Code
	after uint64 // the next number
	over  bool   // there is none
	lost  bool   // it is not known: the one before could not be read
	quiet bool   // the overflow is reported
	list  []numbered
	seen  map[uint64]int // index into list, made when numbers first do not ascend
}

type numbered struct {
	n    uint64
	at   source.Span
	name string
}

// next is the number of the next value or member: the one written, or the one
// behind its predecessor's.
func (n *numbering) next(written *ast.Int, at source.Span, name string) uint64 {
	v := n.after
	switch {
	case written != nil && written.Err:
		n.lost = true
		return v
	case written != nil:
		v, at, n.over, n.lost = written.Value, written.Span, false, false
	case n.lost:
		return v
	case n.over:
		if !n.quiet {
			n.quiet = true
			last := n.list[len(n.list)-1]
			n.r.report(diag.Errorf(diag.NumberOverflow, at, "the %s of `%s` would be beyond 64 bits", n.what, name).
				Also(last.at, "`%s` has the greatest number there is", last.name))
		}
		return math.MaxUint64
	}
	n.unique(numbered{v, at, name})
	n.after, n.over = v+1, v == math.MaxUint64
	return v
}

func (n *numbering) unique(v numbered) {
	ascends := len(n.list) == 0 || n.seen == nil && v.n > n.list[len(n.list)-1].n
	if !ascends && n.seen == nil {
		n.seen = make(map[uint64]int, 2*len(n.list))
		for i, old := range n.list {
			n.seen[old.n] = i
		}
	}
	if n.seen != nil {
		if i, dup := n.seen[v.n]; dup {
			first := n.list[i]
			d := diag.Errorf(n.code, v.at, "`%s` has the %s %d, as has `%s`", v.name, n.what, v.n, first.name).
				Also(first.at, "`%s` has it first", first.name)
			if v.at.Text() == v.name {
				d.Notef("without a number it is one more than the %s before", n.what)
			}
			n.r.report(d)
		} else {
			n.seen[v.n] = len(n.list)
		}
	}
	n.list = append(n.list, v)
}

// names finds names that stand twice. Few are compared one by one.
type names struct {
	list []ast.Ident
	set  map[string]source.Span
}

func newNames(n int) *names {
	s := &names{}
	if n > 12 {
		s.set = make(map[string]source.Span, n)
	} else {
		s.list = make([]ast.Ident, 0, n)
	}
	return s
}

// add notes a name, and says where it stood before.
func (s *names) add(id ast.Ident) (first source.Span, dup bool) {
	if id.Name == "" {
		return first, false
	}
	if s.set != nil {
		if first, dup = s.set[id.Name]; !dup {
			s.set[id.Name] = id.Span
		}
		return first, dup
	}
	for i := range s.list {
		if s.list[i].Name == id.Name {
			return s.list[i].Span, true
		}
	}
	s.list = append(s.list, id)
	return first, false
}

// union numbers the members. A user type is distinct from what it names.
func (r *resolver) union(t *Type, s *ast.Union) {
	if len(s.Members) == 0 {
		r.report(diag.Errorf(diag.EmptyUnion, s.Span, "the union has no member").Helpf("a union has at least one member"))
		t.Kind = Invalid
		return
	}
	seen := make(map[string]source.Span, len(s.Members))
	n := numbering{r: r, what: "tag", code: diag.DuplicateTag}
	t.Members = make([]*Member, 0, len(s.Members))
	for _, sm := range s.Members {
		m := r.members.new()
		*m = Member{Type: r.typ(sm.Type), At: sm.Type.Pos(), Doc: docLines(sm.Doc), Syntax: sm}
		text := m.Type.String()
		if m.Type.Kind != Invalid {
			if first, dup := seen[text]; dup {
				r.report(diag.Errorf(diag.DuplicateMember, m.At, "the union has a member %s already", quote(m.Type)).
					Also(first, "first listed here").
					Helpf("to have one type twice, give it two names: `type A …` and `type B …` are distinct members"))
			} else {
				seen[text] = m.At
			}
		}
		m.Tag = n.next(sm.Tag, m.At, m.Type.Short())
		r.annotateMember(m, sm)
		t.Members = append(t.Members, m)
	}
}

func (r *resolver) structure(t *Type, s *ast.Struct) {
	if len(s.Fields) == 0 {
		r.report(diag.Errorf(diag.EmptyStruct, s.Span, "the struct has no field").
			Helpf("a struct has at least one field; `void` is the type without a value"))
		t.Kind = Invalid
		return
	}
	names := newNames(len(s.Fields))
	t.Fields = make([]*Field, 0, len(s.Fields))
	for _, sf := range s.Fields {
		f := r.fields.new()
		*f = Field{Name: sf.Name.Name, At: sf.Name.Span, Doc: docLines(sf.Doc), Type: r.typ(sf.Type), Syntax: sf}
		if first, dup := names.add(sf.Name); dup {
			r.report(diag.Errorf(diag.DuplicateField, f.At, "the struct has a field `%s` already", f.Name).
				Also(first, "first declared here"))
		}
		r.annotateField(f)
		t.Fields = append(t.Fields, f)
	}
}
