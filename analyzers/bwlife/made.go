package bwlife

import (
	"go/types"
	"iter"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// made are the calls of a function that make what is to be followed.
func (a *analyzer) made(fn *ssa.Function) (list []spec) {
	for call, sum := range a.calls(fn) {
		res := call.Call.Signature().Results()
		for _, f := range sum.Fresh {
			if f.Result < res.Len() && !a.blank(call, f.Result) {
				t := res.At(f.Result).Type()
				if k := a.kindOf(t); k == directive.Handle || k == directive.Window || k == directive.Op {
					list = append(list, spec{kind: k, typ: t, call: call, result: f.Result})
				}
			}
		}
		for _, l := range sum.Lends {
			if l.Func >= len(call.Call.Args) {
				continue
			}
			if sig, ok := call.Call.Args[l.Func].Type().Underlying().(*types.Signature); ok && sig.Params().Len() > 0 {
				list = append(list, spec{kind: lentWindow, typ: sig.Params().At(0).Type(), call: call})
			}
		}
	}
	return list
}

// calls are those of a function of which it is known what they do.
func (a *analyzer) calls(fn *ssa.Function) iter.Seq2[*ssa.Call, *facts.Func] {
	return func(yield func(*ssa.Call, *facts.Func) bool) {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				call, ok := in.(*ssa.Call)
				if !ok {
					continue
				}
				obj := callee(&call.Call)
				if obj == nil {
					continue
				}
				if sum := a.effects(obj); sum != nil && !yield(call, sum) {
					return
				}
			}
		}
	}
}

// blank reports whether a result has no name and another of the call has: the call is made for its error, which is expected.
func (a *analyzer) blank(call ssa.CallInstruction, result int) bool {
	names := a.names[call.Pos()]
	if result >= len(names) || names[result] != "_" || a.kindOf(call.Common().Signature().Results().At(result).Type()) == directive.Op {
		return false
	}
	return slices.ContainsFunc(names, func(n string) bool { return n != "_" })
}

// freshness notes which results of the function are new, and the caller's to release: that is so if each way
// out gives the object, or nothing, or one that was made by another such call.
func (r *run) freshness(sum *facts.Func) {
	results := r.fn.Signature.Results()
	for i := range results.Len() {
		if k := r.a.kindOf(results.At(i).Type()); k != directive.Handle && k != directive.Window && k != directive.Op {
			continue
		}
		if when, ok := r.freshResult(i); ok {
			sum.Closes = append(sum.Closes, r.closing(i)...)
			j := slices.IndexFunc(sum.Fresh, func(f facts.Fresh) bool { return f.Result == i })
			if j < 0 {
				sum.Fresh = append(sum.Fresh, facts.Fresh{Result: i, Held: r.mayBeHeld(), When: when})
			} else if !slices.Equal(sum.Fresh[j].When, when) {
				sum.Fresh[j].When = nil
				sum.Fresh[j].Result = -1 // two ways that do not go together
			}
		}
	}
	sum.Fresh = slices.DeleteFunc(sum.Fresh, func(f facts.Fresh) bool { return f.Result < 0 })
}

func (r *run) freshResult(i int) (when []facts.Cond, ok bool) {
	all := true // ways out that give the object say that there was no error, or true
	nils := false
	results := r.fn.Signature.Results()
	last := results.Len() - 1
	var said facts.Is
	for _, e := range r.exits {
		m := e.s.main()
		is, known := r.known(e.s, e.results[last])
		switch v := e.results[i]; {
		case v.kind == object && v.id == 0 && m.phase == live && !m.free:
			if ok && known && is != said {
				known = false
			}
			said, ok, all = is, true, all && known && last != i
		case v.kind == object && v.id == 0 && m.phase == absent, v.kind == isNil:
			if nils = true; results.Len() > 2 && !(known && is == facts.NonNil) {
				return nil, false // another result may say that there is none
			}
		case known && is == facts.NonNil && last != i: // with an error, whatever it is
		case v.kind == symbol && r.a.makes(r.symbols.keys[v.id], i):
		default:
			return nil, false
		}
	}
	switch {
	case !ok:
		return nil, false
	case all && (said == facts.Nil || said == facts.True || said == facts.False):
		return []facts.Cond{{Result: true, Index: last, Is: said}}, true
	case nils:
		return []facts.Cond{{Result: true, Index: i, Is: facts.NonNil}}, true
	}
	return nil, true
}

// makes reports whether a symbol is a result that a call has made.
func (a *analyzer) makes(k symKey, _ int) bool {
	call, ok := k.v.(*ssa.Call)
	if !ok {
		return false
	}
	obj := callee(&call.Call)
	if obj == nil {
		return false
	}
	sum := a.effects(obj)
	if sum == nil {
		return false
	}
	for _, f := range sum.Fresh {
		if k.path == "" || k.path == "#"+string(rune('0'+f.Result)) {
			return true
		}
	}
	return false
}

// mustEnd reports whether an object that is live where the function returns is a finding. An operation may
// be left to a later Flush or Drain of whoever has the connection, unless it was to be waited for here.
func (r *run) mustEnd() bool {
	switch r.spec.kind {
	case directive.Handle, directive.Window:
		return true
	case directive.Op:
		return r.opIsOurs()
	}
	return false
}

// opIsOurs reports whether an operation has a name, or nobody asks whether it was posted at all.
func (r *run) opIsOurs() bool {
	call := r.spec.call.(*ssa.Call)
	if call.Referrers() == nil || len(*call.Referrers()) == 0 {
		return r.a.unlooked[call.Pos()]
	}
	for _, ref := range *call.Referrers() {
		if x, ok := ref.(*ssa.Extract); ok && x.Index == r.spec.result && len(*x.Referrers()) > 0 {
			return true
		}
	}
	return false
}

// ordered sorts functions so that those that are called come before those that call them.
func (a *analyzer) ordered(all []*ssa.Function) (list []*ssa.Function) {
	byObj := map[*types.Func]*ssa.Function{}
	for _, fn := range all {
		if obj, ok := fn.Object().(*types.Func); ok {
			byObj[obj] = fn
		}
	}
	done := map[*ssa.Function]bool{}
	var visit func(fn *ssa.Function)
	calls := func(fn *ssa.Function) {}
	calls = func(fn *ssa.Function) {
		for _, b := range fn.Blocks {
			for _, in := range b.Instrs {
				if c, ok := in.(ssa.CallInstruction); ok {
					if next := byObj[callee(c.Common())]; next != nil {
						visit(next)
					}
				}
				for _, op := range in.Operands(nil) {
					if f, ok := (*op).(*ssa.Function); ok {
						if obj, ok := f.Object().(*types.Func); ok && byObj[obj.Origin()] != nil {
							visit(byObj[obj.Origin()])
						}
					}
				}
			}
		}
		for _, anon := range fn.AnonFuncs {
			calls(anon)
		}
	}
	visit = func(fn *ssa.Function) {
		if done[fn] {
			return
		}
		done[fn] = true
		calls(fn)
		list = append(list, fn)
	}
	for _, fn := range all {
		visit(fn)
	}
	return list
}
