package bwlife

import "golang.org/x/tools/go/ssa"

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
	for range maxDepth {
		f, ok := v.(*ssa.FreeVar)
		if !ok {
			break
		}
		v = captured(f)
	}
	var held ssa.Value
	alloc, ok := v.(*ssa.Alloc)
	if !ok || !storedOnce(alloc, &held, 0) {
		return false
	}
	for _, ref := range *alloc.Referrers() {
		if st, ok := ref.(*ssa.Store); ok {
			return st.Block() == alloc.Block() // elsewhere it may get its value again
		}
	}
	return false
}

// isSettled is settled for where a place is.
func (r *run) isSettled(root value) bool {
	if root.kind != symbol {
		return false
	}
	k := r.symbols.keys[root.id]
	return k.path == "" && r.a.settled(k.v)
}
