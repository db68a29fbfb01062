package bwlife

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// touched are the parameters through which a function reads and writes memory, on each way out. It
// looks only at those that may be views: structs and slices with pointers, and for writes pointers.
func (a *analyzer) touched(fn *ssa.Function) (reads, writes []int) {
	for i, p := range fn.Params {
		looks, stores := mayView(p.Type())
		if !looks && !stores {
			continue
		}
		t := &toucher{a: a, fn: fn, from: map[ssa.Value]bool{p: true}, held: map[ssa.Value]bool{}}
		for t.spread() {
		}
		if looks && t.reads {
			reads = append(reads, i)
		}
		if t.writes {
			writes = append(writes, i)
		}
	}
	return reads, writes
}

// mayView reports whether a value may show memory of a region, and whether one may at least write there with it.
func mayView(t types.Type) (reads, writes bool) {
	switch t := t.Underlying().(type) {
	case *types.Pointer:
		return false, true
	case *types.Slice:
		return true, true
	case *types.Struct:
		for i := range t.NumFields() {
			switch f := t.Field(i).Type().Underlying().(type) {
			case *types.Pointer, *types.Slice:
				return true, true
			case *types.Basic:
				if f.Kind() == types.UnsafePointer {
					return true, true
				}
			}
		}
	}
	return false, false
}

// toucher follows where one parameter leads.
type toucher struct {
	a             *analyzer
	fn            *ssa.Function
	from          map[ssa.Value]bool // values that lead to its memory
	held          map[ssa.Value]bool // addresses of local variables that hold such values
	reads, writes bool
}

// spread looks at all instructions once. It reports whether it found another value.
func (t *toucher) spread() (more bool) {
	before := len(t.from) + len(t.held)
	for _, b := range t.fn.Blocks {
		sure := onAllWays(t.fn, b)
		for _, in := range b.Instrs {
			t.instr(in, sure)
		}
	}
	return len(t.from)+len(t.held) > before
}

func (t *toucher) instr(in ssa.Instruction, sure bool) {
	switch in := in.(type) {
	case *ssa.Store:
		if _, local := in.Addr.(*ssa.Alloc); local && t.from[in.Val] {
			t.held[in.Addr] = true
		}
		t.writes = t.writes || sure && t.from[in.Addr]
	case *ssa.FieldAddr:
		t.derive(in, in.X)
	case *ssa.IndexAddr:
		t.derive(in, in.X)
	case *ssa.Field:
		t.derive(in, in.X)
	case *ssa.Slice:
		t.derive(in, in.X)
	case *ssa.Convert:
		t.derive(in, in.X)
	case *ssa.ChangeType:
		t.derive(in, in.X)
	case *ssa.SliceToArrayPointer:
		t.derive(in, in.X)
	case *ssa.UnOp:
		if in.Op == token.MUL && t.held[in.X] {
			t.from[in] = true
		} else if in.Op == token.MUL && t.from[in.X] {
			t.reads = t.reads || sure
		}
	case *ssa.Call:
		if sure {
			t.call(&in.Call)
		}
	}
}

// derive notes a value that is made of another.
func (t *toucher) derive(v, of ssa.Value) {
	if t.from[of] {
		t.from[v] = true
	}
	if t.held[of] {
		t.held[v] = true
	}
}

// call is a call that surely is made.
func (t *toucher) call(c *ssa.CallCommon) {
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "copy":
			t.writes = t.writes || t.from[c.Args[0]]
			t.reads = t.reads || t.from[c.Args[1]]
		case "clear":
			t.writes = t.writes || t.from[c.Args[0]]
		}
		return
	}
	obj := callee(c)
	if obj == nil {
		return
	}
	sum := t.a.effects(obj)
	if sum == nil {
		return
	}
	for _, i := range sum.Reads {
		t.reads = t.reads || i < len(c.Args) && t.from[c.Args[i]]
	}
	for _, i := range sum.Writes {
		t.writes = t.writes || i < len(c.Args) && t.from[c.Args[i]]
	}
}

// onAllWays reports whether every way through a function comes by a block.
func onAllWays(fn *ssa.Function, b *ssa.BasicBlock) bool {
	some := false
	for _, end := range fn.Blocks {
		if _, ok := end.Instrs[len(end.Instrs)-1].(*ssa.Return); ok {
			if some = true; !b.Dominates(end) {
				return false
			}
		}
	}
	return some
}

// byteOrder is what the methods of binary.LittleEndian and BigEndian do with their slice.
func byteOrder(f *types.Func) *facts.Func {
	switch f.Name() {
	case "Uint16", "Uint32", "Uint64":
		return &facts.Func{Reads: []int{1}}
	case "PutUint16", "PutUint32", "PutUint64":
		return &facts.Func{Writes: []int{1}}
	}
	return nil
}

// hears reports whether a function may wait for somebody else: then the program may know that
// operations have ended, without a wait for them.
func (a *analyzer) hears(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			switch in := in.(type) {
			case *ssa.Select:
				return true
			case *ssa.UnOp:
				if in.Op == token.ARROW {
					return true
				}
			case ssa.CallInstruction:
				if obj := callee(in.Common()); obj != nil {
					if sum := a.effects(obj); sum != nil && sum.Hears || sum == nil && a.waits(obj) {
						return true
					}
				}
			}
		}
	}
	for _, anon := range fn.AnonFuncs {
		if a.hears(anon) {
			return true
		}
	}
	return false
}

// waits reports whether a function of which nothing is known may wait for somebody: those of packages that know the runtime
// would say so.
func (a *analyzer) waits(obj *types.Func) bool {
	switch {
	case obj == nil || obj.Pkg() == nil || obj.Pkg() == a.pass.Pkg:
		return false
	case std(obj.Pkg()):
		return obj.Pkg().Path() == "sync" && obj.Name() == "Wait"
	}
	return !a.pass.ImportPackageFact(obj.Pkg(), new(facts.Uses))
}
