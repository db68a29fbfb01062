package bwlife

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// settled reports whether a variable that function literals have captured gets its value where it is declared, and never another: a
// parameter that nobody assigns to, say. SSA form has it in memory, but no call changes it.
func (a *analyzer) settled(v ssa.Value) bool {
	yes, ok := a.settles[v]
	if !ok {
		yes = settled(v)
		a.settles[v] = yes
	}
	return yes
}

func settled(v ssa.Value) bool {
	var held ssa.Value
	alloc := allocOf(v)
	if alloc == nil || !storedOnce(alloc, &held, 0) {
		return false
	}
	for _, ref := range *alloc.Referrers() {
		if st, ok := ref.(*ssa.Store); ok {
			return st.Block() == alloc.Block() // elsewhere it may get its value again
		}
	}
	return false
}

// allocOf is what a captured variable is in the function that declares it; nil if that is not known.
func allocOf(v ssa.Value) *ssa.Alloc {
	for range maxDepth {
		f, ok := v.(*ssa.FreeVar)
		if !ok {
			break
		}
		v = captured(f)
	}
	alloc, _ := v.(*ssa.Alloc)
	return alloc
}

// flagsOutside notes what flags that a function literal has captured are known to be where it stands, by the tests on the way there. They
// are settled, so that they are the same whenever it is called.
func (r *run) flagsOutside(s *state) {
	known := map[*ssa.Alloc]bool{}
	for fn := r.fn; fn.Parent() != nil; fn = fn.Parent() {
		b := stands(fn)
		if b == nil {
			break
		}
		for ; b.Idom() != nil; b = b.Idom() {
			test, ok := b.Idom().Instrs[len(b.Idom().Instrs)-1].(*ssa.If)
			if !ok || len(b.Preds) != 1 || b.Preds[0] != b.Idom() {
				continue
			}
			is := b == b.Idom().Succs[0]
			cond := test.Cond
			for not, ok := cond.(*ssa.UnOp); ok && not.Op == token.NOT; not, ok = cond.(*ssa.UnOp) {
				cond, is = not.X, !is
			}
			if load, ok := cond.(*ssa.UnOp); ok && load.Op == token.MUL {
				if v := allocOf(load.X); v != nil && r.a.settled(v) {
					known[v] = is
				}
			}
		}
	}
	for _, f := range r.fn.FreeVars {
		if v := allocOf(f); v != nil {
			if is, ok := known[v]; ok {
				k := isFalse
				if is {
					k = isTrue
				}
				s.mem.set(r.at(r.sym(0, f, ""), "").id, value{kind: k})
			}
		}
	}
}

// stands is the block in which a function literal stands, nil where that is not one.
func stands(fn *ssa.Function) (at *ssa.BasicBlock) {
	for _, b := range fn.Parent().Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.MakeClosure); ok && c.Fn == ssa.Value(fn) {
				if at != nil {
					return nil
				}
				at = b
			}
		}
	}
	return at
}

// isSettled is settled for where a place is.
func (r *run) isSettled(root value) bool {
	if root.kind != symbol {
		return false
	}
	k := r.symbols.keys[root.id]
	return k.path == "" && r.a.settled(k.v)
}
