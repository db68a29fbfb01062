package bwlife

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// ambient says when an instruction matters that has nothing to do with the object: bits of what must be so in a
// state (see level).
type ambient uint8

const (
	whileOps     ambient     = 1 << iota // an operation on the object is in flight: the call waits for others, or for all
	whileForeign                         // something is known of memory that others can write to: it is a call
	levels       = 1 << iota             // how many ways there are to combine these bits
)

// callInfo is what is known of a call before any run.
type callInfo struct {
	site    ssa.CallInstruction
	obj     *types.Func // what it calls, if that has a name
	sum     *facts.Func // what that does, nil: not known
	inline  bool        // it is run in place, or may be
	answers bool        // it is run in place for its answer only: see answers
	waits   bool        // it waits for an operation among its arguments
	flushes bool        // it may wait for all operations
	hears   bool        // it may wait for somebody
	over    bool        // what it gives may say that goroutines are over
	noBack  bool        // it does not return
	joins   bool        // it gives an error if one of its arguments is one: errors.Join
}

// flow is what is worked out once of a function, for the slices of all runs over it. Instructions and values
// have numbers.
type flow struct {
	a       *analyzer
	fn      *ssa.Function
	sh      *shape
	instrs  []ssa.Instruction
	blocks  []int32 // by instruction
	first   []int32 // by block: its first instruction; one more at the end
	values  []ssa.Value
	numbers map[ssa.Value]int32
	defs    []int32   // by value: the instruction, -1 where it is none
	uses    [][]int32 // by value: instructions
	calls   map[int32]*callInfo
	ambient []ambient  // by instruction
	around  []ambient  // by block: of all in it
	ends    []int32    // by block: the call that does not return, -1 if there is none
	tests   []test     // by block
	asks    [][]int32  // by value: blocks with tests that are about it
	given   [][][2]int // by value: ways out and results that may be it
	tuples  []int32    // by value: the results of which it is one, or itself
	partsOf [][]int32  // by value: of results those that are used, and itself
	beyond  []bits     // by block: those that can be reached from it
	simple  map[*ssa.Alloc]*variable
	exits   []wayOut // like returns
	outs    []int32  // by block: of exits, -1
	phis    []bool   // by block
	succs   [][]int32
	ifs     []int32   // blocks that end in a test, and may be left
	room    []targets // by block, for slices
	defers  []int32   // deferred calls that may wait
}

// test is the condition at the end of a block.
type test struct {
	free  bool // nothing is ever known of it but by tests of its bases
	bases []int32
}

// flowOf is the flow of a function; it is worked out once.
func (a *analyzer) flowOf(fn *ssa.Function) *flow {
	f := a.flows[fn]
	if f == nil {
		f = &flow{a: a, fn: fn, sh: a.shape(fn), numbers: map[ssa.Value]int32{}, calls: map[int32]*callInfo{}, simple: map[*ssa.Alloc]*variable{}}
		a.flows[fn] = f
		f.count()
		f.classify()
		f.variables()
		f.conditions()
		f.waysOut()
	}
	return f
}

// value is the number of a value, -1 of constants and functions.
func (f *flow) value(v ssa.Value) int32 {
	if v == nil {
		return -1
	}
	if n, ok := f.numbers[v]; ok {
		return n
	}
	switch v.(type) {
	case *ssa.Const, *ssa.Function, *ssa.Builtin:
		return -1
	}
	n := int32(len(f.values))
	f.numbers[v] = n
	f.values, f.defs, f.uses = append(f.values, v), append(f.defs, -1), append(f.uses, nil)
	return n
}

