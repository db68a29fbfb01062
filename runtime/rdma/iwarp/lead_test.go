package iwarp

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// needLeaders skips where waiters do not read.
func needLeaders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("waiters read on Linux only")
	}
}

// is reports whose turn it is.
func (t *readTurn) is(w whose) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.whose == w
}

// becomes waits for it to be somebody's turn.
func becomes(t testing.TB, q *queue, w whose) {
	t.Helper()
	for end := time.Now().Add(patience); !q.turn.is(w); time.Sleep(50 * time.Microsecond) {
		if time.Now().After(end) {
			t.Fatalf("it is not the turn of %d", w)
		}
	}
}

// flushes writes and flushes, and waits for both.
func (e *end) flushes(peer *end) {
	e.t.Helper()
	e.post(e.request(rdma.VerbWrite, 1, 0, 64, peer, upper))
	e.post(flushOf(2))
	e.done(1)
	e.done(2)
}

// leads has an end wait until the reader leaves reading to who waits.
func (e *end) leads(peer *end) {
	e.t.Helper()
	for end := time.Now().Add(patience); !e.q.turn.is(ofNeither); e.flushes(peer) {
		if time.Now().After(end) {
			e.t.Fatalf("%s: who waits does not read", e.name)
		}
	}
}

// waiting has an end wait, and read. The channel gives what Wait came to. What came late may have given the turn back to
// the reader in between, which yields again when more comes: the peer sees to it.
func (e *end) waiting(ctx context.Context, peer *end) <-chan error {
	e.t.Helper()
	e.leads(peer)
	waited := make(chan error, 1)
	go func() { waited <- e.q.Wait(ctx) }()
	begun := time.Now()
	for n := 1; !e.q.turn.is(ofWaiter); n++ {
		if time.Since(begun) > patience {
			e.t.Fatalf("%s: it is not the turn of who waits", e.name)
		}
		time.Sleep(50 * time.Microsecond)
		if n%200 == 0 {
			peer.flushes(e)
		}
	}
	return waited
}

var ledShapes = []string{"tcp", "tcp, sums", "tcp, large, sums", "tcp, one at a time"}

// TestWaiterReads has who waits read, and a peer be answered whether anybody waits or not.
func TestWaiterReads(t *testing.T) {
	needLeaders(t)
	for _, name := range ledShapes {
		t.Run(name, func(t *testing.T) {
			a, b := connectEnds(t, shapes[name])
			for range 50 {
				a.leads(b)
				b.flushes(a) // nobody of a's waits
				waited := a.waiting(limit(t), b)
				b.flushes(a) // it does
				if !a.q.turn.is(ofWaiter) {
					t.Error("what a peer asks for made who waits return")
				}
				a.receive(7, 0, 64)
				b.post(b.request(rdma.VerbSend, 3, 0, 20, a, 0))
				b.done(3)
				if err := <-waited; err != nil {
					t.Fatal(err)
				}
				if c := a.done(7); c.Bytes != 20 {
					t.Fatalf("received %+v", c)
				}
			}
		})
	}
}

// TestWaiterHasEnough ends the context of who waits and reads, again and again: nothing is lost by it, and what the peer
// asks for is answered meanwhile.
func TestWaiterHasEnough(t *testing.T) {
	needLeaders(t)
	a, b := connectEnds(t, shapes["tcp, sums"])
	var g sync.WaitGroup
	stop := make(chan bool)
	g.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				b.flushes(a)
			}
		}
	})
	for i := range 300 {
		ctx, cancel := context.WithCancel(context.Background())
		if i%3 == 0 {
			ctx, cancel = context.WithTimeout(context.Background(), time.Duration(rand.IntN(200))*time.Microsecond)
		} else {
			time.AfterFunc(time.Duration(rand.IntN(200))*time.Microsecond, cancel)
		}
		for ctx.Err() == nil {
			if err := a.q.Wait(ctx); err != nil && !errors.Is(err, ctx.Err()) {
				t.Fatal(err)
			}
		}
		cancel()
		a.flushes(b)
	}
	close(stop)
	g.Wait()
}

