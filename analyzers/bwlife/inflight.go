package bwlife

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// extent is which elements of a region a view or an operation is about: all, or n from lo on. The zero extent is not
// known. Whoever has a region in several parts, and fills one while another is sent, is right; so only what surely
// overlaps counts.
type extent struct {
	all   bool
	lo, n value // numbers or symbols
}

func (e extent) known() bool { return e.all || e.lo.kind != unknown }

// one reports whether it is a single element.
func (e extent) one() bool { return e.n == value{kind: number, id: 1} }

// within reports whether all elements of e surely are such of o.
func (e extent) within(o extent) bool {
	switch {
	case o.all:
		return true
	case !e.known() || !o.known() || e.all:
		return false
	case e.lo == o.lo && (e.one() || e.n == o.n):
		return true // an operation has an element at least
	}
	for _, v := range []value{e.lo, e.n, o.lo, o.n} {
		if v.kind != number {
			return false
		}
	}
	return e.lo.id >= o.lo.id && e.lo.id+e.n.id <= o.lo.id+o.n.id
}

// viewed is which elements a view is of, that a call gives of an object.
func (r *run) viewed(fr *frame, s *state, site ssa.CallInstruction, t target, of int32, d facts.Derived) (e extent, stale bool) {
	e = r.extentOf(t, d.Part)
	if !e.all && e.lo == (value{kind: number}) && r.wholeCount(fr, s, site, d.Part.N, of) {
		e = extent{all: true}
	}
	if k := r.infos[of].kind; of != 0 && (k == directive.View || k == directive.Remote) {
		outer := r.infos[of].ext
		if th := s.thing(of); th == nil || th.stale {
			outer = extent{}
		}
		e = inner(outer, e)
	}
	return e, false
}

// inner is a part of a part.
func inner(outer, e extent) extent {
	zero := value{kind: number}
	switch {
	case !outer.known() || !e.known():
		return extent{}
	case e.all:
		return outer
	case outer.all || outer.lo == zero:
		return e
	case e.lo == zero:
		return extent{lo: outer.lo, n: e.n}
	case e.lo.kind == number && outer.lo.kind == number:
		return extent{lo: value{kind: number, id: e.lo.id + outer.lo.id}, n: e.n}
	}
	return extent{}
}

// extentOf is an extent of a directive or a summary, with the arguments of a call.
func (r *run) extentOf(t target, p facts.Extent) extent {
	if p.All {
		return extent{all: true}
	}
	bound := func(b facts.Bound) value {
		switch {
		case b.Is == facts.IsConst && int(int32(b.V)) == b.V:
			return value{kind: number, id: int32(b.V)}
		case b.Is == facts.IsParam && b.V < len(t.args):
			if v := t.args[b.V]; v.kind == number || v.kind == symbol {
				return v
			}
		}
		return value{}
	}
	e := extent{lo: bound(p.Lo), n: bound(p.N)}
	if e.lo.kind == unknown {
		return extent{}
	}
	return e
}

// bounds is an extent as callers of the function know it.
func (r *run) bounds(e extent) (p facts.Extent) {
	if e.all {
		return facts.Extent{All: true}
	}
	bound := func(v value) facts.Bound {
		switch v.kind {
		case number:
			return facts.Bound{Is: facts.IsConst, V: int(v.id)}
		case symbol:
			if k := r.symbols.keys[v.id]; k.frame == 0 && k.path == "" {
				for i, p := range r.fn.Params {
					if k.v == ssa.Value(p) {
						return facts.Bound{Is: facts.IsParam, V: i}
					}
				}
			}
		}
		return facts.Bound{}
	}
	if p.Lo = bound(e.lo); p.Lo.Is == facts.NoBound {
		return facts.Extent{}
	}
	p.N = bound(e.n)
	return p
}

// wholeCount reports whether an argument is how many elements the region has: r.Len() of the same.
func (r *run) wholeCount(fr *frame, s *state, site ssa.CallInstruction, b facts.Bound, of int32) bool {
	args := site.Common().Args
	if b.Is != facts.IsParam || b.V >= len(args) {
		return false
	}
	call, ok := args[b.V].(*ssa.Call)
	if !ok {
		return false
	}
	obj := callee(&call.Call)
	if obj == nil {
		return false
	}
	sum := r.a.effects(obj)
	if sum == nil {
		return false
	}
	for _, p := range sum.Params {
		for _, c := range p.Cases {
			for _, d := range c.Derived {
				if d.Kind != "count" || p.Index >= len(call.Call.Args) {
					continue
				}
				x := r.eval(fr, s, call.Call.Args[p.Index])
				return x.kind == object && r.region(x.id) == r.region(of)
			}
		}
	}
	return false
}

// region is the handle that a view or a window is of.
func (r *run) region(id int32) int32 {
	for id != 0 {
		switch r.infos[id].kind {
		case directive.View, directive.Window, directive.Remote:
			id = r.infos[id].parent
		default:
			return id
		}
	}
	return 0
}

// postedOn is what an operation is about that a call starts, and whether that is not sure: it may start later only.
func (r *run) postedOn(fr *frame, s *state, site ssa.CallInstruction, t target, of int32, d facts.Derived, was value) (e extent, stale bool) {
	e = r.extentOf(t, d.Part)
	if of != 0 && r.infos[of].kind == "view" {
		if e = r.infos[of].ext; s.thing(of) == nil || s.thing(of).stale {
			e = extent{}
		}
	}
	if was.kind == object && r.infos[was.id].kind == "op" && r.infos[was.id].call == site && r.infos[was.id].ext != e {
		e = extent{} // it is about several
	}
	return e, r.queued(site)
}

