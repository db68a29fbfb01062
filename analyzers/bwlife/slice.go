package bwlife

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// slice is the part of a function that matters for one object: the instructions that may touch it or lead to it,
// those that decide on the way to these, and what these need. The rest is passed over, so that a run costs what
// happens to its object, not what happens to others.
type slice struct {
	f       *flow
	run     bits               // instructions
	obj     bits               // values that may be the object, or lead to it: addresses, closures, structs
	need    bits               // values that have to be known
	sure    bits               // of run those that are not for tests only
	told    bits               // of need the same: something else than tests may say something of them
	quiet   bool               // what is marked is for a test only
	tested  bits               // blocks that end in a test to make
	late    bits               // those whose test only ambient instructions want
	kept    bits               // blocks that have instructions to run, or a test to make
	tracked map[*variable]bool // true: not for tests only
	ops     bool               // there may be operations on the object
	parts   bool               // there may be handles of their own on memory of the object
	foreign bool               // memory of others is read
	results bool               // what is returned matters
	work    []job
	paths   [levels]map[int32][]hop
}

// job is a mark whose consequences are still to be drawn.
type job struct {
	what  byte // 'o': obj, 'n': need, 'r': run
	quiet bool
	index int32
}

// sliceOf works out what matters for a run.
func (r *run) sliceOf() *slice {
	f := r.a.flowOf(r.fn)
	sl := &slice{f: f, tracked: map[*variable]bool{}}
	sl.run, sl.sure = make(bits, (len(f.instrs)+63)/64), make(bits, (len(f.instrs)+63)/64)
	sl.kept = make(bits, (len(f.fn.Blocks)+63)/64)
	sl.tested, sl.late = make(bits, len(sl.kept)), make(bits, len(sl.kept))
	words := (len(f.values) + 64) / 64
	sl.obj, sl.need, sl.told = make(bits, words), make(bits, words), make(bits, words)
	sl.ops = r.spec.kind == directive.Op
	sl.results = r.spec.call == nil && r.spec.value == nil || sl.ops || r.givesHandles()
	switch {
	case r.spec.call != nil:
		i := f.defs[f.numbers[r.spec.call.Value()]]
		sl.runs(i)
		sl.leads(r.spec.call.Value())
		for _, arg := range r.filled() {
			sl.leads(arg)
		}
		for _, v := range r.filled() {
			sl.leads(v)
		}
	case r.spec.value != nil:
		sl.runs(f.defs[f.numbers[r.spec.value]])
		sl.leads(r.spec.value)
	default:
		sl.leads(r.fn.Params[r.spec.param])
		for _, p := range r.fn.Params {
			if tells(p.Type()) {
				sl.needs(p) // cases are about them
			}
		}
	}
	for again := true; again; again = sl.demand(0) || sl.ambience() != 0 && sl.demand(sl.ambience()) {
		sl.close()
		if sl.results {
			sl.ways(r)
			sl.close()
		}
	}
	return sl
}

// tells reports whether something may be known of values of a type that callers can use.
func tells(t types.Type) bool {
	if b, ok := t.Underlying().(*types.Basic); ok {
		return b.Kind() == types.Bool
	}
	return nillable(t)
}

func (sl *slice) runs(i int32) {
	if i < 0 {
		return
	}
	sl.kept.add(int(sl.f.blocks[i]))
	if mark(sl.run, sl.sure, i, sl.quiet) {
		sl.work = append(sl.work, job{'r', sl.quiet, i})
	}
}

func (sl *slice) leads(v ssa.Value) {
	if n := sl.f.value(v); n >= 0 && !sl.obj.has(int(n)) {
		sl.obj.add(int(n))
		sl.work = append(sl.work, job{'o', false, n})
	}
}

func (sl *slice) needs(v ssa.Value) {
	if n := sl.f.value(v); n >= 0 && mark(sl.need, sl.told, n, sl.quiet) {
		sl.work = append(sl.work, job{'n', sl.quiet, n})
	}
}

// mark adds to a set, and to the part of it that is not for tests only. It reports whether that is news.
func mark(all, part bits, i int32, quiet bool) bool {
	if quiet && all.has(int(i)) || !quiet && part.has(int(i)) {
		return false
	}
	all.add(int(i))
	if !quiet {
		part.add(int(i))
	}
	return true
}

// close draws the consequences of all marks.
func (sl *slice) close() {
	for len(sl.work) > 0 {
		j := sl.work[len(sl.work)-1]
		sl.work = sl.work[:len(sl.work)-1]
		sl.quiet = j.quiet
		switch j.what {
		case 'r':
			sl.running(j.index)
		case 'n':
			sl.needed(j.index)
		case 'o':
			if def := sl.f.defs[j.index]; def >= 0 {
				sl.runs(def)
			}
			for _, i := range sl.f.uses[j.index] {
				sl.touched(i, sl.f.values[j.index])
			}
		}
	}
	sl.quiet = false
}

