package bad

import (
	"context"
	"errors"
	"fmt"
	"iter"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func BadWindowLeak(r *U) (float64, error) {
	w, err := barewire.Open(r) // want "BW5105 .w. .* is not closed on every path"
	if err != nil {
		return 0, err
	}
	return sample.TickAt(w, 0).Price(), nil
}

func BadWindowEarlyReturn(r *U) error {
	w, err := barewire.Open(r) // want "BW5105 .w. .* is not closed on every path"
	if err != nil {
		return err
	}
	if sample.TickAt(w, 0).Live() == 0 {
		return errors.New("not live")
	}
	return w.Close()
}

func BadWindowInLoop(rs []*U) {
	for _, r := range rs {
		w, err := barewire.Open(r) // want "BW5105 .w. .* is not closed on every path"
		if err != nil {
			continue
		}
		sample.TickAt(w, 0).SetPrice(1)
	}
}

func BadWindowTwice(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	defer w.Close() // want "BW5102 .w. .* is ended by Close, and was ended by Close before"
	sample.TickAt(w, 0).SetPrice(1)
	return w.Close()
}

func BadWindowUse(r *U) (float64, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return 0, err
	}
	if err := w.Close(); err != nil {
		return 0, err
	}
	return sample.TickAt(w, 0).Price(), nil // want "BW5106 .w. .* is used after Close"
}

func BadWindowHelper(m *help.M) float64 {
	w, err := barewire.Open(m)
	if err != nil {
		return 0
	}
	help.Shut(w)
	return help.First(w).Price() // want "BW5106 .w. .* is used after Shut"
}

func BadViewUse(r *U) (float64, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return 0, err
	}
	v := sample.TickAt(w, 0)
	if err := w.Close(); err != nil {
		return 0, err
	}
	return v.Price(), nil // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
}

func BadViewReturned(r *U) (v sample.TickView, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return v, err
	}
	defer w.Close()
	return sample.TickAt(w, 0), nil // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
}

func BadSliceReturned(r *U) ([]sample.Tick, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return barewire.Slice(w) // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
}

func BadSliceUse(r *U) float64 {
	w, err := barewire.Open(r)
	if err != nil {
		return 0
	}
	s, err := barewire.Slice(w)
	w.Close()
	if err != nil {
		return 0
	}
	return s[0].Price // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
}

func BadSliceRange(r *U) (sum float64) {
	w, err := barewire.Open(r)
	if err != nil {
		return 0
	}
	s, err := barewire.Slice(w)
	if err := errors.Join(err, w.Close()); err != nil {
		return 0
	}
	for _, t := range s { // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
		sum += t.Price
	}
	return sum
}

func BadSliceWrite(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	s, err := barewire.Slice(w)
	if err != nil {
		return errors.Join(err, w.Close())
	}
	first := &s[0]
	if err := w.Close(); err != nil {
		return err
	}
	first.Price = 3 // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
	return nil
}

func BadViewHelper(m *help.M) float64 {
	w, err := barewire.Open(m)
	if err != nil {
		return 0
	}
	v := help.First(w)
	w.Close()
	return v.Price() // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
}

func BadIteratorReturned(r *U) (iter.Seq2[int, sample.TickView], error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return sample.TickAll(w), nil // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
}

func BadAtomicKept(r *U) uint32 {
	w, err := barewire.Open(r)
	if err != nil {
		return 0
	}
	a := sample.TickHitsAtomic(w, 0)
	w.Close()
	return a.Load() // want "BW5111 .w. .* has ended by Close, and a view of it .* is used"
}

func BadWithKeepsView(r *U) float64 {
	var keep sample.TickView
	err := barewire.With(r, func(w UW) error {
		keep = sample.TickAt(w, 0)
		return nil
	})
	if err != nil {
		return 0
	}
	return keep.Price() // want "BW5111 .the window of With. .* has ended by the end of With, and a view of it .* is used"
}

func BadWithKeepsWindow(r *U) float64 {
	var keep UW
	err := barewire.With(r, func(w UW) error {
		keep = w
		return nil
	})
	if err != nil {
		return 0
	}
	return sample.TickAt(keep, 0).Price() // want "BW5106 .the window of With. .* is used after the end of With"
}

func BadWithClosesRegion(r *U) error {
	return barewire.With(r, func(w UW) error {
		sample.TickAt(w, 0).SetPrice(2)
		return r.Close() // want "BW5107 .r. .* is ended by Close while a window on it is open"
	})
}

func BadWithClosesWindow(r *U) error {
	return barewire.With(r, func(w UW) error {
		w.Close()
		return sample.TickAt(w, 0).Validate() // want "BW5106 .the window of With. .* is used after Close"
	})
}

func BadDeferOrder(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	w, err := barewire.Open(m)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	defer w.Close()
	defer m.Close() // want "BW5107 .m. .* is ended by Close while a window on it is open"
	fmt.Println(help.First(w).Price())
	return nil
}

