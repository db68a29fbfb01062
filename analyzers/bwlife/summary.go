package bwlife

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// maxCases is how many ways to go a function may have for one parameter; beyond, nothing is known of it.
const maxCases = 8

// summarize works out what a function does with its parameters, and of which parameters that is not all.
func (a *analyzer) summarize(fn *ssa.Function) (*facts.Func, map[int]doubt) {
	doubts := map[int]doubt{}
	sum := &facts.Func{NoReturn: !returns(fn), Flushes: a.flushes(fn), Hears: a.hears(fn), NeverNil: a.neverNil(fn), Asks: a.asks(fn) && fn.Signature.Results().Len() == 1}
	sum.Reads, sum.Writes = a.touched(fn)
	for i, p := range fn.Params {
		for _, at := range a.handlesIn(p.Type(), "", 2) {
			r := a.follow(fn, spec{kind: at.kind, typ: at.typ, param: i, path: at.path})
			if r == nil {
				continue
			}
			if !closable(at.typ) { // whatever else it may be is not ours
				a.reports = append(a.reports, r.reports...)
			}
			if at.path == "" {
				doubts[i] |= r.doubted()
			}
			if cases, ok := r.cases(); ok {
				sum.Params = append(sum.Params, facts.Param{Index: i, Path: at.path, Cases: cases})
			}
		}
		if cases := a.closesAll(fn, p); cases != nil {
			sum.Params = append(sum.Params, facts.Param{Index: i, Cases: cases})
		}
	}
	sum.Sort()
	return sum, doubts
}

// doubted is what the ways out do not show of the object.
func (r *run) doubted() (d doubt) {
	if r.lost {
		d = lostWay
	}
	for _, e := range r.exits {
		if r.hidden(e) {
			d |= lostWay
		}
		if slices.ContainsFunc(e.s.things[1:], func(t thing) bool { return t.phase == live || t.phase == lost }) {
			d |= outlives
		}
	}
	return d
}

func returns(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			return true
		}
	}
	return false
}

// handle is where in a parameter there is one.
type handleAt struct {
	path string
	kind string
	typ  types.Type
}

// handlesIn finds the handles in a type: itself, or fields of the struct.
func (a *analyzer) handlesIn(t types.Type, path string, depth int) (list []handleAt) {
	switch k := a.kindOf(t); k {
	case directive.Handle, directive.Window, directive.Op, directive.View:
		return []handleAt{{path, k, t}}
	case "":
		if _, ok := types.Unalias(t).(*types.TypeParam); path == "" && (ok || closable(t)) {
			return []handleAt{{path, directive.Handle, t}} // it may be one
		}
	default:
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok && depth == 2 {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok || depth == 0 {
		return nil
	}
	for i := range min(s.NumFields(), 40) {
		f := s.Field(i)
		if len(list) < 8 {
			list = append(list, a.handlesIn(f.Type(), path+"."+f.Name(), depth-1)...)
		}
	}
	return list
}

// flushes reports whether a function may wait for operations that nobody gives it.
func (a *analyzer) flushes(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			c, ok := in.(ssa.CallInstruction)
			if !ok {
				continue
			}
			common := c.Common()
			if common.IsInvoke() {
				if !std(common.Method.Pkg()) {
					return true
				}
				continue
			}
			if obj := callee(common); obj != nil {
				if sum := a.effects(obj); sum != nil && sum.Flushes {
					return true
				}
				continue
			}
			switch common.Value.(type) {
			case *ssa.Builtin, *ssa.MakeClosure, *ssa.Function:
			default:
				return true
			}
		}
	}
	for _, anon := range fn.AnonFuncs {
		if a.flushes(anon) {
			return true
		}
	}
	return false
}

// callee is the function or method that a call names, nil if none.
func callee(c *ssa.CallCommon) *types.Func {
	fn := c.StaticCallee()
	if fn == nil {
		return nil
	}
	obj, _ := fn.Object().(*types.Func)
	if obj == nil {
		return nil
	}
	return obj.Origin()
}

// neverNil finds the errors that a function always gives.
func (a *analyzer) neverNil(fn *ssa.Function) (list []int) {
	res := fn.Signature.Results()
	for i := range res.Len() {
		if !isError(res.At(i).Type()) {
			continue
		}
		all, some := true, false
		for _, b := range fn.Blocks {
			if ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
				some = true
				all = all && a.notNil(ret.Results[i], 0)
			}
		}
		if all && some {
			list = append(list, i)
		}
	}
	return list
}