// touched is an instruction that has v among its operands, which may be the object or lead to it.
func (sl *slice) touched(i int32, v ssa.Value) {
	switch in := sl.f.instrs[i].(type) {
	case *ssa.If, *ssa.BinOp, *ssa.Jump, *ssa.RunDefers, *ssa.Panic, *ssa.Range, *ssa.Next, *ssa.DebugRef:
		return // tests are made where they matter: see demand
	case *ssa.Store:
		sl.runs(i)
		if in.Val == v {
			sl.holds(in.Addr)
		}
	case *ssa.Call:
		sl.runs(i)
		c := sl.f.calls[i]
		sl.parts = sl.parts || c.carves()
		if c.inline || c.derives() || c.passes() || sl.parts && c.moves() || sl.f.a.listOfOps(in.Type()) {
			sl.leads(in)
		}
	case *ssa.Extract:
		sl.runs(i)
		if carries(in.Type()) {
			sl.leads(in)
		}
	case *ssa.UnOp:
		switch in.Op {
		case token.MUL:
			sl.runs(i)
			if carries(in.Type()) {
				sl.leads(in)
			}
		case token.ARROW:
			sl.runs(i)
		}
	case ssa.Value:
		sl.runs(i)
		if carries(in.Type()) {
			sl.leads(in)
		}
	default:
		sl.runs(i)
	}
}

// derives reports whether a result of a call may be what an argument is, or come from it.
func (c *callInfo) derives() bool {
	if c.sum == nil {
		return false
	}
	if len(c.sum.Closes) > 0 {
		return true
	}
	for _, p := range c.sum.Params {
		for _, k := range p.Cases {
			if len(k.Derived) > 0 {
				return true
			}
		}
	}
	return false
}

// carves reports whether a result of a call may be a handle of its own on memory of an argument.
func (c *callInfo) carves() bool {
	return c.anyCase(func(k facts.Case) bool {
		return slices.ContainsFunc(k.Derived, func(d facts.Derived) bool { return d.Kind == carved })
	})
}

// moves reports whether the memory of an argument may go on in a result.
func (c *callInfo) moves() bool {
	return c.anyCase(func(k facts.Case) bool { return k.Post == facts.Moved }) && len(c.sum.Fresh) > 0
}

// anyCase reports whether one of the ways that a call may go, for any argument, is such.
func (c *callInfo) anyCase(is func(facts.Case) bool) bool {
	return c.sum != nil && slices.ContainsFunc(c.sum.Params, func(p facts.Param) bool { return slices.ContainsFunc(p.Cases, is) })
}

// passes reports whether a call is one of a builtin that gives what it is given.
func (c *callInfo) passes() bool {
	b, ok := c.site.Common().Value.(*ssa.Builtin)
	return ok && b.Name() == "ssa:wrapnilchk"
}

// running is an instruction that is run: its operands have to be known, as far as they matter.
func (sl *slice) running(i int32) {
	in := sl.f.instrs[i]
	if v, ok := in.(ssa.Value); ok {
		n := sl.f.numbers[v]
		mark(sl.need, sl.told, n, sl.quiet) // tests of it are tests of what happened
	}
	switch in := in.(type) {
	case ssa.CallInstruction:
		sl.calling(in, sl.f.calls[i])
		if v := in.Value(); v != nil {
			sl.called(v)
		}
	case *ssa.MakeClosure:
		sl.capturing(in)
	case *ssa.Phi:
		for _, e := range in.Edges {
			sl.needs(e)
		}
	case *ssa.UnOp:
		sl.needs(in.X)
		if in.Op == token.MUL {
			sl.reading(in, i)
		}
	case *ssa.Extract:
		sl.needs(in.Tuple)
	case *ssa.Return, *ssa.RunDefers, *ssa.If:
	default:
		var room [8]*ssa.Value
		for _, op := range in.Operands(room[:0]) {
			sl.needs(*op)
		}
	}
}

// needed is a value that has to be known.
func (sl *slice) needed(n int32) {
	def := sl.f.defs[n]
	if def < 0 {
		return
	}
	sl.runs(def)
	if call, ok := sl.f.values[n].(*ssa.Call); ok {
		if sl.f.calls[def].joins {
			for _, arg := range call.Call.Args {
				sl.leads(rootOf(arg)) // it is an error if one of them is
			}
		} else if isErrorTest(call) {
			sl.needs(call.Call.Args[0])
		} else if sl.f.a.isPure(call) {
			for _, arg := range call.Call.Args {
				sl.needs(arg)
			}
		}
	}
}

// calling is a call that is made.
func (sl *slice) calling(in ssa.CallInstruction, c *callInfo) {
	common := in.Common()
	sl.ops = sl.ops || sl.f.a.startsOps(c)
	_, plain := common.Value.(*ssa.Function)
	switch {
	case c.answers:
		for _, arg := range common.Args {
			sl.needs(arg)
		}
	case c.inline || !plain && !common.IsInvoke():
		sl.needs(common.Value)
		for _, arg := range common.Args {
			sl.needs(arg)
			if c.inline {
				if _, ok := arg.Type().Underlying().(*types.Pointer); ok {
					sl.leads(rootOf(arg)) // what runs in place may read and write there
				}
			}
		}
	case c.sum != nil:
		for _, p := range c.sum.Params {
			for _, k := range p.Cases {
				for _, w := range k.When {
					if !w.Result && w.Index < len(common.Args) {
						sl.needs(common.Args[w.Index])
					}
				}
				for _, d := range k.Derived {
					for _, b := range []facts.Bound{d.Part.Lo, d.Part.N} {
						if b.Is == facts.IsParam && b.V < len(common.Args) {
							sl.needs(common.Args[b.V])
						}
					}
				}
			}
		}
		for _, l := range c.sum.Lends {
			if l.Func < len(common.Args) {
				sl.needs(common.Args[l.Func])
			}
		}
	}
}
