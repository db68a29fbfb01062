package resolve

import (
	"strings"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// check checks what can only be seen through names: where void stands, what
// keys a map, what an annotated field is.
func (r *resolver) check(d *Decl) {
	r.decl = d
	r.inside(d.Type)
	r.checkRegions(d)
}

func (r *resolver) inside(t *Type) {
	switch t.Kind {
	case Optional:
		r.value(t.Elem, "an optional holds a value")
	case List, FixedList:
		r.value(t.Elem, "a list's elements have values")
	case Map:
		r.key(t.Key)
		r.value(t.Elem, "a map's values are values")
	case Union:
		for _, m := range t.Members {
			r.inside(m.Type)
		}
	case Struct:
		for _, f := range t.Fields {
			r.value(f.Type, "a field has a value")
			r.checkField(f)
		}
		r.checkSequence(t)
	}
}

// value checks a type that must have a value: anything but void.
func (r *resolver) value(t *Type, why string) {
	if t.Resolve().Kind == Void {
		d := diag.Errorf(diag.MisplacedVoid, t.At, "`void` cannot stand here: %s", why)
		if t.Kind == Ref {
			d.Message = "`" + t.Decl.Name + "` is `void`, which cannot stand here: " + why
			d.Also(t.Decl.At, "`%s` is declared here", t.Decl.Name)
		}
		r.report(d.Helpf("`void` can be a member of a union; for a flag write `bool`"))
		return
	}
	r.inside(t)
}

func (r *resolver) key(t *Type) {
	under := t.Resolve()
	why := ""
	switch under.Kind {
	case F32, F64:
		why = "floats do not compare well: NaN equals nothing"
	case Void, Optional, List, FixedList, Map, Union, Struct:
		why = "a key is a number, bool, str, data or an enum"
	case Data, FixedData:
		if r.opts.Spec != 0 && r.opts.Spec < 13 {
			why = "drafts before 13 do not allow data as a key"
		}
	}
	if why == "" {
		return
	}
	d := diag.Errorf(diag.BadMapKey, t.At, "%s cannot be a map's key", quote(t)).Notef("%s", why)
	if t.Kind == Ref {
		d.Message = "`" + t.Decl.Name + "` cannot be a map's key: it is " + article(under)
		d.Also(t.Decl.At, "`%s` is declared here", t.Decl.Name)
	}
	r.report(d)
	r.inside(t)
}

// article is the type's kind with a or an.
func article(t *Type) string {
	word := t.Short()
	switch t.Kind {
	case Enum, Union, Struct:
		word = t.Kind.String()
	}
	if t.Kind != Union && strings.ContainsRune("aeif", rune(word[0])) {
		return "an " + word // an enum, an i8, an f64
	}
	return "a " + word
}
