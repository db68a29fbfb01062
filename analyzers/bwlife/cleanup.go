package bwlife

import (
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// booking is the kind of objects that are cleanups of a test, which will end the handle when the test is over.
const booking = "booking"

// isCleanup reports whether a call hands a function to a test, to be called when that is over.
func isCleanup(site ssa.CallInstruction) bool {
	c := site.Common()
	f := c.Method
	if !c.IsInvoke() {
		f = callee(c)
	}
	return f != nil && f.Pkg() != nil && f.Pkg().Path() == "testing" && f.Name() == "Cleanup"
}

// books notes a cleanup that surely ends the handle: a method of it, or a function literal that calls one whatever happens, and shares nothing that may get
// another value. From then on whoever else ends it does so once too often.
func (r *run) books(fr *frame, s *state, site ssa.CallInstruction, t target) bool {
	if !isCleanup(site) || len(t.args) != 2 || t.args[1].kind != closed || s.main().phase != live || r.infos[0].kind == "op" {
		return false
	}
	f := t.args[1]
	c := r.closures[f.id]
	if id, ok := r.closes(s, f); !ok || id != 0 || !r.unconditional(c) {
		return false
	}
	for _, b := range c.bind {
		if b.kind != object && !(b.kind == place && r.isSettled(r.places.keys[b.id].root)) {
			return false
		}
	}
	id := r.object(objectKey{frame: fr.id, call: site, kind: booking}, objectInfo{kind: booking, pos: site.Pos(), call: site})
	s.set(thing{id: id, phase: live, at: site.Pos()})
	s.main().free, r.gone = true, true
	return true
}

// unconditional reports whether a function literal has no tests before what it does with its errors: no block but the first does anything that matters.
func (r *run) unconditional(c closureInfo) bool {
	if c.fn.Synthetic != "" {
		return true // a bound method
	}
	for _, in := range c.fn.Blocks[0].Instrs {
		site, ok := in.(ssa.CallInstruction)
		if !ok {
			continue
		}
		obj := callee(site.Common())
		if obj == nil {
			continue
		}
		if sum := r.a.effects(obj); sum != nil {
			if p, ok := sum.Param(0, ""); ok && sureToEnd(p.Cases) {
				return true
			}
		}
	}
	return false
}

// booked is an end of a handle that a cleanup will end, and says so.
func (r *run) booked(s *state, at token.Pos, how string) bool {
	for _, t := range s.things[1:] {
		if info := r.infos[t.id]; info.kind == booking && t.phase == live {
			r.say(s, report{code: diag.DoubleRelease, pos: at,
				text:    fmt.Sprintf("%s is ended by %s, and its cleanup ends it again", r.typed(), how),
				related: []related{r.whence(), {info.pos, "the cleanup is registered here"}}})
			return true
		}
	}
	return false
}

// bookings notes the results of the function that are the handle on each way out that gives one, and for which it has registered a cleanup.
func (r *run) bookings(sum *facts.Func) {
	for i := range r.fn.Signature.Results().Len() {
		some, all := false, true
		for _, e := range r.exits {
			switch m := e.s.main(); {
			case e.results[i] == value{kind: object} && m.phase == live:
				here := slices.ContainsFunc(e.s.things[1:], func(t thing) bool { return r.infos[t.id].kind == booking && t.phase == live })
				some, all = true, all && here
			case e.results[i].kind != isNil && m.phase != absent:
				all = false
			}
		}
		if some && all {
			sum.Booked = append(sum.Booked, i)
		}
	}
}

// bookedElsewhere notes the cleanup of a handle that a function gives which has registered one.
func (r *run) bookedElsewhere(s *state) {
	if r.spec.path == "" && r.a.isBooked(r.spec.value) {
		at := placeOfValue(r.spec.value)
		id := r.object(objectKey{kind: booking}, objectInfo{kind: booking, pos: at})
		s.set(thing{id: id, phase: live, at: at})
	}
}

// isBooked reports whether a value is a handle of which the call that gives it says so.
func (a *analyzer) isBooked(v ssa.Value) bool {
	result := 0
	if x, ok := v.(*ssa.Extract); ok {
		v, result = x.Tuple, x.Index
	}
	call, ok := v.(*ssa.Call)
	if !ok || callee(&call.Call) == nil {
		return false
	}
	sum := a.effects(callee(&call.Call))
	return sum != nil && slices.Contains(sum.Booked, result)
}

// deadOnReturn looks for what a function returns as good, though a defer of its own has ended it.
func (r *run) deadOnReturn(e exit) {
	m := e.s.main()
	if r.spec.call == nil || m.phase != dead || m.moved || r.infos[0].kind == "op" || !r.returnsWell(e) || !r.inDefer(m.at) {
		return
	}
	for _, v := range e.results {
		if slices.ContainsFunc(r.inside(e.s, v), func(x found) bool { return x.id == 0 }) {
			code := diag.UseAfterRelease
			if r.infos[0].kind == "window" {
				code = diag.WindowAfterClose
			}
			r.say(e.s, report{code: code, pos: e.ret.Pos(), text: fmt.Sprintf("%s is returned, and has ended by %s before that, in a defer", r.typed(), m.how),
				related: []related{r.whence(), r.ended(m)}})
			return
		}
	}
}

// returnsWell is succeeded, also of functions with defers: what those return is in memory, in SSA form.
func (r *run) returnsWell(e exit) bool {
	n := len(e.results)
	return succeeded(e) || r.a.flowOf(r.fn).always(e.ret.Results[n-1], e.ret.Block()).kind == isNil
}

// inDefer reports whether something is at a deferred call, or in a function literal that is deferred.
func (r *run) inDefer(at token.Pos) bool {
	for _, b := range r.fn.Blocks {
		for _, in := range b.Instrs {
			d, ok := in.(*ssa.Defer)
			if !ok {
				continue
			}
			if d.Pos() == at {
				return true
			}
			if mc, ok := d.Call.Value.(*ssa.MakeClosure); ok {
				if f := mc.Fn.(*ssa.Function); f.Syntax() != nil && f.Syntax().Pos() <= at && at < f.Syntax().End() {
					return true
				}
			}
		}
	}
	return false
}
