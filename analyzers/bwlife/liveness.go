package bwlife

import "golang.org/x/tools/go/ssa"

// shape is what is worked out once of a function: which values are needed later, and which
// blocks may run again.
type shape struct {
	index map[ssa.Value]int
	in    []bits                  // by block: what is needed where it begins
	loops []bool                  // by block
	first map[ssa.Value]ssa.Value // see questions
}

type bits []uint64

func (b bits) has(i int) bool { return b[i/64]>>(i%64)&1 != 0 }
func (b bits) add(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) drop(i int)     { b[i/64] &^= 1 << (i % 64) }

// or adds what is in o, and reports whether that was more.
func (b bits) or(o bits) (more bool) {
	for i, w := range o {
		if w&^b[i] != 0 {
			b[i] |= w
			more = true
		}
	}
	return more
}

// What shapes may cost. A function whose shape takes more than the first is not looked at, and nothing is known of it; of all that
// a package has so much is kept as the second says. Both are numbers of words of 8 bytes.
const (
	maxShape  = 4 << 20
	maxShapes = 8 << 20
)

// words is how much memory a shape takes, but for what grows as the function does.
func (sh *shape) words() int { return len(sh.in) * ((len(sh.index) + 63) / 64) }

// tooBig reports whether a function is too big to be looked at: what is live is worked out for each block, of all values.
func tooBig(fn *ssa.Function) bool {
	values := len(fn.Params) + len(fn.FreeVars)
	for _, b := range fn.Blocks {
		values += len(b.Instrs)
	}
	return len(fn.Blocks)*((values+63)/64) > maxShape
}

// asked is the value itself, or the one that asks for the same before it.
func (sh *shape) asked(v ssa.Value) ssa.Value {
	if first, ok := sh.first[v]; ok {
		return first
	}
	return v
}

// shapeOf works a function out.
func (a *analyzer) shapeOf(fn *ssa.Function) *shape {
	sh := &shape{index: map[ssa.Value]int{}, in: make([]bits, len(fn.Blocks)), loops: make([]bool, len(fn.Blocks))}
	number := func(v ssa.Value) {
		if _, ok := sh.index[v]; !ok {
			sh.index[v] = len(sh.index)
		}
	}
	for _, p := range fn.Params {
		number(p)
	}
	for _, f := range fn.FreeVars {
		number(f)
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if v, ok := in.(ssa.Value); ok {
				number(v)
			}
		}
	}
	sh.cycles(fn)
	sh.first = a.questions(fn, sh.loops)
	words := (len(sh.index) + 63) / 64
	for i := range sh.in {
		sh.in[i] = make(bits, words)
	}
	for again := true; again; {
		again = false
		for i := len(fn.Blocks) - 1; i >= 0; i-- {
			if sh.flow(fn.Blocks[i], words) {
				again = true
			}
		}
	}
	return sh
}

// flow works out what a block needs from what those behind it need.
func (sh *shape) flow(b *ssa.BasicBlock, words int) bool {
	now := make(bits, words)
	for _, succ := range b.Succs {
		now.or(sh.in[succ.Index])
		for _, in := range succ.Instrs {
			phi, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			now.drop(sh.index[phi])
		}
	}
	for _, succ := range b.Succs {
		for _, in := range succ.Instrs {
			phi, ok := in.(*ssa.Phi)
			if !ok {
				break
			}
			for n, pred := range succ.Preds {
				if pred == b {
					sh.need(now, phi.Edges[n])
				}
			}
		}
	}
	var room [8]*ssa.Value
	for i := len(b.Instrs) - 1; i >= 0; i-- {
		in := b.Instrs[i]
		if v, ok := in.(ssa.Value); ok {
			now.drop(sh.index[v])
			if first, ok := sh.first[v]; ok {
				sh.need(now, first) // as if it were asked there
			}
		}
		if _, ok := in.(*ssa.Phi); ok {
			continue
		}
		for _, op := range in.Operands(room[:0]) {
			sh.need(now, *op)
		}
	}
	return sh.in[b.Index].or(now)
}

func (sh *shape) need(b bits, v ssa.Value) {
	if i, ok := sh.index[v]; ok {
		b.add(i)
	}
}

// live reports whether v is needed where block b begins, or is one of its phis.
func (sh *shape) live(b *ssa.BasicBlock, v ssa.Value) bool {
	if phi, ok := v.(*ssa.Phi); ok && phi.Block() == b {
		return true
	}
	i, ok := sh.index[v]
	return ok && sh.in[b.Index].has(i)
}

// cycles finds the blocks that can be reached from themselves.
func (sh *shape) cycles(fn *ssa.Function) {
	for _, b := range fn.Blocks {
		seen := make([]bool, len(fn.Blocks))
		work := append([]*ssa.BasicBlock{}, b.Succs...)
		for len(work) > 0 && !sh.loops[b.Index] {
			x := work[len(work)-1]
			work = work[:len(work)-1]
			if x == b {
				sh.loops[b.Index] = true
			}
			if !seen[x.Index] {
				seen[x.Index] = true
				work = append(work, x.Succs...)
			}
		}
	}
}
