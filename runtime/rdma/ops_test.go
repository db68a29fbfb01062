package rdma_test

import (
	"sync"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// prices sets the prices of a region's elements.
func prices[A barewire.Access](t testing.TB, r *barewire.Region[sample.Tick, barewire.CPU, A], price func(i int) float64) {
	t.Helper()
	ok(t, barewire.With(r, func(w barewire.Window[sample.Tick, A]) error {
		for i := range w.Len() {
			sample.TickAt(w, i).SetPrice(price(i))
		}
		return nil
	}))
}

// price is the price of an element.
func price[A barewire.Access](t testing.TB, r *barewire.Region[sample.Tick, barewire.CPU, A], i int) (p float64) {
	t.Helper()
	ok(t, barewire.With(r, func(w barewire.Window[sample.Tick, A]) error {
		p = sample.TickAt(w, i).Price()
		return nil
	}))
	return p
}

func TestWriteAndRead(t *testing.T) {
	for _, mode := range []rdma.Mode{rdma.ByEvent, rdma.Adaptive, rdma.Busy} {
		p := connect(t, rdma.Config{Mode: mode}, soft.Config{})
		if mode == rdma.Busy {
			pollUntilDone(t, p.a.conn)
		}
		ctx := limit(t)
		target := ticks(t, p.a.dom, 100, sample.TickRemoteReadWrite())
		rem := share(t, &p.a, &p.b, "ticks", target, sample.TickRemoteReadWrite())
		local := ticks(t, p.b.dom, 100, sample.TickLocal())
		prices(t, local, func(i int) float64 { return float64(i) + 0.5 })

		op := must(rdma.Write(p.b.conn, rem.Slice(10, 50), local.Span(20, 50)))(t)
		ok(t, op.Wait(ctx))
		ok(t, p.b.conn.Flush(ctx))
		if got := price(t, target, 10); got != 20.5 {
			t.Errorf("element 10 at the peer has the price %v, want 20.5", got)
		}
		if got := price(t, target, 59); got != 69.5 {
			t.Errorf("element 59 at the peer has the price %v, want 69.5", got)
		}
		if got := price(t, target, 60); got != 0 {
			t.Errorf("element 60 at the peer has the price %v, and was not written", got)
		}
		ok(t, must(rdma.Read(p.b.conn, local.Span(0, 1), rem.Slice(59, 1)))(t).Wait(ctx))
		if got := price(t, local, 0); got != 69.5 {
			t.Errorf("read the price %v, want 69.5", got)
		}
	}
}

// pollUntilDone polls for a side that waits for nothing, in the mode Busy.
func pollUntilDone(t testing.TB, c *rdma.Conn) {
	t.Cleanup(pollNow(c))
}

// pollNow polls until the function that it returns is called.
func pollNow(c *rdma.Conn) (stop func()) {
	done := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				if !c.Poll() {
					time.Sleep(10 * time.Microsecond)
				}
			}
		}
	})
	return func() { close(done); g.Wait() }
}
