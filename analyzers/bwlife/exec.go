package bwlife

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// What one run may cost. Beyond it nothing is known, and nothing said.
const (
	maxStates = 48    // ways to come to one block
	maxSteps  = 60000 // instructions
	maxDepth  = 5     // functions inside each other
	maxDefers = 40    // calls that are deferred
	maxSame   = 3     // of them by one statement, in a loop
)

// spec is what a run follows: the result of a call, or a parameter.
type spec struct {
	kind   string // handle, window, op
	typ    types.Type
	call   ssa.CallInstruction // what makes it; nil: a parameter, or
	value  ssa.Value           // what was found in a map, a slice or an interface: somebody else's to release
	result int
	param  int
	path   string
}

// run follows one object through one function and what it calls.
type run struct {
	interner
	a        *analyzer
	fn       *ssa.Function
	spec     spec
	numbers  map[ssa.Value]uint32
	keys     keys
	frames   table[frameKey]
	stack    []*frame
	objects  table[objectKey]
	infos    []objectInfo
	steps    int
	over     bool // it cost too much
	reports  []report
	exits    []exit
	trial    bool   // see tried: all ways out matter
	gone     bool   // on some way the object was ended or given away
	leading  []bool // see ahead
	trailing []bool // see behind
	gives    *bool  // see givesHandles
}

// frameKey names an activation by where it was called.
type frameKey struct {
	parent int32
	call   ssa.Instruction
	fn     *ssa.Function
}

type frame struct {
	id    int32
	fn    *ssa.Function
	sh    *shape
	sl    *slice // what of it is run, nil: all
	again bool   // a state may have been here before
}

// objectKey names an object by the call that made it.
type objectKey struct {
	frame int32
	call  ssa.Instruction
	part  int
	kind  string
	ext   extent
}

type objectInfo struct {
	kind   string
	parent int32
	pos    token.Pos
	typ    types.Type
	call   ssa.Instruction
	null   value // a condition: that it is nil
	ext    extent
	fills  bool // of an operation: it writes what it is about
	held   bool // of a view: what it is of has to be acquired
}

// exit is a way out of an activation.
type exit struct {
	s       *state
	results []value
	ret     *ssa.Return
	closes  []facts.Close // results that are functions which end others
}

func (r *run) number(v ssa.Value) uint32 {
	n, ok := r.numbers[v]
	if !ok {
		n = uint32(len(r.numbers))
		r.numbers[v] = n
	}
	return n
}

func (r *run) enter(parent int32, call ssa.Instruction, fn *ssa.Function) *frame {
	f := &frame{id: r.frames.id(frameKey{parent, call, fn}), fn: fn, sh: r.a.shape(fn)}
	if call != nil {
		f.again = r.a.loops(call) || len(r.stack) > 0 && r.stack[len(r.stack)-1].again
	}
	r.stack = append(r.stack, f)
	return f
}

func (r *run) leave() { r.stack = r.stack[:len(r.stack)-1] }

func (r *run) inStack(fn *ssa.Function) bool {
	for _, f := range r.stack {
		if f.fn == fn {
			return true
		}
	}
	return false
}

// todo are the states that wait at the blocks of an activation, and those that were there.
type todo struct {
	wait []waiting // by block, the first in the program at the end
	seen map[string]bool
	met  map[int]int // by block: how many
}

type waiting struct {
	block int
	s     *state
}

// next takes the state that came last to the first block at which there is one.
func (t *todo) next() (int, *state) {
	n := len(t.wait)
	if n == 0 {
		return -1, nil
	}
	w := t.wait[n-1]
	t.wait = t.wait[:n-1]
	return w.block, w.s
}

func (t *todo) add(block int, s *state) {
	i := len(t.wait)
	for i > 0 && t.wait[i-1].block < block {
		i--
	}
	t.wait = slices.Insert(t.wait, i, waiting{block, s})
}

