package bwlife

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// builtin is a call of append, panic and the like.
func (r *run) builtin(s *state, site ssa.CallInstruction, t target) []outcome {
	switch t.name {
	case "append", "ssa:wrapnilchk", "copy":
		for i, a := range t.args {
			for _, x := range r.inside(s, a) {
				if r.infos[x.id].kind == "view" {
					r.use(s, x.id, site.Pos())
					r.touch(s, x.id, site.Pos(), t.name == "copy" && i == 0)
				}
			}
			if i > 0 && t.name == "append" && !r.lists(s, site, a) {
				r.escape(s, a)
			}
		}
	}
	if t.name == "clear" {
		for _, x := range r.inside(s, t.args[0]) {
			r.use(s, x.id, site.Pos())
			r.touch(s, x.id, site.Pos(), true)
		}
	}
	return []outcome{{s: s}}
}

// builtinResult is what a builtin gives: of append to what is not known, nothing either.
func (r *run) builtinResult(fr *frame, s *state, name string, in *ssa.Call) value {
	if len(in.Call.Args) == 0 {
		return value{}
	}
	arg := r.eval(fr, s, in.Call.Args[0])
	switch name {
	case "ssa:wrapnilchk":
		return arg
	case "len", "cap":
		if n, ok := lengthOf(in.Call.Args[0]); ok {
			return value{kind: number, id: n}
		}
		return r.fieldOf(arg, "#"+name)
	case "append":
		return value{kind: nonNil}
	}
	return value{}
}

// lengthOf is the length of a slice literal.
func lengthOf(v ssa.Value) (int32, bool) {
	s, ok := v.(*ssa.Slice)
	if !ok || s.Low != nil || s.High != nil {
		return 0, false
	}
	p, ok := s.X.Type().Underlying().(*types.Pointer)
	if !ok {
		return 0, false
	}
	a, ok := p.Elem().Underlying().(*types.Array)
	if !ok || a.Len() > 1<<30 {
		return 0, false
	}
	return int32(a.Len()), true
}
