// Package facts has what the analyzers remember of a package for those that
// import it: what its types are and what its functions do with handles.
//
// Facts are encoded with gob, and the go command hashes the bytes into the cache keys of all
// who import the package. So they have slices in a fixed order, and no maps. They hang on
// origins of generic types and functions, never on instances.
package facts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Uses is a package's: it knows the runtime, itself or through what it imports. Packages without
// it are not looked at any further.
type Uses struct{}

// Type is a type's: what values of it are, as a directive says.
type Type struct{ Kind string }

// Marker is a marker type's: the residency or the access that it stands for.
type Marker struct{ Word, Name string }

// Node is a type's: the NUMA node that it stands for.
type Node struct{ Number int }

// Func is what a call of a function does. Parameters are counted as go/ssa does: the
// receiver is the first.
type Func struct {
	Params   []Param // sorted by Index and Path
	Fresh    []Fresh // sorted by Result
	Closes   []Close
	Booked   []int    // results that a cleanup will end, which the function has registered
	Nodes    []OnNode // results, and on which node their memory is
	Pins     []Bound  // the node of the goroutine from now on
	Runs     []OnNode // parameters that are functions, and on which node they are called
	Within   []Pair   // a result, and the parameter whose domain it belongs to
	Meets    []Pair   // parameters that have to belong to the same domain
	Lends    []Lend
	NeverNil []int // results that are never nil
	Tells    []int // results that are errors somebody has to look at
	Reads    []int // parameters whose memory it surely reads
	Writes   []int // or writes
	Migrates []int // parameters whose memory may be on another node from now on
	Places   []int // parameters that refer to memory which it writes some time
	Flushes  bool  // it may wait for operations that it was not given
	Hears    bool  // it may wait for somebody who says that operations have ended
	Asks     bool  // it only looks: asked the same, it is taken to give the same
	NoReturn bool
}

// Param is what happens to a parameter, or to what lies in it: Path is "", or
// the fields on the way to a handle, as ".mr". One of the cases is what happens; there are none if nothing is known.
type Param struct {
	Index int
	Path  string
	Cases []Case
}

// Case is one way that a call may go, for one parameter.
type Case struct {
	When     []Cond // sorted; all hold
	Uses     bool   // it has to be good
	Optional bool   // or nil
	Post     State
	How      string // the function that ended it, for messages
	Method   string // of an interface or a type parameter: it is ended only if this method of what is given does so
	Derived  []Derived

	Needs    bool  // it has to be acquired
	Guard    Guard // whether it is acquired, or yielded
	Dirties  bool  // it is written, and not written back
	Cleans   bool  // what was written is written back
	Hands    bool  // others look at it from now on
	Excludes bool  // a device works on it: the host must not have it
}

// Guard is what a call does to memory that the host may touch only after it has acquired it.
type Guard uint8

// What may have been done.
const (
	NoGuard Guard = iota
	Acquired
	Yielded
)

// State is what has become of a parameter.
type State uint8

// The states.
const (
	Same     State = iota // it is as it was
	Released              // closed, ended
	Moved                 // its memory goes on in another handle
	Kept                  // somebody else has it, too
	Unknown               // nothing is known
)

// Is is what is known of a value.
type Is uint8

// What may be known.
const (
	Nil Is = iota
	NonNil
	True
	False
)

// Not is the opposite.
func (i Is) Not() Is { return i ^ 1 }

// Cond is what is known of a parameter or a result.
type Cond struct {
	Result bool
	Index  int
	Is     Is
}

// Derived is what a result has to do with a parameter.
type Derived struct {
	Result int
	Kind   string // window, map, part, op, fill, view, alias, count
	Part   Extent // of a view or an operation: which elements it is about
}

// Extent is a range of elements: of all, or of N from Lo on. The zero Extent is not known.
type Extent struct {
	All   bool
	Lo, N Bound
}

// Bound is a number that is known, or the parameter or type parameter that gives it.
type Bound struct {
	Is BoundKind
	V  int // the number, or the parameter's
}

// OnNode is a result or a parameter, and the number of its node.
type OnNode struct {
	What int
	Node Bound
}

// BoundKind is what a bound is.
type BoundKind uint8

// The kinds of bounds.
const (
	NoBound BoundKind = iota // not known
	IsConst
	IsParam
	IsType // of nodes only
)

