// Package judge runs small programs on the real runtime, over package soft, and says how each fails. It has the functions and
// types that they call, under the same names, so that a program is judged by importing this package
// in the place of the runtime's: what is called here calls the runtime, notes what it said, and fails where it is told to.
//
// Operations stay in flight until the program waits for them. When the program has returned, what it has left open is closed: where
// that succeeds, nobody had done so. What the runtime does not see, the use of an element whose window is closed, is checked here.
package judge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// Func is a program that is judged.
type Func struct {
	Name string
	Run  func(ctx context.Context, dom *Domain, c *Conn, rem TickRemote[RemoteReadWrite], keep *Keep, a, b, d bool, k, n int) error
}

// Keep is where a program leaves what is somebody else's to close, and where it asks what way to go.
type Keep struct {
	U  *TickCPU[Unregistered]
	M  *TickCPU[RemoteReadWrite]
	Ms []*TickCPU[RemoteReadWrite]
}

// Flag is true or not, as the input has it.
func (k *Keep) Flag() bool {
	if now.in.Way < 2 {
		return now.in.Way == 1
	}
	return now.choices.IntN(2) == 0
}

// Times is how often a loop is to turn.
func (k *Keep) Times() int {
	if now.in.Way < 3 {
		return now.in.Way
	}
	return now.choices.IntN(3)
}

// input is what a run is given. Refuse are the calls that fail, by their number; bit 0 is the first. Kept is the number of the
// first, second, … region that cannot be closed when that is tried, 0: all can.
type input struct {
	A, B, D  bool
	K, N     int
	Refuse   uint64
	Timeouts bool
	Kept     int
	Way      int  // the seed of what Keep says
	Mend     bool // calls that fail by the program's fault do what they were to do nevertheless
}

// Failure is a way that a program fails: the kind, and the lines of the program that were being run, or that made what leaks.
type Failure struct {
	Kind  string
	Lines []int
	What  string
	Input string
}

// Verdict is how a program fails, over all inputs; Maybe is what happens only if waits time out or a region cannot be closed, and
// waits that failed without the program telling.
type Verdict struct {
	Name        string
	Hard, Maybe []Failure
	Runs        int
}

type made struct {
	kind    string
	lines   []int
	close   func() error
	excused bool // it was to be closed, and that failed
}

// run is one run of a program.
type run struct {
	*world
	in       input
	calls    int
	closes   int
	made     []*made
	posts    []*posted
	failures []Failure
	lostWait bool
	broken   error
	choices  *rand.Rand
	windows  []*opened
}

var (
	now         *run
	errInjected = errors.New("it is to fail")
)

// refuses counts a call that may fail, and reports whether this one is to.
func (r *run) refuses() bool {
	n := r.calls
	r.calls++
	return n < 64 && r.in.Refuse>>n&1 != 0
}

// keeps counts a close, and reports whether it is to fail.
func (r *run) keeps() bool {
	r.closes++
	return r.closes == r.in.Kept
}

// note takes note of what the runtime said.
func (r *run) note(err error) error {
	if err == nil {
		return nil
	}
	for _, k := range []struct {
		err  error
		kind string
	}{
		{barewire.ErrMoved, "moved"}, {barewire.ErrReleased, "released"}, {barewire.ErrBorrowed, "borrowed"}, {barewire.ErrInFlight, "in flight"},
		{barewire.ErrWindowClosed, "window"}, {barewire.ErrNoRegion, "none"}, {barewire.ErrNoWindow, "none"}, {rdma.ErrOp, "none"},
	} {
		if errors.Is(err, k.err) {
			r.fail(k.kind, err.Error())
			return err
		}
	}
	r.fail("other", err.Error())
	return err
}

func (r *run) fail(kind, what string) {
	r.failures = append(r.failures, Failure{Kind: kind, Lines: lines(), What: what})
}

// lines are those of the program that are being run.
func lines() (list []int) {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.File, "/program.go") {
			list = append(list, f.Line)
		}
		if !more {
			return list
		}
	}
}

// world is what all runs share.
type world struct {
	fabric *soft.Fabric
	dev    *rdma.Device
	dom    *rdma.Domain
	conn   *rdma.Conn
	rem    TickRemote[RemoteReadWrite]
}

func newWorld() (w *world, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w = &world{fabric: soft.New(soft.Config{Seed: 1})}
	if w.dev, err = rdma.Open(ctx, rdma.Config{Provider: w.fabric, Mode: rdma.ByEvent, OpTimeout: -1}); err != nil {
		return nil, err
	}
	if w.dom, err = w.dev.Domain(); err != nil {
		return nil, err
	}
	ln, err := w.dom.Listen(ctx, "judge")
	if err != nil {
		return nil, err
	}
	accepted := make(chan error, 1)
	go func() {
		_, err := ln.Accept(ctx)
		accepted <- err
	}()
	if w.conn, err = w.dom.Dial(ctx, "judge"); err != nil {
		return nil, err
	}
	if err := <-accepted; err != nil {
		return nil, err
	}
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(w.dom, r, sample.TickRemoteReadWrite())
	if err != nil {
		return nil, err
	}
	w.rem, err = rdma.RemoteOf(m)
	return w, err
}

