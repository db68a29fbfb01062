package bwlife

import (
	"go/token"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Here is whose turn it is, of memory that the host and a device have by turns.

// mapped is the kind of results that are windows which keep devices from the memory.
const mapped = "map"

// excludes is a call that has a device work on the memory: the host must have it neither acquired nor mapped.
func (r *run) excludes(s *state, root int32, site ssa.CallInstruction) {
	m := s.main()
	if root != 0 || m.phase != live {
		return
	}
	b := r.marked(s, 0, bracket)
	if b != nil && b.phase == live && !m.free {
		r.hostHas(s, site, "acquired", related{b.at, r.name() + " is acquired here"})
		return
	}
	for _, t := range s.things[1:] {
		if info := r.infos[t.id]; info.maps && info.parent == 0 && t.phase == live && !t.free {
			r.hostHas(s, site, "mapped", related{info.pos, "the window is opened here"})
			return
		}
	}
	if b == nil && r.spec.call == nil && r.spec.value == nil {
		r.mark(s, 0, excluded, thing{phase: live})
	}
}

func (r *run) hostHas(s *state, site ssa.CallInstruction, has string, where related) {
	r.say(s, report{code: diag.HostHas, pos: site.Pos(),
		text:    r.typed() + " is given to " + calledName(site) + " while the host has it " + has,
		related: []related{r.whence(), where}})
}

// surelyExcludes leaves it to callers only where each way out on which all went well has a device work on the memory.
func (r *run) surelyExcludes(list []facts.Case) {
	sure := true
	for _, e := range r.exits {
		if e.s.main().phase != lost && !r.failed(e) {
			sure = sure && r.marked(e.s, 0, excluded) != nil
		}
	}
	for i := range list {
		list[i].Excludes = list[i].Excludes && sure
	}
}

// leftAcquired looks for ways out with an error that leave memory acquired, where the function yields it on all on which it goes well: what
// is left to callers is left to them always.
func (r *run) leftAcquired() {
	if r.spec.kind != directive.Handle {
		return
	}
	yields, keeps := map[token.Pos]bool{}, map[token.Pos]bool{} // where it was acquired
	for _, e := range r.exits {
		if e.s.main().phase == lost || r.failed(e) {
			continue
		}
		if b := r.marked(e.s, 0, bracket); b != nil && b.phase != dead {
			keeps[b.at] = true
		} else if p := r.marked(e.s, 0, paired); p != nil {
			yields[p.at] = true
		}
	}
	for _, e := range r.exits {
		m, b := e.s.main(), r.marked(e.s, 0, bracket)
		if b == nil || b.phase != live || m.phase != live || m.free || r.hidden(e) || !r.failed(e) || !yields[b.at] || keeps[b.at] {
			continue
		}
		hopes := e.s.hopes
		e.s.hopes = dict[int32, bool]{} // who calls gets to see the error
		if len(r.inside(e.s, e.results[0])) == 0 {
			r.note(e.s, report{code: diag.AcquireLeak, pos: b.at, text: r.typed() + " is acquired, and not released on every path", related: []related{{e.ret.Pos(), "this way out does not release it"}}})
		}
		e.s.hopes = hopes
	}
}
