package rdma_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// noLeak fails the test if goroutines of ours are left when it has ended.
func noLeak(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		var stacks string
		for range 1000 {
			buf := make([]byte, 1<<20)
			stacks = string(buf[:runtime.Stack(buf, true)])
			if !strings.Contains(stacks, "rdma.(*Conn)") && !strings.Contains(stacks, "rdma/soft.") && !strings.Contains(stacks, "rdma/shm.") {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Errorf("goroutines are left:\n%s", stacks)
	})
}

// TestCloseInAnyOrder closes all there is in every order, with operations going on
// and goroutines waiting.
func TestCloseInAnyOrder(t *testing.T) {
	noLeak(t)
	for seed := range uint64(30) {
		for _, mode := range []rdma.Mode{rdma.ByEvent, rdma.Busy} {
			closeShuffled(t, seed, mode)
		}
	}
}

func closeShuffled(t *testing.T, seed uint64, mode rdma.Mode) {
	t.Helper()
	s := newQuietScene(t, mode)
	ctx := limit(t)
	if seed%2 == 0 {
		s.stall()
	}
	const waiters = 4
	ended := make(chan error, waiters)
	go func() {
		op, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
		if err == nil {
			err = op.Wait(ctx)
		}
		ended <- err
	}()
	go func() { ended <- second(s.b.conn.NextNotification(ctx)) }()
	go func() { ended <- second(s.a.conn.Receive(ctx, make([]byte, 8))) }()
	go func() { ended <- second(rdma.Import(ctx, s.b.conn, "never", sample.TickRemoteRead())) }()
	time.Sleep(time.Duration(seed%4) * 300 * time.Microsecond)
	closers := []func() error{
		s.a.conn.Close, s.b.conn.Close, s.a.dom.Close, s.b.dom.Close, s.a.dev.Close, s.b.dev.Close,
		func() error { s.b.conn.Abort(errors.New("on purpose")); return nil },
		func() error { return untilReleased(s.local.Close) }, func() error { return untilReleased(s.target.Close) },
	}
	rand.New(rand.NewPCG(seed, 1)).Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
	errs := make(chan error, len(closers))
	for _, c := range closers {
		go func() { errs <- c() }()
		time.Sleep(50 * time.Microsecond)
	}
	for range closers {
		select {
		case err := <-errs:
			ok(t, err)
		case <-ctx.Done():
			t.Fatal("closing hangs")
		}
	}
	for range waiters {
		select {
		case <-ended: // with or without an error: it has ended
		case <-ctx.Done():
			t.Fatal("a waiting goroutine hangs")
		}
	}
}

// untilReleased closes a region as soon as nothing is in flight with it.
func untilReleased(close func() error) error {
	for {
		err := close()
		if err == nil || !strings.Contains(err.Error(), "in flight") {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
}

func newQuietScene(t *testing.T, mode rdma.Mode) *scene {
	s := &scene{pair: connect(t, rdma.Config{Mode: mode, Logger: quiet}, soft.Config{})}
	if mode == rdma.Busy {
		pollUntilDone(t, s.a.conn)
	}
	s.target = ticks(t, s.a.dom, 64, sample.TickRemoteReadWriteAtomic())
	s.local = ticks(t, s.b.dom, 64, sample.TickLocal())
	s.rem = share(t, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
	return s
}

func TestClosedIsClosed(t *testing.T) {
	noLeak(t)
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	ok(t, s.b.conn.Close())
	ok(t, s.b.conn.Close())
	_, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
	refused(t, err, rdma.ErrClosed)
	ln := must(s.a.dom.Listen(ctx, ""))(t)
	accepted := make(chan error)
	go func() { accepted <- second(ln.Accept(ctx)) }()
	time.Sleep(time.Millisecond)
	ok(t, s.a.dom.Close())
	if err := <-accepted; err == nil {
		t.Error("accepted on a closed domain")
	}
	_, err = s.a.dom.Listen(ctx, "")
	is(t, err, rdma.ErrClosed)
	_, err = s.a.dom.Dial(ctx, "x")
	is(t, err, rdma.ErrClosed)
	ok(t, s.a.dev.Close())
	_, err = s.a.dev.Domain()
	is(t, err, rdma.ErrClosed)
	ok(t, s.a.dev.Close())
	ok(t, s.target.Close()) // its domain is gone, and it closes nevertheless
	if st := s.b.dev.Stats(); st.Completed == 0 {
		t.Error("what a closed connection did is not counted")
	}
}

func TestDialNobody(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := p.b.dom.Dial(ctx, "nobody-listens"); err == nil || !strings.Contains(err.Error(), "nobody-listens") {
		t.Error(err)
	}
}

// TestClosedIsForgotten: a region that is there for long keeps nothing of connections
// that had its keys, and a connection nothing of regions.
func TestClosedIsForgotten(t *testing.T) {
	s := newQuietScene(t, rdma.ByEvent)
	ctx := limit(t)
	var conns []weak.Pointer[rdma.Conn]
	for range 3 {
		ln := must(s.a.dom.Listen(ctx, ""))(t)
		accepted := make(chan *rdma.Conn, 1)
		go func() {
			c, _ := ln.Accept(ctx)
			accepted <- c
		}()
		there := must(s.b.dom.Dial(ctx, ln.Addr()))(t)
		here := <-accepted
		ok(t, rdma.Offer(ctx, here, "ticks", s.target))
		ok(t, rdma.OfferScoped(ctx, here, "scoped", must(rdma.Grant(here, s.target, sample.TickRemoteRead()))(t)))
		must(rdma.Import(ctx, there, "ticks", sample.TickRemoteRead()))(t)
		must(rdma.Import(ctx, there, "scoped", sample.TickRemoteRead()))(t)
		conns = append(conns, weak.Make(here), weak.Make(there))
		for _, c := range []interface{ Close() error }{ln, here, there} {
			ok(t, c.Close())
		}
	}
	for i, c := range conns {
		soon(t, func() bool { runtime.GC(); return c.Value() == nil })
		if c.Value() != nil {
			t.Errorf("connection %d is kept", i)
		}
	}
}