func (a *analyzer) notNil(v ssa.Value, depth int) bool {
	if depth > 8 {
		return false
	}
	switch v := v.(type) {
	case *ssa.MakeInterface:
		return true
	case *ssa.ChangeInterface:
		return a.notNil(v.X, depth+1)
	case *ssa.UnOp:
		return isSentinel(v)
	case *ssa.Phi:
		for _, e := range v.Edges {
			if !a.notNil(e, depth+1) {
				return false
			}
		}
		return true
	case *ssa.Call:
		if obj := callee(&v.Call); obj != nil && v.Call.Signature().Results().Len() == 1 {
			sum := a.effects(obj)
			return sum != nil && len(sum.NeverNil) == 1
		}
	}
	return false
}

// cases are the ways out as a caller needs them. ok is false where they say nothing.
func (r *run) cases() (list []facts.Case, ok bool) {
	for _, e := range r.exits {
		m := e.s.main()
		if m.phase == lost {
			continue
		}
		if r.hidden(e) || m.phase == absent && r.spec.path != "" {
			continue // the second: a field that is nil is none of which a caller asks what became
		}
		c := facts.Case{When: r.conditions(e), Uses: m.used || m.tried, Optional: m.tried && !m.used, How: ""}
		r.guards(e.s, &c)
		switch {
		case r.replaced(e.s):
			c.Post = facts.Unknown
		case m.phase == dead && m.moved:
			c.Post, c.How = facts.Moved, r.fn.Name()
		case m.phase == dead:
			c.Post, c.How = facts.Released, r.fn.Name()
			if closable(r.spec.typ) {
				c.Method = closeMethod
			}
		case m.phase == live && r.shared(e.s) != 0:
			c.Post = facts.Unknown
		case m.phase == live && m.free:
			c.Post = facts.Kept
		}
		for i, v := range e.results {
			for _, x := range r.inside(e.s, v) {
				if d, ok := r.derivedResult(e.s, i, x); ok {
					c.Derived = append(c.Derived, d)
				} else if x.id == 0 && c.Post == facts.Same {
					c.Post = facts.Kept
				}
			}
			if v.kind == closed && r.looksOnly(e.s, v) {
				c.Derived = append(c.Derived, facts.Derived{Result: i, Kind: directive.View})
			}
		}
		list = append(list, c)
	}
	r.surelyExcludes(list)
	undecided(list)
	f := facts.Func{Params: []facts.Param{{Cases: list}}}
	f.Sort()
	list = f.Params[0].Cases
	return list, len(list) > 0 && len(list) <= maxCases
}

// replaced reports whether a field of a parameter has another handle where the function returns: what it ended is not what a caller finds there.
func (r *run) replaced(s *state) bool {
	if r.spec.call != nil || r.spec.value != nil || r.spec.path == "" {
		return false
	}
	v, over := s.mem.get(r.at(r.sym(0, r.fn.Params[r.spec.param], ""), r.spec.path).id)
	return over && v.kind != isNil && (v.kind != object || v.id != 0)
}

// undecided is for functions that end what they are given on some ways only, and nothing that a caller can see says on which: a
// flag in the struct, in the closers that may be called twice. What they leave as it is may be ended, then, or need no end.
func undecided(list []facts.Case) {
	for i := range list {
		c := &list[i]
		if c.Post == facts.Same && slices.ContainsFunc(list, func(d facts.Case) bool {
			return (d.Post == facts.Released || d.Post == facts.Moved) && !exclude(c.When, d.When)
		}) {
			c.Post = facts.Unknown
		}
	}
}

// undecidedFor reports whether a function that ends what it is given may leave it as it is, too, for all that a caller sees.
func undecidedFor(list []facts.Case, c facts.Case) bool {
	return (c.Post == facts.Released || c.Post == facts.Moved) && slices.ContainsFunc(list, func(d facts.Case) bool {
		return d.Post == facts.Unknown && !exclude(c.When, d.When)
	})
}

// exclude reports whether two sets of conditions cannot hold together.
func exclude(a, b []facts.Cond) bool {
	return slices.ContainsFunc(a, func(x facts.Cond) bool {
		return slices.ContainsFunc(b, func(y facts.Cond) bool { return x.Result == y.Result && x.Index == y.Index && x.Is != y.Is })
	})
}

