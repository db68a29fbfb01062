package facts

import (
	"fmt"
	"go/types"
	"strconv"

	"github.com/fidelityframework/barewire-gen/analyzers/internal/directive"
)

// FromDirective makes the fact of a function whose effects are written down. how is
// what messages call it. The error names the clause that does not fit the signature.
func FromDirective(how string, sig *types.Signature, clauses []directive.Clause) (*Func, error) {
	d := &declared{sig: sig, how: how, by: map[int]*effects{}}
	for _, c := range clauses {
		if err := d.clause(c); err != nil {
			return nil, fmt.Errorf("effect %s: %w", c, err)
		}
	}
	for index, e := range d.by {
		d.out.Params = append(d.out.Params, Param{Index: index, Cases: e.cases(how)})
	}
	d.out.Sort()
	return &d.out, nil
}

// declared is a function's directive while it is read.
type declared struct {
	sig *types.Signature
	how string
	by  map[int]*effects
	out Func
}

// effects is what happens to one parameter: always, and under a condition.
type effects struct {
	always, then Case
	on           []Cond // nil: there is no condition
	tried        bool   // a release that may fail
}

func (e *effects) cases(how string) []Case {
	for _, c := range []*Case{&e.always, &e.then} {
		if c.Post == Released || c.Post == Moved {
			c.How = how
		}
	}
	if e.on == nil {
		return []Case{e.always}
	}
	then := e.then
	then.When = e.on
	then.Uses = then.Uses || e.always.Uses
	if then.Post == Same {
		then.Post, then.How = e.always.Post, e.always.How
	}
	then.Derived = append(then.Derived, e.always.Derived...)
	then.Optional = then.Optional || e.always.Optional
	then.Needs, then.Cleans, then.Hands = then.Needs || e.always.Needs, then.Cleans || e.always.Cleans, then.Hands || e.always.Hands
	then.Excludes = then.Excludes || e.always.Excludes
	if then.Guard == NoGuard {
		then.Guard = e.always.Guard
	}
	other := e.always
	other.Uses = other.Uses || e.then.Uses && e.then.Post != Same // it is looked at before it fails
	other.When = []Cond{{e.on[0].Result, e.on[0].Index, e.on[0].Is.Not()}}
	if e.tried {
		other.Post = Unknown
	}
	return []Case{then, other}
}

func (d *declared) clause(c directive.Clause) error {
	on, err := d.condition(c.On)
	if err != nil {
		return err
	}
	switch c.Verb {
	case directive.Fresh:
		r, err := d.result(c.What)
		if err != nil {
			return err
		}
		d.out.Fresh = append(d.out.Fresh, Fresh{Result: r, When: on})
		return nil
	case directive.Tells:
		r, err := d.result(c.What)
		if err == nil && !types.Identical(d.sig.Results().At(r).Type(), types.Universe.Lookup("error").Type()) {
			err = fmt.Errorf("the result %d is no error", r)
		}
		d.out.Tells = append(d.out.Tells, r)
		return err
	case directive.Flushes, directive.Hears:
		d.out.Flushes = d.out.Flushes || c.Verb == directive.Flushes
		d.out.Hears = d.out.Hears || c.Verb == directive.Hears
		_, err := d.param(c.What)
		return err
	case directive.Places, directive.Migrates:
		p, err := d.param(c.What)
		if c.Verb == directive.Places {
			d.out.Places = append(d.out.Places, p)
		} else {
			d.out.Migrates = append(d.out.Migrates, p)
		}
		return err
	case directive.Pins, directive.Node, directive.Runs:
		return d.nodes(c)
	case directive.Reads, directive.Writes:
		p, err := d.param(c.What)
		if c.Verb == directive.Reads {
			d.out.Reads = append(d.out.Reads, p)
		} else {
			d.out.Writes = append(d.out.Writes, p)
		}
		return err
	case directive.Within, directive.Meets:
		return d.domains(c)
	case directive.Ends:
		f, err := d.result(c.What)
		if err != nil {
			return err
		}
		of, err := d.result(c.Of)
		d.out.Closes = append(d.out.Closes, Close{Func: f, Of: of})
		return err
	case directive.Lends:
		f, err := d.param(c.What)
		if err != nil {
			return err
		}
		of, err := d.param(c.Of)
		if err != nil {
			return err
		}
		d.out.Lends = append(d.out.Lends, Lend{Func: f, Of: of})
		return d.about(of, nil, func(x *Case) { x.Uses = true })
	case directive.Names:
		_, err := d.param(c.What)
		return err
	case directive.Address, directive.Narrows:
		return d.number(c)
	case directive.Borrows, directive.Maps, directive.Starts, directive.Fills, directive.Views, directive.Counts, directive.Refers, directive.Alias, directive.Carves:
		return d.derived(c, on)
	}
	p, err := d.param(c.What)
	if err != nil {
		return err
	}
	if c.Verb == directive.Releases && on != nil {
		d.of(p).tried = true
	}
	return d.about(p, on, func(x *Case) {
		switch c.Verb {
		case directive.Uses:
			x.Uses = true
		case directive.Releases:
			x.Uses, x.Post = true, Released
		case directive.Moves:
			x.Uses, x.Post = true, Moved
		case directive.Waits:
			x.Post = Released
		case directive.Keeps:
			x.Post = Kept
		case directive.Acquires:
			x.Uses, x.Guard = true, Acquired
		case directive.Yields:
			x.Uses, x.Guard = true, Yielded
		case directive.Needs:
			x.Uses, x.Needs = true, true
		case directive.Cleans:
			x.Uses, x.Cleans = true, true
		case directive.Hands:
			x.Uses, x.Hands = true, true
		case directive.Excludes:
			x.Uses, x.Excludes = true, true
		case directive.Optional:
			x.Uses, x.Optional = true, true
		}
	})
}

