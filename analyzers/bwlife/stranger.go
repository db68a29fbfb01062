package bwlife

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// stranger is a call of which nothing is known. What is given to it may be kept, and ended, by somebody
// else; but the standard library only looks.
func (r *run) stranger(fr *frame, s *state, site ssa.CallInstruction, t target) []outcome {
	joined := r.joined(s, t)
	if r.runsElsewhere(fr, s, site, t) {
		return []outcome{{s: s}}
	}
	if r.books(fr, s, site, t) {
		return []outcome{{s: s}}
	}
	if r.a.waits(t.obj) {
		r.unsure(s)
	}
	if c := site.Common(); c.IsInvoke() && c.Method.Pkg() != nil && c.Method.Pkg().Path() == "context" {
		r.waited(s) // goroutines may be over when their context is
	}
	looks := t.obj != nil && std(t.obj.Pkg()) || t.obj == nil && !t.face && t.fn == nil
	for i, a := range t.args {
		for _, x := range r.inside(s, a) {
			kind := r.infos[x.id].kind
			switch {
			case kind == closer:
				r.escape(s, a)
			case kind == "view":
				r.use(s, x.id, site.Pos())
			case looks && forgetful(t.obj) && !r.takesCloser(site, t, i):
				// whether it is good does not matter to who prints it
			case looks && !r.takesCloser(site, t, i):
				r.use(s, x.id, site.Pos())
				if th := s.thing(x.id); th != nil {
					th.free = true
				}
			default:
				r.lose(s, x.id)
			}
		}
		r.handOver(s, a)
	}
	if t.face {
		r.mayFlush(s)
	}
	r.othersWrite(s)
	return []outcome{{s: s, vals: joined}}
}

// joined is what errors.Join gives: an error, if one that it is given surely is.
func (r *run) joined(s *state, t target) []value {
	if t.obj == nil || t.obj.FullName() != "errors.Join" || len(t.args) != 1 || t.args[0].kind != place {
		return nil
	}
	root := r.places.keys[t.args[0].id].root
	for id, v := range s.mem.all() {
		if is, ok := r.known(s, v); ok && is == facts.NonNil && r.places.keys[id].root == root {
			return []value{{kind: nonNil}}
		}
	}
	return nil
}

// forgetful reports whether a function of the standard library keeps nothing of what it is given: it prints.
func forgetful(f *types.Func) bool {
	if f == nil || f.Pkg() == nil {
		return false
	}
	switch f.Pkg().Path() {
	case "fmt", "log", "log/slog", "errors", "testing", "strings":
		return true
	}
	return false
}

// takesCloser reports whether a parameter has methods that end what is given: an io.Closer.
func (r *run) takesCloser(site ssa.CallInstruction, t target, i int) bool {
	sig := site.Common().Signature()
	if sig.Recv() != nil || t.obj != nil && t.obj.Signature().Recv() != nil {
		i--
	}
	if i < 0 || i >= sig.Params().Len() {
		return false
	}
	p := sig.Params().At(i).Type()
	if f, ok := p.Underlying().(*types.Interface); ok {
		return f.NumMethods() > 0
	}
	return false
}

// handOver gives others the addresses and closures that are in a value.
func (r *run) handOver(s *state, v value) {
	switch v.kind {
	case place:
		k := r.places.keys[v.id]
		s.leaked.set(v.id, true)
		for id, c := range s.mem.all() {
			if o := r.places.keys[id]; o.root == k.root && within(o.path, k.path) && c.kind != object {
				s.mem.drop(id) // a closure may lead back here
				r.handOver(s, c)
				if r.isSettled(k.root) {
					s.mem.set(id, c)
				}
			}
		}
	case closed:
		r.closureGone(s, v)
	case whole:
		r.eachPart(v, func(_ string, p value) { r.handOver(s, p) })
	}
}

// closureGone is a function that somebody else may call, at any time: what it captured is theirs.
func (r *run) closureGone(s *state, v value) {
	for _, b := range r.closures[v.id].bind {
		switch b.kind {
		case object:
			r.lose(s, b.id)
		case place:
			for _, x := range r.inside(s, b) {
				r.lose(s, x.id)
			}
			if held, ok := s.mem.get(b.id); ok { // a variable that leads to it
				for _, x := range r.inside(s, held) {
					r.lose(s, x.id)
				}
			}
			r.handOver(s, b)
		case closed:
			r.closureGone(s, b)
		case whole:
			r.eachPart(b, func(_ string, p value) {
				if p.kind == object {
					r.lose(s, p.id)
				}
			})
		}
	}
}

// othersWrite drops what is known of memory that is not ours alone: a call may have changed it.
func (r *run) othersWrite(s *state) {
	for id, v := range s.mem.all() {
		if v.kind != object && !r.own(s, value{kind: place, id: id}) && !r.isSettled(r.places.keys[id].root) {
			r.changed(s, id, v)
		}
	}
}

// changed drops what a place holds, as others may have changed it. A field that had what is followed, and got something else, does not get
// that back by it.
func (r *run) changed(s *state, id int32, v value) {
	k := r.places.keys[id]
	switch {
	case !r.isMain(k.root, k.path):
		s.mem.drop(id)
	case v.kind != isNil:
		s.mem.set(id, value{})
	}
}
