package bwlife

import (
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// closer is the kind of objects that are functions: a call gave them beside a handle, and when they are called it ends.
const closer = "closer"

// closers makes the results of a call that are such.
func (r *run) closers(fr *frame, o outcome, site ssa.CallInstruction, sum *facts.Func) {
	for _, c := range sum.Closes {
		if c.Func >= len(o.vals) || c.Of >= len(o.vals) || o.vals[c.Of].kind != object {
			continue
		}
		of := o.vals[c.Of].id
		key := objectKey{frame: fr.id, call: site, part: c.Func, kind: closer + strconv.Itoa(int(of))}
		id := r.object(key, objectInfo{kind: closer, parent: of, pos: site.Pos(), typ: site.Common().Signature().Results().At(c.Func).Type(), call: site})
		o.vals[c.Func] = value{kind: object, id: id}
	}
}

// callCloser calls such a function. It may be called again, as those for contexts; then it does nothing.
func (r *run) callCloser(s *state, site ssa.CallInstruction, id int32) []outcome {
	info := r.infos[id]
	if t := s.thing(info.parent); t != nil && t.phase == live {
		name := "the function that came with it"
		made := r.objects.keys[id]
		if names := r.a.names[info.pos]; made.part < len(names) && names[made.part] != "_" {
			name = names[made.part]
		}
		r.end(s, info.parent, site, name, false)
	}
	r.othersWrite(s)
	return []outcome{{s: s}}
}

// closersOf are the results of a way out that are functions which end another result.
func (r *run) closersOf(e exit) (list []facts.Close) {
	for i, f := range e.results {
		id, ok := r.closes(e.s, f)
		if !ok {
			continue
		}
		of := slices.IndexFunc(e.results, func(v value) bool { return v == value{kind: object, id: id} })
		if t := e.s.thing(id); of >= 0 && t != nil && t.phase == live {
			list = append(list, facts.Close{Func: i, Of: of})
		}
	}
	return list
}

// closes is what a function value ends, when it is called.
func (r *run) closes(s *state, f value) (id int32, ok bool) {
	switch {
	case f.kind == object && r.infos[f.id].kind == closer:
		return r.infos[f.id].parent, true
	case f.kind != closed:
		return 0, false
	}
	c := r.closures[f.id]
	if len(c.bind) == 1 && c.bind[0].kind == object && c.fn.Synthetic != "" { // a bound method
		t := r.called(target{val: f})
		if t.obj == nil {
			return 0, false
		}
		sum := r.a.effects(t.obj)
		if sum == nil {
			return 0, false
		}
		p, known := sum.Param(0, "")
		return c.bind[0].id, known && ends(p.Cases) != ""
	}
	for _, b := range c.bind {
		for _, x := range r.inside(s, b) {
			switch info := r.infos[x.id]; info.kind {
			case "view", "op":
				continue
			case closer:
				x.id = info.parent
			}
			exits := r.tried(s, f)
			left := slices.ContainsFunc(exits, func(e exit) bool {
				t := e.s.thing(x.id)
				return t == nil || t.phase != dead
			})
			if len(exits) > 0 && !left {
				return x.id, true
			}
		}
	}
	return 0, false
}

// ends reports whether a result of a way out is a function that ends another.
func (e exit) ends(result int) bool {
	return slices.ContainsFunc(e.closes, func(c facts.Close) bool { return c.Func == result })
}

// closing are the results that end the result i, on each way out that gives it.
func (r *run) closing(i int) (list []facts.Close) {
	first := true
	for _, e := range r.exits {
		if e.results[i] != (value{kind: object}) || e.s.main().phase != live {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(e.closes), func(c facts.Close) bool { return c.Of != i })
		if first {
			list, first = mine, false
			continue
		}
		list = slices.DeleteFunc(list, func(c facts.Close) bool { return !slices.Contains(mine, c) })
	}
	return list
}