// judge runs a program once, and looks at what it has left.
func (w *world) judge(f Func, in input) *run {
	r := &run{world: w, in: in, choices: rand.New(rand.NewPCG(uint64(in.Way), 1))}
	now = r
	var keep Keep
	err := func() (err error) {
		defer func() {
			if p := recover(); p != nil {
				r.fail("panic", fmt.Sprint(p))
				err = errInjected
			}
		}()
		return f.Run(context.Background(), &Domain{w.dom}, &Conn{w.conn}, w.rem, &keep, in.A, in.B, in.D, in.K, in.N)
	}()
	for _, p := range r.posts {
		if (!p.waited || p.mended) && err == nil {
			r.failures = append(r.failures, Failure{Kind: "dropped", Lines: p.lines, What: "nothing waits for it"})
		}
	}
	r.release(len(r.posts))
	closeKept(&keep)
	for _, m := range slices.Backward(r.made) {
		if m.close() == nil && !m.excused {
			r.failures = append(r.failures, Failure{Kind: m.kind, Lines: m.lines, What: "nothing closes it"})
		}
	}
	if r.lostWait && err == nil {
		r.failures = append(r.failures, Failure{Kind: "lost wait", What: "a wait failed, and the program says that all went well"})
	}
	return r
}

// closeKept closes what is the caller's now. What is left there and closed already is the program's fault.
func closeKept(k *Keep) {
	if k.U != nil {
		_ = k.U.Close()
	}
	if k.M != nil {
		_ = k.M.Close()
	}
	for _, m := range k.Ms {
		_ = m.Close()
	}
}

// inputs gives all flags, with some of the ways that there are to go, without a failing call.
func inputs(ways int) func(func(input) bool) {
	return func(yield func(input) bool) {
		for way := range ways {
			for bits := range 16 {
				if !yield(input{A: bits&1 != 0, B: bits&2 != 0, D: bits&4 != 0, K: bits / 8 * 2, N: (way + bits) % 3, Way: way}) {
					return
				}
			}
		}
	}
}

// verdict runs a program on all inputs, with no call failing; and on one in every, with each of the first twenty failing, some pairs, and
// what may happen besides.
func (w *world) verdict(f Func, ways, every int) (v Verdict, err error) {
	v.Name = f.Name
	seen := map[string]bool{}
	add := func(to *[]Failure, r *run) {
		v.Runs++
		for _, x := range r.failures {
			x.Input = fmt.Sprintf("%+v", r.in)
			dest := to
			if x.Kind == "lost wait" {
				dest = &v.Maybe
			}
			if k := fmt.Sprint(x.Kind, x.Lines, dest == &v.Maybe); !seen[k] {
				seen[k] = true
				*dest = append(*dest, x)
			}
		}
	}
	n := 0
	for in := range inputs(ways) {
		r := w.judge(f, in)
		add(&v.Hard, r)
		calls := r.calls
		if len(r.failures) > 0 {
			in.Mend = true
			further := w.judge(f, in)
			add(&v.Maybe, further)
			calls = max(calls, further.calls)
			in.Mend = false
		}
		if n++; n%every == 0 {
			for _, refuse := range refusals(calls) {
				in.Refuse, in.Timeouts = refuse, false
				r := w.judge(f, in)
				add(&v.Hard, r)
				if in.Timeouts = true; r.lostWait {
					add(&v.Maybe, w.judge(f, in))
				}
				if in.Timeouts, in.Mend = false, true; len(r.failures) > 0 {
					add(&v.Maybe, w.judge(f, in))
				}
				in.Mend = false
			}
			for in.Refuse, in.Timeouts = 0, false; in.Kept < min(r.closes, 6); {
				in.Kept++
				add(&v.Maybe, w.judge(f, in))
			}
		}
		if r.broken != nil || w.conn.Err() != nil {
			return v, errors.Join(r.broken, w.conn.Err())
		}
	}
	return v, nil
}

// refusals are the sets of calls that fail: each by itself, and some pairs.
func refusals(calls int) (list []uint64) {
	for i := range min(calls, 20) {
		list = append(list, 1<<i)
		for j := range min(i, 2) {
			list = append(list, 1<<i|1<<j)
		}
	}
	return list
}

// Main judges programs, and writes the verdicts as JSON. With arguments only those that they name, on many more inputs.
func Main(all []Func) {
	ways, every := 8, 5
	if names := os.Args[1:]; len(names) > 0 {
		ways, every = 400, 3
		all = slices.DeleteFunc(all, func(f Func) bool { return !slices.Contains(names, f.Name) })
	}
	if err := judgeAll(all, ways, every); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func judgeAll(all []Func, ways, every int) error {
	w, err := newWorld()
	if err != nil {
		return err
	}
	var list []Verdict
	for _, f := range all {
		v, err := w.verdict(f, ways, every)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		list = append(list, v)
	}
	return json.NewEncoder(os.Stdout).Encode(list)
}