// TestWaiterIsTold completes something by other goroutines than that which waits and reads.
func TestWaiterIsTold(t *testing.T) {
	needLeaders(t)
	for name, tell := range map[string]func(a, b *end){
		"a write that ends":      func(a, b *end) { a.post(a.request(rdma.VerbWrite, 5, 0, 64, b, 0)) },
		"a long one":             func(a, b *end) { a.post(a.request(rdma.VerbWrite, 5, 0, endBytes, b, 0)) },
		"a request that is none": func(a, b *end) { a.post(rdma.WorkRequest{ID: 5, Verb: 77}) },
		"aborted":                func(a, b *end) { a.q.Abort(errors.New("enough")) },
		"aborted by the peer":    func(a, b *end) { b.q.Abort(errors.New("enough")) },
		"closed":                 func(a, b *end) { _ = a.q.Close() },
		"closed by the peer":     func(a, b *end) { _ = b.q.Close() },
		"cut":                    func(a, b *end) { _ = b.q.s.conn.Close() },
		"reset": func(a, b *end) {
			_ = b.q.s.tcp.SetLinger(0)
			_ = b.q.s.conn.Close()
		},
		"half-closed": func(a, b *end) { _ = b.q.s.tcp.CloseWrite() },
		"noise":       func(a, b *end) { _, _ = b.q.s.conn.Write(bytes.Repeat([]byte{0, 20, 0xff}, 100)) },
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				a, b := connectEnds(t, shapes["tcp, sums"])
				waited := a.waiting(limit(t), b)
				a.receive(7, 0, 64)
				tell(a, b)
				err := <-waited
				if name == "closed" {
					if !errors.Is(err, errClosed) {
						t.Fatalf("waited: %v", err)
					}
					continue
				}
				if c := a.next(); err != nil || c.ID != 5 && (c.ID != 7 || c.Err == nil) {
					t.Fatalf("waited: %v, and it was %+v", err, c)
				}
				_, _ = a.q.Close(), b.q.Close()
			}
		})
	}
}

// TestWaiterWithoutReceive sends messages that there is no receive for to who waits and reads, and posts it then. The context
// of who waits ends before.
func TestWaiterWithoutReceive(t *testing.T) {
	needLeaders(t)
	defer LongWaits(patience)()
	a, b := connectEnds(t, shapes["tcp, sums"])
	for range 20 {
		ctx, cancel := context.WithCancel(context.Background())
		waited := a.waiting(ctx, b)
		b.post(b.request(rdma.VerbSend, 3, 0, 20, a, 0), flushOf(4))
		b.done(3)
		becomes(t, a.q, ofReader)
		if err := <-waited; err != nil { // allowed for no reason
			t.Fatal(err)
		}
		cancel()
		if err := a.q.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatalf("waited: %v", err)
		}
		a.receive(7, 0, 64)
		a.done(7)
		b.done(4)
	}
}

// TestTwoWait has several goroutines wait and poll at once. Each request ends for one of them.
func TestTwoWait(t *testing.T) {
	for _, name := range []string{"tcp", "tcp, sums", "pipe", "tcp, polled"} {
		t.Run(name, func(t *testing.T) {
			a, b := connectEnds(t, shapes[name])
			var poll, posts sync.Mutex // as the contract of queues asks for
			const each, waiters = 300, 3
			ended := make(chan uint64, waiters*each)
			ctx, cancel := context.WithCancel(context.Background())
			var g sync.WaitGroup
			for range waiters {
				g.Go(func() {
					for ctx.Err() == nil {
						var out [2]rdma.Completion
						poll.Lock()
						n := a.q.Poll(out[:])
						poll.Unlock()
						for _, c := range out[:n] {
							if c.Err != nil {
								t.Error(c.Err)
							}
							ended <- c.ID
						}
						if n == 0 {
							_ = a.q.Wait(ctx)
						}
					}
				})
			}
			seen := map[uint64]bool{}
			for id := uint64(0); len(seen) < waiters*each; {
				posts.Lock()
				for range 1 + rand.IntN(3) {
					a.post(a.request(rdma.VerbRead, id, 0, 64, b, 0))
					id++
				}
				posts.Unlock()
				for uint64(len(seen)) < id {
					select {
					case n := <-ended:
						seen[n] = true
					case <-time.After(patience):
						t.Fatalf("%d of %d ended", len(seen), id)
					}
				}
			}
			cancel()
			g.Wait()
		})
	}
}

