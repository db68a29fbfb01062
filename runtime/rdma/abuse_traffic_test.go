package rdma_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// expected reports whether an error is one that traffic has when what it uses is moved,
// closed or full.
func expected(err error) bool {
	for _, e := range []error{
		nil, barewire.ErrMoved, barewire.ErrReleased, barewire.ErrInFlight, barewire.ErrBorrowed, rdma.ErrQueueFull, rdma.ErrNoCredit,
		rdma.ErrClosed, rdma.ErrFlushed, rdma.ErrPeerLost, rdma.ErrAborted, rdma.ErrRevoked, context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, e) || err == e {
			return true
		}
	}
	return false
}

// everyWorld runs a test over each provider.
func everyWorld(t *testing.T, f func(w *world)) {
	t.Run("soft", func(t *testing.T) { f(softWorld(t, soft.Config{})) })
	t.Run("reordered", func(t *testing.T) { f(softWorld(t, soft.Config{Reorder: true, Seed: 7})) })
	for name, open := range otherWorlds {
		t.Run(name, func(t *testing.T) { f(open(t)) })
	}
}

// TestMovedInTraffic deregisters, registers and closes a region again and again while
// goroutines write from it: each write uses the region as it is, or is refused.
func TestMovedInTraffic(t *testing.T) {
	everyWorld(t, func(w *world) {
		s := w.stage(rdma.Config{})
		var now atomic.Pointer[localTicks]
		now.Store(must(rdma.Register(s.b.dom, must(barewire.New(sample.TickInCPU(), 1))(w), sample.TickLocal()))(w))
		var g sync.WaitGroup
		stop := make(chan struct{})
		var done atomic.Int64
		for range 3 {
			g.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					op, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), now.Load().Span(0, 1))
					if err == nil {
						err = op.Wait(s.ctx)
						done.Add(1)
					}
					if !expected(err) {
						w.Error(err)
						return
					}
				}
			})
		}
		for moves := 0; moves < 200; {
			r := now.Load()
			if moves%10 == 9 {
				if err := r.Close(); err != nil {
					is(w, err, barewire.ErrInFlight)
					continue
				}
				moves++
				now.Store(must(rdma.Register(s.b.dom, must(barewire.New(sample.TickInCPU(), 1))(w), sample.TickLocal()))(w))
				continue
			}
			plain, err := rdma.Deregister(s.ctx, r)
			if err != nil {
				is(w, err, barewire.ErrInFlight)
				continue
			}
			moves++
			now.Store(must(rdma.Register(s.b.dom, plain, sample.TickLocal()))(w))
		}
		soon(w, func() bool { return done.Load() > 100 })
		close(stop)
		g.Wait()
		ok(w, s.b.conn.Flush(s.ctx))
		ok(w, now.Load().Close())
	})
}

// TestCloseInTraffic has goroutines that do everything on one pair of connections while
// one after the other is closed, in an order by seed. All end, with errors that are expected.
func TestCloseInTraffic(t *testing.T) {
	noLeak(t)
	everyWorld(t, func(w *world) {
		for seed := range uint64(6) {
			for _, mode := range []rdma.Mode{rdma.ByEvent, rdma.Adaptive, rdma.Busy} {
				closeInTraffic(w, seed, mode)
			}
		}
	})
}

