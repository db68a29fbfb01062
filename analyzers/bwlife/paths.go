package bwlife

import (
	"go/token"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// hop is a step from block to block that leaves out those between in which nothing matters.
type hop struct{ from, to *ssa.BasicBlock }

// active are the ambient instructions that may matter in the run at all.
func (sl *slice) active() (when ambient) {
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
	return sl.kept.has(b) || sl.f.around[b]&level&sl.active() != 0
}

// demand looks for tests that have to be made: both sides lead to different blocks that matter, and something may be
// known of what is tested. It reports whether there are more than before.
func (sl *slice) demand() (more bool) {
	f := sl.f
	if sl.ops {
		for _, i := range f.defers {
			more = more || !sl.run.has(int(i))
			sl.runs(i)
		}
	}
	lead := sl.leading()
	for _, b := range f.fn.Blocks {
		if len(b.Succs) != 2 || sl.tested.has(b.Index) || sl.over(b) {
			continue
		}
		t := &f.tests[b.Index]
		parts := sl.edge(lead, b, b.Succs[0]) != sl.edge(lead, b, b.Succs[1])
		if parts && (!t.free || slices.ContainsFunc(t.bases, sl.tells)) || slices.ContainsFunc(t.bases, sl.hopes) {
			more = true
			sl.tested.add(b.Index)
			sl.kept.add(b.Index)
			sl.needs(b.Instrs[len(b.Instrs)-1].(*ssa.If).Cond)
		}
	}
	return more
}

// tells reports whether something may be known of a value when it is tested.
func (sl *slice) tells(n int32) bool {
	if sl.f.shared[n] || sl.need.has(int(n)) || sl.obj.has(int(n)) {
		return true
	}
	x, ok := sl.f.values[n].(*ssa.Extract)
	return ok && sl.need.has(int(sl.f.value(x.Tuple)))
}

// hopes reports whether a value is the result of a call that the object is given to: whether that failed is an open
// question until somebody looks.
func (sl *slice) hopes(n int32) bool {
	if x, ok := sl.f.values[n].(*ssa.Extract); ok {
		n = sl.f.value(x.Tuple)
	}
	_, ok := sl.f.values[n].(*ssa.Call)
	return ok && sl.run.has(int(sl.f.defs[n]))
}

// over reports whether no way goes on from a block.
func (sl *slice) over(b *ssa.BasicBlock) bool { return sl.f.ends[b.Index] >= 0 }

// Where blocks lead to; else it is a block, or an edge into one.
const (
	nowhere   = -1
	manyWays  = -2
	exitPlain = -3 // and below: ways out, by what they return
)

// leading works out for each block that does not matter the only one that does to which it leads.
func (sl *slice) leading() []int {
	blocks := sl.f.fn.Blocks
	lead := make([]int, len(blocks))
	for i := range lead {
		lead[i] = nowhere
	}
	for again := true; again; {
		again = false
		for i := len(blocks) - 1; i >= 0; i-- {
			b := blocks[i]
			if sl.stops(i, levels-1) || lead[i] == manyWays || sl.over(b) {
				continue
			}
			now := nowhere
			if _, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return); ok {
				now = exitPlain - sl.class(i)
			}
			for _, succ := range b.Succs {
				switch to := sl.edge(lead, b, succ); {
				case to == nowhere || to == now:
				case now == nowhere:
					now = to
				default:
					now = manyWays
				}
			}
			if now != lead[i] {
				lead[i], again = now, true
			}
		}
	}
	return lead
}

// edge is where an edge leads to.
func (sl *slice) edge(lead []int, from, to *ssa.BasicBlock) int {
	if !sl.stops(to.Index, levels-1) {
		return lead[to.Index]
	}
	if sl.meets(to) {
		return (from.Index+1)*len(lead) + to.Index
	}
	return to.Index
}

// meets reports whether it matters from where a block is entered.
func (sl *slice) meets(b *ssa.BasicBlock) bool {
	if !sl.f.phis[b.Index] {
		return false
	}
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
	return sl.f.wayOut(b).class
}

// same is the block itself, or the number of its class for a way out where nothing matters but what it returns.
func (sl *slice) same(b int) int {
	if sl.f.wayOut(b) == nil || sl.kept.has(b) {
		return b
	}
	return len(sl.f.fn.Blocks) + sl.class(b)
}

// hops are the steps from an edge on, for a state of a level.
func (sl *slice) hops(level ambient, from, to *ssa.BasicBlock) []hop {
	if sl.stops(to.Index, level) {
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
		if sl.over(b) {
			continue
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

// ways marks what has to be known of what is returned: what callers can use, and whether a call has failed.
func (sl *slice) ways(r *run) {
	for i := range sl.f.exits {
		out := &sl.f.exits[i]
		if r.spec.call != nil && !r.givesHandles() && !r.behind()[out.block.Index] {
			continue
		}
		for j, v := range out.ret.Results {
			if !tells(v.Type()) {
				continue
			}
			bases := out.bases[j]
			if sl.results && (out.known[j].kind == unknown || slices.ContainsFunc(bases, sl.tells)) ||
				slices.ContainsFunc(bases, func(n int32) bool { return sl.hopes(n) && !sl.f.settled(n, out.block) }) {
				sl.needs(v)
			}
		}
	}
}

// settled reports whether a value was tested on all ways to a block.
func (f *flow) settled(n int32, b *ssa.BasicBlock) bool {
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
			out.known, out.bases = append(out.known, f.always(v, b)), append(out.bases, bases)
		}
		out.class = slices.IndexFunc(f.exits, func(o wayOut) bool { return slices.Equal(o.known, out.known) })
		if out.class < 0 {
			out.class = len(f.exits)
		}
		f.exits = append(f.exits, out)
	}
}

// wayOut is a block as one, nil if it is none.
func (f *flow) wayOut(b int) *wayOut {
	i, ok := slices.BinarySearchFunc(f.exits, b, func(o wayOut, b int) int { return o.block.Index - b })
	if !ok {
		return nil
	}
	return &f.exits[i]
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