// activate runs a function from its first block on, and returns the ways out of it.
func (r *run) activate(fr *frame, s *state) (exits []exit) {
	if ret, ok := fr.fn.Blocks[0].Instrs[len(fr.fn.Blocks[0].Instrs)-1].(*ssa.Return); ok {
		for _, s := range r.block(fr, fr.fn.Blocks[0], s) {
			exits = append(exits, r.out(fr, s, ret))
		}
		return exits
	}
	t := &todo{seen: map[string]bool{}, met: map[int]int{}}
	if fr.sl == nil {
		t.add(0, s)
	} else {
		r.edge(fr, t, nil, fr.fn.Blocks[0], s)
	}
	seen := map[string]bool{}
	for !r.over {
		i, s := t.next()
		if s == nil {
			break
		}
		b := fr.fn.Blocks[i]
		for _, s := range r.block(fr, b, s) {
			switch last := b.Instrs[len(b.Instrs)-1].(type) {
			case *ssa.Return:
				e := r.out(fr, s, last)
				if k := s.key(r, r.results(e.results).number()); !seen[k] {
					seen[k] = true
					exits = append(exits, e)
				}
			case *ssa.If:
				if fr.sl != nil && !fr.sl.tested.has(b.Index) {
					r.edge(fr, t, b, b.Succs[0], s.clone())
					r.edge(fr, t, b, b.Succs[1], s)
					continue
				}
				c := r.eval(fr, s, last.Cond)
				other := s.clone()
				if r.branch(fr, s, c, true) {
					r.edge(fr, t, b, b.Succs[0], s)
				}
				if r.branch(fr, other, c, false) {
					r.edge(fr, t, b, b.Succs[1], other)
				}
			case *ssa.Jump:
				r.edge(fr, t, b, b.Succs[0], s)
			}
		}
	}
	return exits
}

// out is a way out with what it returns.
func (r *run) out(fr *frame, s *state, ret *ssa.Return) exit {
	e := exit{s: s, ret: ret}
	for _, v := range ret.Results {
		e.results = append(e.results, r.eval(fr, s, v))
	}
	if b := ret.Block().Index; fr.sl != nil && fr.sl.results && !fr.sl.kept.has(b) {
		for i, v := range fr.sl.f.exits[fr.sl.f.outs[b]].known {
			if v.kind != unknown {
				e.results[i] = v
			}
		}
	}
	return e
}

// block runs the instructions of a block, but for the last.
func (r *run) block(fr *frame, b *ssa.BasicBlock, s *state) []*state {
	states := []*state{s}
	for i, in := range b.Instrs {
		if _, ok := in.(*ssa.Phi); ok {
			continue
		}
		if sl := fr.sl; sl != nil {
			n := sl.f.first[b.Index] + int32(i)
			if sl.f.ends[b.Index] >= 0 && n > sl.f.ends[b.Index] {
				return nil
			}
			if _, ends := in.(*ssa.RunDefers); !ends && !sl.run.has(int(n)) {
				r.pass(sl, n, states)
				continue
			}
		}
		var next []*state
		for _, s := range states {
			if r.steps++; r.steps > maxSteps {
				r.over = true
				return nil
			}
			for _, s := range r.step(fr, s, in) {
				if v, ok := in.(ssa.Value); ok && fr.id == 0 && v == r.spec.value {
					r.find(s)
				}
				if s.main().phase != lost {
					next = append(next, s)
				}
			}
		}
		if states = next; len(states) == 0 {
			return nil
		}
	}
	return states
}

// edge brings a state to the next block that matters, or to all of them that there are.
func (r *run) edge(fr *frame, t *todo, from, to *ssa.BasicBlock, s *state) {
	if fr.sl == nil {
		r.enters(fr, t, from, to, s)
		return
	}
	hops := fr.sl.hops(r.level(s), from, to)
	for i, h := range hops {
		if s.main().phase == unborn && r.idle(fr, h.to, s) {
			continue
		}
		one := s
		if i < len(hops)-1 {
			one = s.clone()
		}
		r.enters(fr, t, h.from, h.to, one)
	}
}

// level says which ambient instructions matter in a state.
func (r *run) level(s *state) (when ambient) {
	for _, t := range s.things {
		if k := r.infos[t.id].kind; t.phase == live && (k == "op" || k == goroutine || k == placing) {
			when |= whileOps
		}
	}
	for id, v := range s.mem.all() {
		if v.kind != object && !r.own(s, value{kind: place, id: id}) {
			return when | whileForeign
		}
	}
	return when
}

