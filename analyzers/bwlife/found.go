package bwlife

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

// foundIn are the handles of a function that come from where nothing is known of them: a map, a slice, a channel,
// an interface, a call. They are somebody else's to release, but once they are, they are no more.
func (a *analyzer) foundIn(fn *ssa.Function) (list []spec) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			v, ok := in.(ssa.Value)
			if !ok || !usedAgain(v) && !a.isBooked(v) || !comesFromAfar(v) {
				continue
			}
			list = append(list, a.fieldsFound(v)...)
			if k := a.kindOf(v.Type()); k != directive.Handle && k != directive.Window || a.makesValue(v) {
				continue
			}
			list = append(list, spec{kind: a.kindOf(v.Type()), typ: v.Type(), value: v})
		}
	}
	return list
}

// fieldsFound are the handles in fields of a struct that comes from a map, a slice, a channel or an interface, or of one that
// a pointer from there leads to. What calls give is left out.
func (a *analyzer) fieldsFound(v ssa.Value) (list []spec) {
	from := v
	if x, ok := v.(*ssa.Extract); ok {
		from = x.Tuple
	}
	if _, ok := from.(*ssa.Call); ok {
		return nil
	}
	for _, at := range a.handlesIn(v.Type(), "", 2) {
		if at.path != "" && (at.kind == directive.Handle || at.kind == directive.Window) {
			list = append(list, spec{kind: at.kind, typ: at.typ, value: v, path: at.path})
		}
	}
	return list
}

// usedAgain reports whether a value is used twice, or put into a variable that may be.
func usedAgain(v ssa.Value) bool {
	if v.Referrers() == nil {
		return false
	}
	for _, ref := range *v.Referrers() {
		if st, ok := ref.(*ssa.Store); ok && st.Val == v {
			if _, ok := st.Addr.(*ssa.Alloc); ok {
				return true
			}
		}
	}
	return len(*v.Referrers()) > 1
}

// comesFromAfar reports whether a value was somewhere else before.
func comesFromAfar(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Lookup:
		return !v.CommaOk
	case *ssa.TypeAssert:
		return !v.CommaOk
	case *ssa.UnOp:
		if v.Op == token.MUL {
			_, element := v.X.(*ssa.IndexAddr)
			return element
		}
		return v.Op == token.ARROW && !v.CommaOk
	case *ssa.Extract:
		return true
	case *ssa.Call:
		return true
	}
	return false
}

// makesValue reports whether a value is the result of a call whose effects say what it is.
func (a *analyzer) makesValue(v ssa.Value) bool {
	call, ok := v.(*ssa.Call)
	if x, isExtract := v.(*ssa.Extract); isExtract {
		call, ok = x.Tuple.(*ssa.Call)
	}
	if !ok {
		return false
	}
	obj := callee(&call.Call)
	if obj == nil {
		return true // a function literal perhaps, which is run in place
	}
	sum := a.effects(obj)
	if sum == nil {
		return false
	}
	for _, p := range sum.Params {
		for _, c := range p.Cases {
			if len(c.Derived) > 0 {
				return true
			}
		}
	}
	return len(sum.Fresh) > 0
}

// find is where a handle comes from that was somewhere else.
func (r *run) find(s *state) {
	s.replace(func(v value) bool { return v.kind == object }, &r.interner)
	s.things = s.things[:1]
	*s.main() = thing{phase: live, free: true, at: r.infos[0].pos}
	r.bookedElsewhere(s)
	v := value{kind: object}
	if r.spec.path != "" {
		v = r.sym(0, r.spec.value, "") // what is in it is known by that
	}
	s.env.set(slot{0, r.spec.value}, v)
}

// placeOfValue is the position of a value, or of the one that it is a part of.
func placeOfValue(v ssa.Value) token.Pos {
	switch x := v.(type) {
	case *ssa.Extract:
		return placeOfValue(x.Tuple)
	case *ssa.UnOp:
		if x.Op == token.MUL {
			return x.X.Pos()
		}
	case *ssa.Next:
		return placeOfValue(x.Iter)
	}
	return v.Pos()
}

// foundName is what a program calls such a handle.
func (a *analyzer) foundName(sp spec) string {
	names := a.names[placeOfValue(sp.value)]
	i := 0
	if x, ok := sp.value.(*ssa.Extract); ok {
		i = x.Index
		if next, ok := x.Tuple.(*ssa.Next); ok && !next.IsString {
			i--
		}
	}
	if i < len(names) && !slices.Contains([]string{"_", ""}, names[i]) {
		return names[i] + sp.path
	}
	return "the " + sp.kind
}
