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

// lentWindow is the kind of spec that follows a window which a call lends to a function literal.
const lentWindow = "lent"

// carved is the kind of objects that are handles of their own, on memory of the one that is followed.
const carved = "part"

// related is another place that a finding is about.
type related struct {
	pos  token.Pos
	text string
}

// report is a finding.
type report struct {
	code    diag.Code
	pos     token.Pos
	text    string
	related []related
	name    string              // of the object
	call    ssa.CallInstruction // of a leak: what made the object
	typ     types.Type
	never   bool // of a leak: on no path it is released, or given away

	op                token.Pos // of a release in flight: where the operation starts
	dominated         bool      // the operation, or the first release, comes before this on every way
	returned, results int       // of a view that is returned: which result it is, from 1 on, and of how many
}

// say notes a finding, where the state is one that surely can be: not after a call that was only
// assumed to have failed, and not of a call whose error the program asks for. On this way nothing more is said.
func (r *run) say(s *state, rep report) {
	r.note(s, rep)
	s.main().phase = lost
}

// note is say without an end to it.
func (r *run) note(s *state, rep report) {
	if s.hopes.len() == 0 && rep.pos.IsValid() && !(r.a.expected[rep.pos] && refused(rep.code)) {
		rep.name, rep.typ = r.name(), r.infos[0].typ
		r.reports = append(r.reports, rep)
	}
}

// called is what messages call the object that is followed.
func (r *run) name() string { return r.a.nameOf(r) }

func (r *run) typed() string {
	return fmt.Sprintf("`%s` (%s)", r.name(), types.TypeString(r.infos[0].typ, func(p *types.Package) string { return p.Name() }))
}

// whence is where the object was made.
func (r *run) whence() related {
	if r.spec.value != nil {
		return related{r.infos[0].pos, r.name() + " comes from here"}
	}
	if r.spec.call == nil {
		return related{r.fn.Params[r.spec.param].Pos(), r.name() + " is this parameter's"}
	}
	return related{r.infos[0].pos, r.name() + " is made here"}
}

func (r *run) ended(m *thing) related {
	return related{m.at, fmt.Sprintf("%s ends here: %s", r.name(), m.how)}
}

// use is a use of an object: it must be good.
func (r *run) use(s *state, id int32, at token.Pos) {
	m := s.main()
	info := r.infos[id]
	switch {
	case id == 0 && m.phase == live:
		m.used = true
	case id == 0 && m.phase == absent:
		r.useAbsent(s, at)
	case id == 0 && m.phase == dead:
		r.useDead(s, at, m)
	case info.kind == "view" && info.held && r.yielded(s, id, at):
	case info.kind == "view" && r.rootOfView(id) == 0:
		m.used = m.used || m.phase == live
		if m.phase == dead {
			r.say(s, report{code: diag.ViewOutlives, pos: at,
				text:    fmt.Sprintf("%s has ended by %s, and %s is used", r.typed(), m.how, r.viewName(id)),
				related: []related{r.whence(), {info.pos, "it is taken here"}, r.ended(m)}})
		}
	}
}

// useOrNil is a use by what takes nil, too, or not.
func (r *run) useOrNil(s *state, id int32, at token.Pos, optional bool) {
	if !optional || id != 0 {
		r.use(s, id, at)
		return
	}
	switch m := s.main(); m.phase {
	case live:
		m.tried = true
	case dead:
		r.useDead(s, at, m)
	}
}

// rootOfView is what a view is of, views of views left out.
func (r *run) rootOfView(id int32) int32 {
	for id != 0 && r.infos[id].kind == "view" {
		id = r.infos[id].parent
	}
	return id
}

func (r *run) viewName(id int32) string {
	t := types.TypeString(r.infos[id].typ, func(p *types.Package) string { return p.Name() })
	return "a view of it (" + t + ")"
}

func (r *run) useDead(s *state, at token.Pos, m *thing) {
	code, what := diag.UseAfterRelease, "is used after "
	switch {
	case r.infos[0].kind == "op":
		return
	case r.infos[0].kind == "window":
		code = diag.WindowAfterClose
	case m.moved:
		code = diag.UseAfterMove
	}
	r.say(s, report{code: code, pos: at, text: r.typed() + " " + what + m.how, related: []related{r.whence(), r.ended(m)}})
}

func (r *run) useAbsent(s *state, at token.Pos) {
	if r.spec.call == nil {
		s.main().phase = lost
		return
	}
	if r.infos[0].kind == "window" || r.infos[0].kind == "op" {
		s.main().phase = lost
		return
	}
	r.say(s, report{code: diag.ErrorPathUse, pos: at,
		text:    r.typed() + " is used where the call that makes it has failed, and it is nil",
		related: []related{r.whence()}})
}

