package bwlife

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// hop is a step from block to block that leaves out those between in which nothing matters.
type hop struct{ from, to *ssa.BasicBlock }

// ambience are the ambient instructions that may matter in the run at all.
func (sl *slice) ambience() (when ambient) {
	if sl.ops {
		when |= whileOps
	}
	if sl.foreign {
		when |= whileForeign
	}
	return when
}

// stops reports whether a state that is of such a level stops at a block.
func (sl *slice) stops(b int, level ambient) bool {
	return sl.kept.has(b) || level != 0 && (sl.f.around[b]&level != 0 || sl.late.has(b))
}

// demand looks for tests that have to be made: both sides lead to different blocks that matter, and something may be
// known of what is tested. With a level the ambient instructions count that may matter then; a test that only they want is
// made by such states only. It reports whether there are more than before.
func (sl *slice) demand(level ambient) (more bool) {
	f := sl.f
	if sl.ops {
		for _, i := range f.defers {
			more = more || !sl.sure.has(int(i))
			sl.runs(i)
		}
	}
	lead := sl.leading(level)
	for _, b := range f.ifs {
		t := &f.tests[b]
		if sl.tested.has(int(b)) || t.free && !slices.ContainsFunc(t.bases, sl.tells) {
			continue
		}
		yes, no := sl.edge(lead, level, b, f.succs[b][0]), sl.edge(lead, level, b, f.succs[b][1])
		if yes == no && yes != manyWays || t.free && sl.sideways(b, yes.onward(), no.onward()) {
			continue
		}
		more = true
		if level == 0 {
			sl.test(b)
		} else {
			sl.late.add(int(b))
			sl.makes(b)
		}
	}
	return more
}

// test is a block at whose end the condition has to be known.
func (sl *slice) test(b int32) {
	sl.kept.add(int(b))
	if !sl.tested.has(int(b)) {
		sl.makes(b)
	}
}

func (sl *slice) makes(b int32) {
	sl.tested.add(int(b))
	quiet := sl.quiet
	sl.quiet = true
	sl.needs(sl.f.instrs[sl.f.first[b+1]-1].(*ssa.If).Cond)
	sl.quiet = quiet
}

// sideways reports whether a test only decides whether the function may return, and nothing is known of it there: nothing but other
// tests says anything of it, and those are not made before.
func (sl *slice) sideways(b int32, yes, no targets) bool {
	if yes != no || yes == nowhere || yes == manyWays {
		return false
	}
	for _, base := range sl.f.tests[b].bases {
		if sl.known(base) {
			return false
		}
		for _, other := range sl.f.asks[base] {
			if sl.tested.has(int(other)) && sl.f.reaches(other, b) {
				return false
			}
		}
	}
	return true
}

// tells reports whether something may be known of a value when it is tested.
func (sl *slice) tells(n int32) bool { return len(sl.f.asks[n]) > 1 || sl.known(n) }

// known reports whether something else than a test may say something of a value.
func (sl *slice) known(n int32) bool {
	return sl.told.has(int(n)) || sl.obj.has(int(n)) || sl.told.has(int(sl.f.tuples[n]))
}

// targets are the blocks that matter to which one leads: one or two of them, in order. Edges into blocks where it matters from where one comes
// have numbers of their own, and ways out that matter by what they return only have numbers from exitPlain down.
type targets [2]int32

const (
	none      = -1
	exitPlain = -3
)

var (
	nowhere  = targets{none, none}
	manyWays = targets{-2, -2}
)

// with are both.
func (t targets) with(o targets) targets {
	for _, x := range o {
		switch {
		case t == manyWays || o == manyWays:
			return manyWays
		case x == none || x == t[0] || x == t[1]:
		case t[0] == none:
			t[0] = x
		case t[1] == none:
			t[1] = x
			if t[0] > t[1] {
				t[0], t[1] = t[1], t[0]
			}
		default:
			return manyWays
		}
	}
	return t
}

// onward are the targets that are no ways out.
func (t targets) onward() targets {
	if t == manyWays {
		return t
	}
	if t[0] <= exitPlain {
		t = targets{t[1], none}
	}
	if t[0] <= exitPlain {
		t = nowhere
	}
	if t[1] <= exitPlain {
		t[1] = none
	}
	return t
}

