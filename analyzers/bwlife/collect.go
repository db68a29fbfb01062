package bwlife

import "golang.org/x/tools/go/ssa"

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
		case used[v.id] || k.frame == always:
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
