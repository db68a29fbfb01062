package bwlife

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// joins says that handles which a goroutine has are to be followed: who releases one needs to have waited for the goroutine.
// What counts as waiting is seen by its form only, so it is opt-in.
var joins bool

func init() {
	Analyzer.Flags.BoolVar(&joins, "joins", false, "also report handles that are released while a goroutine has them that nobody waited for")
}

// goroutine is the kind of objects that are goroutines which have a handle.
const goroutine = "goroutine"

// goCall starts a goroutine. Of what it is given nothing is known any more, unless it surely only uses it.
func (r *run) goCall(fr *frame, s *state, in *ssa.Go) {
	t := r.target(fr, s, in.Common())
	if !r.share(fr, s, in, t) {
		r.giveAway(s, append(t.args, t.val))
	}
}

func (r *run) giveAway(s *state, vals []value) {
	for _, a := range vals {
		for _, x := range r.inside(s, a) {
			r.lose(s, x.id)
		}
		r.handOver(s, a)
	}
}

// runsElsewhere is a function literal that a call starts as a goroutine: a method Go does so, as those of sync.WaitGroup
// and errgroup.Group.
func (r *run) runsElsewhere(fr *frame, s *state, site ssa.CallInstruction, t target) bool {
	if !joins || t.obj == nil || t.obj.Name() != "Go" || t.obj.Signature().Recv() == nil || len(t.args) != 2 || t.args[1].kind != closed {
		return false
	}
	f, ok := t.obj.Signature().Params().At(0).Type().Underlying().(*types.Signature)
	return ok && f.Params().Len() == 0 && r.share(fr, s, site, r.called(target{val: t.args[1]}))
}

// share runs what a goroutine does, for trial. If it leaves the handle as it is, the goroutine has it from now on.
func (r *run) share(fr *frame, s *state, site ssa.CallInstruction, t target) bool {
	if !joins || s.main().phase != live || r.infos[0].kind == "op" || !r.reaches(s, append(t.args, t.val)) {
		return false
	}
	outs := r.apart(s, func(s *state) []outcome {
		s.main().used, s.main().tried = false, false
		return r.dispatch(fr, s, site, t)
	})
	used := false
	for _, o := range outs {
		for i := range s.things {
			was, is := &s.things[i], o.s.thing(s.things[i].id)
			if r.infos[was.id].kind != "op" && (is == nil || is.phase != was.phase || is.free != was.free) {
				return false
			}
		}
		used = used || o.s.main().used || o.s.main().tried
	}
	if len(outs) == 0 || !used {
		return false
	}
	r.mayFlush(s) // the goroutine may wait for operations
	for _, b := range append(r.bound(t.val), t.args...) {
		if b.kind != object {
			r.handOver(s, b)
		}
	}
	id := r.object(objectKey{frame: fr.id, call: site, kind: goroutine}, objectInfo{kind: goroutine, pos: site.Pos(), call: site})
	s.set(thing{id: id, phase: live, at: site.Pos()})
	return true
}

// reaches reports whether one of the values leads to the handle.
func (r *run) reaches(s *state, vals []value) bool {
	for _, v := range vals {
		if len(r.inside(s, v)) > 0 || r.captures(s, v) {
			return true
		}
	}
	return false
}

// bound is what a closure has captured.
func (r *run) bound(v value) []value {
	if v.kind != closed {
		return nil
	}
	return append([]value{}, r.closures[v.id].bind...)
}

// apart runs something on a copy of a state. What is found then is not reported.
func (r *run) apart(s *state, f func(*state) []outcome) []outcome {
	reports, gone, trial := len(r.reports), r.gone, r.trial
	r.trial = true
	outs := f(s.clone())
	r.reports, r.gone, r.trial = r.reports[:reports], gone, trial
	return outs
}

// waited is a wait for something: it may be for the goroutines that have the handle.
func (r *run) waited(s *state) {
	for i := range s.things {
		if t := &s.things[i]; r.infos[t.id].kind == goroutine {
			t.phase = lost
		}
	}
}

// shared is a goroutine that has the handle and that nobody waited for, 0 if there is none.
func (r *run) shared(s *state) int32 {
	for _, t := range s.things[1:] {
		if r.infos[t.id].kind == goroutine && t.phase == live {
			return t.id
		}
	}
	return 0
}

func (r *run) endShared(s *state, at token.Pos, how string, id int32) {
	if r.joinedInLoop(r.infos[id].call, at) {
		s.main().phase = lost
		return
	}
	r.say(s, report{code: diag.ReleaseShared, pos: at,
		text:    fmt.Sprintf("%s is ended by %s while a goroutine may use it", r.typed(), how),
		related: []related{r.whence(), {r.infos[id].pos, "the goroutine starts here, and nothing on this path waits for it"}}})
}

// joinedInLoop reports whether a loop between the start of a goroutine and the end of its handle waits for something. It may have as many turns as
// there are goroutines, which is none only where there are none.
func (r *run) joinedInLoop(start ssa.Instruction, end token.Pos) bool {
	if start == nil || start.Parent() != r.fn {
		return false
	}
	f := r.a.flowOf(r.fn)
	ends, returns := map[*ssa.BasicBlock]bool{}, map[*ssa.BasicBlock]bool{}
	for i, in := range f.instrs {
		switch b := r.fn.Blocks[f.blocks[i]]; in := in.(type) {
		case *ssa.Call:
			if in.Pos() == end {
				ends[b] = true
			}
		case *ssa.Return:
			returns[b] = true
		}
	}
	if len(ends) == 0 {
		ends = returns // it is deferred
	}
	for i := range f.instrs {
		b := r.fn.Blocks[f.blocks[i]]
		if f.ambient[i]&whileOps == 0 || !f.sh.loops[b.Index] || !leadsTo(start.Block(), func(x *ssa.BasicBlock) bool { return x == b }) {
			continue
		}
		if leadsTo(b, func(x *ssa.BasicBlock) bool { return ends[x] }) {
			return true
		}
	}
	return false
}

// leadsTo reports whether a block, or one that may come after it, is such.
func leadsTo(from *ssa.BasicBlock, is func(*ssa.BasicBlock) bool) bool {
	seen := map[*ssa.BasicBlock]bool{}
	work := []*ssa.BasicBlock{from}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if is(b) {
			return true
		}
		if !seen[b] {
			seen[b] = true
			work = append(work, b.Succs...)
		}
	}
	return false
}
