package bwlife

import (
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// variable is a local variable in memory only because function literals share it that run where the function ends: by
// defer. Until then it is as good as a value: which assignments a read may see is known. Named results are like that.
type variable struct {
	alloc    *ssa.Alloc
	stores   []int32 // instructions
	loads    []int32
	closures []int32 // those that share it
	seen     map[int32][]int32
}

// variables finds them.
func (f *flow) variables() {
	for i, in := range f.instrs {
		if a, ok := in.(*ssa.Alloc); ok {
			if v := f.variable(a, int32(i)); v != nil {
				f.simple[a] = v
			}
		}
	}
}

// variable is the alloc as one, nil if its address goes elsewhere.
func (f *flow) variable(a *ssa.Alloc, at int32) *variable {
	v := &variable{alloc: a, seen: map[int32][]int32{}}
	for _, i := range f.uses[f.numbers[a]] {
		switch in := f.instrs[i].(type) {
		case *ssa.UnOp:
			v.loads = append(v.loads, i)
		case *ssa.Store:
			if in.Val == ssa.Value(a) {
				return nil
			}
			v.stores = append(v.stores, i)
		case *ssa.MakeClosure:
			for _, u := range f.uses[f.numbers[in]] {
				if d, ok := f.instrs[u].(*ssa.Defer); !ok || d.Call.Value != ssa.Value(in) || len(d.Call.Args) > 0 {
					return nil
				}
			}
			v.closures = append(v.closures, i)
		default:
			return nil
		}
	}
	return v
}

// reaching are the instructions that may have put there what the variable holds at an instruction: stores, its
// allocation, and deferred calls.
func (f *flow) reaching(v *variable, at int32) []int32 {
	if list, ok := v.seen[at]; ok {
		return list
	}
	var list []int32
	visited := make(bits, (len(f.fn.Blocks)+63)/64)
	var back func(block int32, before int32)
	back = func(block, before int32) {
		for i := before - 1; i >= f.first[block]; i-- {
			switch in := f.instrs[i].(type) {
			case *ssa.Store:
				if in.Addr != ssa.Value(v.alloc) {
					continue
				}
			case *ssa.Alloc:
				if in != v.alloc {
					continue
				}
			case *ssa.RunDefers:
				if len(v.closures) == 0 {
					continue
				}
			default:
				continue
			}
			list = append(list, i)
			return
		}
		for _, p := range f.fn.Blocks[block].Preds {
			if !visited.has(p.Index) {
				visited.add(p.Index)
				back(int32(p.Index), f.first[p.Index+1])
			}
		}
	}
	back(f.blocks[at], at)
	v.seen[at] = list
	return list
}

// conditions looks at the tests at the ends of blocks.
func (f *flow) conditions() {
	f.tests = make([]test, len(f.fn.Blocks))
	for _, b := range f.fn.Blocks {
		if in, ok := b.Instrs[len(b.Instrs)-1].(*ssa.If); ok {
			t := &f.tests[b.Index]
			t.free = f.plain(in.Cond, &t.bases, 0)
			for _, base := range t.bases {
				f.asks[base] = append(f.asks[base], int32(b.Index))
			}
		}
	}
}

// plain reports whether nothing can be known of a value where it is made, and adds what it is. Where something can, it adds what that
// depends on.
func (f *flow) plain(v ssa.Value, bases *[]int32, depth int) bool {
	n := f.value(f.sh.asked(v))
	if depth > 8 || n < 0 {
		return false
	}
	self := func(ok bool) bool {
		if !slices.Contains(*bases, n) {
			*bases = append(*bases, n)
		}
		return ok
	}
	switch in := v.(type) {
	case *ssa.Call:
		if isErrorTest(in) {
			f.plain(in.Call.Args[0], bases, depth+1)
		}
		return self(f.plainArgs(in, bases, depth) && f.plainCall(in, 0))
	case *ssa.Extract:
		if x, ok := in.Tuple.(*ssa.Call); ok {
			return self(f.plainArgs(x, bases, depth) && f.plainCall(x, in.Index))
		}
		_, choice := in.Tuple.(*ssa.Select)
		return self(!choice)
	case *ssa.ChangeInterface:
		return f.plain(in.X, bases, depth+1)
	case *ssa.ChangeType:
		return f.plain(in.X, bases, depth+1)
	case *ssa.Phi:
		if !slices.Contains(*bases, n) {
			self(false)
			for _, e := range in.Edges {
				f.plain(e, bases, depth+1)
			}
		}
		return false
	case *ssa.UnOp:
		switch in.Op {
		case token.MUL:
			return f.plainLoad(in, bases, depth)
		case token.NOT:
			return f.plain(in.X, bases, depth+1)
		}
		return self(in.Op == token.ARROW)
	case *ssa.BinOp:
		switch in.Op {
		case token.EQL, token.NEQ, token.LSS, token.LEQ, token.GTR, token.GEQ:
			ok, constants := true, 0
			for _, x := range []ssa.Value{in.X, in.Y} {
				if _, isConst := x.(*ssa.Const); isConst {
					constants++
				} else if !isSentinel(x) {
					ok = f.plain(x, bases, depth+1) && ok
				}
			}
			return ok && constants < 2 // whether a range over a constant is entered is known
		}
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Lookup, *ssa.TypeAssert:
		return self(true)
	}
	return self(false)
}

// plainArgs reports whether nothing can be known of an answer by what was asked. Other calls do not tell.
func (f *flow) plainArgs(call *ssa.Call, bases *[]int32, depth int) bool {
	ok := true
	if f.calls[f.defs[f.numbers[call]]].answers {
		for _, arg := range call.Call.Args {
			if _, isConst := arg.(*ssa.Const); !isConst {
				ok = f.plain(arg, bases, depth+1) && ok
			}
		}
	}
	return ok
}

// plainCall reports whether nothing is known of a result of a call.
func (f *flow) plainCall(call *ssa.Call, result int) bool {
	c := f.calls[f.defs[f.numbers[call]]]
	if _, builtin := call.Call.Value.(*ssa.Builtin); builtin || c.inline || c.joins || isErrorTest(call) {
		return false
	}
	if f.a.endsWindow(call, result) {
		return false
	}
	if c.sum != nil {
		for _, i := range c.sum.NeverNil {
			if i == result {
				return false
			}
		}
	}
	return true
}

// plainLoad is a read of memory: of a variable, or of memory of others that is only read here.
func (f *flow) plainLoad(in *ssa.UnOp, bases *[]int32, depth int) bool {
	root := rootOf(in.X)
	if a, ok := root.(*ssa.Alloc); ok {
		v := f.simple[a]
		if v == nil || in.X != ssa.Value(a) {
			return false
		}
		return f.plainStored(v, f.defs[f.numbers[in]], bases, depth)
	}
	n := f.value(root)
	if n < 0 || f.writes(root, 0) {
		return false
	}
	switch root.(type) {
	case *ssa.Parameter, *ssa.FreeVar, *ssa.Global:
		*bases = append(*bases, n)
		return true
	}
	return f.plain(root, bases, depth+1)
}

// plainStored is what a variable holds at an instruction.
func (f *flow) plainStored(v *variable, at int32, bases *[]int32, depth int) bool {
	ok := true
	for _, def := range f.reaching(v, at) {
		switch in := f.instrs[def].(type) {
		case *ssa.Store:
			ok = f.plain(in.Val, bases, depth+1) && ok
		case *ssa.RunDefers:
			f.plainStored(v, f.at(in), bases, depth+1)
			ok = false
		default:
			ok = false
		}
	}
	return ok
}

// writes reports whether there is a store below an address.
func (f *flow) writes(addr ssa.Value, depth int) bool {
	if depth > 4 {
		return true
	}
	for _, i := range f.uses[f.value(addr)] {
		switch in := f.instrs[i].(type) {
		case *ssa.Store:
			if in.Addr == addr {
				return true
			}
		case *ssa.FieldAddr:
			if f.writes(in, depth+1) {
				return true
			}
		case *ssa.IndexAddr:
			if in.X == addr && f.writes(in, depth+1) {
				return true
			}
		}
	}
	return false
}

// rootOf is where an address begins: an allocation, or a pointer.
func rootOf(v ssa.Value) ssa.Value {
	for {
		switch in := v.(type) {
		case *ssa.FieldAddr:
			v = in.X
		case *ssa.IndexAddr:
			v = in.X
		case *ssa.Slice:
			v = in.X
		case *ssa.ChangeType:
			v = in.X
		case *ssa.Convert:
			v = in.X
		default:
			return v
		}
	}
}

// sharing is what a function literal does with a variable that it shares.
type sharing struct {
	decides bool // what it holds may decide on what happens
	writes  bool
}

// sharings are those of the free variables of a function literal, worked out once.
func (a *analyzer) sharings(fn *ssa.Function) []sharing {
	list, ok := a.shares[fn]
	if !ok {
		list = make([]sharing, len(fn.FreeVars))
		for i, fv := range fn.FreeVars {
			list[i] = sharingOf(fv)
		}
		a.shares[fn] = list
	}
	return list
}

func sharingOf(fv *ssa.FreeVar) (sh sharing) {
	for _, ref := range *fv.Referrers() {
		switch in := ref.(type) {
		case *ssa.UnOp:
			sh.decides = sh.decides || decides(in, map[ssa.Value]bool{})
		case *ssa.Store:
			sh.writes = true
			sh.decides = sh.decides || in.Val == ssa.Value(fv)
		default:
			return sharing{decides: true, writes: true}
		}
	}
	return sh
}

// decides reports whether a value may decide which way something goes: it is tested, or goes where that is not seen. What it is
// not: given to functions of the standard library, or kept.
func decides(v ssa.Value, seen map[ssa.Value]bool) bool {
	if seen[v] || v.Referrers() == nil {
		return false
	}
	seen[v] = true
	for _, ref := range *v.Referrers() {
		switch in := ref.(type) {
		case *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.ChangeType, *ssa.Phi, *ssa.Slice, *ssa.Extract, *ssa.IndexAddr, *ssa.FieldAddr:
			if decides(in.(ssa.Value), seen) {
				return true
			}
		case *ssa.Store:
			if in.Addr == v {
				continue
			}
			if _, shared := in.Addr.(*ssa.FreeVar); !shared && decides(rootOf(in.Addr), seen) {
				return true
			}
		case *ssa.UnOp:
			if in.Op != token.MUL || decides(in, seen) {
				return true
			}
		case *ssa.Call:
			if _, builtin := in.Call.Value.(*ssa.Builtin); !builtin {
				if obj := callee(&in.Call); obj == nil || !std(obj.Pkg()) {
					return true
				}
			}
			if decides(in, seen) {
				return true
			}
		case *ssa.Panic, *ssa.DebugRef:
		default:
			return true
		}
	}
	return false
}

// carries reports whether a value of the type may be the object, or lead to it. Errors and flags do not.
func carries(t types.Type) bool {
	if isError(t) {
		return false
	}
	b, ok := t.Underlying().(*types.Basic)
	return !ok || b.Kind() != types.Bool
}
