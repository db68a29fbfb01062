package bwlife

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// What one run may cost. Beyond it nothing is known, and nothing said.
const (
	maxStates = 48      // ways to come to one block
	maxSteps  = 60000   // instructions
	maxFacts  = 1 << 18 // facts in the states that it keeps: memory
	maxDepth  = 5       // functions inside each other
	maxDefers = 40      // calls that are deferred
	maxSame   = 3       // of them by one statement, in a loop
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
	facts    int  // in the states that were kept; see room
	over     bool // it cost too much
	lost     bool // on some way nothing is known of the object any more: that way is left out
	reports  []report
	exits    []exit
	trial    bool           // see tried: all ways out matter
	gone     bool           // on some way the object was ended or given away
	leading  []bool         // see ahead
	trailing []bool         // see behind
	gives    *bool          // see givesHandles
	doubts   map[value]bool // symbols: see besides
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
	maps   bool // of a window: no device works on what it is of
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
					r.room(s.size())
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

// room notes that a state is kept. With the steps of a run, its facts bound what memory it takes: states that were at a block are remembered as
// long as the activation goes on.
func (r *run) room(facts int) {
	if r.facts += facts; r.facts+r.kept > maxFacts {
		r.over = true
	}
}

// out is a way out with what it returns.
func (r *run) out(fr *frame, s *state, ret *ssa.Return) exit {
	e := exit{s: s, ret: ret}
	for _, v := range ret.Results {
		e.results = append(e.results, r.eval(fr, s, v))
	}
	if b := ret.Block().Index; fr.sl != nil && fr.sl.results {
		kept := fr.sl.kept.has(b)
		for i, v := range fr.sl.f.exits[fr.sl.f.outs[b]].known {
			if v.kind != unknown && (!kept || r.unread(e.results[i])) {
				e.results[i] = v
			}
		}
	}
	return e
}

// unread reports whether a value is that of a variable of which nothing is known: where a function defers, results go through variables, and what
// is stored in them is passed over where it is the same on all ways.
func (r *run) unread(v value) bool {
	if v.kind != symbol {
		return false
	}
	_, load := r.symbols.keys[v.id].v.(*ssa.UnOp)
	return load
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
				if s.main().phase == lost {
					r.lost = true
					continue
				}
				next = append(next, s)
			}
		}
		if len(next) > len(states) {
			now := 0
			for _, s := range next {
				now += s.size()
			}
			if r.facts+now > maxFacts {
				r.over = true
			}
		}
		if states = next; len(states) == 0 || r.over {
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
	r.room(s.size())
	t.seen[k] = true
	t.met[at]++
	t.add(to.Index, s)
}