// Fresh is a result that the caller has to release.
type Fresh struct {
	Result int
	Held   bool   // it may be acquired already
	When   []Cond // of results; without any: always
}

// Close is a result that is a function, and the result that is ended when it is called.
type Close struct{ Func, Of int }

// Pair is two numbers of parameters or results.
type Pair struct{ A, B int }

// Lend is a parameter that is a function, which is called once at most with a window on another.
type Lend struct{ Func, Of int }

// AFact marks what the analysis framework may store.
func (*Uses) AFact()   {}
func (*Type) AFact()   {}
func (*Marker) AFact() {}
func (*Node) AFact()   {}
func (*Func) AFact()   {}

func (*Uses) String() string     { return "uses the runtime" }
func (t *Type) String() string   { return "is a " + t.Kind }
func (n *Node) String() string   { return fmt.Sprintf("is on node %d", n.Number) }
func (m *Marker) String() string { return m.Word + " " + m.Name }

// String says what a function does, for tests.
func (f *Func) String() string {
	var parts []string
	for _, p := range f.Params {
		for _, c := range p.Cases {
			parts = append(parts, fmt.Sprintf("%d%s:%s", p.Index, p.Path, c))
		}
	}
	for _, r := range f.Fresh {
		parts = append(parts, fmt.Sprintf("fresh %d%v", r.Result, r.When))
	}
	for _, c := range f.Closes {
		parts = append(parts, fmt.Sprintf("%d closes %d", c.Func, c.Of))
	}
	if len(f.Booked) > 0 {
		parts = append(parts, fmt.Sprintf("booked %v", f.Booked))
	}
	for _, p := range f.Within {
		parts = append(parts, fmt.Sprintf("%d within %d", p.A, p.B))
	}
	for _, p := range f.Nodes {
		parts = append(parts, fmt.Sprintf("%d on node %s", p.What, p.Node))
	}
	if len(f.Pins) > 0 {
		parts = append(parts, fmt.Sprintf("pins %v", f.Pins))
	}
	for _, p := range f.Runs {
		parts = append(parts, fmt.Sprintf("runs %d on node %s", p.What, p.Node))
	}
	for _, p := range f.Meets {
		parts = append(parts, fmt.Sprintf("%d meets %d", p.A, p.B))
	}
	for _, l := range f.Lends {
		parts = append(parts, fmt.Sprintf("lends %d to %d", l.Of, l.Func))
	}
	if len(f.NeverNil) > 0 {
		parts = append(parts, fmt.Sprintf("nevernil %v", f.NeverNil))
	}
	for _, m := range []struct {
		what string
		list []int
	}{{"reads", f.Reads}, {"writes", f.Writes}, {"places", f.Places}, {"migrates", f.Migrates}, {"tells", f.Tells}} {
		if len(m.list) > 0 {
			parts = append(parts, fmt.Sprintf("%s %v", m.what, m.list))
		}
	}
	if f.Flushes {
		parts = append(parts, "flushes")
	}
	if f.Hears {
		parts = append(parts, "hears")
	}
	if f.Asks {
		parts = append(parts, "asks")
	}
	if f.NoReturn {
		parts = append(parts, "noreturn")
	}
	return strings.Join(parts, "; ")
}

func (s State) String() string {
	return [...]string{"same", "released", "moved", "kept", "unknown"}[min(s, Unknown)]
}

func (i Is) String() string { return [...]string{"nil", "nonnil", "true", "false"}[i&3] }

func (c Case) String() string {
	s := c.Post.String()
	if c.Uses {
		s += " used"
	}
	for _, x := range []struct {
		is   bool
		what string
	}{{c.Optional, " or nil"}, {c.Needs, " needed"}, {c.Guard == Acquired, " acquired"}, {c.Guard == Yielded, " yielded"}, {c.Dirties, " dirty"}, {c.Cleans, " cleaned"}, {c.Hands, " handed"}, {c.Excludes, " excluded"}} {
		if x.is {
			s += x.what
		}
	}
	if c.Method != "" {
		s += " by " + c.Method
	}
	for _, d := range c.Derived {
		s += fmt.Sprintf(" %s=%d%s", d.Kind, d.Result, d.Part)
	}
	return s + fmt.Sprint(c.When)
}