// count numbers instructions and values, and notes who uses what.
func (f *flow) count() {
	for _, p := range f.fn.Params {
		f.value(p)
	}
	for _, v := range f.fn.FreeVars {
		f.value(v)
	}
	var room [8]*ssa.Value
	for _, b := range f.fn.Blocks {
		f.first = append(f.first, int32(len(f.instrs)))
		_, phi := b.Instrs[0].(*ssa.Phi)
		f.phis = append(f.phis, phi)
		for _, in := range b.Instrs {
			i := int32(len(f.instrs))
			f.instrs, f.blocks = append(f.instrs, in), append(f.blocks, int32(b.Index))
			if v, ok := in.(ssa.Value); ok {
				f.defs[f.value(v)] = i
			}
			for _, op := range in.Operands(room[:0]) {
				if n := f.value(*op); n >= 0 {
					if u := f.uses[n]; len(u) == 0 || u[len(u)-1] != i {
						f.uses[n] = append(u, i)
					}
				}
			}
		}
	}
	f.first = append(f.first, int32(len(f.instrs)))
	f.asks, f.given = make([][]int32, len(f.values)), make([][][2]int, len(f.values))
	f.tuples, f.partsOf = make([]int32, len(f.values)), make([][]int32, len(f.values))
	for n, v := range f.values {
		of := int32(n)
		if x, ok := v.(*ssa.Extract); ok {
			of = f.numbers[x.Tuple]
		}
		f.tuples[n] = of
		f.partsOf[of] = append(f.partsOf[of], int32(n))
	}
}

// classify looks at the calls.
func (f *flow) classify() {
	f.ambient = make([]ambient, len(f.instrs))
	f.around = make([]ambient, len(f.fn.Blocks))
	f.ends = make([]int32, len(f.fn.Blocks))
	for i := range f.ends {
		f.ends[i] = -1
	}
	for i, in := range f.instrs {
		if site, ok := in.(ssa.CallInstruction); ok {
			c := f.a.callInfo(site)
			f.calls[int32(i)] = c
			if _, builtin := site.Common().Value.(*ssa.Builtin); builtin {
				continue
			}
			f.ambient[i] = whileForeign
			if c.waits || c.flushes || c.hears || c.over {
				f.ambient[i] |= whileOps
			}
			if _, ok := in.(*ssa.Defer); ok && f.ambient[i]&whileOps != 0 {
				f.defers = append(f.defers, int32(i))
			}
			b := f.blocks[i]
			if _, call := in.(*ssa.Call); call && c.noBack && f.ends[b] < 0 {
				f.ends[b] = int32(i)
			}
		} else if receives(in) {
			f.ambient[i] = whileOps
		}
	}
	for i, b := range f.blocks {
		f.around[b] |= f.ambient[i]
	}
	for _, b := range f.fn.Blocks {
		var succs []int32
		for _, succ := range b.Succs {
			succs = append(succs, int32(succ.Index))
		}
		f.succs, f.outs = append(f.succs, succs), append(f.outs, -1)
		if len(succs) == 2 && f.ends[b.Index] < 0 {
			f.ifs = append(f.ifs, int32(b.Index))
		}
	}
	f.room = make([]targets, len(f.fn.Blocks))
}

// reaches reports whether the program may come from the end of a block to another.
func (f *flow) reaches(from, to int32) bool {
	if f.beyond == nil {
		f.beyond = make([]bits, len(f.succs))
	}
	if f.beyond[from] == nil {
		seen := make(bits, (len(f.succs)+63)/64)
		work := slices.Clone(f.succs[from])
		for len(work) > 0 {
			b := work[len(work)-1]
			work = work[:len(work)-1]
			if !seen.has(int(b)) {
				seen.add(int(b))
				work = append(work, f.succs[b]...)
			}
		}
		f.beyond[from] = seen
	}
	return f.beyond[from].has(int(to))
}

// receives reports whether an instruction waits for somebody else to say something.
func receives(in ssa.Instruction) bool {
	switch in := in.(type) {
	case *ssa.Select:
		return true
	case *ssa.UnOp:
		return in.Op == token.ARROW
	}
	return false
}

