// Package randprog writes random small programs over the calls of the runtime: regions, windows, views and operations whose lives
// nest as a careful author would have them, on branches, in loops, by defers, closures, helpers, aliases and fields; and, in some
// programs, with slips: a close that is forgotten on one way, done twice or too early, a wait that is missing.
//
// Whether a program is right is not for this package to say. The text names the runtime's packages by names that the caller gives
// paths for, so that the same lines can be analysed over the runtime, and run over what judges them.
package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Imports are the paths that the names in a program stand for.
type Imports struct {
	Package                string // the package clause
	Barewire, Rdma, Sample string
}

// Source is a file of the functions F0 to F(n-1), always the same for a seed. Each has the signature
//
//	func(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem Rem, keep *Keep, a, b, d bool, k, n int) (err error)
//
// and the type Keep, with fields U, M and Ms and methods Flag() bool and Times() int, is to be in another file of the package.
func Source(seed uint64, n int, im Imports) string {
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"sync\"\n\n\tbarewire %q\n\trdma %q\n\tsample %q\n)\n", im.Package, im.Barewire, im.Rdma, im.Sample)
	b.WriteString(prelude)
	for i := range n {
		g := &gen{r: rand.New(rand.NewPCG(seed, uint64(i)))}
		g.function(i)
		b.WriteString(g.out.String())
	}
	return b.String()
}

// prelude has what the functions call. It has no directives.
const prelude = `
type (
	U   = sample.TickCPU[barewire.Unregistered]
	M   = sample.TickCPU[barewire.RemoteReadWrite]
	L   = sample.TickCPU[barewire.Local]
	Rem = sample.TickRemote[barewire.RemoteReadWrite]
)

var errBad = errors.New("bad")

type (
	holder  struct{ m *M }
	session struct {
		h    holder
		size int
	}
)

func (h *holder) close() error {
	if h.m == nil {
		return nil
	}
	err := h.m.Close()
	h.m = nil
	return err
}

func (s *session) Close() error { return s.h.m.Close() }

func newU(n int) (*U, error) { return barewire.New(sample.TickInCPU(), n) }

func openM(dom *rdma.Domain) (*M, error) {
	u, err := newU(4)
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(dom, u, sample.TickRemoteReadWrite())
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	return m, nil
}

func openL(dom *rdma.Domain) (m *L, err error) {
	u, err := newU(4)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, u.Close())
		}
	}()
	return rdma.Register(dom, u, sample.TickLocal())
}

func drop(m *M) error                                       { return m.Close() }
func dropDeep(m *M) error                                   { return drop(same(m)) }
func dropG[A barewire.Access](m *sample.TickCPU[A]) error   { return m.Close() }
func dropC(m interface{ Close() error }) error              { return m.Close() }
func same(m *M) *M                                          { return m }
func peek[A barewire.Access](m *sample.TickCPU[A]) int      { return m.Span(0, 1).Len() }
func with(m *M, f func(*M) error) error                     { return f(m) }
func shut[A barewire.Access](w sample.TickWindow[A]) error  { return w.Close() }
func first[A barewire.Access](w sample.TickWindow[A]) float64 { return sample.TickAt(w, 0).Price() }
func finish(ctx context.Context, op rdma.Op) error          { return op.Wait(ctx) }
func start(c *rdma.Conn, m *M, rem Rem) (rdma.Op, error)    { return rdma.Read(c, m.Span(0, 1), rem.Slice(0, 1)) }

func dropIf(m *M, really bool) error {
	if really {
		return m.Close()
	}
	return nil
}

func tryDrop(m *M, k int) (done bool) {
	if k > 1 {
		_ = m.Close()
		return true
	}
	return false
}

func peekAll(ms ...*M) (n int) {
	for _, m := range ms {
		n += peek(m)
	}
	return n
}

var _ sync.Once
`

// life is a handle that is alive where the generator is.
type life struct {
	name     string
	kind     string // U, M, L
	deferred bool   // a defer ends it
}

// gen writes one function.
type gen struct {
	r      *rand.Rand
	out    strings.Builder
	indent int
	names  int
	slips  float64 // how likely one is, at each place for one
	lives  []life
	ends   []string // calls that end what no defer ends, the last that was made last
	loop   int      // len(ends) where the innermost loop began, -1: none
	nested bool     // in a function literal
	named  bool     // its result has a name
	kept   bool
	room   int // statements that may still be written
}

func (g *gen) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.indent))
	fmt.Fprintf(&g.out, format, args...)
	g.out.WriteByte('\n')
}

// block writes a head, what is in it, and a closing brace.
func (g *gen) block(head string, body func()) {
	g.line("%s {", head)
	g.indent++
	body()
	g.indent--
	g.line("}")
}

func (g *gen) name(kind string) string {
	g.names++
	return fmt.Sprintf("%s%d", kind, g.names)
}

func (g *gen) one(of ...string) string { return of[g.r.IntN(len(of))] }
func (g *gen) chance(p float64) bool   { return g.r.Float64() < p }
func (g *gen) slip() bool              { return g.chance(g.slips) }

func (g *gen) function(i int) {
	if g.chance(0.55) {
		g.slips = 0.02 + 0.1*g.r.Float64()
	}
	g.named, g.loop, g.room = g.chance(0.6), -1, 12+g.r.IntN(14)
	result := "error"
	if g.named {
		result = "(err error)"
	}
	g.out.WriteByte('\n')
	g.block(fmt.Sprintf("func F%d(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem Rem, keep *Keep, a, b, d bool, k, n int) %s", i, result), func() {
		for range 1 + g.r.IntN(2) {
			g.region(0)
		}
		g.line("return nil")
	})
}

// exit leaves the function with an error, or nil, and ends what is open.
func (g *gen) exit(err string, more ...string) {
	todo := g.closing(0)
	g.line("return %s", join(err, append(more, todo...)))
}

// closing are the calls that end what was opened since, the last first; with a slip one is missing, or the order is wrong.
func (g *gen) closing(since int) (list []string) {
	for i := len(g.ends) - 1; i >= since; i-- {
		list = append(list, g.ends[i])
	}
	if n := len(list); n > 0 && g.slip() {
		i := g.r.IntN(n)
		if g.chance(0.7) {
			return append(list[:i], list[i+1:]...)
		}
		j := g.r.IntN(n)
		list[i], list[j] = list[j], list[i]
	}
	return list
}

func join(err string, more []string) string {
	switch {
	case len(more) == 0:
		return err
	case err == "nil" && len(more) == 1:
		return more[0]
	case err == "nil":
		return "errors.Join(" + strings.Join(more, ", ") + ")"
	}
	return "errors.Join(" + err + ", " + strings.Join(more, ", ") + ")"
}

// check is what follows a call that may have failed.
func (g *gen) check(more ...string) {
	g.block("if err != nil", func() { g.exit("err", more...) })
}

// flag is a condition: mostly one that is another each time.
func (g *gen) flag() string {
	if g.chance(0.2) {
		return g.one("a", "b", "d", "!a", "!b", "a && b", "a || d", "k > 1")
	}
	return "keep.Flag()"
}

// times is how often a loop turns.
func (g *gen) times() string { return g.one("keep.Times()", "keep.Times()", "n") }

// end writes the end of a handle, or, with a slip, something else.
func (g *gen) end(call string, again func()) {
	if g.slip() {
		g.line("_ = 0 // forgotten: %s", call)
		return
	}
	switch {
	case g.chance(0.3):
		g.line("_ = %s", call)
	default:
		g.block(fmt.Sprintf("if err := %s; err != nil", call), func() { g.exit("err") })
	}
	if g.slip() {
		again()
	}
}
