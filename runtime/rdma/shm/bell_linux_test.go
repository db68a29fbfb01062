package shm

import (
	"context"
	"errors"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// asleep starts a wait that has nothing to wake it, and gives its result.
func asleep(t *testing.T, q *queue, ctx context.Context) <-chan error {
	t.Helper()
	woken := make(chan error, 1)
	go func() {
		for {
			err := q.Wait(ctx)
			if q.pollMu.Lock(); err != nil || q.ready() {
				q.pollMu.Unlock()
				woken <- err
				return
			}
			q.pollMu.Unlock()
		}
	}()
	for q.ownSleep.Load()&1 == 0 {
		time.Sleep(100 * time.Microsecond)
	}
	time.Sleep(time.Millisecond)
	return woken
}

// wakes wants a result soon.
func wakes(t *testing.T, what string, woken <-chan error, want error) {
	t.Helper()
	select {
	case err := <-woken:
		if !errors.Is(err, want) {
			t.Errorf("%s: woken with %v, want %v", what, err, want)
		}
	case <-time.After(patience):
		t.Fatalf("%s: sleeps on", what)
	}
}

// TestWakes has all that is to wake a sleeper do so: the peer, this process, contexts, the end. Again and again on one queue,
// since a wake-up must leave nothing behind that keeps the next from it.
func TestWakes(t *testing.T) {
	a, b := pair(t, nil, 4096)
	background := context.Background()
	for range 3 * maxUnread {
		fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: a.seg(0, 64)}}))
		woken := asleep(t, a.q, background)
		b.post(t, b.one(rdma.VerbSend, 1, 0, 8, a, 0))
		wakes(t, "a message", woken, nil)
		a.done(t, 1)
		b.done(t, 1)

		woken = asleep(t, a.q, background)
		a.post(t, rdma.WorkRequest{ID: 2, Verb: rdma.VerbFlush})
		wakes(t, "a completion", woken, nil)
		a.done(t, 2)

		ctx, cancel := context.WithCancel(background)
		woken = asleep(t, a.q, ctx)
		cancel()
		wakes(t, "a cancelled context", woken, context.Canceled)
		wakes(t, "one that was over", asleepAlready(a.q, ctx), context.Canceled)
		short, cancel := context.WithTimeout(background, time.Millisecond)
		wakes(t, "a deadline", asleepAlready(a.q, short), context.DeadlineExceeded)
		cancel()
	}
	fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 3, Buf: a.seg(0, 64)}}))
	woken := asleep(t, a.q, background)
	b.q.Abort(nil)
	wakes(t, "the peer's failure", woken, nil)
	woken = asleep(t, b.q, background)
	fatal(t, b.q.Close())
	wakes(t, "closing", woken, errClosed)
	if err := b.q.Wait(background); !errors.Is(err, errClosed) {
		t.Errorf("after closing: %v", err)
	}
}

// asleepAlready waits with a context that ends by itself.
func asleepAlready(q *queue, ctx context.Context) <-chan error {
	woken := make(chan error, 1)
	go func() {
		for {
			if err := q.Wait(ctx); err != nil {
				woken <- err
				return
			}
		}
	}()
	return woken
}

// TestDeathWakes kills the peer of a sleeper.
func TestDeathWakes(t *testing.T) {
	e, h := withHelper(t, "connected")
	h.ready(t)
	fatal(t, e.q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: e.seg(0, 64)}}))
	woken := asleep(t, e.q, context.Background())
	h.signal(t, syscall.SIGKILL)
	wakes(t, "its death", woken, nil)
	e.allEnd(t, 1)
}

// TestBellAbused has a peer that rings without end, never reads its own bell, and makes both ends of it such that calls wait.
// Nothing waits for it, and this side sleeps and wakes as ever.
func TestBellAbused(t *testing.T) {
	a, s, own, _, bell, fd := rogueBelled(t)
	fatal(t, unix.SetNonblock(fd, false)) // the description that a's end is
	_ = bell.raw.Control(func(fd uintptr) { fatal(t, unix.SetNonblock(int(fd), false)) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 5000 {
			a.q.bell.ring() // nobody reads: it is full soon
		}
	}()
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("ringing waits for the peer")
	}
	for range 5000 {
		bell.ring()
	}
	for n := range uint64(5 * maxUnread) {
		short, cancel := context.WithTimeout(context.Background(), 2*time.Millisecond)
		wakes(t, "a deadline", asleepAlready(a.q, short), context.DeadlineExceeded)
		cancel()
		_ = n
	}
	fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: a.seg(0, 64)}}))
	woken := asleep(t, a.q, context.Background())
	fatal(t, s.conn.Close())
	_ = own
	wakes(t, "the end", woken, nil)
}

// TestWakeAllocatesNothing counts round trips of two sides that sleep.
func TestWakeAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := pair(t, &rdma.Config{Mode: rdma.ByEvent}, 1<<16)
	ctx := within(t, 20*time.Second)
	const rounds = 2000
	play := func(own, peer *side, n int, serves bool) {
		wr := []rdma.WorkRequest{own.one(rdma.VerbWriteNotify, 1, 0, 64, peer, 4096)}
		recv := []rdma.ReceiveRequest{{ID: 2}}
		var out [4]rdma.Completion
		for range n {
			if serves {
				_, _ = own.q.Post(wr)
			}
			_ = own.q.PostReceive(recv)
			for got := false; !got && own.q.Wait(ctx) == nil; {
				for _, c := range out[:own.q.Poll(out[:])] {
					got = got || c.Verb == rdma.VerbNotify
				}
			}
			if !serves {
				_, _ = own.q.Post(wr)
			}
		}
	}
	fatal(t, a.q.PostReceive(make([]rdma.ReceiveRequest, 8)))
	fatal(t, b.q.PostReceive(make([]rdma.ReceiveRequest, 8)))
	played := make(chan struct{})
	go func() {
		defer close(played)
		play(b, a, 2*(rounds+1)+100, false)
	}()
	play(a, b, 100, true)
	if n := testing.AllocsPerRun(1, func() { play(a, b, rounds, true) }); n > rounds/100 {
		t.Errorf("%v allocations in %d round trips", n, rounds)
	}
	play(a, b, 2, true)
	<-played
	if ctx.Err() != nil {
		t.Error("a wake-up was lost")
	}
}
