package bwlife

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"golang.org/x/tools/go/ssa"
)

// step runs one instruction. It returns the ways that it may go; a state that is lost is dropped.
func (r *run) step(fr *frame, s *state, in ssa.Instruction) []*state {
	if v, ok := in.(ssa.Value); ok && (fr.again || fr.sh.loops[in.Block().Index]) {
		if a, ok := v.(*ssa.Alloc); ok {
			r.clear(fr, s, a)
		} else {
			r.forget(fr, s, v)
		}
	}
	r.opensList(s, in)
	switch in := in.(type) {
	case *ssa.Call:
		return r.call(fr, s, in, nil)
	case *ssa.Defer:
		r.deferCall(fr, s, in)
	case *ssa.RunDefers:
		return r.runDefers(fr, s)
	case *ssa.Go:
		r.goCall(fr, s, in)
	case *ssa.Store:
		r.store(fr, s, r.eval(fr, s, in.Addr), r.eval(fr, s, in.Val), in.Pos())
	case *ssa.Send:
		r.escape(s, r.eval(fr, s, in.X))
	case *ssa.MapUpdate:
		r.escape(s, r.eval(fr, s, in.Key))
		r.escape(s, r.eval(fr, s, in.Value))
	case *ssa.Select:
		r.unsure(s)
		return r.choose(fr, s, in)
	case ssa.Value:
		if v := r.compute(fr, s, in); v != r.sym(fr.id, fr.sh.asked(in), "") {
			s.env.set(slot{fr.id, in}, v)
		} else {
			s.env.drop(slot{fr.id, in})
		}
	}
	return []*state{s}
}

// choose is a select: it goes on in one of its cases, and only there what that sends is gone.
func (r *run) choose(fr *frame, s *state, in *ssa.Select) (out []*state) {
	sends := slices.ContainsFunc(in.States, func(c *ssa.SelectState) bool {
		return c.Send != nil && len(r.inside(s, r.eval(fr, s, c.Send))) > 0
	})
	if !sends {
		for _, c := range in.States {
			if c.Send != nil {
				r.escape(s, r.eval(fr, s, c.Send))
			}
		}
		return []*state{s}
	}
	for i := range len(in.States) + 1 {
		at := i
		if i == len(in.States) {
			if in.Blocking {
				break
			}
			at = -1
		}
		one := s.clone()
		if i < len(in.States) && in.States[i].Send != nil {
			r.escape(one, r.eval(fr, one, in.States[i].Send))
		}
		one.env.set(slot{fr.id, in}, r.results([]value{{kind: number, id: int32(at)}}))
		out = append(out, one)
	}
	return out
}

// compute is what an instruction without effects gives.
func (r *run) compute(fr *frame, s *state, in ssa.Value) value {
	self := r.sym(fr.id, fr.sh.asked(in), "")
	switch in := in.(type) {
	case *ssa.Alloc:
		return self // its address is worked out by eval
	case *ssa.UnOp:
		return r.unary(fr, s, in, self)
	case *ssa.BinOp:
		if c := r.compare(fr, s, in); c.kind != unknown {
			return c
		}
		if n := r.arithmetic(fr, s, in); n.kind != unknown {
			return n
		}
	case *ssa.FieldAddr:
		return r.fieldAddr(fr, s, in)
	case *ssa.Field:
		return r.field(r.eval(fr, s, in.X), "."+fieldName(in.X.Type(), in.Field))
	case *ssa.IndexAddr:
		return r.indexAddr(fr, s, in, self)
	case *ssa.Index:
		x := r.eval(fr, s, in.X)
		if x.kind == object {
			return x
		}
		r.escape(s, x) // one of them, and it is not known which
	case *ssa.Slice:
		if x := r.eval(fr, s, in.X); x.kind == object || x.kind == place {
			return x
		}
	case *ssa.Extract:
		return r.extract(fr, s, in)
	case *ssa.MakeClosure:
		var bind []value
		for _, b := range in.Bindings {
			bind = append(bind, r.eval(fr, s, b))
		}
		return r.closure(in.Fn.(*ssa.Function), bind)
	case *ssa.MakeInterface:
		switch x := r.eval(fr, s, in.X); x.kind {
		case object, place, closed, whole:
			return x
		}
		return value{kind: nonNil}
	case *ssa.ChangeInterface:
		return r.eval(fr, s, in.X)
	case *ssa.ChangeType:
		return r.eval(fr, s, in.X)
	case *ssa.MultiConvert:
		return r.eval(fr, s, in.X)
	case *ssa.Convert:
		if x := r.eval(fr, s, in.X); x.kind == object {
			return x
		}
	case *ssa.SliceToArrayPointer:
		return r.eval(fr, s, in.X)
	case *ssa.TypeAssert:
		return r.typeAssert(fr, s, in, self)
	case *ssa.MakeSlice, *ssa.MakeMap, *ssa.MakeChan:
		return value{kind: nonNil}
	}
	return self
}