// end is a release of an object, or its move into another handle.
func (r *run) end(s *state, id int32, site ssa.CallInstruction, how string, moved bool) {
	if s.main().phase == lost {
		return
	}
	at := site.Pos()
	if r.a.refuses[at] && r.infos[id].kind != "op" {
		r.lose(s, id)
		return
	}
	if r.infos[id].kind == "op" {
		r.earlier(s, id)
	}
	if id != 0 {
		if t := s.thing(id); t != nil && t.phase == live {
			*t = thing{id: id, phase: dead, how: how, at: at, moved: moved}
		}
		return
	}
	r.gone = true
	m := s.main()
	switch m.phase {
	case live:
		if r.busy(s, at, how) || !moved && r.booked(s, at, how) {
			return
		}
		*m = thing{phase: dead, how: how, at: at, moved: moved, used: true, free: m.free,
			quiet: r.infos[0].kind == "op" && r.a.unlooked[site.Pos()] && givesError(site)}
	case absent:
		if moved {
			r.useAbsent(s, at) // it is to be another's memory, and there is none
			return
		}
		s.main().phase = lost // closing nil gives an error, and no harm
	case dead:
		if r.infos[0].kind == "op" {
			return
		}
		r.twice(s, at, m, how)
	}
}

// earlier ends the operations that were posted before one that was waited for: they end in order. id is
// that one, -1 where it is not known which. Those that were surely posted later go on.
func (r *run) earlier(s *state, id int32) {
	for i := range s.things {
		t := &s.things[i]
		if t.id == id || t.phase != live || r.infos[t.id].kind != "op" {
			continue
		}
		if id >= 0 && r.infos[t.id].pos > r.infos[id].pos && !r.a.loops(r.infos[id].call) {
			continue
		}
		t.phase = lost
	}
}

// givesError reports whether the last result of a call is an error.
func givesError(site ssa.CallInstruction) bool {
	res := site.Common().Signature().Results()
	return res.Len() > 0 && isError(res.At(res.Len()-1).Type())
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// twice is a second end.
func (r *run) twice(s *state, at token.Pos, m *thing, how string) {
	code := diag.DoubleRelease
	if m.moved {
		code = diag.UseAfterMove
	}
	r.say(s, report{code: code, pos: at, dominated: r.always(m.at, at) || r.covers(m.at, at),
		text:    fmt.Sprintf("%s is ended by %s, and was ended by %s before", r.typed(), how, m.how),
		related: []related{r.whence(), r.ended(m)}})
}

// inFlight is how many operations are.
func (r *run) inFlight(s *state) (n int) {
	for _, t := range s.things[1:] {
		if t.phase == live && r.infos[t.id].kind == directive.Op {
			n++
		}
	}
	return n
}

// always reports whether one call of the function comes before another on every way to that.
func (r *run) always(first, second token.Pos) bool {
	var a, b *ssa.BasicBlock
	for _, block := range r.fn.Blocks {
		for _, in := range block.Instrs {
			switch call, ok := in.(*ssa.Call); {
			case !ok:
			case call.Pos() == first:
				a = block
			case call.Pos() == second && a == block:
				return true
			case call.Pos() == second:
				b = block
			}
		}
	}
	return a != nil && b != nil && a != b && a.Dominates(b)
}

// covers reports whether every way from a deferred call on to the end of the function comes by another call, the first: then the deferred one is for nothing.
func (r *run) covers(first, last token.Pos) bool {
	var call, end *ssa.BasicBlock
	for _, b := range r.fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Call:
				if in.Pos() == first {
					call = b
				}
			case *ssa.Defer:
				if in.Pos() == last && call != b {
					end = b
				}
			}
		}
	}
	if call == nil || end == nil || !end.Dominates(call) || r.a.shape(r.fn).loops[end.Index] {
		return false
	}
	for _, b := range r.fn.Blocks {
		if len(b.Succs) == 0 && end.Dominates(b) && !call.Dominates(b) && b != r.fn.Recover {
			return false
		}
	}
	return true
}

// busy looks for what is in the way of an end: windows that are open, operations in flight.
func (r *run) busy(s *state, at token.Pos, how string) bool {
	for _, t := range s.things[1:] {
		if t.phase != live || t.free {
			continue
		}
		switch info := r.infos[t.id]; info.kind {
		case carved:
			if info.parent == 0 {
				r.say(s, report{code: diag.ReleaseBorrowed, pos: at,
					text:    fmt.Sprintf("%s is ended by %s while a handle on a part of it is not", r.typed(), how),
					related: []related{r.whence(), {info.pos, "the part is taken here"}}})
				return true
			}
		case "op":
			if r.infos[info.parent].kind == carved {
				continue // the part is in the way before that is
			}
			r.say(s, report{code: diag.ReleaseInFlight, pos: at, op: info.pos, call: r.spec.call, dominated: !t.listed && r.inFlight(s) == 1 && r.always(info.pos, at),
				text:    fmt.Sprintf("%s is ended by %s while an operation on it is in flight", r.typed(), how),
				related: []related{r.whence(), {info.pos, "the operation starts here, and nothing on this path waits for it"}}})
			return true
		case goroutine:
			r.endShared(s, at, how, t.id)
			return true
		case "window":
			if info.parent == 0 {
				r.say(s, report{code: diag.ReleaseBorrowed, pos: at,
					text:    fmt.Sprintf("%s is ended by %s while a window on it is open", r.typed(), how),
					related: []related{r.whence(), {info.pos, "the window is opened here"}}})
				return true
			}
		}
	}
	return false
}

