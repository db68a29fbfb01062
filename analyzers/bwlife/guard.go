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

// What is noted of memory that the host may touch only between acquiring and yielding it, as objects beside the handle.
const (
	bracket  = "bracket"  // live: it is acquired; dead: it was yielded. Without one nothing is known, or it never was acquired
	needed   = "needed"   // it had to be acquired while that was not known
	dirty    = "dirty"    // live: it was written, and not written back
	paired   = "paired"   // it was acquired there, and yielded since
	excluded = "excluded" // a device was given it, and nothing was known of what the host has
)

// mark notes one of them for a handle.
func (r *run) mark(s *state, of int32, kind string, t thing) {
	t.id = r.object(objectKey{part: int(of), kind: kind}, objectInfo{kind: kind, parent: of})
	s.set(t)
}

// marked is what is noted of a handle, nil if nothing is.
func (r *run) marked(s *state, of int32, kind string) *thing {
	id, ok := r.objects.ids[objectKey{part: int(of), kind: kind}]
	if !ok {
		return nil
	}
	return s.thing(id)
}

// guarded is what a call wants of such memory, and does to it.
func (r *run) guarded(s *state, id int32, site ssa.CallInstruction, c *facts.Case) {
	if !c.Needs && !c.Hands && !c.Excludes && !c.Cleans && !c.Dirties && c.Guard == facts.NoGuard {
		return
	}
	root := r.region(id)
	if c.Needs {
		r.needs(s, root, site.Pos())
	}
	if c.Excludes {
		r.excludes(s, root, site)
	}
	if c.Cleans {
		r.mark(s, root, dirty, thing{phase: dead})
	}
	if c.Dirties {
		r.mark(s, root, dirty, thing{phase: live, at: site.Pos()})
	}
	if d := r.marked(s, root, dirty); c.Hands && root == 0 && d != nil && d.phase == live {
		r.say(s, report{code: diag.UnflushedWrite, pos: site.Pos(),
			text:    fmt.Sprintf("%s is handed over by %s, and what was written to it is not written back", r.typed(), calledName(site)),
			related: []related{r.whence(), {d.at, "it is written here"}}})
	}
	switch c.Guard {
	case facts.Acquired:
		r.mark(s, root, bracket, thing{phase: live, at: site.Pos()})
	case facts.Yielded:
		if b := r.marked(s, root, bracket); b != nil && b.phase == live {
			r.mark(s, root, paired, thing{phase: dead, at: b.at})
		}
		r.mark(s, root, bracket, thing{phase: dead, how: calledName(site), at: site.Pos()})
	}
}

func calledName(site ssa.CallInstruction) string {
	if obj := callee(site.Common()); obj != nil {
		return obj.Name()
	}
	return "a call"
}

// needs is a use of memory that must have been acquired.
func (r *run) needs(s *state, root int32, at token.Pos) {
	b := r.marked(s, root, bracket)
	switch {
	case root != 0 || s.main().phase != live:
	case b != nil && b.phase == dead:
		r.outside(s, at, "memory of "+r.typed()+" is asked for after "+b.how, related{b.at, r.name() + " is yielded here: " + b.how})
	case b != nil:
	case r.spec.call != nil && !s.main().free:
		r.outside(s, at, "memory of "+r.typed()+" is asked for before it was acquired")
	case r.spec.call == nil && r.spec.value == nil:
		r.mark(s, 0, needed, thing{phase: live})
	}
}

func (r *run) outside(s *state, at token.Pos, text string, more ...related) {
	r.say(s, report{code: diag.OutsideAcquire, pos: at, text: text, related: append([]related{r.whence()}, more...)})
}

// yielded reports whether a view is used whose memory was yielded, and says so.
func (r *run) yielded(s *state, id int32, at token.Pos) bool {
	b := r.marked(s, r.region(id), bracket)
	if r.region(id) != 0 || s.main().phase != live || b == nil || b.phase != dead {
		return false
	}
	r.outside(s, at, fmt.Sprintf("%s is used after %s of %s", r.viewName(id), b.how, r.typed()),
		related{r.infos[id].pos, "the view is taken here"}, related{b.at, r.name() + " is yielded here: " + b.how})
	return true
}

// guards notes for callers what a function did to such memory.
func (r *run) guards(s *state, c *facts.Case) {
	if n := r.marked(s, 0, needed); n != nil {
		c.Needs = true
	}
	c.Excludes = r.marked(s, 0, excluded) != nil
	switch b := r.marked(s, 0, bracket); {
	case b == nil:
	case b.phase == live:
		c.Guard = facts.Acquired
	case b.phase == dead:
		c.Guard = facts.Yielded
	}
	switch d := r.marked(s, 0, dirty); {
	case d == nil:
	case d.phase == live:
		c.Dirties = true
	case d.phase == dead:
		c.Cleans = true
	}
}

// mayBeHeld reports whether a new handle may be acquired already on some way out.
func (r *run) mayBeHeld() bool {
	for _, e := range r.exits {
		if b := r.marked(e.s, 0, bracket); b != nil && b.phase != dead {
			return true
		}
	}
	return false
}

// buffer is the kind of slices that an operation fills.
const buffer = "buffer"

// filled are the slices among the arguments of the call that starts the operation which is followed, that it fills.
func (r *run) filled() (list []ssa.Value) {
	obj := callee(r.spec.call.Common())
	if r.spec.kind != directive.Op || obj == nil {
		return nil
	}
	sum := r.a.effects(obj)
	if sum == nil {
		return nil
	}
	args := r.spec.call.Common().Args
	for _, p := range sum.Params {
		if p.Path == "" && p.Index < len(args) && fills(p, r.spec.result) {
			if _, ok := args[p.Index].Type().Underlying().(*types.Slice); ok {
				list = append(list, args[p.Index])
			}
		}
	}
	return list
}

// buffers makes those slices objects: who reads them before the operation has ended reads too early.
func (r *run) buffers(fr *frame, s *state) {
	for i, arg := range r.filled() {
		if r.eval(fr, s, arg).kind == object {
			continue
		}
		call := r.spec.call
		id := r.object(objectKey{frame: fr.id, call: call, part: i, kind: "buffer"},
			objectInfo{kind: buffer, pos: call.Pos(), typ: arg.Type(), call: call})
		r.infos[0].fills = true
		s.set(thing{id: id, phase: live, at: call.Pos()})
		s.env.set(slot{fr.id, arg}, value{kind: object, id: id})
	}
}

// fills reports whether a result is an operation that writes a parameter.
func fills(p facts.Param, result int) bool {
	for _, c := range p.Cases {
		for _, d := range c.Derived {
			if d.Kind == "fill" && d.Result == result {
				return true
			}
		}
	}
	return false
}

// tooEarly is a use of a slice that the operation which is followed fills.
func (r *run) tooEarly(s *state, id int32, at token.Pos, writes bool) {
	m := s.main()
	if m.phase != live || m.stale || m.free {
		return
	}
	does := "read"
	if writes {
		does = "written"
	}
	r.say(s, report{code: diag.TouchInFlight, pos: at,
		text:    fmt.Sprintf("what %s fills is %s while it is in flight", r.typed(), does),
		related: []related{{r.infos[0].pos, "the operation starts here, and nothing on this path waits for it"}}})
}
