package iwarp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Processes that are killed, and processes that are stopped and go on later, while a test's own process is the one that
// survives.

func init() {
	for name, do := range victims {
		roles[name] = func(e *errand) error { return e.program(dialling, do) }
	}
	for name, say := range mute {
		roles[name] = func(e *errand) error { return half(e, say) }
	}
	roles["mute listener"] = muteListener
}

// victims are what a process is at when it comes to harm. Each goes on until an operation fails.
var victims = map[string]func(p *program) error{
	"at rest": (*program).waitUntilLost,
	"writing": func(p *program) error {
		return p.again(func() error { return done(p.ctx)(rdma.Write(p.conn, p.theirs, p.local.Span(0, p.local.Len()))) })
	},
	"reading": func(p *program) error {
		return p.again(func() error { return done(p.ctx)(rdma.Read(p.conn, p.local.Span(0, p.local.Len()), p.theirs)) })
	},
	"adding": func(p *program) error {
		return p.again(func() error {
			op, err := rdma.FetchAdd(p.conn, sample.TickSeqOf(p.theirs, 0), 1)
			if err == nil {
				_, err = op.Wait(p.ctx)
			}
			return err
		})
	},
	"notifying": func(p *program) error {
		return p.again(func() error {
			err := done(p.ctx)(rdma.WriteNotify(p.conn, p.theirs.Slice(1, 1), p.local.Span(1, 1), 1))
			if errors.Is(err, rdma.ErrNoCredit) {
				return p.conn.Flush(p.ctx)
			}
			return err
		})
	},
}

// again does something until it fails.
func (p *program) again(do func() error) error {
	if err := memory(p.local, func(b []byte) error { scramble(b, p.e.Seed); return nil }); err != nil {
		return err
	}
	say("ready")
	for {
		if err := do(); err != nil {
			return p.isLost(err)
		}
	}
}

// mute is what processes say that connect and go no further.
var mute = map[string]string{
	"says nothing":        "",
	"says half a request": "MPA ID Req Frame\x50",
	"says its request":    "MPA ID Req Frame\x50\x02\x00\x04\x80\x10\x80\x10", // and not what it has to send first
}

func half(e *errand, what string) error {
	c, err := net.Dial("tcp", e.Addr)
	if err == nil {
		_, err = c.Write([]byte(what))
	}
	if err != nil {
		return err
	}
	say("ready")
	forget()
	return c.Close()
}

// muteListener takes a connection and reads what comes.
func muteListener(e *errand) error {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	say("at", ln.Addr())
	c, err := ln.Accept()
	if err != nil {
		return err
	}
	_, _ = io.ReadFull(c, make([]byte, 20)) // the request has begun to come
	say("ready")
	forget()
	return ln.Close()
}

// survivor is the test's own side of a connection with a process that comes to harm.
type survivor struct {
	*program
	t      testing.TB
	victim *process
}

// size is of each region.
func size() int {
	if testing.Short() {
		return 8 << 20
	}
	return 64 << 20
}

const theirSeed = 31

// meet has a process dial this one.
func meet(t testing.TB, role string, timeout time.Duration) *survivor {
	t.Helper()
	ctx, cancel := forMinutes(2)
	t.Cleanup(cancel)
	e := errand{Bytes: size(), Seed: theirSeed, OpTimeout: timeout}
	s := &survivor{program: &program{e: &e, ctx: ctx}, t: t}
	dom := must(s.open())(t)
	t.Cleanup(func() { ok(t, s.close()) })
	ln := must(dom.Listen(ctx, ""))(t)
	defer ln.Close()
	e.Role, e.Addr = role, ln.Addr()
	s.victim = begin(t, nil, e)
	s.conn = must(ln.Accept(ctx))(t)
	ok(t, rdma.Offer(ctx, s.conn, "ticks", s.region))
	s.theirs = must(rdma.Import(ctx, s.conn, "ticks", sample.TickRemoteReadWriteAtomic()))(t)
	s.victim.hear("ready")
	return s
}

// load posts operations of all kinds, most of them long, and says how to wait for each.
func (s *survivor) load() (waits map[string]func(context.Context) error) {
	s.t.Helper()
	n := s.local.Len()
	waits = map[string]func(context.Context) error{}
	add := func(what string, op interface{ Wait(context.Context) error }, err error) {
		switch {
		case errors.Is(err, rdma.ErrFailed) || errors.Is(err, rdma.ErrFlushed) || errors.Is(err, rdma.ErrPeerLost):
		case err != nil:
			s.t.Errorf("%s: %v", what, err)
		default:
			waits[what] = op.Wait
		}
	}
	read, err := rdma.Read(s.conn, s.local.Span(0, n/2), s.theirs.Slice(0, n/2))
	add("read", read, err)
	write, err := rdma.Write(s.conn, s.theirs.Slice(n/2, n/2), s.local.Span(n/2, n/2))
	add("write", write, err)
	for i := range 8 {
		op, err := rdma.FetchAdd(s.conn, sample.TickSeqOf(s.theirs, 0), 1)
		add(fmt.Sprintf("addition %d", i), word{op}, err)
	}
	for i := range 4 {
		op, err := rdma.WriteNotify(s.conn, s.theirs.Slice(n-1, 1), s.local.Span(n-1, 1), 1)
		add(fmt.Sprintf("notification %d", i), op, err)
	}
	sent, err := rdma.Send(s.conn, s.local.Span(n-1, 1))
	add("send", sent, err)
	last, err := rdma.Read(s.conn, s.local.Span(0, 1), s.theirs.Slice(0, 1))
	add("last read", last, err)
	return waits
}

