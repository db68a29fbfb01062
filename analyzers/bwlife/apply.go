package bwlife

import (
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// apply is a call of a function whose effects are known.
func (r *run) apply(fr *frame, s *state, site ssa.CallInstruction, t target, sum *facts.Func) []outcome {
	n := site.Common().Signature().Results().Len()
	out := []outcome{{s, make([]value, n)}}
	for i, a := range t.args {
		for _, x := range r.inside(s, a) {
			p, known := sum.Param(i, element(x.path))
			var next []outcome
			for _, o := range out {
				if !known || len(p.Cases) == 0 {
					r.unsaid(o.s, site, x.id)
					next = append(next, o)
					continue
				}
				for _, c := range p.Cases {
					if th := o.s.thing(x.id); th != nil && th.phase == dead && undecidedFor(p.Cases, c) {
						continue // it may be one that ends it once only
					}
					if o := (outcome{o.s.clone(), append([]value{}, o.vals...)}); r.take(fr, &o, site, t, x.id, &c) {
						next = append(next, o)
					}
				}
			}
			out = next
		}
	}
	r.otherWaits(out, site, t, sum)
	lent := map[int]bool{}
	for _, l := range sum.Lends {
		lent[l.Func] = true
		out = r.lend(fr, out, site, t, l)
	}
	for _, o := range out {
		for i, a := range t.args {
			if !lent[i] {
				r.handOver(o.s, a)
			}
		}
		r.othersWrite(o.s)
		if sum.Flushes {
			r.mayFlush(o.s)
		}
		if sum.Hears {
			r.unsure(o.s)
		}
		r.touches(o.s, site, t, sum)
		r.writesAfar(o.s, site, t, sum)
		if last := n - 1; last >= 0 && o.vals[last].kind == unknown && givesError(site) && r.a.windowEnds(t.obj, sum) {
			o.vals[last] = value{kind: isNil} // see endsWindow
		}
		for _, i := range sum.NeverNil {
			if i < n && o.vals[i].kind == unknown {
				o.vals[i] = value{kind: nonNil}
			}
		}
	}
	if fr.id == 0 && r.spec.call == site && r.spec.kind != lentWindow {
		out = r.birth(fr, out, site, sum)
	}
	for _, o := range out {
		r.closers(fr, o, site, sum)
	}
	return out
}

// otherWaits is a wait for an operation that is not one of those that are followed.
func (r *run) otherWaits(out []outcome, site ssa.CallInstruction, t target, sum *facts.Func) {
	for _, p := range sum.Params {
		if p.Path != "" || p.Index >= len(t.args) || t.args[p.Index].kind == object || len(p.Cases) == 0 || p.Cases[0].Post != facts.Released {
			continue
		}
		if r.a.kindOfParam(t.obj, p.Index) == directive.Op {
			for _, o := range out {
				r.earlier(o.s, -1)
			}
		}
	}
}

// paramType is the type of a parameter of a function; the receiver is the first. It is nil where there is no such.
func paramType(f *types.Func, i int) types.Type {
	if f == nil {
		return nil
	}
	if recv := f.Signature().Recv(); recv != nil {
		if i == 0 {
			return recv.Type()
		}
		i--
	}
	if params := f.Signature().Params(); i < params.Len() {
		return params.At(i).Type()
	}
	return nil
}

// argType is the type of an argument, which may be a bound one.
func argType(site ssa.CallInstruction, t target, i int) types.Type {
	if args := site.Common().Args; len(args) == len(t.args) {
		return args[i].Type()
	}
	return paramType(t.obj, i)
}

func (a *analyzer) kindOfParam(f *types.Func, i int) string {
	if t := paramType(f, i); t != nil {
		return a.kindOf(t)
	}
	return ""
}

// unsaid is an argument of which the effects say nothing.
func (r *run) unsaid(s *state, site ssa.CallInstruction, id int32) {
	switch r.infos[id].kind {
	case directive.View:
		r.use(s, id, site.Pos())
	case directive.Remote:
	default:
		r.lose(s, id)
	}
}

// tried reports whether a case is a release that failed: what is not known then is whether it was good before.
func tried(c *facts.Case) bool {
	return c.Post == facts.Unknown && c.Uses && len(c.When) == 1 && c.When[0].Result
}

// take goes one way of a call, for one of its arguments. It reports false where that cannot be.
func (r *run) take(fr *frame, o *outcome, site ssa.CallInstruction, t target, id int32, c *facts.Case) bool {
	for _, w := range c.When {
		if !r.given(fr, o.s, site, t, w) {
			return false
		}
	}
	if c.Uses && c.Post != facts.Released && c.Post != facts.Moved {
		r.useOrNil(o.s, id, site.Pos(), c.Optional)
	}
	r.guarded(o.s, id, site, c)
	post := c.Post
	if c.Method != "" && post == facts.Released && !r.a.endsBy(r.infos[id].typ, c.Method) {
		post = facts.Unknown
	}
	switch post {
	case facts.Released, facts.Moved:
		r.end(o.s, id, site, c.How, c.Post == facts.Moved)
	case facts.Kept:
		if th := o.s.thing(id); th != nil {
			th.free = true
		}
	case facts.Unknown:
		r.lose(o.s, id)
	}
	if o.s.main().phase == lost {
		r.lost = r.lost || !tried(c)
		return false
	}
	if c.Post == facts.Moved && r.infos[id].kind == carved {
		r.goesOn(fr, o, site, t, r.infos[id].parent)
	}
	for _, d := range c.Derived {
		if d.Result < len(o.vals) {
			o.vals[d.Result] = r.derive(fr, o.s, site, t, id, d, o.vals[d.Result])
			if v := o.vals[d.Result]; c.Needs && v.kind == object && d.Kind == directive.View {
				r.infos[v.id].held = true
			}
		}
	}
	return true
}

// goesOn is a part that was moved: its memory is that of the handle which the call gives.
func (r *run) goesOn(fr *frame, o *outcome, site ssa.CallInstruction, t target, of int32) {
	sum := r.a.effects(t.obj)
	if sum == nil {
		return
	}
	for _, f := range sum.Fresh {
		if f.Result < len(o.vals) && r.a.kindOf(site.Common().Signature().Results().At(f.Result).Type()) == directive.Handle {
			o.vals[f.Result] = r.derive(fr, o.s, site, t, of, facts.Derived{Result: f.Result, Kind: carved}, o.vals[f.Result])
		}
	}
}

// given assumes what goes with a case. A call that fails is a hope until somebody looks.
func (r *run) given(fr *frame, s *state, site ssa.CallInstruction, t target, w facts.Cond) bool {
	var v value
	switch {
	case !w.Result && w.Index < len(t.args):
		v = t.args[w.Index]
	case w.Result:
		v = r.resultSym(fr, site, w.Index)
	}
	var c value
	want := w.Is == facts.Nil || w.Is == facts.True
	switch w.Is {
	case facts.Nil, facts.NonNil:
		c = r.nilness(s, v)
	default:
		if c = v; v.kind == symbol {
			c = r.condition(condKey{op: "true", x: v})
		}
	}
	switch c.kind {
	case isTrue:
		return want
	case isFalse:
		return !want
	case cond:
		return r.assume(fr, s, c.id, want != c.neg, w.Result && w.Is == facts.NonNil)
	}
	if w.Result && w.Is == facts.NonNil { // nobody looks at the error
		s.hopes.set(-1, true)
	}
	return true
}

// resultSym is the symbol of a result, where the call has one.
func (r *run) resultSym(fr *frame, site ssa.CallInstruction, i int) value {
	v, ok := site.(*ssa.Call)
	if !ok {
		return value{}
	}
	self := r.sym(fr.id, fr.sh.asked(v), "")
	if v.Common().Signature().Results().Len() > 1 {
		return r.fieldOf(self, "#"+strconv.Itoa(i))
	}
	return self
}

// derive makes the object that a result is; was is what it is already, as part of another argument.
func (r *run) derive(fr *frame, s *state, site ssa.CallInstruction, t target, of int32, d facts.Derived, was value) value {
	switch {
	case d.Kind == "alias":
		return value{kind: object, id: of}
	case d.Kind == "count":
		return was // see wholeCount
	case (d.Kind == "window" || d.Kind == mapped || d.Kind == carved) && r.a.blank(site, d.Result):
		return value{} // the call is expected to fail
	}
	key := objectKey{frame: fr.id, call: site, part: d.Result, kind: d.Kind}
	info := objectInfo{kind: d.Kind, parent: of, pos: site.Pos(), typ: site.Common().Signature().Results().At(d.Result).Type(), call: site}
	now := thing{phase: live, at: site.Pos()}
	switch d.Kind {
	case mapped:
		info.kind, info.maps = directive.Window, true
	case "op", "fill":
		info.kind, info.fills, info.parent = "op", d.Kind == "fill", r.rootOfView(of) // an operation on a span has the region
		info.ext, now.stale = r.postedOn(fr, s, site, t, of, d, was)
	case "view", directive.Remote:
		info.ext, now.stale = r.viewed(fr, s, site, t, of, d)
		info.held = r.infos[of].held
	}
	r.supersede(s, key)
	key.ext = info.ext
	now.id = r.object(key, info)
	s.set(now)
	return value{kind: object, id: now.id}
}

// supersede drops the object that the same call made before, in an earlier turn of a loop.
func (r *run) supersede(s *state, k objectKey) {
	for i := len(s.things) - 1; i > 0; i-- {
		id := s.things[i].id
		old := r.objects.keys[id]
		if old.ext = (extent{}); old == k {
			s.replace(func(v value) bool { return v.kind == object && v.id == id }, &r.interner)
			s.things = slices.Delete(s.things, i, i+1)
		}
	}
}

func (r *run) object(k objectKey, info objectInfo) int32 {
	id := r.objects.id(k)
	if int(id) == len(r.infos) {
		r.infos = append(r.infos, info)
	}
	return id
}

// birth is the call that makes what is followed: it may succeed, and may not.
func (r *run) birth(fr *frame, in []outcome, site ssa.CallInstruction, sum *facts.Func) (out []outcome) {
	var fresh *facts.Fresh
	for i := range sum.Fresh {
		if sum.Fresh[i].Result == r.spec.result {
			fresh = &sum.Fresh[i]
		}
	}
	if fresh == nil {
		return in
	}
	for _, o := range in {
		r.again(o.s)
		r.infos[0].null = value{kind: isFalse}
		if len(fresh.When) > 0 {
			failed := outcome{o.s.clone(), append([]value{}, o.vals...)}
			w := fresh.When[0]
			v := r.resultSym(fr, site, w.Index)
			null := condKey{op: "nil", x: v}
			if w.Is == facts.True || w.Is == facts.False {
				null.op = "true"
			}
			c := r.condition(null)
			want := w.Is == facts.Nil || w.Is == facts.True
			r.infos[0].null = value{kind: cond, id: c.id, neg: want}
			if v.kind != symbol {
				r.infos[0].null = value{}
			} else if r.assume(fr, failed.s, c.id, !want, true) {
				*failed.s.main() = thing{phase: absent, at: site.Pos()}
				failed.vals[r.spec.result] = value{kind: object}
				out = append(out, failed)
			}
			if v.kind == symbol && !r.assume(fr, o.s, c.id, want, false) {
				continue
			}
		}
		*o.s.main() = thing{phase: live, at: site.Pos()}
		o.vals[r.spec.result] = value{kind: object}
		if fresh.Held {
			r.mark(o.s, 0, bracket, thing{phase: lost})
		}
		r.buffers(fr, o.s)
		out = append(out, o)
	}
	return out
}

// again is the call that makes the object while there is one from an earlier turn of a loop: that one
// is lost if nobody has it.
func (r *run) again(s *state) {
	isObject := func(v value) bool { return v.kind == object }
	if m := s.main(); m.phase == live && !m.free && !s.refers(&r.interner, isObject) {
		r.leaks(s, r.infos[0].pos, nil)
	}
	s.replace(isObject, &r.interner)
	s.things = s.things[:1]
}

// lend runs a function that is given a window for as long as it runs.
func (r *run) lend(fr *frame, in []outcome, site ssa.CallInstruction, t target, l facts.Lend) (out []outcome) {
	if l.Func >= len(t.args) || l.Of >= len(t.args) {
		return in
	}
	fn := t.args[l.Func]
	for _, o := range in {
		body := r.called(target{val: fn})
		if fn.kind != closed || body.fn == nil || len(body.fn.Blocks) == 0 || len(r.stack) >= maxDepth || r.inStack(body.fn) {
			r.handOver(o.s, fn)
			out = append(out, o)
			continue
		}
		skipped := outcome{o.s.clone(), append([]value{}, o.vals...)}
		if last := len(skipped.vals) - 1; !givesError(site) {
			skipped.s.hopes.set(-1, true) // it fails before
			out = append(out, skipped)
		} else if r.given(fr, skipped.s, site, t, facts.Cond{Result: true, Index: last, Is: facts.NonNil}) {
			out = append(out, skipped)
		}
		w := value{}
		mine := fr.id == 0 && r.spec.call == site && r.spec.kind == lentWindow
		if mine {
			r.again(o.s)
			*o.s.main() = thing{phase: live, at: site.Pos()}
			w = value{kind: object}
		} else if of := t.args[l.Of]; of.kind == object {
			id := r.object(objectKey{frame: fr.id, call: site, part: l.Func, kind: "window"}, objectInfo{kind: "window", parent: of.id, pos: site.Pos(), typ: argType(site, t, l.Of), call: site})
			o.s.set(thing{id: id, phase: live, at: site.Pos()})
			w = value{kind: object, id: id}
		}
		body.args = []value{w}
		for _, done := range r.inline(fr, o.s, site, body) {
			if w.kind == object {
				if th := done.s.thing(w.id); th != nil && th.phase == live {
					*th = thing{id: w.id, phase: dead, how: "the end of " + callee(site.Common()).Name(), at: site.Pos()}
				}
			}
			back := outcome{done.s, append([]value{}, o.vals...)}
			if last := len(back.vals) - 1; last >= 0 && len(done.vals) == 1 && done.vals[0].kind != unknown && givesError(site) {
				back.vals[last] = done.vals[0] // what the function gives is given on
			}
			out = append(out, back)
		}
	}
	return out
}

// endsWindow reports whether a call ends a window, and a result is its error. It can fail only where the window was ended before, which is
// a finding by itself: the way on which a program looks after such an error is none that can be.
func (a *analyzer) endsWindow(call *ssa.Call, result int) bool {
	obj := callee(&call.Call)
	if obj == nil || !givesError(call) || result != call.Call.Signature().Results().Len()-1 {
		return false
	}
	return a.effects(obj) != nil && a.windowEnds(obj, a.effects(obj))
}

func (a *analyzer) windowEnds(obj *types.Func, sum *facts.Func) bool {
	return slices.ContainsFunc(sum.Params, func(p facts.Param) bool {
		return p.Path == "" && len(p.Cases) > 0 && a.kindOfParam(obj, p.Index) == directive.Window &&
			!slices.ContainsFunc(p.Cases, func(c facts.Case) bool { return c.Post != facts.Released })
	})
}

// mayFlush is a call that may wait for all operations.
func (r *run) mayFlush(s *state) {
	r.waited(s)
	r.inPlace(s)
	for i := range s.things {
		t := &s.things[i]
		if k := r.infos[t.id].kind; k == "op" && t.phase == live {
			t.phase = lost
		}
	}
}

// element leaves out the index of an element: what happens to a slice happens to each.
func element(path string) string {
	if strings.HasPrefix(path, ".[") && strings.HasSuffix(path, "]") && strings.Count(path, ".") == 1 {
		return ""
	}
	return path
}
