package bwlife

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/facts"
)

// Analyzer finds lifetimes that go wrong.
var Analyzer = &analysis.Analyzer{
	Name:      "bwlife",
	Doc:       "report regions, windows and operations whose lives go wrong: used after they ended, ended twice, never, or while something is in the way",
	URL:       "https://pkg.go.dev/github.com/fidelityframework/barewire-gen/analyzers/bwlife",
	Run:       analyze,
	FactTypes: []analysis.Fact{new(facts.Uses), new(facts.Type), new(facts.Marker), new(facts.Node), new(facts.Func)},
}

// analyzer is one package that is looked at.
type analyzer struct {
	pass      *analysis.Pass
	prog      *ssa.Program
	pkg       *ssa.Package
	sums      map[*types.Func]*facts.Func // of this package, and nil of others
	declared  map[*types.Func]bool        // it has a directive
	believed  map[types.Object]bool       // and one that says to trust it
	trusted   bool                        // the package as a whole
	shapes    map[*ssa.Function]*shape
	flows     map[*ssa.Function]*flow
	shares    map[*ssa.Function][]sharing // by free variable
	names     map[token.Pos][]string      // what the results of a call are assigned to, by its parenthesis
	unlooked  map[token.Pos]bool          // calls whose results nobody takes
	checked   map[token.Pos]token.Pos     // where the test of a call's error ends
	expected  map[token.Pos]bool          // calls whose program asks which error they gave
	refuses   map[token.Pos]bool          // and those of them that are to fail
	settles   map[ssa.Value]bool          // see settled
	answering map[*ssa.Function]bool      // see answers
	asking    map[*ssa.Function]bool      // see asks
	reports   []report
	capped    int // runs that cost too much: they are silent
	steps     int // instructions that runs took, and blocks that their states came to
	most      int // facts that one of them had
	words     int // of memory that shapes take

	whole bool                          // for tests: runs are not of slices
	kinds func(types.Type) string       // for tests: instead of facts
	guess func(*types.Func) *facts.Func // the same
}

func newAnalyzer(pass *analysis.Pass) *analyzer {
	return &analyzer{
		pass: pass, sums: map[*types.Func]*facts.Func{}, declared: map[*types.Func]bool{}, believed: map[types.Object]bool{}, shapes: map[*ssa.Function]*shape{}, flows: map[*ssa.Function]*flow{}, shares: map[*ssa.Function][]sharing{},
		names: map[token.Pos][]string{}, unlooked: map[token.Pos]bool{}, checked: map[token.Pos]token.Pos{}, expected: map[token.Pos]bool{}, refuses: map[token.Pos]bool{}, settles: map[ssa.Value]bool{}, answering: map[*ssa.Function]bool{}, asking: map[*ssa.Function]bool{},
	}
}

func analyze(pass *analysis.Pass) (any, error) {
	newAnalyzer(pass).analyze()
	return nil, nil
}

func (a *analyzer) analyze() {
	pass := a.pass
	defines := a.directives()
	if !defines && !a.importsRuntime() {
		a.flush()
		return
	}
	pass.ExportPackageFact(&facts.Uses{})
	if !a.trusted {
		a.syntax()
		a.build()
		a.functions()
	}
	for obj, sum := range a.sums {
		if obj.Pkg() == pass.Pkg && sum != nil && !sum.Empty() {
			pass.ExportObjectFact(obj, sum)
		}
	}
	a.flush()
}

// importsRuntime reports whether a package that is imported knows the runtime.
func (a *analyzer) importsRuntime() bool {
	for _, p := range a.pass.Pkg.Imports() {
		if a.pass.ImportPackageFact(p, new(facts.Uses)) {
			return true
		}
	}
	return false
}

// build makes the SSA form of the package. Not by way of the pass for that: it would be made for all
// packages, those too that never heard of the runtime.
func (a *analyzer) build() {
	a.prog = ssa.NewProgram(a.pass.Fset, 0)
	a.prog.SetNoReturn(neverReturns)
	for _, p := range a.pass.Pkg.Imports() {
		a.prog.CreatePackage(p, nil, nil, true)
	}
	a.pkg = a.prog.CreatePackage(a.pass.Pkg, a.pass.Files, a.pass.TypesInfo, false)
	a.pkg.Build()
}

// functions looks at all functions, those that are called before those that call.
func (a *analyzer) functions() {
	for _, fn := range a.ordered(a.all()) {
		a.function(fn)
	}
}

// all are the functions and methods of the package.
func (a *analyzer) all() (list []*ssa.Function) {
	for _, f := range a.pass.Files {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok {
				obj, _ := a.pass.TypesInfo.Defs[d.Name].(*types.Func)
				if obj == nil {
					continue
				}
				if fn := a.prog.FuncValue(obj); fn != nil && len(fn.Blocks) > 0 {
					list = append(list, fn)
				}
			}
		}
	}
	return list
}