// word is an atomic operation whose result nobody wants.
type word struct{ rdma.AtomicOp[uint64] }

func (w word) Wait(ctx context.Context) error { _, err := w.AtomicOp.Wait(ctx); return err }

// bereaved wants all that was posted to end in time, the connection to have failed because of reasons that are
// allowed, and the regions to be as they should.
func (s *survivor) bereaved(waits map[string]func(context.Context) error, most time.Duration, reasons ...error) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.ctx, most)
	defer cancel()
	for what, wait := range waits {
		if err := wait(ctx); errors.Is(err, context.DeadlineExceeded) {
			s.t.Errorf("%s has not ended after %v", what, most)
		} else if err != nil && !slices.ContainsFunc(append(reasons, rdma.ErrFlushed), func(r error) bool { return errors.Is(err, r) }) {
			s.t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := s.conn.Receive(ctx, make([]byte, 1<<12)); errors.Is(err, context.DeadlineExceeded) {
		s.t.Error("a receive does not end")
	}
	if s.conn.Err() == nil {
		s.t.Error("the connection has not failed")
	}
	if in := s.conn.Stats().InFlight; in != 0 {
		s.t.Errorf("%d operations are in flight", in)
	}
	ok(s.t, s.conn.Close())
	ok(s.t, memory(s.region, s.intact))
}

// intact wants each word of the region to be what it was, zero, or what the peer writes there. What the peer adds to and
// notifies of is not looked at.
func (s *survivor) intact(b []byte) error {
	want := make([]byte, len(b))
	scramble(want, theirSeed)
	for i := 2 * tickBytes; i+8 <= len(b); i += 8 {
		if w := string(b[i : i+8]); w != string(want[i:i+8]) && w != "\x00\x00\x00\x00\x00\x00\x00\x00" {
			return fmt.Errorf("at %d there is %x: neither what was there nor what the peer wrote", i, w)
		}
	}
	return nil
}

// TestKilled kills the peer in each state: a little after this side has begun to use its memory, or with all of that
// outstanding, as it was stopped before.
func TestKilled(t *testing.T) {
	settle(t)
	for _, role := range slices.Sorted(maps.Keys(victims)) {
		for _, stop := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, stopped %v", role, stop), func(t *testing.T) {
				before := count()
				t.Run("", func(t *testing.T) {
					s := meet(t, role, 0)
					if stop {
						s.victim.signal(syscall.SIGSTOP)
						s.victim.stopped()
					}
					waits := s.load()
					time.Sleep(time.Duration(rand.IntN(20000)) * time.Microsecond)
					s.victim.signal(syscall.SIGKILL)
					s.bereaved(waits, 20*time.Second, rdma.ErrPeerLost)
				})
				ok(t, before.noMore())
			})
		}
	}
}

// TestStopped stops the peer in each state. OpTimeout ends what waits for it; when the peer goes on it finds its
// connection gone, and ends well.
func TestStopped(t *testing.T) {
	const most = time.Second // an operation of 8 MiB takes less, until the peer is stopped
	settle(t)
	for _, role := range slices.Sorted(maps.Keys(victims)) {
		t.Run(role, func(t *testing.T) {
			before := count()
			t.Run("", func(t *testing.T) {
				s := meet(t, role, most)
				s.victim.signal(syscall.SIGSTOP)
				s.victim.stopped()
				began := time.Now()
				s.bereaved(s.load(), 20*time.Second, rdma.ErrTimeout)
				if took := time.Since(began); took < most {
					t.Errorf("it took %v, with an OpTimeout of %v", took, most)
				}
				s.victim.signal(syscall.SIGCONT)
				s.victim.hear("lost ")
				s.victim.ends(20 * time.Second)
			})
			ok(t, before.noMore())
		})
	}
}

// TestPaused stops the peer for less than OpTimeout: nothing fails.
func TestPaused(t *testing.T) {
	for _, role := range slices.Sorted(maps.Keys(victims)) {
		t.Run(role, func(t *testing.T) {
			s := meet(t, role, 20*time.Second)
			s.victim.signal(syscall.SIGSTOP)
			s.victim.stopped()
			waits := s.load()
			time.Sleep(100 * time.Millisecond)
			s.victim.signal(syscall.SIGCONT)
			for what, wait := range waits {
				if err := wait(s.ctx); err != nil {
					t.Errorf("%s: %v", what, err)
				}
			}
			ok(t, s.conn.Flush(s.ctx))
			ok(t, s.conn.Close())
			ok(t, memory(s.region, s.intact))
		})
	}
}

