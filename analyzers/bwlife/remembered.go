package bwlife

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// This file is about the memory that a slice needs: what was put where, and under which addresses the object may be.

// reading is a read of memory that has to be right: what was written there matters.
func (sl *slice) reading(in *ssa.UnOp, at int32) {
	if isSentinel(in) {
		return
	}
	root := rootOf(in.X)
	if a, ok := root.(*ssa.Alloc); ok && in.X == root {
		if v := sl.f.simple[a]; v != nil {
			sl.holding(v, at)
			return
		}
	}
	sl.foreign = true
	sl.leadsBack(root, 0)
}

// holding is what a variable holds at an instruction.
func (sl *slice) holding(v *variable, at int32) {
	for _, def := range sl.f.reaching(v, at) {
		sl.runs(def)
		switch def := sl.f.instrs[def].(type) {
		case *ssa.Store:
			sl.needs(def.Val)
		case *ssa.RunDefers:
			for _, mc := range v.closures {
				if sl.f.shares(mc, v).writes {
					sl.deferring(mc)
				}
			}
			sl.holding(v, sl.f.at(def))
		}
	}
}

// at is the number of an instruction that is no value.
func (f *flow) at(in ssa.Instruction) int32 {
	b := in.Block().Index
	for i := f.first[b]; i < f.first[b+1]; i++ {
		if f.instrs[i] == in {
			return i
		}
	}
	return -1
}

// shares is what a closure does with a variable.
func (f *flow) shares(mc int32, v *variable) (sh sharing) {
	in := f.instrs[mc].(*ssa.MakeClosure)
	for j, s := range f.a.sharings(in.Fn.(*ssa.Function)) {
		if in.Bindings[j] == ssa.Value(v.alloc) {
			sh.decides, sh.writes = sh.decides || s.decides, sh.writes || s.writes
		}
	}
	return sh
}

// deferring is a deferred closure that is to be run.
func (sl *slice) deferring(mc int32) {
	in := sl.f.instrs[mc].(*ssa.MakeClosure)
	sl.runs(mc)
	for _, u := range sl.f.uses[sl.f.numbers[in]] {
		sl.runs(u)
	}
}

// tracking is a variable of which all is to be known that happens to it.
func (sl *slice) tracking(v *variable) {
	if loud, ok := sl.tracked[v]; ok && (loud || sl.quiet) {
		return
	}
	sl.tracked[v] = !sl.quiet
	sl.runs(sl.f.defs[sl.f.numbers[v.alloc]])
	for _, st := range v.stores {
		sl.runs(st)
		sl.needs(sl.f.instrs[st].(*ssa.Store).Val)
	}
	for _, mc := range v.closures {
		if sl.f.shares(mc, v).writes {
			sl.deferring(mc)
		}
	}
}

// capturing is a closure that is made: what it shares may be read and written when it runs.
func (sl *slice) capturing(mc *ssa.MakeClosure) {
	shared := sl.f.a.sharings(mc.Fn.(*ssa.Function))
	for j, b := range mc.Bindings {
		a, isAlloc := b.(*ssa.Alloc)
		if !isAlloc {
			sl.needs(b)
			if _, ok := b.Type().Underlying().(*types.Pointer); ok {
				sl.leadsBack(rootOf(b), 0)
			}
			continue
		}
		v := sl.f.simple[a]
		switch {
		case !shared[j].decides && !carries(a.Type().Underlying().(*types.Pointer).Elem()):
			// whatever it holds: nothing depends on it
		case v != nil:
			sl.tracking(v)
		default:
			sl.leads(a)
		}
	}
}

// holds is memory in which something is put that leads to the object.
func (sl *slice) holds(addr ssa.Value) {
	root := rootOf(addr)
	if a, ok := root.(*ssa.Alloc); ok && addr == root {
		if v := sl.f.simple[a]; v != nil {
			sl.tracking(v)
			for _, i := range v.loads {
				sl.runs(i)
				if in := sl.f.instrs[i].(ssa.Value); carries(in.Type()) {
					sl.leads(in)
				}
			}
			for _, mc := range v.closures {
				sl.leads(sl.f.instrs[mc].(ssa.Value))
			}
			return
		}
	}
	sl.leadsBack(root, 0)
}

// leadsBack is an address under which the object may be, or something that matters. Other values may be the same address.
func (sl *slice) leadsBack(v ssa.Value, depth int) {
	n := sl.f.value(v)
	if n < 0 || sl.obj.has(int(n)) || depth > 20 {
		return
	}
	sl.leads(v)
	switch in := v.(type) {
	case *ssa.Phi:
		for _, e := range in.Edges {
			sl.leadsBack(rootOf(e), depth+1)
		}
	case *ssa.UnOp:
		if in.Op == token.MUL {
			root := rootOf(in.X)
			sl.leadsBack(root, depth+1)
			sl.stored(root, depth)
		}
	case *ssa.TypeAssert:
		sl.leadsBack(rootOf(in.X), depth+1)
	case *ssa.MakeInterface:
		sl.leadsBack(rootOf(in.X), depth+1)
	case *ssa.ChangeInterface:
		sl.leadsBack(rootOf(in.X), depth+1)
	case *ssa.Extract:
		sl.leadsBack(in.Tuple, depth+1)
	case *ssa.Field:
		sl.leadsBack(in.X, depth+1)
	case *ssa.Call:
		if sl.f.calls[sl.f.defs[n]].inline {
			sl.leadsBack(in.Call.Value, depth+1)
			for _, arg := range in.Call.Args {
				sl.leadsBack(rootOf(arg), depth+1)
			}
		}
	case *ssa.MakeClosure:
		for _, b := range in.Bindings {
			sl.leadsBack(rootOf(b), depth+1)
		}
	}
}

// stored are pointers that were put below an address: what is read from there may be one of them.
func (sl *slice) stored(addr ssa.Value, depth int) {
	if depth > 20 {
		return
	}
	for _, i := range sl.f.uses[sl.f.value(addr)] {
		switch in := sl.f.instrs[i].(type) {
		case *ssa.Store:
			if in.Addr == addr && nillable(in.Val.Type()) {
				sl.leadsBack(rootOf(in.Val), depth+1)
			}
		case *ssa.FieldAddr:
			sl.stored(in, depth+1)
		case *ssa.IndexAddr:
			if in.X == addr {
				sl.stored(in, depth+1)
			}
		}
	}
}