// lose is an object of which nothing is known any more.
func (r *run) lose(s *state, id int32) {
	if r.infos[id].kind == closer {
		id = r.infos[id].parent
	}
	r.gone = r.gone || id == 0
	if t := s.thing(id); t != nil {
		t.phase = lost
	}
}

// escape is a value that is put where others find it: what is in it is not ours alone to release.
func (r *run) escape(s *state, v value) {
	for _, x := range r.inside(s, v) {
		if r.infos[x.id].kind == closer {
			x.id = r.infos[x.id].parent
		}
		r.gone = r.gone || x.id == 0
		if t := s.thing(x.id); t != nil {
			t.free = true
			if x.id != 0 || r.infos[0].kind == "op" {
				t.phase = lost
			}
		}
	}
	switch v.kind {
	case place:
		r.handOver(s, v)
	case closed:
		r.closureGone(s, v)
	case whole:
		r.eachPart(v, func(_ string, p value) {
			if p.kind != object {
				r.escape(s, p)
			}
		})
	}
}

// leaks is an object that nobody releases. ret is the way out; without one it is the next turn of a loop.
func (r *run) leaks(s *state, at token.Pos, ret *ssa.Return) {
	if r.shared(s) != 0 {
		return // the goroutine may end it
	}
	where := related{at, "and is lost with the next turn of the loop"}
	if ret != nil {
		where = related{ret.Pos(), "this way out does not release it"}
	}
	if !where.pos.IsValid() {
		where.pos = r.fn.Syntax().End() - 1
	}
	switch r.infos[0].kind {
	case "handle":
		r.say(s, report{code: diag.Leak, pos: r.infos[0].pos, call: r.spec.call, text: r.typed() + " is not released on every path", related: []related{where}})
	case "window":
		r.say(s, report{code: diag.WindowLeak, pos: r.infos[0].pos, call: r.spec.call, text: r.typed() + " is not closed on every path", related: []related{where}})
	case "op":
		if ret == nil {
			return // the last of them may be waited for, which ends all
		}
		r.say(s, report{code: diag.DroppedOp, pos: r.infos[0].pos, text: r.typed() + " is not waited for on every path", related: []related{where}})
	}
}

// finish looks at the ways out of the function.
func (r *run) finish() {
	for i := range r.exits {
		r.exits[i].closes = r.closersOf(r.exits[i])
		e := r.exits[i]
		m := e.s.main()
		if !r.hidden(e) {
			e.s.hopes = dict[int32, bool]{} // who calls gets to see the error
		}
		gone := false
		r.deadOnReturn(e)
		for j, v := range e.results {
			if e.ends(j) {
				continue // goes with what it ends
			}
			for _, x := range r.inside(e.s, v) {
				gone = gone || x.id == 0 || r.infos[x.id].kind == closer && r.infos[x.id].parent == 0
				if m.phase == dead && r.infos[x.id].kind == "view" && r.rootOfView(x.id) == 0 {
					r.say(e.s, report{code: diag.ViewOutlives, pos: e.ret.Pos(), returned: j + 1, results: len(e.results),
						text:    fmt.Sprintf("%s has ended by %s, and %s is returned", r.typed(), m.how, r.viewName(x.id)),
						related: []related{r.whence(), {r.infos[x.id].pos, "it is taken here"}, r.ended(m)}})
				}
			}
			if v.kind == closed && r.spec.call == nil && r.looksOnly(e.s, v) {
				continue // it is a view, for callers
			}
			if v.kind == closed || v.kind == place {
				before := m.phase
				r.escape(e.s, v)
				gone = gone || e.s.main().free || m.phase != before
			}
		}
		r.gone = r.gone || gone
		if r.spec.call == nil || gone || m.free {
			continue
		}
		switch {
		case m.phase == live && r.mustEnd() && !(r.infos[0].kind == "op" && r.failed(e)):
			r.leaks(e.s, 0, e.ret)
		case m.phase == dead && m.quiet && succeeded(e):
			r.say(e.s, report{code: diag.IgnoredWait, pos: m.at,
				text:    r.typed() + " may have failed: the error of waiting for it is not looked at, and the function returns as if all were well",
				related: []related{r.whence()}})
		}
	}
}

// failed reports whether a way out gives an error. The connection is no good then, as a rule, and its operations end.
func (r *run) failed(e exit) bool {
	n := len(e.results)
	if n == 0 || !isError(e.ret.Results[n-1].Type()) {
		return false
	}
	is, known := r.known(e.s, e.results[n-1])
	return known && is == facts.NonNil
}

// succeeded reports whether a way out says that all went well.
func succeeded(e exit) bool {
	n := len(e.results)
	return n == 0 || !isError(e.ret.Results[n-1].Type()) || e.results[n-1].kind == isNil
}
