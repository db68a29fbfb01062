package bwlife

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// origin is where a value comes from, as far as its domain goes: the call that made the domain, or a parameter. steps
// are the calls on the way, the last first.
type origin struct {
	made  *ssa.Call
	param *ssa.Parameter
	steps []ssa.Instruction
}

func (o origin) known() bool { return o.made != nil || o.param != nil }

// maxOrigin is how many steps an origin has; longer ways are not followed.
const maxOrigin = 16

// origin follows a value to what it belongs to. SSA values do not change, and variables are followed that get one value
// only, so no path matters.
func (a *analyzer) origin(v ssa.Value, steps []ssa.Instruction) origin {
	if len(steps) > maxOrigin {
		return origin{}
	}
	switch v := v.(type) {
	case *ssa.Parameter:
		return origin{param: v, steps: steps}
	case *ssa.MakeInterface:
		return a.origin(v.X, steps)
	case *ssa.ChangeInterface:
		return a.origin(v.X, steps)
	case *ssa.ChangeType:
		return a.origin(v.X, steps)
	case *ssa.UnOp:
		if v.Op == token.MUL {
			if x := onlyValue(v.X); x != nil {
				return a.origin(x, append(steps, v))
			}
		}
	case *ssa.Extract:
		if call, ok := v.Tuple.(*ssa.Call); ok {
			return a.originOfResult(call, v.Index, steps)
		}
	case *ssa.Call:
		return a.originOfResult(v, 0, steps)
	}
	return origin{}
}

func (a *analyzer) originOfResult(call *ssa.Call, result int, steps []ssa.Instruction) origin {
	obj := callee(&call.Call)
	if obj == nil {
		return origin{}
	}
	sum := a.effects(obj)
	if sum == nil {
		return origin{}
	}
	steps = append(slices.Clone(steps), call)
	for _, w := range sum.Within {
		if w.A == result && w.B < len(call.Call.Args) {
			return a.origin(call.Call.Args[w.B], steps)
		}
	}
	for _, f := range sum.Fresh {
		if f.Result == result && a.kindOf(call.Call.Signature().Results().At(result).Type()) == directive.Domain {
			return origin{made: call, steps: steps}
		}
	}
	for _, p := range sum.Params {
		for _, c := range p.Cases {
			for _, d := range c.Derived {
				if d.Result == result && d.Kind != "count" && d.Kind != carved && p.Path == "" && p.Index < len(call.Call.Args) {
					return a.origin(call.Call.Args[p.Index], steps)
				}
			}
		}
	}
	return origin{}
}

// onlyValue is what a variable holds that gets one value, also where closures share it.
func onlyValue(addr ssa.Value) (v ssa.Value) {
	for range maxDepth {
		f, ok := addr.(*ssa.FreeVar)
		if !ok {
			break
		}
		if addr = captured(f); addr == nil {
			return nil
		}
	}
	alloc, ok := addr.(*ssa.Alloc)
	if !ok || !storedOnce(alloc, &v, 0) {
		return nil
	}
	return v
}

// captured is what a closure has for a free variable.
func captured(f *ssa.FreeVar) ssa.Value {
	fn := f.Parent()
	if fn.Parent() == nil {
		return nil
	}
	var found ssa.Value
	for _, b := range fn.Parent().Blocks {
		for _, in := range b.Instrs {
			if c, ok := in.(*ssa.MakeClosure); ok && c.Fn == ssa.Value(fn) {
				if i := slices.Index(fn.FreeVars, f); found == nil && i < len(c.Bindings) {
					found = c.Bindings[i]
				} else {
					return nil
				}
			}
		}
	}
	return found
}

// storedOnce looks for what is stored at an address. It reports false where that is not all known, or more than one.
func storedOnce(addr ssa.Value, v *ssa.Value, depth int) bool {
	if depth > maxDepth || addr.Referrers() == nil {
		return false
	}
	for _, ref := range *addr.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr != addr || *v != nil {
				return false
			}
			*v = ref.Val
		case *ssa.UnOp, *ssa.DebugRef:
		case *ssa.MakeClosure:
			for i, b := range ref.Bindings {
				if b == addr && !storedOnce(ref.Fn.(*ssa.Function).FreeVars[i], v, depth+1) {
					return false
				}
			}
		default:
			return false
		}
	}
	return depth > 0 || *v != nil
}

// together looks at the calls of a function that want things of one domain, and notes what its callers have to know.
func (a *analyzer) together(fn *ssa.Function, sum *facts.Func) {
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			call, ok := in.(*ssa.Call)
			if !ok {
				continue
			}
			obj := callee(&call.Call)
			if obj == nil {
				continue
			}
			if does := a.effects(obj); does != nil {
				for _, m := range does.Meets {
					a.meet(fn, call, m, sum)
				}
			}
		}
	}
	if sum != nil {
		a.belong(fn, sum)
	}
}