func closeInTraffic(w *world, seed uint64, mode rdma.Mode) {
	w.Helper()
	s := w.stage(rdma.Config{Mode: mode, Credits: 32})
	sib := must(rdma.Also(s.b.dom, s.local, sample.TickRemoteRead()))(w)
	ctx, cancel := context.WithTimeout(s.ctx, 10*time.Second)
	defer cancel()
	var g sync.WaitGroup
	for i, use := range []func() error{
		func() error { return posted(rdma.Write(s.b.conn, s.rem.Slice(0, 2), s.local.Span(0, 2)))(ctx) },
		func() error { return posted(rdma.Read(s.b.conn, s.local.Span(3, 1), s.rem.Slice(1, 1)))(ctx) },
		func() error {
			return second(rdma.WriteNotify(s.b.conn, s.rem.Slice(4, 1), s.local.Span(4, 1), 7))
		},
		func() error {
			op, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 9), 1)
			if err == nil {
				_, err = op.Wait(ctx)
			}
			return err
		},
		func() error { return s.a.conn.SendBytes(ctx, make([]byte, 100)) },
		func() error { return second(s.b.conn.Receive(ctx, make([]byte, 200))) },
		func() error { return second(s.a.conn.NextNotification(ctx)) },
		func() error {
			b := s.b.conn.Batch()
			for range 5 {
				if _, err := rdma.Write(b, s.rem.Slice(5, 1), s.local.Span(5, 1)); err != nil {
					return err
				}
			}
			return b.Post()
		},
		func() error { return s.b.conn.Flush(ctx) },
		func() error {
			err := rdma.Offer(ctx, s.a.conn, fmt.Sprint("x", seed), s.target)
			rdma.Withdraw(s.a.conn, fmt.Sprint("x", seed))
			if errors.Is(err, rdma.ErrOffered) {
				err = nil
			}
			return err
		},
		func() error {
			short, cancel := context.WithTimeout(ctx, time.Millisecond)
			defer cancel()
			_, err := rdma.Import(short, s.b.conn, fmt.Sprint("x", seed), sample.TickRemoteRead())
			return err
		},
		func() error {
			time.Sleep(50 * time.Microsecond) // or nobody gets to close it
			return barewire.With(s.target, func(v sample.TickWindow[barewire.RemoteReadWriteAtomic]) error {
				_ = sample.TickSeqLoad(v, 0)
				return nil
			})
		},
	} {
		g.Go(func() {
			for {
				err := use()
				if !expected(err) {
					w.Errorf("use %d: %v", i, err)
				}
				switch {
				case err == nil, errors.Is(err, rdma.ErrQueueFull) && s.b.conn.Err() == nil:
				case errors.Is(err, rdma.ErrNoCredit), errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil, errors.Is(err, barewire.ErrReleased):
					if s.a.conn.Err() != nil && s.b.conn.Err() != nil {
						return
					}
					time.Sleep(100 * time.Microsecond)
				default:
					return
				}
			}
		})
	}
	time.Sleep(time.Duration(1+seed%3) * time.Millisecond)
	closers := []func() error{
		s.a.conn.Close, s.b.conn.Close, s.a.dom.Close, s.b.dom.Close, s.a.dev.Close, s.b.dev.Close,
		func() error { return untilReleased(s.local.Close) }, func() error { return untilReleased(sib.Close) },
		func() error {
			err := untilReleased(s.target.Close)
			for errors.Is(err, barewire.ErrBorrowed) {
				time.Sleep(20 * time.Microsecond)
				err = untilReleased(s.target.Close)
			}
			return err
		},
		func() error { return rdma.Revoke(ctx, s.target) },
		func() error { s.a.conn.Abort(errors.New("on purpose")); return nil },
	}
	rand.New(rand.NewPCG(seed, 2)).Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
	var closing sync.WaitGroup
	for _, c := range closers {
		closing.Go(func() {
			if err := c(); !expected(err) && !errors.Is(err, rdma.ErrNotRegistered) {
				w.Errorf("seed %d, mode %d: closing: %v", seed, mode, err)
			}
		})
		time.Sleep(200 * time.Microsecond)
	}
	ended := make(chan struct{})
	go func() {
		closing.Wait()
		g.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(15 * time.Second):
		stacks := make([]byte, 1<<20)
		w.Fatalf("seed %d, mode %d: something hangs:\n%s", seed, mode, stacks[:runtime.Stack(stacks, true)])
	}
}

// posted is the end of an operation, as a function of a context.
func posted(op rdma.Op, err error) func(context.Context) error {
	return func(ctx context.Context) error {
		if err != nil {
			return err
		}
		return op.Wait(ctx)
	}
}