// queued reports whether an operation may be collected only, to be started later: it goes to a queue, or it is not known to
// what.
func (r *run) queued(site ssa.CallInstruction) bool {
	for _, a := range site.Common().Args {
		if in, ok := a.(*ssa.MakeInterface); ok {
			if r.a.kindOf(in.X.Type()) == directive.Queue {
				return true
			}
			continue
		}
		if i, ok := a.Type().Underlying().(*types.Interface); ok && i.NumMethods() == 1 && !i.Method(0).Exported() {
			return true // as a parameter it may be any of those that are sealed in
		}
	}
	return false
}

// maxThings is how many objects a state may have for elements to be told apart.
const maxThings = 64

// elementOf is an element of a slice that is a view.
func (r *run) elementOf(fr *frame, s *state, in *ssa.IndexAddr, x value) value {
	info, th := r.infos[x.id], s.thing(x.id)
	if info.kind != "view" || th == nil || len(s.things) > maxThings {
		return x
	}
	e := extent{}
	if i := r.eval(fr, s, in.Index); i.kind == number || i.kind == symbol {
		e = inner(info.ext, extent{lo: i, n: value{kind: number, id: 1}})
	}
	if th.stale || !e.known() || e == info.ext {
		return x
	}
	if _, isSlice := in.X.Type().Underlying().(*types.Slice); !isSlice {
		return x // an array in an element
	}
	info.ext, info.parent = e, x.id
	id := r.object(objectKey{frame: fr.id, call: in, kind: "element", ext: e}, info)
	s.set(thing{id: id, phase: live, at: th.at})
	return value{kind: object, id: id}
}

// unsure is a wait for somebody who may say that operations have ended.
func (r *run) unsure(s *state) {
	r.waited(s)
	r.inPlace(s)
	for i := range s.things {
		if t := &s.things[i]; r.infos[t.id].kind == "op" && t.phase == live {
			t.stale = true
		}
	}
}

// outdate is a symbol that gets another value: what was about it is about the old one.
func (r *run) outdate(s *state, mine func(value) bool) {
	for i := range s.things {
		if e := r.infos[s.things[i].id].ext; e.known() && (mine(e.lo) || mine(e.n)) {
			s.things[i].stale = true
		}
	}
}

// touches are the arguments of a call whose memory it reads or writes.
func (r *run) touches(s *state, site ssa.CallInstruction, t target, sum *facts.Func) {
	for _, list := range []struct {
		params []int
		writes bool
	}{{sum.Reads, false}, {sum.Writes, true}} {
		for _, i := range list.params {
			if i < len(t.args) {
				for _, x := range r.inside(s, t.args[i]) {
					r.touch(s, x.id, site.Pos(), list.writes)
				}
			}
		}
	}
}

// touch is a read or a write of memory through a view: no operation may have it meanwhile.
func (r *run) touch(s *state, id int32, at token.Pos, writes bool) {
	view := s.thing(id)
	if r.infos[id].kind == buffer {
		r.tooEarly(s, id, at, writes)
		return
	}
	if s.main().phase != live || view == nil || view.stale || r.infos[id].kind != "view" {
		return
	}
	root := r.region(id)
	if writes && r.infos[id].held {
		r.mark(s, root, dirty, thing{phase: live, at: at})
	}
	if !writes && r.notInPlace(s, id, at, root) {
		return
	}
	for _, t := range s.things[1:] {
		op := r.infos[t.id]
		if op.kind != "op" || t.phase != live || t.free || t.stale || op.parent != root || !(writes || op.fills) || !r.infos[id].ext.within(op.ext) {
			continue
		}
		does, has := "read", "reads"
		if writes {
			does = "written"
		}
		if op.fills {
			has = "writes"
		}
		r.say(s, report{code: diag.TouchInFlight, pos: at,
			text: fmt.Sprintf("memory of %s is %s while an operation that %s it is in flight", r.typed(), does, has),
			related: []related{r.whence(), {r.infos[id].pos, "the view is taken here"},
				{op.pos, "the operation starts here, and nothing on this path waits for it"}}})
		return
	}
}

// isEndOfContext reports whether a test of an error asks whether a context has ended.
func isEndOfContext(test *ssa.Call) bool {
	if len(test.Call.Args) < 2 {
		return false
	}
	return isContextError(test.Call.Args[1])
}

// isContextError reports whether a value is one of the errors of contexts that have ended.
func isContextError(v ssa.Value) bool {
	load, ok := v.(*ssa.UnOp)
	if !ok {
		return false
	}
	g, ok := load.X.(*ssa.Global)
	return ok && g.Pkg != nil && g.Pkg.Pkg.Path() == "context" && (g.Name() == "DeadlineExceeded" || g.Name() == "Canceled")
}

// abandoned is a wait that ended with its context, as its error says: the operation goes on.
func (r *run) abandoned(s *state, err symKey) {
	wait, ok := err.v.(*ssa.Call)
	if !ok {
		return
	}
	for i := range s.things {
		if t := &s.things[i]; r.infos[t.id].kind == directive.Op && t.phase == dead && t.at == wait.Pos() {
			*t = thing{id: t.id, phase: live, free: t.free, stale: t.stale, at: r.infos[t.id].pos}
		}
	}
}