// meet holds two arguments of a call to the same domain.
func (a *analyzer) meet(fn *ssa.Function, call *ssa.Call, m facts.Pair, sum *facts.Func) {
	if m.A >= len(call.Call.Args) || m.B >= len(call.Call.Args) {
		return
	}
	x, y := a.origin(call.Call.Args[m.A], nil), a.origin(call.Call.Args[m.B], nil)
	switch {
	case !x.known() || !y.known():
	case x.made != nil && y.made != nil:
		if x.made != y.made {
			a.foreign(call, x, y)
		}
	case x.param != nil && y.param != nil:
		if sum != nil && x.param != y.param && x.param.Parent() == fn && y.param.Parent() == fn && onAllWays(fn, call.Block()) {
			sum.Meets = append(sum.Meets, facts.Pair{A: slices.Index(fn.Params, x.param), B: slices.Index(fn.Params, y.param)})
		}
	case x.made != nil && x.made.Parent() == y.param.Parent() || y.made != nil && y.made.Parent() == x.param.Parent():
		a.foreign(call, x, y) // what was there before belongs to no domain that was made here
	}
}

// foreign reports what belongs to another domain.
func (a *analyzer) foreign(call *ssa.Call, x, y origin) {
	qualifier := func(p *types.Package) string { return p.Name() }
	subject, other := a.owner(x), a.owner(y)
	text := fmt.Sprintf("`%s` (%s) is used with `%s` (%s), which belongs to another domain", subject.name, types.TypeString(subject.typ, qualifier), other.name, types.TypeString(other.typ, qualifier))
	rep := report{code: diag.ForeignDomain, pos: call.Pos(), text: text}
	for _, o := range []struct {
		origin
		owner
	}{{x, subject}, {y, other}} {
		if o.made != nil {
			rep.related = append(rep.related, related{o.made.Pos(), "the domain of " + o.name + " is made here"})
		} else {
			rep.related = append(rep.related, related{o.param.Pos(), o.name + " comes from here: it was before the other domain was made"})
		}
		if o.pos.IsValid() && (o.made == nil || o.pos != o.made.Pos()) {
			rep.related = append(rep.related, related{o.pos, o.name + " is made here"})
		}
	}
	a.reports = append(a.reports, rep)
}

// owner is what a program calls the value that belongs to a domain.
type owner struct {
	name string
	typ  types.Type
	pos  token.Pos
}

// owner finds the handle or connection that an argument is, or is of: the nearest to it that has a name.
func (a *analyzer) owner(o origin) owner {
	for _, in := range o.steps {
		call, ok := in.(*ssa.Call)
		if !ok {
			continue
		}
		if names := a.names[call.Pos()]; len(names) > 0 && names[0] != "_" {
			return owner{names[0], call.Call.Signature().Results().At(0).Type(), call.Pos()}
		}
	}
	if o.param != nil {
		return owner{o.param.Name(), o.param.Type(), o.param.Pos()}
	}
	return owner{"what " + callee(&o.made.Call).Name() + " gives", o.made.Call.Signature().Results().At(0).Type(), o.made.Pos()}
}

// belong notes to what the results of a function belong: to what a parameter does, or to a domain that it makes.
func (a *analyzer) belong(fn *ssa.Function, sum *facts.Func) {
	results := fn.Signature.Results()
	for i := range results.Len() {
		if a.kindOf(results.At(i).Type()) == "" && !a.hasDomain(results.At(i).Type()) {
			continue
		}
		o, ok := a.originOfReturns(fn, i)
		switch {
		case !ok:
		case o.param != nil && o.param.Parent() == fn && len(o.steps) > 0:
			sum.Within = append(sum.Within, facts.Pair{A: i, B: slices.Index(fn.Params, o.param)})
		case o.made != nil && a.kindOf(results.At(i).Type()) == directive.Domain && !slices.ContainsFunc(sum.Fresh, func(f facts.Fresh) bool { return f.Result == i }):
			sum.Fresh = append(sum.Fresh, facts.Fresh{Result: i})
		}
	}
}

// hasDomain reports whether a type may be a connection: some pointer to a struct.
func (a *analyzer) hasDomain(t types.Type) bool {
	p, ok := t.Underlying().(*types.Pointer)
	if !ok {
		return false
	}
	_, ok = p.Elem().Underlying().(*types.Struct)
	return ok
}

// originOfReturns is where a result comes from on each way out that gives one.
func (a *analyzer) originOfReturns(fn *ssa.Function, i int) (o origin, ok bool) {
	for _, b := range fn.Blocks {
		ret, isReturn := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !isReturn {
			continue
		}
		if c, isConst := ret.Results[i].(*ssa.Const); isConst && c.IsNil() {
			continue
		}
		x := a.origin(ret.Results[i], nil)
		if !x.known() || ok && (x.made != o.made || x.param != o.param) {
			return origin{}, false
		}
		o, ok = x, true
	}
	return o, ok
}