func (e Extent) String() string {
	if e == (Extent{}) {
		return ""
	}
	if e.All {
		return "[all]"
	}
	return fmt.Sprintf("[%s+%s]", e.Lo, e.N)
}

func (b Bound) compare(o Bound) int { return cmp.Or(cmp.Compare(b.Is, o.Is), cmp.Compare(b.V, o.V)) }

func (b Bound) String() string {
	switch b.Is {
	case IsConst:
		return fmt.Sprint(b.V)
	case IsParam:
		return fmt.Sprintf("p%d", b.V)
	case IsType:
		return fmt.Sprintf("type %d", b.V)
	}
	return "?"
}

func (c Cond) String() string {
	where := "p"
	if c.Result {
		where = "r"
	}
	return fmt.Sprintf("%s%d %s", where, c.Index, c.Is)
}

// Empty reports whether nothing is known that a caller could use.
func (f *Func) Empty() bool {
	return len(f.Params) == 0 && len(f.Fresh) == 0 && len(f.Closes) == 0 && len(f.Booked) == 0 && len(f.Within) == 0 && len(f.Nodes) == 0 && len(f.Pins) == 0 && len(f.Runs) == 0 && len(f.Meets) == 0 && len(f.Lends) == 0 && len(f.NeverNil) == 0 && len(f.Reads) == 0 && len(f.Writes) == 0 && len(f.Places) == 0 && len(f.Migrates) == 0 && len(f.Tells) == 0 && !f.Flushes && !f.Hears && !f.Asks && !f.NoReturn
}

// Sort brings all into the order in which facts are encoded, and drops what is there twice.
func (f *Func) Sort() {
	slices.SortFunc(f.Params, func(a, b Param) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), strings.Compare(a.Path, b.Path))
	})
	for i := range f.Params {
		p := &f.Params[i]
		for j := range p.Cases {
			c := &p.Cases[j]
			sortConds(&c.When)
			slices.SortFunc(c.Derived, func(a, b Derived) int {
				return cmp.Or(cmp.Compare(a.Result, b.Result), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Part.String(), b.Part.String()))
			})
		}
		slices.SortFunc(p.Cases, func(a, b Case) int { return strings.Compare(a.order(), b.order()) })
		p.Cases = slices.CompactFunc(p.Cases, func(a, b Case) bool { return a.order() == b.order() })
	}
	for i := range f.Fresh {
		sortConds(&f.Fresh[i].When)
	}
	slices.SortFunc(f.Fresh, func(a, b Fresh) int { return cmp.Compare(a.Result, b.Result) })
	slices.SortFunc(f.Closes, func(a, b Close) int { return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.Of, b.Of)) })
	f.Closes = slices.Compact(f.Closes)
	for _, list := range []*[]Pair{&f.Within, &f.Meets} {
		slices.SortFunc(*list, func(a, b Pair) int { return cmp.Or(cmp.Compare(a.A, b.A), cmp.Compare(a.B, b.B)) })
		*list = slices.Compact(*list)
	}
	for _, list := range []*[]OnNode{&f.Nodes, &f.Runs} {
		slices.SortFunc(*list, func(a, b OnNode) int { return cmp.Or(cmp.Compare(a.What, b.What), a.Node.compare(b.Node)) })
		*list = slices.Compact(*list)
	}
	slices.SortFunc(f.Pins, Bound.compare)
	f.Pins = slices.Compact(f.Pins)
	slices.SortFunc(f.Lends, func(a, b Lend) int { return cmp.Or(cmp.Compare(a.Func, b.Func), cmp.Compare(a.Of, b.Of)) })
	for _, list := range []*[]int{&f.NeverNil, &f.Reads, &f.Writes, &f.Places, &f.Booked, &f.Migrates} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
}

func sortConds(list *[]Cond) {
	slices.SortFunc(*list, func(a, b Cond) int { return strings.Compare(a.String(), b.String()) })
	*list = slices.Compact(*list)
}

func (c Case) order() string { return c.String() + c.How }

// Param is what is known of a parameter, or of what lies in it.
func (f *Func) Param(index int, path string) (*Param, bool) {
	for i := range f.Params {
		if p := &f.Params[i]; p.Index == index && p.Path == path {
			return p, true
		}
	}
	return nil, false
}
