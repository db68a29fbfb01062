package bwlife

import (
	"fmt"
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// placing is the kind of writes to the memory of a region by way of a reference to it: when they have ended here they may not be in
// place there. Only a flush says so, or the peer.
const placing = "placing"

// writesAfar are such writes: the references are among the arguments of a call.
func (r *run) writesAfar(s *state, site ssa.CallInstruction, t target, sum *facts.Func) {
	for _, i := range sum.Places {
		if i >= len(t.args) {
			continue
		}
		for _, x := range r.inside(s, t.args[i]) {
			th, info := s.thing(x.id), r.infos[x.id]
			if info.kind != directive.Remote || th == nil || th.stale || th.phase != live || r.queued(site) {
				continue
			}
			e := info.ext
			if e.all {
				e = extent{lo: value{kind: number}} // from the first element on
			}
			key := objectKey{call: site, part: i, kind: placing, ext: e}
			id := r.object(key, objectInfo{kind: placing, parent: r.region(x.id), pos: site.Pos(), ext: e, call: site})
			s.set(thing{id: id, phase: live, at: site.Pos()})
		}
	}
}

// inPlace is a flush, or somebody who may have said that all is in place.
func (r *run) inPlace(s *state) {
	for i := range s.things {
		if t := &s.things[i]; r.infos[t.id].kind == placing {
			t.phase = lost
		}
	}
}

// notInPlace is a read of what was written by way of a reference, and says so if that may not be in place.
func (r *run) notInPlace(s *state, id int32, at token.Pos, root int32) bool {
	for _, t := range s.things[1:] {
		w := r.infos[t.id]
		if w.kind != placing || t.phase != live || t.stale || w.parent != root || !r.infos[id].ext.within(w.ext) {
			continue
		}
		r.say(s, report{code: diag.ReadUnplaced, pos: at,
			text: fmt.Sprintf("memory of %s is read before what was written to it is in place", r.typed()),
			related: []related{r.whence(), {r.infos[id].pos, "the view is taken here"},
				{w.pos, "it is written here, by way of a reference; waiting for that says that the source may be used again"}}})
		return true
	}
	return false
}
