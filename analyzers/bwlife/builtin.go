package bwlife

import (
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
				}
			}
			if i > 0 && t.name == "append" {
				r.escape(s, a)
			}
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
		return r.fieldOf(arg, "#"+name)
	case "append":
		return value{kind: nonNil}
	}
	return value{}
}
