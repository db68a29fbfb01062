package bwlife

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

// lists notes operations that are put at the end of a slice. They stay in flight until somebody looks into one, or may wait for all: nobody else has them, for
// then the slice would have been stored or given away. It reports false where that is not so.
func (r *run) lists(s *state, site ssa.CallInstruction, v value) bool {
	call, ok := site.(*ssa.Call)
	if !ok || !r.a.listOfOps(call.Type()) || r.infos[0].kind == directive.Op {
		return false
	}
	inside := r.inside(s, v)
	for _, x := range inside {
		if r.infos[x.id].kind != directive.Op {
			return false
		}
	}
	for _, x := range inside {
		if t := s.thing(x.id); t != nil && t.phase == live {
			t.listed, t.stale = true, true
		}
	}
	return len(inside) > 0
}

// opensList is an instruction that may look into a slice of operations, or gives one to others. Asking for its length is the begin of a loop over it.
func (r *run) opensList(s *state, in ssa.Instruction) {
	some := false
	for _, t := range s.things {
		some = some || t.listed && t.phase == live
	}
	if !some || !r.opens(in) {
		return
	}
	for i := range s.things {
		if t := &s.things[i]; t.listed && t.phase == live {
			t.phase = lost
		}
	}
}

func (r *run) opens(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Phi, *ssa.DebugRef, *ssa.Slice:
		return false
	case *ssa.Call:
		if b, ok := in.Call.Value.(*ssa.Builtin); ok && b.Name() == "append" {
			return len(in.Call.Args) != 2 || r.a.listOfOps(in.Call.Args[1].Type()) && !isNew(in.Call.Args[1])
		}
	}
	var room [8]*ssa.Value
	for _, op := range in.Operands(room[:0]) {
		if *op != nil && r.a.listOfOps((*op).Type()) {
			return true
		}
	}
	return false
}

// isNew reports whether a slice is what append gets for the values that it is called with.
func isNew(v ssa.Value) bool {
	s, ok := v.(*ssa.Slice)
	if !ok {
		return false
	}
	_, ok = s.X.(*ssa.Alloc)
	return ok
}

// listOfOps reports whether a type is a slice of operations.
func (a *analyzer) listOfOps(t types.Type) bool {
	s, ok := t.Underlying().(*types.Slice)
	return ok && a.kindOf(s.Elem()) == directive.Op
}
