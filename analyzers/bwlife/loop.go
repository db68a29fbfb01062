package bwlife

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// loopBody is the body of a range-over-func loop, where a call is one.
func (r *run) loopBody(t target) value {
	if len(t.args) != 1 || t.args[0].kind != closed {
		return value{}
	}
	if fn := r.closures[t.args[0].id].fn; strings.HasPrefix(fn.Synthetic, "range-over-func") {
		return t.args[0]
	}
	return value{}
}

// loop runs the body of a range-over-func loop whose iterator is not at hand: not at all, once, or twice.
func (r *run) loop(fr *frame, s *state, site ssa.CallInstruction, t target, yield value) (out []outcome) {
	if t.val.kind == object {
		r.use(s, t.val.id, site.Pos())
	}
	r.unsure(s)
	now := []*state{s}
	for range 2 {
		var next []*state
		for _, s := range now {
			out = append(out, outcome{s: s.clone()})
			body := r.called(target{val: yield})
			body.args = r.elements(fr, s, site, t.val, body.fn)
			if len(r.stack) >= maxDepth || r.inStack(body.fn) {
				r.closureGone(s, yield)
				continue
			}
			for _, o := range r.inline(fr, s, site, body) {
				if len(o.vals) == 1 && o.vals[0].kind == isFalse {
					out = append(out, outcome{s: o.s})
				} else {
					next = append(next, o.s)
				}
			}
		}
		now = next
	}
	for _, s := range now {
		out = append(out, outcome{s: s})
	}
	return out
}

// elements are what an iterator gives to the body of a loop: views, if it is one.
func (r *run) elements(fr *frame, s *state, site ssa.CallInstruction, iterator value, body *ssa.Function) []value {
	if iterator.kind != object || body == nil {
		return nil
	}
	args := make([]value, len(body.Params))
	for i, p := range body.Params {
		if _, basic := p.Type().Underlying().(*types.Basic); basic || r.a.kindOf(p.Type()) != "" {
			continue
		}
		id := r.object(objectKey{frame: fr.id, call: site, part: i, kind: "element"}, objectInfo{kind: "view", parent: iterator.id, pos: site.Pos(), typ: p.Type(), call: site})
		s.set(thing{id: id, phase: live, at: site.Pos()})
		args[i] = value{kind: object, id: id}
	}
	return args
}