func (r *run) unary(fr *frame, s *state, in *ssa.UnOp, self value) value {
	x := r.eval(fr, s, in.X)
	switch in.Op {
	case token.ARROW:
		r.unsure(s)
	case token.NOT:
		if x.kind == symbol {
			x = r.condition(condKey{op: "true", x: x})
		}
		if v := not(x); v.kind != unknown {
			return v
		}
	case token.MUL:
		if x.kind == object {
			r.use(s, x.id, placeNear(in))
			r.touch(s, x.id, placeNear(in), false)
			if k := r.infos[x.id].kind; k == "view" || k == buffer {
				return self // what it shows, copied
			}
			return x
		}
		if p := r.address(x); p.kind == place {
			return r.load(fr, s, p, in)
		}
	}
	return self
}

func (r *run) fieldAddr(fr *frame, s *state, in *ssa.FieldAddr) value {
	x := r.eval(fr, s, in.X)
	if x.kind == object {
		return x
	}
	p := r.address(x)
	if p.kind != place {
		return value{}
	}
	return r.below(p, "."+fieldName(in.X.Type().Underlying().(*types.Pointer).Elem(), in.Field))
}

func fieldName(t types.Type, i int) string {
	if s, ok := coreType(t).(*types.Struct); ok && i < s.NumFields() {
		return s.Field(i).Name()
	}
	return "#" + strconv.Itoa(i)
}

// coreType is the underlying type, also of a type parameter that has one.
func coreType(t types.Type) types.Type {
	if tp, ok := types.Unalias(t).(*types.TypeParam); ok {
		if u, ok := tp.Underlying().(*types.Interface); ok && u.NumEmbeddeds() == 1 {
			return u.EmbeddedType(0).Underlying()
		}
	}
	return t.Underlying()
}

// indexAddr is the address of an element. Of arrays of one's own each has its place.
func (r *run) indexAddr(fr *frame, s *state, in *ssa.IndexAddr, self value) value {
	x := r.eval(fr, s, in.X)
	if x.kind == object {
		r.use(s, x.id, placeNear(in))
		return r.elementOf(fr, s, in, x)
	}
	if c, ok := in.Index.(*ssa.Const); ok && x.kind == place && r.own(s, x) {
		if _, isPtr := in.X.Type().Underlying().(*types.Pointer); isPtr {
			return r.below(x, ".["+c.Value.ExactString()+"]")
		}
	}
	r.escape(s, x) // one of them, and it is not known which
	return self
}

func (r *run) extract(fr *frame, s *state, in *ssa.Extract) value {
	t := r.eval(fr, s, in.Tuple)
	switch t.kind {
	case tuple:
		if vals := r.tuples[t.id]; in.Index < len(vals) {
			return vals[in.Index]
		}
	case symbol:
		return r.fieldOf(t, "#"+strconv.Itoa(in.Index))
	}
	return value{}
}

func (r *run) typeAssert(fr *frame, s *state, in *ssa.TypeAssert, self value) value {
	x := r.eval(fr, s, in.X)
	if x.kind != object {
		return self
	}
	if !in.CommaOk {
		return x
	}
	ok := r.fieldOf(self, "#1")
	switch t := r.infos[x.id].typ; {
	case types.IsInterface(in.AssertedType):
		if types.Implements(t, in.AssertedType.Underlying().(*types.Interface)) {
			ok = value{kind: isTrue}
		}
	case types.Identical(t, in.AssertedType):
		ok = value{kind: isTrue}
	}
	return r.results([]value{x, ok})
}

// placeNear is the position of an instruction, or of the next in its block that has one: the loads of a range loop have none.
func placeNear(in ssa.Instruction) token.Pos {
	if in.Pos().IsValid() {
		return in.Pos()
	}
	found := false
	for _, other := range in.Block().Instrs {
		if found = found || other == in; found && other.Pos().IsValid() {
			return other.Pos()
		}
	}
	return token.NoPos
}