// domains is a clause about what belongs together.
func (d *declared) domains(c directive.Clause) error {
	which, to := d.result, &d.out.Within
	if c.Verb == directive.Meets {
		which, to = d.param, &d.out.Meets
	}
	a, err := which(c.What)
	if err != nil {
		return err
	}
	b, err := d.param(c.Of)
	*to = append(*to, Pair{a, b})
	return err
}

// nodes is a clause about the node of memory, or of a goroutine.
func (d *declared) nodes(c directive.Clause) error {
	name := c.Of
	if c.Verb == directive.Pins {
		name = c.What
	}
	node, err := d.node(name)
	if err != nil {
		return err
	}
	what := 0
	switch c.Verb {
	case directive.Node:
		what, err = d.result(c.What)
		d.out.Nodes = append(d.out.Nodes, OnNode{what, node})
	case directive.Runs:
		what, err = d.param(c.What)
		d.out.Runs = append(d.out.Runs, OnNode{what, node})
	default:
		d.out.Pins = append(d.out.Pins, node)
	}
	return err
}

// node is a parameter that has a node, or a type parameter.
func (d *declared) node(name string) (Bound, error) {
	for _, list := range []*types.TypeParamList{d.sig.TypeParams(), d.sig.RecvTypeParams()} {
		for i := range list.Len() {
			if list.At(i).Obj().Name() == name {
				return Bound{IsType, i}, nil
			}
		}
	}
	p, err := d.param(name)
	return Bound{IsParam, p}, err
}

// number is a clause about a result whose life is its own, as a number's: what it comes from is used, no more.
func (d *declared) number(c directive.Clause) error {
	if _, err := d.result(c.What); err != nil {
		return err
	}
	p, err := d.param(c.Of)
	if err != nil {
		return err
	}
	return d.about(p, nil, func(x *Case) { x.Uses = true })
}

// derived is a clause about a result that comes from a parameter.
func (d *declared) derived(c directive.Clause, on []Cond) error {
	r, err := d.result(c.What)
	if err != nil {
		return err
	}
	p, err := d.param(c.Of)
	if err != nil {
		return err
	}
	kind := map[directive.Verb]string{directive.Borrows: directive.Window, directive.Maps: "map", directive.Starts: directive.Op, directive.Fills: "fill",
		directive.Views: directive.View, directive.Counts: "count", directive.Refers: directive.Remote, directive.Alias: string(directive.Alias), directive.Carves: "part"}[c.Verb]
	if c.Verb != directive.Counts && c.Verb != directive.Refers {
		if err := d.about(p, nil, func(x *Case) { x.Uses = true }); err != nil {
			return err
		}
	}
	part, err := d.extent(c)
	if err != nil {
		return err
	}
	return d.about(p, on, func(x *Case) { x.Derived = append(x.Derived, Derived{Result: r, Kind: kind, Part: part}) })
}

// extent is which elements a view is of.
func (d *declared) extent(c directive.Clause) (e Extent, err error) {
	if c.At == "" {
		return e, nil
	}
	if c.At == directive.All {
		return Extent{All: true}, nil
	}
	lo, err := d.param(c.At)
	if err != nil {
		return e, err
	}
	e = Extent{Lo: Bound{IsParam, lo}, N: Bound{IsConst, 1}}
	if c.Count != "" {
		n, err := d.param(c.Count)
		if err != nil {
			return e, err
		}
		e.N = Bound{IsParam, n}
	}
	return e, nil
}

func (d *declared) of(p int) *effects {
	if d.by[p] == nil {
		d.by[p] = &effects{}
	}
	return d.by[p]
}

// about notes an effect on a parameter.
func (d *declared) about(p int, on []Cond, set func(*Case)) error {
	e := d.of(p)
	if on == nil {
		set(&e.always)
		return nil
	}
	if e.on != nil && e.on[0] != on[0] {
		return fmt.Errorf("there is another condition already")
	}
	e.on = on
	set(&e.then)
	return nil
}

// condition is about the last result.
func (d *declared) condition(on string) ([]Cond, error) {
	if on == directive.Always {
		return nil, nil
	}
	last := d.sig.Results().Len() - 1
	is := map[string]Is{directive.OnOK: Nil, directive.OnFail: NonNil, directive.OnTrue: True, directive.OnFalse: False}[on]
	want := "an error"
	fits := last >= 0 && types.Identical(d.sig.Results().At(last).Type(), types.Universe.Lookup("error").Type())
	if is == True || is == False {
		want = "a bool"
		fits = last >= 0 && isBool(d.sig.Results().At(last).Type())
	}
	if !fits {
		return nil, fmt.Errorf("on %s wants %s as the last result", on, want)
	}
	return []Cond{{Result: true, Index: last, Is: is}}, nil
}

func (d *declared) result(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 || n >= d.sig.Results().Len() {
		return 0, fmt.Errorf("%q is not the number of a result; there are %d, from 0 on", text, d.sig.Results().Len())
	}
	return n, nil
}

func (d *declared) param(name string) (int, error) {
	at := 0
	if r := d.sig.Recv(); r != nil {
		if r.Name() == name {
			return 0, nil
		}
		at = 1
	}
	for i := range d.sig.Params().Len() {
		if d.sig.Params().At(i).Name() == name {
			return at + i, nil
		}
	}
	return 0, fmt.Errorf("there is no parameter or receiver %s", name)
}

func isBool(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Bool
}