// pass passes an instruction over that has nothing to do with the object, but may end its operations and change memory.
func (r *run) pass(sl *slice, n int32, states []*state) {
	if sl.f.ambient[n] == 0 {
		return
	}
	c := sl.f.calls[n]
	if c != nil {
		if _, now := c.site.(*ssa.Call); !now {
			return
		}
	}
	for _, s := range states {
		when := r.level(s) & sl.f.ambient[n]
		if when&whileOps != 0 {
			r.passWait(s, c)
		}
		if when&whileForeign != 0 {
			r.othersWrite(s)
		}
	}
}

// passWait passes over what may wait for operations and goroutines: a call, or what receives where c is nil.
func (r *run) passWait(s *state, c *callInfo) {
	if c == nil || c.hears {
		r.unsure(s)
	}
	if c == nil {
		return
	}
	if c.waits {
		r.earlier(s, -1)
	}
	if c.flushes {
		r.mayFlush(s)
	}
	if c.over {
		r.waited(s)
	}
}

// enters brings a state to a block, unless it was there.
func (r *run) enters(fr *frame, t *todo, from, to *ssa.BasicBlock, s *state) {
	n := 0
	for i, p := range to.Preds {
		if p == from {
			n = i
		}
	}
	var phis []*ssa.Phi
	var vals []value
	for _, in := range to.Instrs {
		phi, ok := in.(*ssa.Phi)
		if !ok || fr.sl != nil && from == nil {
			break
		}
		phis, vals = append(phis, phi), append(vals, r.eval(fr, s, phi.Edges[n]))
	}
	for i, phi := range phis {
		s.env.set(slot{fr.id, phi}, vals[i])
	}
	r.collect(fr, to, s)
	if r.idle(fr, to, s) {
		return
	}
	at := to.Index
	if fr.sl != nil {
		at = fr.sl.same(at)
	}
	k := s.key(r, uint64(at))
	if t.seen[k] {
		return
	}
	if t.met[at] >= maxStates {
		r.over = true
		return
	}
	r.steps++
	t.seen[k] = true
	t.met[at]++
	t.add(to.Index, s)
}

// idle reports whether nothing can come of a state any more: the object is gone, and nothing refers to it, or it is
// not made on any way from here.
func (r *run) idle(fr *frame, to *ssa.BasicBlock, s *state) bool {
	if r.spec.call == nil || r.trial {
		return false
	}
	switch m := s.main(); m.phase {
	case unborn:
		return fr.id == 0 && !r.ahead()[to.Index] && !r.givesHandles()
	case dead, absent:
		return !r.a.loops(r.spec.call) && !s.refers(&r.interner, func(v value) bool { return v.kind == object })
	}
	return false
}

// ahead are the blocks from which the program may come to the call that makes the object.
func (r *run) ahead() []bool {
	if r.leading == nil {
		r.leading = make([]bool, len(r.fn.Blocks))
		work := []*ssa.BasicBlock{r.spec.call.Block()}
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if !r.leading[b.Index] {
				r.leading[b.Index] = true
				work = append(work, b.Preds...)
			}
		}
	}
	return r.leading
}

// behind are the blocks to which the program may come from the call that makes the object. Of an operation
// they are those where it may be in flight.
func (r *run) behind() []bool {
	if r.trailing != nil {
		return r.trailing
	}
	r.trailing = make([]bool, len(r.fn.Blocks))
	work := []*ssa.BasicBlock{r.spec.call.Block()}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if r.trailing[b.Index] {
			continue
		}
		r.trailing[b.Index] = true
		if r.spec.kind != directive.Op {
			work = append(work, b.Succs...)
		} else if !r.waitedIn(b) {
			work = append(work, r.afterMade(b)...)
		}
	}
	return r.trailing
}

// waitedIn reports whether a block waits for the operation that is followed, and somebody looks whether that went well.
func (r *run) waitedIn(b *ssa.BasicBlock) bool {
	made := b != r.spec.call.Block()
	for _, in := range b.Instrs {
		if made = made || in == ssa.Instruction(r.spec.call); !made {
			continue
		}
		call, ok := in.(*ssa.Call)
		if !ok || r.a.unlooked[call.Pos()] {
			continue
		}
		obj := callee(&call.Call)
		if obj == nil {
			continue
		}
		sum := r.a.effects(obj)
		for i, arg := range call.Call.Args {
			if !r.isMade(arg, r.spec.result) || sum == nil {
				continue
			}
			if p, ok := sum.Param(i, ""); ok && len(p.Cases) == 1 && p.Cases[0].Post == facts.Released && len(p.Cases[0].When) == 0 {
				return true
			}
		}
	}
	return false
}