// derivedResult is what a result has to do with the parameter.
func (r *run) derivedResult(s *state, i int, x found) (facts.Derived, bool) {
	if x.id == 0 {
		if x.path != "" {
			return facts.Derived{}, false
		}
		return facts.Derived{Result: i, Kind: "alias"}, true
	}
	info, t := r.infos[x.id], s.thing(x.id)
	switch {
	case info.kind == "view" && r.rootOfView(x.id) == 0:
		d := facts.Derived{Result: i, Kind: "view"}
		if t != nil && !t.stale {
			d.Part = r.bounds(info.ext)
		}
		return d, true
	case info.kind == "view" || t == nil || t.phase != live || info.parent != 0 || x.path != "":
		return facts.Derived{}, false
	}
	d := facts.Derived{Result: i, Kind: info.kind}
	if info.fills {
		d.Kind = "fill"
	}
	if info.maps {
		d.Kind = mapped
	}
	if !t.stale {
		d.Part = r.bounds(info.ext)
	}
	return d, true
}

// looksOnly reports whether a closure has captured the object and only uses it, as an iterator does: run now, it
// leaves it as it is.
func (r *run) looksOnly(s *state, v value) bool {
	captured := slices.ContainsFunc(r.closures[v.id].bind, func(b value) bool {
		return slices.ContainsFunc(r.inside(s, b), func(x found) bool { return x.id == 0 && x.path == "" })
	})
	if !captured || s.main().phase != live {
		return false
	}
	exits := r.tried(s, v)
	for _, e := range exits {
		if m := e.s.main(); m.phase != live || m.free {
			return false
		}
		for _, v := range e.results {
			if v.kind == closed || slices.ContainsFunc(r.inside(e.s, v), func(x found) bool { return x.id == 0 }) {
				return false // it hands the object out
			}
		}
	}
	return len(exits) > 0
}

// tried are the ways out of a closure that is run now, for trial: the state stays as it is.
func (r *run) tried(s *state, v value) (exits []exit) {
	c := r.closures[v.id]
	if len(c.fn.Blocks) == 0 || r.inStack(c.fn) {
		return nil
	}
	fr := &frame{id: r.frames.id(frameKey{-1, nil, c.fn}), fn: c.fn, sh: r.a.shape(c.fn), again: true}
	r.stack = append(r.stack, fr)
	defer r.leave()
	r.apart(s, func(s *state) []outcome {
		for i, f := range c.fn.FreeVars {
			if i < len(c.bind) {
				s.env.set(slot{fr.id, f}, c.bind[i])
			}
		}
		exits = r.activate(fr, s)
		return nil
	})
	return exits
}

// hidden reports whether a way out rests on a hope that a caller cannot see: on another error than the one that is returned.
func (r *run) hidden(e exit) bool {
	for id := range e.s.hopes.all() {
		if id < 0 || !slices.Contains(e.results, r.conds.keys[id].x) {
			return true
		}
	}
	return false
}

// conditions is what is known of the other parameters and of the results where a function returns.
func (r *run) conditions(e exit) (list []facts.Cond) {
	for i, p := range r.fn.Params {
		v := r.sym(0, p, "")
		if r.spec.call == nil && r.spec.value == nil && i == r.spec.param {
			if r.spec.path == "" && e.s.main().phase == absent {
				list = append(list, facts.Cond{Index: i, Is: facts.Nil})
			}
			continue
		}
		if is, ok := r.known(e.s, v); ok {
			list = append(list, facts.Cond{Index: i, Is: is})
		}
	}
	for i, v := range e.results {
		if is, ok := r.known(e.s, v); ok {
			list = append(list, facts.Cond{Result: true, Index: i, Is: is})
		}
	}
	return list
}

// known is what a state knows of a value.
func (r *run) known(s *state, v value) (facts.Is, bool) {
	switch v.kind {
	case isNil:
		return facts.Nil, true
	case nonNil:
		return facts.NonNil, true
	case isTrue:
		return facts.True, true
	case isFalse:
		return facts.False, true
	case cond:
		b, ok := s.conds.get(v.id)
		if b == !v.neg {
			return facts.True, ok
		}
		return facts.False, ok
	case symbol:
		if r.sentinel(v) {
			return facts.NonNil, true
		}
		if b, ok := s.conds.get(r.condition(condKey{op: "nil", x: v}).id); ok {
			return facts.NonNil - facts.Is(btoi(b)), true
		}
		if b, ok := s.conds.get(r.condition(condKey{op: "true", x: v}).id); ok {
			return facts.False - facts.Is(btoi(b)), true
		}
	}
	return 0, false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