// leading works out for each block that does not matter to which it leads.
func (sl *slice) leading(level ambient) []targets {
	f := sl.f
	lead := f.room
	for i := range lead {
		lead[i] = nowhere
		if f.outs[i] >= 0 {
			lead[i] = targets{int32(exitPlain - sl.class(i)), none}
		}
	}
	for again := true; again; {
		again = false
		for i := int32(len(lead) - 1); i >= 0; i-- {
			if lead[i] == manyWays || f.ends[i] >= 0 || sl.stops(int(i), level) {
				continue
			}
			now := lead[i]
			for _, succ := range f.succs[i] {
				now = now.with(sl.edge(lead, level, i, succ))
			}
			if now != lead[i] {
				lead[i], again = now, true
			}
		}
	}
	return lead
}

// edge is where an edge leads to.
func (sl *slice) edge(lead []targets, level ambient, from, to int32) targets {
	switch {
	case !sl.stops(int(to), level):
		return lead[to]
	case sl.f.phis[to] && sl.meets(sl.f.fn.Blocks[to]):
		return targets{(from+1)*int32(len(lead)) + to, none}
	}
	return targets{to, none}
}

// meets reports whether it matters from where a block is entered.
func (sl *slice) meets(b *ssa.BasicBlock) bool {
	for i := sl.f.first[b.Index]; i < sl.f.first[b.Index+1]; i++ {
		if _, ok := sl.f.instrs[i].(*ssa.Phi); !ok {
			return false
		}
		if sl.run.has(int(i)) {
			return true
		}
	}
	return false
}

// class is the same for ways out that return the same, as far as that matters.
func (sl *slice) class(b int) int {
	if !sl.results {
		return 0
	}
	return sl.f.exits[sl.f.outs[b]].class
}

// same is the block itself, or the number of its class for a way out where nothing matters but what it returns.
func (sl *slice) same(b int) int {
	if sl.f.outs[b] < 0 || sl.kept.has(b) {
		return b
	}
	return len(sl.f.fn.Blocks) + sl.class(b)
}

// hops are the steps from an edge on, for a state of a level.
func (sl *slice) hops(level ambient, from, to *ssa.BasicBlock) []hop {
	if level &= sl.ambience(); sl.stops(to.Index, level) {
		return []hop{{from, to}}
	}
	if sl.paths[level] == nil {
		sl.paths[level] = map[int32][]hop{}
	}
	list, ok := sl.paths[level][int32(to.Index)]
	if !ok {
		list = sl.search(level, to)
		sl.paths[level][int32(to.Index)] = list
	}
	return list
}

// search finds all blocks that matter to which one leads that does not. Of ways out that are the same it takes the first.
func (sl *slice) search(level ambient, b *ssa.BasicBlock) (list []hop) {
	seen := make(bits, len(sl.kept))
	exits := map[int]*ssa.BasicBlock{}
	work := []*ssa.BasicBlock{b}
	seen.add(b.Index)
	found := map[hop]bool{}
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if sl.f.ends[b.Index] >= 0 {
			continue // no way goes on
		}
		if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
			if c := sl.class(b.Index); exits[c] == nil || exits[c].Index > b.Index {
				exits[c] = b
			}
		}
		for _, succ := range b.Succs {
			switch {
			case sl.stops(succ.Index, level):
				h := hop{b, succ}
				if !sl.meets(succ) {
					h.from = nil
				}
				if !found[h] {
					found[h] = true
					list = append(list, h)
				}
			case !seen.has(succ.Index):
				seen.add(succ.Index)
				work = append(work, succ)
			}
		}
	}
	for _, b := range exits {
		list = append(list, hop{nil, b})
	}
	slices.SortFunc(list, func(x, y hop) int {
		if x.to != y.to {
			return x.to.Index - y.to.Index
		}
		if x.from == nil || y.from == nil {
			return 0
		}
		return x.from.Index - y.from.Index
	})
	return list
}

// called is a call that is run. Whether it failed is an open question until somebody looks: so tests of that are
// made, and what is returned without one has to be known.
func (sl *slice) called(call ssa.Value) {
	f := sl.f
	for _, n := range f.partsOf[f.numbers[call]] {
		for _, b := range f.asks[n] {
			if f.ends[b] < 0 {
				sl.test(b)
			}
		}
		for _, at := range f.given[n] {
			out := &f.exits[at[0]]
			if v := out.ret.Results[at[1]]; tells(v.Type()) && !f.settled(n, out.block) {
				sl.needs(v)
			}
		}
	}
}