// isMade reports whether a value is a result of the call that makes the object.
func (r *run) isMade(v ssa.Value, result int) bool {
	if v == ssa.Value(r.spec.call.Value()) {
		return result == 0
	}
	x, ok := v.(*ssa.Extract)
	return ok && x.Tuple == ssa.Value(r.spec.call.Value()) && x.Index == result
}

// afterMade are the blocks behind one; but not those that are only reached where the call that makes the object has failed.
func (r *run) afterMade(b *ssa.BasicBlock) []*ssa.BasicBlock {
	test, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If)
	if !ok {
		return b.Succs
	}
	cond, ok := test.Cond.(*ssa.BinOp)
	if !ok {
		return b.Succs
	}
	last := r.spec.call.Common().Signature().Results().Len() - 1
	c, isConst := cond.Y.(*ssa.Const)
	if v := r.a.flowOf(r.fn).origin(cond.X); !isConst || c.Value != nil || v == nil || !isError(v.Type()) || !r.isMade(v, last) {
		return b.Succs
	}
	switch cond.Op {
	case token.NEQ:
		return b.Succs[1:]
	case token.EQL:
		return b.Succs[:1]
	}
	return b.Succs
}

// givesHandles reports whether the function may be one that makes handles for its callers: then all ways out matter.
func (r *run) givesHandles() bool {
	if r.gives == nil {
		gives, res := false, r.fn.Signature.Results()
		for i := range res.Len() {
			gives = gives || r.a.kindOf(res.At(i).Type()) != ""
		}
		r.gives = &gives
	}
	return *r.gives
}

// collect drops what can matter no more, so that states become the same.
func (r *run) collect(fr *frame, b *ssa.BasicBlock, s *state) {
	for k := range s.env.all() {
		if k.frame == fr.id && !fr.sh.live(b, k.v) || !r.active(k.frame) {
			s.env.drop(k)
		}
	}
	used := map[int32]bool{} // symbols that something refers to
	done := map[int32]bool{} // places that were looked at
	var mark func(v value, depth int)
	mark = func(v value, depth int) {
		switch v.kind {
		case symbol:
			used[v.id] = true
		case cond:
			k := r.conds.keys[v.id]
			mark(k.x, depth+1)
			mark(k.y, depth+1)
		case place:
			used[r.places.keys[v.id].root.id] = true
		case whole:
			mark(r.wholes[v.id].sym, depth+1)
		}
		if depth < 6 {
			r.eachPart(v, func(_ string, p value) { mark(p, depth+1) })
		}
	}
	for _, v := range s.env.all() {
		mark(v, 0)
	}
	for _, d := range s.defers {
		mark(d.fn, 0)
		for _, a := range d.args {
			mark(a, 0)
		}
	}
	alive := func(v value) bool {
		if v.kind != symbol {
			return true
		}
		k := r.symbols.keys[v.id]
		switch {
		case used[v.id]:
			return true
		case k.frame == fr.id:
			if _, ok := k.v.(*ssa.Parameter); ok && k.frame == 0 && r.spec.call == nil && r.spec.value == nil {
				return true // cases of summaries are about them
			}
			if _, ok := k.v.(*ssa.Global); ok {
				return true
			}
			return fr.sh.live(b, k.v)
		}
		return r.active(k.frame)
	}
	for more := true; more; {
		more = false
		for p, v := range s.mem.all() {
			if !done[p] && alive(r.places.keys[p].root) {
				done[p], more = true, true
				mark(v, 0)
			}
		}
	}
	for p := range s.mem.all() {
		if !done[p] {
			s.mem.drop(p)
		}
	}
	for id := range s.leaked.all() {
		if !alive(r.places.keys[id].root) {
			s.leaked.drop(id)
		}
	}
	for id := range s.conds.all() {
		k := r.conds.keys[id]
		if !s.hopes.has(id) && !(alive(k.x) && alive(k.y)) {
			s.conds.drop(id)
		}
	}
}

// active reports whether an activation is going on.
func (r *run) active(frame int32) bool {
	for _, f := range r.stack {
		if f.id == frame {
			return true
		}
	}
	return false
}
