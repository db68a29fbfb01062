package shm

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// BenchmarkPingPong is a round trip of 64 bytes between two threads that poll:
// through a bare mapping, with the sequence word in the line of the payload, and by write with notification.
func BenchmarkPingPong(b *testing.B) {
	if runtime.GOMAXPROCS(0) < 2 {
		b.Skip("two threads that poll need two processors")
	}
	b.Run("bare", barePingPong)
	b.Run("shm", func(b *testing.B) { pingPong(b, rdma.Busy) })
	b.Run("adaptive", func(b *testing.B) { pingPong(b, rdma.Adaptive) })
	b.Run("event", func(b *testing.B) { pingPong(b, rdma.ByEvent) })
	b.Run("unix", unixPingPong)
}

// pingPong polls in busy mode, else it waits.
func pingPong(b *testing.B, mode rdma.Mode) {
	left, right := pair(b, &rdma.Config{Mode: mode}, 1<<16)
	fatal(b, left.q.Prepare(within(b, 1e9), right.k.R, right.k.Epoch))
	fatal(b, right.q.Prepare(within(b, 1e9), left.k.R, left.k.Epoch))
	b.ReportAllocs()
	b.ResetTimer()
	go func() {
		if mode == rdma.Busy {
			runtime.LockOSThread()
		}
		pong(b, right, left, b.N, mode, false, func() {})
	}()
	best := window{}
	pong(b, left, right, b.N, mode, true, best.tick)
	best.report(b)
}

// unixPingPong is the same through a socket.
func unixPingPong(b *testing.B) {
	ln, err := net.Listen("unix", address())
	fatal(b, err)
	defer ln.Close()
	go func() {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		buf := make([]byte, 64)
		for {
			if _, err := io.ReadFull(c, buf); err != nil {
				return
			}
			if _, err := c.Write(buf); err != nil {
				return
			}
		}
	}()
	c, err := net.Dial("unix", ln.Addr().String())
	fatal(b, err)
	defer c.Close()
	buf := make([]byte, 64)
	best := window{}
	b.ResetTimer()
	for range b.N {
		best.tick()
		if _, err := c.Write(buf); err != nil {
			b.Fatal(err)
		}
		if _, err := io.ReadFull(c, buf); err != nil {
			b.Fatal(err)
		}
	}
	best.report(b)
}

// window finds the fastest run of rounds: on a machine that does other things too, the
// mean says more about those.
type window struct {
	n     int
	start time.Time
	best  time.Duration
}

const windowRounds = 500

func (w *window) tick() {
	if w.n++; w.n%windowRounds != 0 {
		return
	}
	now := time.Now()
	if d := now.Sub(w.start); !w.start.IsZero() && (w.best == 0 || d < w.best) {
		w.best = d
	}
	w.start = now
}

func (w *window) report(b *testing.B) {
	if w.best != 0 {
		b.ReportMetric(float64(w.best.Nanoseconds())/windowRounds, "best-ns/op")
	}
}

// put posts, without what a test's helper costs.
func put(b testing.TB, s *side, wrs []rdma.WorkRequest) {
	if n, err := s.q.Post(wrs); n != len(wrs) {
		b.Fatal(err)
	}
}

// pong exchanges n notifications; the side that serves begins.
func pong(b testing.TB, own, peer *side, n int, mode rdma.Mode, serves bool, tick func()) {
	wr := own.one(rdma.VerbWriteNotify, 1, 0, 64, peer, 4096)
	wrs := []rdma.WorkRequest{wr}
	recv := []rdma.ReceiveRequest{{ID: 2}}
	var out [4]rdma.Completion
	for range 16 {
		fatal(b, own.q.PostReceive(recv))
	}
	for range n {
		tick()
		if serves {
			put(b, own, wrs)
		}
		for got := false; !got; {
			if mode != rdma.Busy {
				if err := own.q.Wait(context.Background()); err != nil {
					b.Error(err)
					return
				}
			}
			for _, c := range out[:own.q.Poll(out[:])] {
				if c.Err != nil {
					b.Error(c.Err)
					return
				}
				got = got || c.Verb == rdma.VerbNotify
			}
		}
		if err := own.q.PostReceive(recv); err != nil {
			b.Error(err)
			return
		}
		if !serves {
			put(b, own, wrs)
		}
	}
	for range out[:own.q.Poll(out[:])] { // the completion of the last write
	}
}