func BadRegisterBorrowed(dom *rdma.Domain, r *U) (*help.M, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	sample.TickAt(w, 0).SetPrice(1)
	return rdma.Register(dom, r, sample.TickRemoteRead()) // want "BW5107 .r. .* is ended by Register while a window on it is open"
}

func BadCloseBorrowed(r *U) error {
	w, err := barewire.Open(r) // want "BW5105 .w. .* is not closed on every path"
	if err != nil {
		return err
	}
	if err := r.Close(); err != nil { // want "BW5107 .r. .* is ended by Close while a window on it is open"
		return err
	}
	return w.Close()
}

func BadReceivedKept(ctx context.Context, c *rdma.Conn, m *sample.TickCPU[barewire.RemoteWrite]) (s []sample.Tick, err error) {
	w, err := barewire.Open(m)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	n, err := c.NextNotification(ctx)
	if err != nil {
		return nil, err
	}
	return rdma.Received(n, w, 0, 1) // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
}

func BadDropped(c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem) // want "BW5109 .op. .* is not waited for on every path"
	if err != nil {
		return err
	}
	fmt.Println(op)
	return nil
}

func BadDroppedBoth(c *rdma.Conn, m *L, rem Rem) {
	rdma.Write(c, rem, m.Span(0, 1)) // want "BW5109 .what Write gives. .* is not waited for on every path"
}

func BadWaitOnOnePath(ctx context.Context, c *rdma.Conn, m *L, rem Rem, wait bool) error {
	op, err := rdma.Write(c, rem, m.Span(0, 1)) // want "BW5109 .op. .* is not waited for on every path"
	if err != nil {
		return err
	}
	if wait {
		return op.Wait(ctx)
	}
	return nil
}

func BadIgnoredWait(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	op.Wait(ctx) // want "BW5110 .op. .* may have failed"
	return nil
}

func BadCloseInFlight(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	if err := m.Close(); err != nil { // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
		return err
	}
	return op.Wait(ctx)
}

func BadDeregisterInFlight(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (*U, error) {
	op, err := rdma.Write(c, rem, m.Span(0, 1))
	if err != nil {
		return nil, err
	}
	r, err := rdma.Deregister(ctx, m) // want "BW5108 .m. .* is ended by Deregister while an operation on it is in flight"
	if err != nil {
		return nil, err
	}
	return r, op.Wait(ctx)
}

func BadSecondPostFails(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	defer m.Close() // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
	a, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	b, err := rdma.Read(c, m.Span(1, 1), rem)
	if err != nil {
		return err
	}
	return errors.Join(a.Wait(ctx), b.Wait(ctx))
}

func BadHelperInFlight(ctx context.Context, c *rdma.Conn, m *help.M, rem help.Rem) error {
	op, err := help.Start(c, m, rem)
	if err != nil {
		return err
	}
	help.Drop(m) // want "BW5108 .m. .* is ended by Drop while an operation on it is in flight"
	return help.Finish(ctx, op)
}

func BadGatherInFlight(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.WriteGather(c, rem, m.Span(0, 1), m.Span(1, 1))
	if err != nil {
		return err
	}
	if err := m.Close(); err != nil { // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
		return err
	}
	return op.Wait(ctx)
}

func BadSpanKept(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	span := m.Span(0, 1)
	if err := m.Close(); err != nil {
		return err
	}
	op, err := rdma.Read(c, span, rem) // want "BW5111 .m. .* has ended by Close, and a view of it .* is used"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func BadFieldKept(c *rdma.Conn, m *L, f barewire.Field[float64, barewire.RemoteReadWrite]) (rdma.Op, error) {
	local := sample.TickPriceIn(m.Span(0, 1), 0)
	if err := m.Close(); err != nil {
		return rdma.Op{}, err
	}
	return rdma.ReadField(c, local, f) // want "BW5111 .m. .* has ended by Close, and a view of it .* is used"
}

func BadTimeoutThenClose(ctx, short context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem) // want "BW5109 .op. .* is not waited for on every path"
	if err != nil {
		return err
	}
	if !op.Done() {
		return m.Close() // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
	}
	return errors.Join(op.Wait(ctx), m.Close())
}

func BadAtomicDropped(ctx context.Context, c *rdma.Conn, rem sample.TickRemote[barewire.RemoteAtomic]) error {
	op, err := rdma.FetchAdd(c, sample.TickSeqOf(rem, 0), 1) // want "BW5109 .op. .* is not waited for on every path"
	if err != nil {
		return err
	}
	if op.Done() {
		return nil
	}
	return nil
}

// BadCloseAfterWith closes where With has failed what the deferred call closes, too.
func BadCloseAfterWith(n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	defer r.Close() // want "BW5102 .r. .* was ended by Close before"
	err = barewire.With(r, func(w UW) error {
		sample.TickAt(w, 0).SetPrice(1)
		return nil
	})
	if err != nil {
		r.Close()
		return err
	}
	return nil
}