// TestBatchAfterFailure collects operations on a connection that fails before they are handed over.
func TestBatchAfterFailure(t *testing.T) {
	everyWorld(t, func(w *world) {
		s := w.stage(rdma.Config{})
		b := s.b.conn.Batch()
		var ops []rdma.Op
		for range 5 {
			ops = append(ops, must(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1)))(w))
		}
		is(w, s.local.Close(), barewire.ErrInFlight)
		s.b.conn.Abort(errors.New("enough"))
		_, err := rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1))
		is(w, err, rdma.ErrAborted)
		for range 2 { // the first may learn that they were not taken
			if err := b.Post(); err != nil {
				is(w, err, rdma.ErrFlushed)
			}
		}
		for _, op := range ops {
			is(w, op.Wait(s.ctx), rdma.ErrFlushed)
		}
		ok(w, s.b.conn.Drain(s.ctx))
		is(w, second(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1))), rdma.ErrAborted)
		ok(w, s.local.Close())
		ok(w, s.b.conn.Close())
	})
}

// TestUseAfterClose uses each thing after it was closed, and what it gave.
func TestUseAfterClose(t *testing.T) {
	everyWorld(t, func(w *world) {
		s := w.stage(rdma.Config{})
		ctx := s.ctx
		plain := must(barewire.New(sample.TickInCPU(), 1))(w)
		window := must(barewire.Open(s.target))(w)
		ok(w, window.Close())
		is(w, window.Close(), barewire.ErrWindowClosed)
		is(w, second(rdma.Received(rdma.Notification{}, window, 0, 1)), rdma.ErrOp)
		must(rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), 1))(w)
		note := must(s.a.conn.NextNotification(ctx))(w)
		is(w, second(rdma.Received(note, window, 0, 1)), barewire.ErrWindowClosed)
		op := must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(w)
		ok(w, op.Wait(ctx))
		add := must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 1))(w)
		must(add.Wait(ctx))(w)
		ln := must(s.a.dom.Listen(ctx, w.address()))(w)
		ok(w, ln.Close())
		is(w, second(ln.Accept(ctx)), rdma.ErrClosed)
		b := s.b.conn.Batch()
		ok(w, s.b.conn.Close())
		ok(w, s.b.conn.Close())
		// What had ended is as it was.
		ok(w, op.Wait(ctx))
		must(add.Wait(ctx))(w)
		for what, err := range map[string]error{
			"write": second(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))), "batch": second(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1))),
			"flush": s.b.conn.Flush(ctx), "fence": s.b.conn.Fence(), "send": s.b.conn.SendBytes(ctx, []byte("x")), "receive": second(s.b.conn.Receive(ctx, nil)),
			"notification": second(s.b.conn.NextNotification(ctx)), "import": second(rdma.Import(ctx, s.b.conn, "x", sample.TickRemoteRead())),
			"offer": rdma.Offer(ctx, s.b.conn, "x", must(rdma.Also(s.b.dom, s.local, sample.TickRemoteRead()))(w)), "room": s.b.conn.WaitRoom(ctx),
			"grant": second(rdma.Grant(s.b.conn, must(rdma.Also(s.b.dom, s.local, sample.TickRemoteRead()))(w), sample.TickRemoteRead())),
		} {
			if !errors.Is(err, rdma.ErrClosed) {
				w.Errorf("%s on a closed connection: %v", what, err)
			}
		}
		ok(w, s.b.dom.Close())
		ok(w, s.b.dom.Close())
		is(w, second(rdma.Register(s.b.dom, plain, sample.TickLocal())), rdma.ErrClosed)
		is(w, second(rdma.Also(s.b.dom, s.local, sample.TickLocal())), rdma.ErrClosed)
		is(w, second(s.b.dom.Listen(ctx, w.address())), rdma.ErrClosed)
		is(w, second(s.b.dom.Dial(ctx, ln.Addr())), rdma.ErrClosed)
		ok(w, s.b.dev.Close())
		is(w, second(s.b.dev.Domain()), rdma.ErrClosed)
		_ = s.b.dev.Stats()
		ok(w, s.local.Close())
		is(w, s.local.Close(), barewire.ErrReleased)
		is(w, second(barewire.Open(s.local)), barewire.ErrReleased)
		is(w, second(rdma.Deregister(ctx, s.local)), barewire.ErrReleased)
		is(w, second(rdma.Also(s.a.dom, s.local, sample.TickLocal())), barewire.ErrReleased)
		is(w, rdma.Offer(ctx, s.a.conn, "late", closed(w, s.a.dom)), barewire.ErrReleased)
		ok(w, plain.Close())
		is(w, second(rdma.Register(s.a.dom, plain, sample.TickLocal())), barewire.ErrReleased)
	})
}