// function infers what a function does, and looks for what goes wrong in it.
func (a *analyzer) function(fn *ssa.Function) {
	defer func() {
		if p := recover(); p != nil {
			panic(fmt.Sprintf("%s: %v", fn, p)) // a fault of ours: whoever runs the analyzer says so
		}
	}()
	obj, _ := fn.Object().(*types.Func)
	if tooBig(fn) {
		a.capped++
		if obj != nil && !a.declared[obj] {
			a.sums[obj] = &facts.Func{Flushes: true, Hears: true} // whatever it does
		}
		return
	}
	a.expects(fn)
	var sum *facts.Func
	var doubts map[int]doubt
	if obj != nil && fn.Parent() == nil {
		sum, doubts = a.summarize(fn)
		if !a.declared[obj] {
			a.sums[obj] = sum
		}
		delete(a.flows, fn) // it may call itself, and is known now
	}
	for _, sp := range append(a.made(fn), a.foundIn(fn)...) {
		r := a.follow(fn, sp)
		if r == nil {
			continue
		}
		a.reports = append(a.reports, r.reports...)
		if sum != nil && sp.call != nil {
			r.freshness(sum)
			r.bookings(sum)
		}
	}
	a.together(fn, sum)
	a.onNode(fn, sum)
	a.dropped(fn)
	if sum != nil {
		sum.Sort()
		if a.declared[obj] {
			a.compare(fn, a.sums[obj], sum, doubts)
		}
	}
	for _, anon := range fn.AnonFuncs {
		a.function(anon)
	}
	delete(a.flows, fn) // nobody needs it any more
}

// follow runs a function for one object. It gives nil where that cost too much.
func (a *analyzer) follow(fn *ssa.Function, sp spec) *run {
	r := &run{a: a, fn: fn, spec: sp, numbers: map[ssa.Value]uint32{}}
	info := objectInfo{kind: sp.kind, typ: sp.typ}
	if sp.kind == lentWindow {
		info.kind = "window"
	}
	r.frames.id(frameKey{})
	r.frames.keys[0] = frameKey{fn: fn}
	r.frames.ids = map[frameKey]int32{{fn: fn}: 0}
	r.object(objectKey{part: -1}, info)
	s := &state{things: []thing{{}}}
	fr := r.enter(0, nil, fn)
	if fr.id != 0 {
		return nil
	}
	if sp.call != nil {
		r.infos[0].pos, r.infos[0].call = sp.call.Pos(), sp.call
	} else if sp.value != nil {
		r.infos[0].pos = placeOfValue(sp.value)
		r.infos[0].null = r.condition(condKey{op: "nil", x: r.sym(0, sp.value, sp.path)})
		r.special = symKey{0, sp.value, sp.path}
	} else {
		p := fn.Params[sp.param]
		s.things[0] = thing{phase: live, at: p.Pos()}
		r.infos[0].pos = p.Pos()
		r.infos[0].null = r.condition(condKey{op: "nil", x: r.sym(0, p, sp.path)})
		r.special = symKey{0, p, sp.path}
		if sp.path == "" {
			s.env.set(slot{0, p}, value{kind: object})
		}
	}
	r.flagsOutside(s)
	if !a.whole {
		fr.sl = r.sliceOf()
	}
	r.exits = r.activate(fr, s)
	r.leave()
	a.steps += r.steps
	a.most = max(a.most, r.facts+r.kept)
	if r.over {
		a.capped++
		return nil
	}
	r.leftAcquired()
	r.finish()
	for i := range r.reports {
		r.reports[i].never = !r.gone && len(fr.sh.first) == 0 // ways were left out: see questions
	}
	return r
}

func (a *analyzer) shape(fn *ssa.Function) *shape {
	sh := a.shapes[fn]
	if sh == nil {
		sh = a.shapeOf(fn)
		if a.words += sh.words(); a.words > maxShapes { // they can be worked out again
			clear(a.shapes)
			a.words = sh.words()
		}
		a.shapes[fn] = sh
	}
	return sh
}

// loops reports whether a call may run more than once in its function.
func (a *analyzer) loops(call ssa.Instruction) bool {
	return a.shape(call.Parent()).loops[call.Block().Index]
}

// effects is what is known of a function, nil if nothing is.
func (a *analyzer) effects(obj *types.Func) *facts.Func {
	obj = obj.Origin()
	if sum, ok := a.sums[obj]; ok {
		return sum
	}
	if obj.Pkg() == a.pass.Pkg {
		return &facts.Func{Flushes: true} // it calls itself, by way of others: nothing is known yet
	}
	sum := wellKnown(obj)
	if sum == nil && a.guess != nil {
		sum = a.guess(obj)
	}
	if f := new(facts.Func); sum == nil && obj.Pkg() != nil && a.pass.ImportObjectFact(obj, f) {
		sum = f
	}
	a.sums[obj] = sum
	return sum
}

// kindOf is what values of a type are, "" if nothing that is followed.
func (a *analyzer) kindOf(t types.Type) string {
	if a.kinds != nil {
		return a.kinds(t)
	}
	t = types.Unalias(t)
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	n, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	obj := n.Origin().Obj()
	if f := new(facts.Type); obj.Pkg() != nil && a.pass.ImportObjectFact(obj, f) {
		return f.Kind
	}
	return ""
}