// TestPollBesideWaiter has one goroutine wait and read, for nothing of its own, and another post and poll.
func TestPollBesideWaiter(t *testing.T) {
	a, b := connectEnds(t, shapes["tcp, sums"])
	ctx, cancel := context.WithCancel(context.Background())
	var g sync.WaitGroup
	g.Go(func() {
		for ctx.Err() == nil {
			_ = a.q.Wait(ctx)
			runtime.Gosched()
		}
	})
	for i := range uint64(2000) {
		if i%2 == 0 {
			a.post(a.request(rdma.VerbRead, i, 0, 64, b, 0))
		} else if _, done, err := a.q.PostNow(&rdma.WorkRequest{ID: i, Verb: rdma.VerbFlush}); err != nil {
			t.Fatal(err)
		} else if done {
			continue
		}
		var out [1]rdma.Completion
		for end := time.Now().Add(patience); a.q.Poll(out[:]) == 0; runtime.Gosched() {
			if time.Now().After(end) {
				t.Fatal("it does not end")
			}
		}
		if out[0].ID != i || out[0].Err != nil {
			t.Fatalf("completed %+v, want %d", out[0], i)
		}
	}
	cancel()
	g.Wait()
}

// TestTurnsEndAnyhow has both ends wait, post, serve, give up waiting, and end in all ways, all at once.
func TestTurnsEndAnyhow(t *testing.T) {
	before := runtime.NumGoroutine()
	rounds := 200
	if testing.Short() {
		rounds = 40
	}
	for round := range rounds {
		a, b := connectEnds(t, shapes[ledShapes[round%len(ledShapes)]])
		var g sync.WaitGroup
		for _, e := range []*end{a, b} {
			peer := b
			if e == b {
				peer = a
			}
			g.Go(func() { e.busy(peer) })
		}
		time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
		switch round % 6 {
		case 0:
			a.q.Abort(nil)
		case 1:
			_ = a.q.Close()
		case 2:
			_ = a.q.s.conn.Close()
		case 3:
			_ = a.q.s.tcp.SetLinger(0)
			_ = a.q.s.conn.Close()
		case 4:
			_ = a.dom.Close()
		default:
			_, _ = a.q.s.conn.(*net.TCPConn).Write([]byte{0, 1, 2, 3, 4, 5, 6, 7})
		}
		ended := make(chan bool)
		go func() { g.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(patience):
			buf := make([]byte, 1<<20)
			t.Fatalf("round %d: somebody waits for ever\n%s", round, buf[:runtime.Stack(buf, true)])
		}
		_, _ = a.q.Close(), b.q.Close()
	}
	for end := time.Now().Add(patience); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
		}
	}
}

// busy does what it can until the queue has failed.
func (e *end) busy(peer *end) {
	rnd := rand.New(rand.NewPCG(rand.Uint64(), 0))
	out := make([]rdma.Completion, 8)
	for {
		switch rnd.IntN(4) {
		case 0:
			_, _ = e.q.Post([]rdma.WorkRequest{e.request(rdma.VerbWrite, 1, 0, 64, peer, upper), flushOf(2)})
		case 1:
			wr := e.request(rdma.VerbWrite, 1, 0, 1+rnd.IntN(100<<10), peer, upper)
			_, _, _ = e.q.PostNow(&wr)
			flush := flushOf(2)
			_, _, _ = e.q.PostNow(&flush)
		case 2:
			_, _ = e.q.Post([]rdma.WorkRequest{e.request(rdma.VerbRead, 3, middle, 1+rnd.IntN(100<<10), peer, upper+middle)})
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rnd.IntN(300))*time.Microsecond)
		for ctx.Err() == nil {
			if err := e.q.Wait(ctx); errors.Is(err, errClosed) {
				cancel()
				return
			}
			n := e.q.Poll(out)
			for _, c := range out[:n] {
				if c.Err != nil {
					cancel()
					return
				}
			}
		}
		cancel()
	}
}
