package rdma_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestQuietAfterDeregister has goroutines read into a region while it is deregistered, again and again: when
// that has returned, nothing is written there any more, and what has ended is.
func TestQuietAfterDeregister(t *testing.T) {
	everyWorld(t, func(w *world) {
		s := w.stage(rdma.Config{})
		const n = 64
		marks := ticks(w, s.b.dom, 1, sample.TickLocal())
		mark := func(x uint64) {
			v := must(barewire.Open(marks))(w)
			sample.TickAt(v, 0).SetSeq(x)
			ok(w, v.Close())
			op := must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), marks.Span(0, 1)))(w)
			ok(w, op.Wait(s.ctx))
			ok(w, s.b.conn.Flush(s.ctx))
		}
		var now atomic.Pointer[localTicks]
		var g sync.WaitGroup
		stop := make(chan struct{})
		var done atomic.Int64
		for k := range 2 {
			g.Go(func() {
				for i := k; ; i = (i + 2) % n {
					select {
					case <-stop:
						return
					default:
					}
					r := now.Load()
					if r == nil {
						runtime.Gosched()
						continue
					}
					op, err := rdma.Read(s.b.conn, r.Span(i, 1), s.rem.Slice(0, 1))
					if err == nil && op.Wait(s.ctx) == nil {
						done.Add(1)
					}
				}
			})
		}
		r := must(barewire.New(sample.TickInCPU(), n))(w)
		for round := range uint64(30) {
			mark(2*round + 1)
			mr := must(rdma.Register(s.b.dom, r, sample.TickLocal()))(w)
			before := done.Load()
			now.Store(mr)
			for done.Load() < before+4 && s.ctx.Err() == nil {
				runtime.Gosched()
			}
			mark(2*round + 2)
			for tries := 0; ; tries++ {
				var err error
				if r, err = rdma.Deregister(s.ctx, mr); err == nil {
					break
				}
				is(w, err, barewire.ErrInFlight)
				if tries == 20 {
					now.Store(nil) // over a network one of the two is in flight at any time
				}
				runtime.Gosched()
			}
			v := must(barewire.Open(r))(w)
			var seqs [n]uint64
			for i := range seqs {
				seqs[i] = sample.TickAt(v, i).Seq()
			}
			mark(0) // whoever read now would bring this
			for i, seq := range seqs {
				if got := sample.TickAt(v, i).Seq(); got != seq || seq > 2*round+2 {
					w.Fatalf("round %d: element %d was %d, and is %d", round, i, seq, got)
				}
			}
			ok(w, v.Close())
			now.Store(nil)
		}
		close(stop)
		g.Wait()
		ok(w, r.Close())
		if done.Load() == 0 {
			w.Error("nothing was read")
		}
	})
}
