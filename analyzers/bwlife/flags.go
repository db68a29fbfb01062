package bwlife

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// flagAt is a number, a text or a flag in memory that is not known, and that others may write to: whichever instruction reads it, it is taken to be the same, but
// in loops. Somebody may have changed it meanwhile; but a finding that rests on that is none that is sure.
func (r *run) flagAt(fr *frame, s *state, k placeKey, in ssa.Value) value {
	_, basic := in.Type().Underlying().(*types.Basic)
	def, ok := in.(ssa.Instruction)
	if !basic || !ok || k.root.kind != symbol || fr.again || fr.sh.loops[def.Block().Index] {
		return value{}
	}
	root := r.symbols.keys[k.root.id]
	if len(root.path)+len(k.path) > 60 {
		return value{}
	}
	flag := r.sym(root.frame, root.v, root.path+k.path+"*")
	if r.besides(s, k) {
		if r.doubts == nil {
			r.doubts = map[value]bool{}
		}
		r.doubts[flag] = true
	}
	return flag
}

// besides reports whether a place is in a struct of the function's own that has the object too, and that others have got hold of: a flag there may
// say whether the object is to be ended, and methods may have changed it. A way on which it was tested is none that is sure.
func (r *run) besides(s *state, k placeKey) bool {
	if _, own := r.symbols.keys[k.root.id].v.(*ssa.Alloc); !own || k.path == "" {
		return false
	}
	for id, v := range s.mem.all() {
		if v.kind == object && v.id == 0 && r.places.keys[id].root == k.root {
			return true
		}
	}
	return false
}

// answered drops what tests have said of a flag that gets another value.
func (r *run) answered(s *state, flag symKey) {
	id, ok := r.symbols.ids[flag]
	if !ok {
		return
	}
	sym := value{kind: symbol, id: id}
	for c := range s.conds.all() {
		if k := r.conds.keys[c]; k.x == sym || k.y == sym {
			s.conds.drop(c)
			s.hopes.drop(c)
		}
	}
}

// pure is what a function of the standard library says of texts and numbers: it says the same of the same.
func (r *run) pure(fr *frame, s *state, call *ssa.Call) value {
	if !r.a.isPure(call) {
		return value{}
	}
	var asked strings.Builder
	for _, arg := range call.Call.Args {
		if c, ok := arg.(*ssa.Const); ok && c.Value != nil {
			asked.WriteString("|" + c.Value.ExactString())
			continue
		}
		v := r.eval(fr, s, arg)
		if v.kind == unknown || v.kind == many {
			return value{}
		}
		fmt.Fprintf(&asked, "|%d", v.number())
	}
	return r.sym(always, call.Call.StaticCallee(), asked.String())
}

// always is in place of the frame for symbols of no activation: they are the same in all.
const always = -2

func (a *analyzer) isPure(call *ssa.Call) bool {
	obj, fn := callee(&call.Call), call.Call.StaticCallee()
	if _, basic := call.Type().Underlying().(*types.Basic); !basic || obj == nil || !std(obj.Pkg()) || !a.asks(fn) {
		return false
	}
	return !slices.ContainsFunc(call.Call.Args, func(arg ssa.Value) bool {
		_, basic := arg.Type().Underlying().(*types.Basic)
		return !basic
	})
}