func closed(w *world, dom *rdma.Domain) *barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteRead] {
	r := must(rdma.Register(dom, must(barewire.New(sample.TickInCPU(), 1))(w), sample.TickRemoteRead()))(w)
	ok(w, r.Close())
	return r
}

// TestManyOnOne has many goroutines that post, wait, collect and flush on one
// connection, with a ring that is often full: every atomic counts once.
func TestManyOnOne(t *testing.T) {
	everyWorld(t, func(w *world) {
		s := w.stage(rdma.Config{Depth: 16, Logger: slog.New(slog.DiscardHandler)})
		const goroutines, each = 12, 100
		var g sync.WaitGroup
		for n := range goroutines {
			g.Go(func() {
				for i := range each {
					var op rdma.AtomicOp[uint64]
					err := rdma.ErrQueueFull
					for errors.Is(err, rdma.ErrQueueFull) {
						ok(w, s.b.conn.WaitRoom(s.ctx))
						var p rdma.Poster = s.b.conn
						if n%2 == 0 {
							p = s.b.conn.Batch()
						}
						op, err = rdma.FetchAdd(p, sample.TickSeqOf(s.rem, 5), 1)
					}
					if err == nil && i%3 != 0 {
						_, err = op.Wait(s.ctx)
					}
					if err == nil && i%17 == 0 {
						if err = s.b.conn.Flush(s.ctx); errors.Is(err, rdma.ErrQueueFull) {
							err = nil
						}
					}
					if err != nil {
						w.Error(err)
						return
					}
				}
			})
		}
		g.Wait()
		ok(w, s.b.conn.Flush(s.ctx))
		ok(w, barewire.With(s.target, func(v sample.TickWindow[barewire.RemoteReadWriteAtomic]) error {
			if got := sample.TickSeqLoad(v, 5); got != goroutines*each {
				return fmt.Errorf("%d additions, want %d", got, goroutines*each)
			}
			return nil
		}))
	})
}

// TestComingAndGoing dials and accepts from many goroutines, with contexts of all lengths,
// while the listener, the domains and the devices go away. Nothing hangs or is left.
func TestComingAndGoing(t *testing.T) {
	noLeak(t)
	everyWorld(t, func(w *world) {
		for seed := range uint64(8) {
			comeAndGo(w, seed)
		}
	})
}

func comeAndGo(w *world, seed uint64) {
	w.Helper()
	ctx := limit(w)
	server, client := must(rdma.Open(ctx, w.config(rdma.Config{})))(w), must(rdma.Open(ctx, w.config(rdma.Config{})))(w)
	sd, cd := must(server.Domain())(w), must(client.Domain())(w)
	ln := must(sd.Listen(ctx, w.address()))(w)
	var g sync.WaitGroup
	var met atomic.Int64
	for range 2 {
		g.Go(func() {
			for {
				c, err := ln.Accept(ctx)
				if err != nil {
					if !errors.Is(err, rdma.ErrClosed) {
						w.Errorf("accept: %v", err)
					}
					return
				}
				_ = c.SendBytes(ctx, []byte("welcome"))
				ok(w, c.Close())
			}
		})
	}
	for n := range 4 {
		g.Go(func() {
			for i := 0; sd.Device() != nil && i < 1000; i++ {
				short, cancel := context.WithTimeout(ctx, time.Duration(i%7+1)*200*time.Microsecond)
				c, err := cd.Dial(short, ln.Addr())
				cancel()
				if err == nil {
					met.Add(1)
					_, _ = c.Receive(ctx, make([]byte, 10))
					err = c.Close()
				}
				if errors.Is(err, rdma.ErrClosed) || met.Load() > 20 && n > 0 {
					return
				}
			}
		})
	}
	time.Sleep(time.Duration(seed) * time.Millisecond)
	closers := []func() error{ln.Close, sd.Close, cd.Close, server.Close, client.Close}
	rand.New(rand.NewPCG(seed, 3)).Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
	for _, c := range closers {
		calmly(w.T, "closing", func() { ok(w, c()) })
	}
	calmly(w.T, "what dials and accepts", g.Wait)
}