// callInfo looks a call up.
func (a *analyzer) callInfo(site ssa.CallInstruction) *callInfo {
	c := &callInfo{site: site}
	common := site.Common()
	if common.IsInvoke() {
		c.noBack = neverReturns(common.Method)
		a.waiting(c)
		return c
	}
	switch v := common.Value.(type) {
	case *ssa.Builtin:
		return c
	case *ssa.MakeClosure:
		fn := v.Fn.(*ssa.Function)
		c.inline = fn.Parent() != nil
	case *ssa.Function:
		c.inline, c.answers = v.Parent() != nil, a.answers(v)
	default:
		c.inline = true // whatever it is: perhaps a literal
		a.waiting(c)
		return c
	}
	if c.obj = callee(common); c.obj != nil {
		c.sum = a.effects(c.obj)
		c.joins = c.obj.Name() == "Join" && c.obj.FullName() == "errors.Join"
	}
	if c.obj != nil && c.obj.Pkg() == a.pass.Pkg && !a.declared[c.obj] || c.sum == nil {
		for _, arg := range common.Args {
			if _, ok := arg.Type().Underlying().(*types.Signature); ok {
				c.inline = true // see worthInlining and loopBody
			}
		}
	}
	if c.sum != nil {
		c.noBack = c.sum.NoReturn
	}
	a.waiting(c)
	return c
}

// waiting works out what a call may wait for.
func (a *analyzer) waiting(c *callInfo) {
	common := c.site.Common()
	switch {
	case common.IsInvoke():
		c.flushes = !std(common.Method.Pkg())
		c.over = common.Method.Pkg() != nil && common.Method.Pkg().Path() == "context"
	case c.sum != nil:
		c.flushes, c.hears = c.sum.Flushes, c.sum.Hears
		for _, p := range c.sum.Params {
			if p.Path == "" && p.Index < len(common.Args) && len(p.Cases) > 0 && p.Cases[0].Post == facts.Released && a.kindOf(common.Args[p.Index].Type()) == directive.Op {
				c.waits = true
			}
		}
	case c.obj != nil:
		c.hears = a.waits(c.obj)
		for _, arg := range common.Args { // it may be a loop over a function: see loopBody
			if mc, ok := arg.(*ssa.MakeClosure); ok && strings.HasPrefix(mc.Fn.(*ssa.Function).Synthetic, "range-over-func") {
				c.hears = true
			}
		}
	default:
		fn := common.StaticCallee()
		if fn == nil {
			c.flushes, c.hears = true, true
			return
		}
		c.flushes, c.hears = a.flushes(fn), a.hears(fn)
		c.waits = a.anyCall(fn, func(c *callInfo) bool { return c.waits })
	}
}

// startsOps reports whether a call starts an operation or a goroutine, or runs what may.
func (a *analyzer) startsOps(c *callInfo) bool {
	if _, ok := c.site.(*ssa.Go); ok || c.obj != nil && c.obj.Name() == "Go" {
		return true
	}
	if c.sum == nil {
		fn := c.site.Common().StaticCallee()
		return fn != nil && fn.Parent() != nil && a.anyCall(fn, a.startsOps)
	}
	if len(c.sum.Places) > 0 {
		return true
	}
	for _, p := range c.sum.Params {
		for _, k := range p.Cases {
			for _, d := range k.Derived {
				if d.Kind == directive.Op || d.Kind == "fill" {
					return true
				}
			}
		}
	}
	return false
}

// anyCall reports whether a call in a function literal, or in those in it, is such. Each is asked once.
func (a *analyzer) anyCall(fn *ssa.Function, is func(*callInfo) bool) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(ssa.CallInstruction); ok {
				if info := a.callInfo(c); info.site.Common().StaticCallee() != fn && is(info) {
					return true
				}
			}
		}
	}
	for _, anon := range fn.AnonFuncs {
		if a.anyCall(anon, is) {
			return true
		}
	}
	return false
}