func barePingPong(b *testing.B) {
	there, back := bytesOf(memory(b, 64)), bytesOf(memory(b, 64))
	n := uint64(b.N)
	turn := func(in, out []byte, serves bool, tick func()) {
		var payload [56]byte
		inWord, outWord := (*atomic.Uint64)(unsafe.Pointer(&in[56])), (*atomic.Uint64)(unsafe.Pointer(&out[56]))
		for i := uint64(1); i <= n; i++ {
			tick()
			if serves {
				copy(out[:56], payload[:])
				outWord.Store(i)
			}
			for inWord.Load() != i {
			}
			copy(payload[:], in[:56])
			if !serves {
				copy(out[:56], payload[:])
				outWord.Store(i)
			}
		}
	}
	b.ResetTimer()
	go func() {
		runtime.LockOSThread()
		turn(there, back, false, func() {})
	}()
	best := window{}
	turn(back, there, true, best.tick)
	best.report(b)
}

// BenchmarkWrite1MiB compares a write with the copy that it is.
func BenchmarkWrite1MiB(b *testing.B) {
	const n = 1 << 20
	left, right := pair(b, nil, n)
	b.Run("memmove", func(b *testing.B) {
		b.SetBytes(n)
		from, to := bytesOf(left.mem), bytesOf(right.mem)
		for b.Loop() {
			copy(to, from)
		}
	})
	b.Run("shm", func(b *testing.B) {
		b.SetBytes(n)
		writes(b, left, right, n)
	})
}

// BenchmarkWrite8 is a small write, and looking for its completion.
func BenchmarkWrite8(b *testing.B) {
	left, right := pair(b, nil, 4096)
	writes(b, left, right, 8)
}

func writes(b *testing.B, left, right *side, n int) {
	wrs := []rdma.WorkRequest{left.one(rdma.VerbWrite, 1, 0, n, right, 0)}
	var out [1]rdma.Completion
	left.post(b, wrs...)
	left.done(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		put(b, left, wrs)
		left.q.Poll(out[:])
	}
}

// TestNoAllocations counts what operations allocate when all is mapped.
func TestNoAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := pair(t, &rdma.Config{Mode: rdma.Adaptive}, 1<<16)
	wrs := []rdma.WorkRequest{
		b.one(rdma.VerbWrite, 1, 0, 64, a, 0), b.one(rdma.VerbRead, 2, 0, 64, a, 0),
		b.one(rdma.VerbFetchAdd, 3, 0, 8, a, 64), b.one(rdma.VerbCompareSwap, 4, 0, 8, a, 64),
		b.one(rdma.VerbSend, 5, 0, 20, a, 0), b.one(rdma.VerbSend, 6, 0, 2000, a, 0),
		b.one(rdma.VerbWriteNotify, 7, 0, 64, a, 0), {ID: 8, Verb: rdma.VerbFlush},
	}
	recvs := []rdma.ReceiveRequest{{Buf: a.seg(8192, 2048)}, {Buf: a.seg(8192, 2048)}, {}}
	var out [16]rdma.Completion
	round := func() {
		fatal(t, a.q.PostReceive(recvs))
		b.post(t, wrs...)
		for n := 0; n < len(wrs); {
			fatal(t, b.q.Wait(context.Background()))
			n += b.q.Poll(out[n:])
		}
		for n := 0; n < len(recvs); {
			fatal(t, a.q.Wait(context.Background()))
			n += a.q.Poll(out[n:])
		}
	}
	round() // maps
	if n := testing.AllocsPerRun(1000, round); n >= 1 {
		t.Errorf("%v allocations in a round of %d operations", n, len(wrs))
	}
}

// TestWaitForTwo has two contexts wait in turns, as a connection's own and its user's do: that allocates nothing.
func TestWaitForTwo(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	a, b := pair(t, &rdma.Config{Mode: rdma.ByEvent}, 1<<16)
	wrs := []rdma.WorkRequest{b.one(rdma.VerbFetchAdd, 1, 0, 8, a, 64)}
	one, end := context.WithCancel(context.Background())
	defer end()
	two, stop := context.WithCancel(context.Background())
	var out [1]rdma.Completion
	round := func() {
		for _, ctx := range []context.Context{one, two} {
			b.post(t, wrs...)
			for n := 0; n == 0; n = b.q.Poll(out[:]) {
				fatal(t, b.q.Wait(ctx))
			}
		}
	}
	round()
	if n := testing.AllocsPerRun(1000, round); n >= 1 {
		t.Errorf("%v allocations in a round of two waits", n)
	}
	// Many more are heeded, too, and the last one is.
	for range 10 {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Millisecond, cancel)
		if err := b.q.Wait(ctx); !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
	time.AfterFunc(time.Millisecond, stop)
	for err := error(nil); !errors.Is(err, context.Canceled); err = b.q.Wait(two) {
		fatal(t, err)
	}
}