// ways marks what callers can use of what is returned.
func (sl *slice) ways(r *run) {
	for i := range sl.f.exits {
		out := &sl.f.exits[i]
		if r.spec.call != nil && !r.givesHandles() && !r.behind()[out.block.Index] {
			continue
		}
		for j, v := range out.ret.Results {
			if tells(v.Type()) && (out.known[j].kind == unknown || slices.ContainsFunc(out.bases[j], sl.tells)) {
				sl.needs(v)
			}
		}
	}
}

// settled reports whether a value was tested on all ways to a block.
func (f *flow) settled(n int32, b *ssa.BasicBlock) bool {
	if len(f.asks[n]) == 0 {
		return false
	}
	for d := b.Idom(); d != nil; d = d.Idom() {
		if slices.Contains(f.tests[d.Index].bases, n) {
			return true
		}
	}
	return false
}

// wayOut is a block that returns.
type wayOut struct {
	block *ssa.BasicBlock
	ret   *ssa.Return
	known []value   // what is returned, as far as that is the same whatever way led there
	bases [][]int32 // what it depends on
	class int       // the first with the same that is known
}

// waysOut finds them.
func (f *flow) waysOut() {
	for _, b := range f.fn.Blocks {
		ret, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		out := wayOut{block: b, ret: ret}
		for _, v := range ret.Results {
			var bases []int32
			f.plain(v, &bases, 0)
			for _, n := range bases {
				f.given[n] = append(f.given[n], [2]int{len(f.exits), len(out.bases)})
			}
			out.known, out.bases = append(out.known, f.always(v, b)), append(out.bases, bases)
		}
		out.class = slices.IndexFunc(f.exits, func(o wayOut) bool { return slices.Equal(o.known, out.known) })
		if out.class < 0 {
			out.class = len(f.exits)
		}
		f.outs[b.Index] = int32(len(f.exits))
		f.exits = append(f.exits, out)
	}
}

// always is what is known of a value at a block, on all ways there.
func (f *flow) always(v ssa.Value, b *ssa.BasicBlock) value {
	if c, ok := v.(*ssa.Const); ok {
		return constantOf(c)
	}
	o := f.origin(v)
	if c, ok := o.(*ssa.Const); ok {
		return constantOf(c)
	}
	if o == nil || !nillable(o.Type()) {
		return value{}
	}
	if isError(o.Type()) && f.a.notNil(o, 0) {
		return value{kind: nonNil}
	}
	for d := b; d.Idom() != nil; d = d.Idom() {
		test, ok := d.Idom().Instrs[len(d.Idom().Instrs)-1].(*ssa.If)
		if !ok || len(d.Preds) != 1 || d.Preds[0] != d.Idom() {
			continue
		}
		cond, ok := test.Cond.(*ssa.BinOp)
		if !ok {
			continue
		}
		c, isConst := cond.Y.(*ssa.Const)
		if isConst && c.Value == nil && f.origin(cond.X) == o && (cond.Op == token.NEQ && d == d.Idom().Succs[0] || cond.Op == token.EQL && d == d.Idom().Succs[1]) {
			return value{kind: nonNil}
		}
	}
	return value{}
}

// origin is the value that is meant where a variable is read that holds one only; nil if there are several.
func (f *flow) origin(v ssa.Value) ssa.Value { return f.originAt(v, 0) }

func (f *flow) originAt(v ssa.Value, depth int) ssa.Value {
	switch in := v.(type) {
	case *ssa.ChangeInterface:
		return f.originAt(in.X, depth)
	case *ssa.UnOp:
		a, ok := in.X.(*ssa.Alloc)
		if !ok || in.Op != token.MUL {
			return v
		}
		x := f.simple[a]
		if x == nil || depth > 8 {
			return nil
		}
		defs := f.reaching(x, f.defs[f.numbers[in]])
		if len(defs) == 1 {
			if rd, ok := f.instrs[defs[0]].(*ssa.RunDefers); ok {
				if slices.ContainsFunc(x.closures, func(mc int32) bool { return f.shares(mc, x).writes }) {
					return nil
				}
				defs = f.reaching(x, f.at(rd))
			}
		}
		if len(defs) != 1 {
			return nil
		}
		if st, ok := f.instrs[defs[0]].(*ssa.Store); ok {
			return f.originAt(st.Val, depth+1)
		}
		return nil
	}
	return v
}
