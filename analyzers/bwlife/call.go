package bwlife

import (
	"go/types"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// target is what a call calls.
type target struct {
	fn   *ssa.Function // nil: it is not known
	bind []value       // what a closure captured
	obj  *types.Func   // of a function or method with a name
	args []value       // the receiver is the first
	val  value         // what is called, where that is a value
	name string        // a builtin
	face bool          // a method of an interface that is not the standard library's, or a value
}

// outcome is one way that a call may go.
type outcome struct {
	s    *state
	vals []value // of results; unknown: a symbol
}

func (r *run) call(fr *frame, s *state, in *ssa.Call, _ any) (out []*state) {
	t := r.target(fr, s, in.Common())
	for _, o := range r.dispatch(fr, s, in, t) {
		self := r.sym(fr.id, in, "")
		v := value{}
		switch n := in.Common().Signature().Results().Len(); {
		case n == 1 && len(o.vals) == 1:
			v = o.vals[0]
		case n > 1 && len(o.vals) == n:
			vals := append([]value{}, o.vals...)
			for i := range vals {
				if vals[i].kind == unknown {
					vals[i] = r.fieldOf(self, "#"+strconv.Itoa(i))
				}
			}
			v = r.results(vals)
		}
		if b, ok := in.Call.Value.(*ssa.Builtin); ok {
			v = r.builtinResult(fr, o.s, b.Name(), in)
		}
		if v.kind == unknown {
			v = r.pure(fr, o.s, in)
		}
		if v.kind != unknown {
			o.s.env.set(slot{fr.id, in}, v)
		}
		out = append(out, o.s)
	}
	return out
}

// target works out what is called, and with what.
func (r *run) target(fr *frame, s *state, c *ssa.CallCommon) (t target) {
	for _, a := range c.Args {
		t.args = append(t.args, r.eval(fr, s, a))
	}
	if c.IsInvoke() {
		recv := r.eval(fr, s, c.Value)
		t.args = append([]value{recv}, t.args...)
		t.face = !std(c.Method.Pkg())
		if recv.kind == object {
			o, _, _ := types.LookupFieldOrMethod(r.infos[recv.id].typ, true, c.Method.Pkg(), c.Method.Name())
			t.obj, _ = o.(*types.Func)
		}
		return t
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		t.name = b.Name()
		return t
	}
	t.val = r.eval(fr, s, c.Value)
	return r.called(t)
}

// called fills in what a function value stands for.
func (r *run) called(t target) target {
	if t.val.kind != closed {
		t.face = t.obj == nil && t.name == ""
		return t
	}
	c := r.closures[t.val.id]
	t.fn, t.bind = c.fn, c.bind
	if c.fn.Parent() == nil {
		t.obj, _ = c.fn.Object().(*types.Func)
		if c.fn.Synthetic != "" && len(c.bind) == 1 { // a bound method
			t.args, t.bind = append([]value{c.bind[0]}, t.args...), nil
			t.fn = nil
			if c.bind[0].kind == object && t.obj != nil && types.IsInterface(t.obj.Signature().Recv().Type()) {
				o, _, _ := types.LookupFieldOrMethod(r.infos[c.bind[0].id].typ, true, t.obj.Pkg(), t.obj.Name())
				t.obj, _ = o.(*types.Func)
			}
		}
		if o := c.fn.Origin(); o != nil && t.fn != nil {
			t.fn = o
		}
	}
	if t.obj != nil {
		t.obj = t.obj.Origin()
	}
	return t
}

func std(p *types.Package) bool {
	if p == nil {
		return true // error.Error
	}
	first, _, _ := strings.Cut(p.Path(), "/")
	return !strings.Contains(first, ".") && !strings.HasPrefix(p.Path(), "command-line-arguments")
}

// dispatch runs a call: in place where the function is at hand and wants to be, else by what is known of it.
func (r *run) dispatch(fr *frame, s *state, site ssa.CallInstruction, t target) []outcome {
	if t.name != "" {
		return r.builtin(s, site, t)
	}
	if t.val.kind == object && r.infos[t.val.id].kind == closer {
		return r.callCloser(s, site, t.val.id)
	}
	if c := site.Common(); c.IsInvoke() && neverReturns(c.Method) {
		return nil
	}
	var sum *facts.Func
	if t.obj != nil {
		sum = r.a.effects(t.obj)
	}
	if r.closesUnseen(site, t) {
		return r.apply(fr, s, site, t, closing(site.Common().Signature()))
	}
	literal := t.fn != nil && t.fn.Parent() != nil
	if t.fn != nil && len(t.fn.Blocks) > 0 && len(r.stack) < maxDepth && !r.inStack(t.fn) && (literal || r.a.answers(t.fn) || r.worthInlining(t, sum)) && !tooBig(t.fn) {
		return r.inline(fr, s, site, t)
	}
	if sum != nil && sum.NoReturn {
		return nil
	}
	if yield := r.loopBody(t); yield.kind == closed && sum == nil {
		return r.loop(fr, s, site, t, yield)
	}
	if sum == nil {
		if literal {
			r.handOver(s, t.val) // it is not run, but may do anything
		}
		return r.stranger(fr, s, site, t)
	}
	return r.apply(fr, s, site, t, sum)
}

// worthInlining reports whether a function of this package is given a function literal: what it does is
// what that does.
func (r *run) worthInlining(t target, sum *facts.Func) bool {
	if r.spec.call != nil && t.obj != nil && sum != nil && len(sum.Lends) > 0 {
		return false
	}
	if t.obj == nil || t.obj.Pkg() != r.a.pass.Pkg || r.a.declared[t.obj] {
		return false
	}
	for _, a := range t.args {
		if a.kind == closed && r.closures[a.id].fn.Parent() != nil {
			return true
		}
	}
	return false
}

// inline runs the body of a function in place.
func (r *run) inline(fr *frame, s *state, site ssa.CallInstruction, t target) (out []outcome) {
	nf := r.enter(fr.id, site, t.fn)
	nf.again = nf.again || strings.HasPrefix(t.fn.Synthetic, "range-over-func")
	defer r.leave()
	for i, p := range t.fn.Params {
		if nf.again {
			r.forget(nf, s, p)
		}
		if i < len(t.args) && t.args[i].kind != unknown {
			s.env.set(slot{nf.id, p}, t.args[i])
		}
	}
	for i, f := range t.fn.FreeVars {
		if nf.again {
			r.forget(nf, s, f)
		}
		if i < len(t.bind) && t.bind[i].kind != unknown {
			s.env.set(slot{nf.id, f}, t.bind[i])
		}
	}
	for _, e := range r.activate(nf, s) {
		for k := range e.s.env.all() {
			if k.frame == nf.id {
				e.s.env.drop(k)
			}
		}
		out = append(out, outcome{e.s, e.results})
	}
	return out
}

// found is an object within a value.
type found struct {
	path string
	id   int32
}

// inside are the objects within a value: itself, a field of the struct, or of the struct that it points to.
func (r *run) inside(s *state, v value) (list []found) {
	switch v.kind {
	case object:
		return []found{{"", v.id}}
	case whole:
		r.eachPart(v, func(path string, p value) {
			if p.kind == object {
				list = append(list, found{path, p.id})
			}
		})
	case place:
		k := r.places.keys[v.id]
		for id, c := range s.mem.all() {
			o := r.places.keys[id]
			if o.root == k.root && c.kind == object && strings.HasPrefix(o.path, k.path) {
				list = append(list, found{o.path[len(k.path):], c.id})
			}
		}
		if r.spec.call == nil && r.spec.path != "" && r.isMain(k.root, k.path+strings.TrimPrefix(r.spec.path, k.path)) && strings.HasPrefix(r.spec.path, k.path) {
			if _, over := s.mem.get(r.at(k.root, r.spec.path).id); !over {
				list = append(list, found{r.spec.path[len(k.path):], 0})
			}
		}
	case symbol:
		k := r.symbols.keys[v.id]
		if r.spec.call == nil && r.spec.path != "" && k.frame == 0 && k.v == r.source() && strings.HasPrefix(r.spec.path, k.path) {
			list = append(list, found{r.spec.path[len(k.path):], 0})
		}
	}
	return list
}

func (r *run) deferCall(fr *frame, s *state, in *ssa.Defer) {
	same := 0
	for _, d := range s.defers {
		if d.call == in {
			same++
		}
	}
	if same >= maxSame || len(s.defers) >= maxDefers {
		r.lose(s, 0)
		return
	}
	t := r.target(fr, s, in.Common())
	if t.fn != nil && t.fn.Parent() == nil && t.val.kind == closed && len(r.closures[t.val.id].bind) == 1 {
		t.args = t.args[1:] // called adds the receiver again
	}
	s.defers = append(s.defers, deferred{frame: fr.id, call: in, fn: t.val, args: t.args})
}

// runDefers runs the deferred calls of an activation, the last first.
func (r *run) runDefers(fr *frame, s *state) []*state {
	done, work := []*state{}, []*state{s}
	for len(work) > 0 {
		s := work[len(work)-1]
		work = work[:len(work)-1]
		n := len(s.defers)
		if n == 0 || s.defers[n-1].frame != fr.id || s.main().phase == lost {
			done = append(done, s)
			continue
		}
		d := s.defers[n-1]
		s.defers = s.defers[: n-1 : n-1]
		t := r.target(fr, s, d.call.Common())
		t.args, t.val = d.args, d.fn
		if !d.call.Call.IsInvoke() && t.name == "" {
			t.obj, t.fn, t.bind = nil, nil, nil
			t = r.called(t)
		}
		if r.unconcerned(s, t) {
			r.handOver(s, t.val)
			work = append(work, s)
			continue
		}
		for _, o := range r.dispatch(fr, s, d.call, t) {
			work = append(work, o.s)
		}
		if len(work)+len(done) > maxStates {
			r.over = true
			return nil
		}
	}
	return done
}

// unconcerned reports whether a deferred function literal has nothing to do with the object, so that it need not be run. It
// is where the function gives handles to its callers: for those cases the error that it may set matters.
func (r *run) unconcerned(s *state, t target) bool {
	if r.spec.call == nil || r.spec.kind == directive.Op || t.fn == nil || t.fn.Parent() == nil || len(t.args) > 0 || r.givesHandles() || r.a.flushes(t.fn) {
		return false
	}
	return !r.captures(s, t.val)
}

// captures reports whether a closure has an object, or a way to one.
func (r *run) captures(s *state, v value) bool { return r.leadsTo(s, v, -1) }

// leadsTo reports whether a value leads to an object; with id -1 any will do.
func (r *run) leadsTo(s *state, v value, id int32) bool {
	seen := map[value]bool{}
	var leads func(v value) bool
	leads = func(v value) (yes bool) {
		if v.kind == object {
			return id < 0 || v.id == id
		}
		if seen[v] {
			return false
		}
		seen[v] = true
		r.eachPart(v, func(_ string, p value) { yes = yes || leads(p) })
		if v.kind == place {
			root := r.places.keys[v.id].root
			for id, c := range s.mem.all() {
				yes = yes || r.places.keys[id].root == root && leads(c)
			}
		}
		return yes
	}
	return leads(v)
}