// TestKilledInHandshake has peers that are killed before the connection is made. Others are served, and nothing is left.
func TestKilledInHandshake(t *testing.T) {
	settle(t)
	before := count()
	t.Run("", func(t *testing.T) {
		ctx, cancel := forMinutes(1)
		defer cancel()
		p := &program{e: &errand{Bytes: 4096}, ctx: ctx}
		dom := must(p.open())(t)
		defer func() { ok(t, p.close()) }()
		ln := must(dom.Listen(ctx, ""))(t)
		defer ln.Close()
		served := make(chan error, 1)
		go func() {
			for {
				c, err := ln.Accept(ctx)
				if err != nil || !c.Plain() { // one of those who have asked looks like another program
					served <- errors.Join(err, c.Close())
					return
				}
				if err := c.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
		for _, role := range slices.Sorted(maps.Keys(mute)) {
			for _, s := range []syscall.Signal{syscall.SIGSTOP, syscall.SIGKILL} {
				v := begin(t, nil, errand{Role: role, Addr: ln.Addr()})
				v.hear("ready")
				v.signal(s)
			}
		}
		c := must(dom.Dial(ctx, ln.Addr()))(t)
		ok(t, <-served)
		ok(t, c.Close())
	})
	ok(t, before.noMore())
}

// TestKilledListener dials a process that takes the connection, and then is killed or stopped.
func TestKilledListener(t *testing.T) {
	settle(t)
	before := count()
	for name, c := range map[string]struct {
		signal syscall.Signal
		wait   time.Duration
		reason error
	}{"killed": {syscall.SIGKILL, 20 * time.Second, nil}, "stopped": {syscall.SIGSTOP, 300 * time.Millisecond, context.Canceled}} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := forMinutes(1)
			defer cancel()
			p := &program{e: &errand{Bytes: 4096}, ctx: ctx}
			dom := must(p.open())(t)
			defer func() { ok(t, p.close()) }()
			v := begin(t, nil, errand{Role: "mute listener"})
			addr := v.hear("at ")
			within, giveUp := context.WithCancel(ctx)
			defer giveUp()
			dialled := make(chan error, 1)
			go func() { _, err := dom.Dial(within, addr); dialled <- err }()
			v.hear("ready")
			v.signal(c.signal)
			time.AfterFunc(c.wait, giveUp)
			began := time.Now()
			if err := <-dialled; err == nil || c.reason != nil && !errors.Is(err, c.reason) {
				t.Errorf("dialled: %v", err)
			}
			if took := time.Since(began); took > 20*time.Second {
				t.Errorf("Dial took %v", took)
			}
		})
	}
	ok(t, before.noMore())
}

// TestKilledInTerminate kills a peer about when it tells why it ends the connection: after a write that it must refuse.
// Whether the reason arrives or not, all that is outstanding ends, and in the order that the contract of queues has.
func TestKilledInTerminate(t *testing.T) {
	settle(t)
	before := count()
	told := 0
	for range 20 {
		t.Run("", func(t *testing.T) { told += killInTerminate(t) })
	}
	t.Logf("of 20 peers that were killed %d had told why", told)
	ok(t, before.noMore())
}

func killInTerminate(t *testing.T) (told int) {
	x := must(newSide(&errand{}))(t)
	defer func() { ok(t, x.close()) }()
	ln := must(x.pd.Listen(soon(t), ""))(t)
	v := begin(t, nil, errand{Role: "queue", Addr: ln.Addr()})
	var err error
	x.q = must(ln.Accept(soon(t), func([]byte) ([]byte, error) { return x.hello(), nil }))(t)
	ok(t, ln.Close())
	if x.peer, err = parseHello(x.q.Hello()); err != nil {
		t.Fatal(err)
	}
	v.hear("ready")
	wrs := []rdma.WorkRequest{
		x.request(rdma.VerbWrite, 0, xLocal, 5000, xPlain),
		x.request(rdma.VerbWrite, 1, xLocal, 5000, xBytes-1000), // beyond the end
		x.request(rdma.VerbRead, 2, xLocal, xSlot, xPlain),
		{ID: 3, Verb: rdma.VerbFlush},
	}
	n := must(x.q.Post(wrs))(t)
	time.Sleep(time.Duration(rand.IntN(200)) * time.Microsecond)
	v.signal(syscall.SIGKILL)
	for id := range uint64(n) {
		c := next(t, x.q)
		if c.ID != id {
			t.Errorf("completed %+v, want ID %d", c, id)
		}
		var serr *rdma.StatusError
		switch known := errors.As(c.Err, &serr); {
		case id == 0 && known && serr.Status == rdma.StatusRemoteRange, id >= 2 && !known:
			t.Errorf("completed %+v", c)
		case known && serr.Status == rdma.StatusRemoteRange:
			told++
		}
	}
	return min(told, 1)
}

// settle does what a process does once: that is no leak.
func settle(t *testing.T) {
	t.Helper()
	t.Run("first", func(t *testing.T) { meet(t, "at rest", 0).victim.signal(syscall.SIGKILL) })
}
