package bad

import (
	"context"
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// LW is a window on a region that only this side may change.
type LW = sample.TickWindow[barewire.Local]

func BadWriteWhileSent(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	return barewire.With(m, func(w LW) error {
		v := sample.TickAt(w, 0)
		v.SetPrice(1)
		op, err := rdma.Write(c, rem, m.Span(0, 1))
		if err != nil {
			return err
		}
		v.SetPrice(2) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
		return op.Wait(ctx)
	})
}

func BadReadTooEarly(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (price float64, err error) {
	w, err := barewire.Open(m)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	op, err := rdma.Read(c, m.Span(3, 1), rem)
	if err != nil {
		return 0, err
	}
	price = sample.TickAt(w, 3).Price() // want "BW5114 memory of .m. .* is read while an operation that writes it is in flight"
	return price, op.Wait(ctx)
}

func BadReuseInLoop(ctx context.Context, c *rdma.Conn, m *L, rem Rem, prices []float64) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	for i, p := range prices {
		sample.TickAt(w, 0).SetPrice(p) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
		if _, err := rdma.Write(c, rem.Slice(i, 1), m.Span(0, 1)); err != nil {
			return err
		}
	}
	return c.Flush(ctx)
}

func BadSliceStore(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	ticks, err := barewire.Slice(w)
	if err != nil {
		return err
	}
	ticks[0].Price = 1
	op, err := rdma.Write(c, rem, m.Span(0, 4))
	if err != nil {
		return err
	}
	ticks[2].Price = 2 // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	return op.Wait(ctx)
}

func BadWholeInFlight(ctx context.Context, c *rdma.Conn, m *L, rem Rem, i int) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	op, err := rdma.Write(c, rem, m.Span(0, m.Len()))
	if err != nil {
		return err
	}
	sample.TickAt(w, i).SetQty(3) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	return op.Wait(ctx)
}

func BadSameIndex(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	for i := range m.Len() {
		op, err := rdma.Write(c, rem.Slice(i, 1), m.Span(i, 1))
		if err != nil {
			return err
		}
		sample.TickAt(w, i).SetHits(0) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func stamp(v sample.TickView) { v.SetTime(1) }

func BadHelperWrites(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	op, err := rdma.Send(c, m.Span(1, 1))
	if err != nil {
		return err
	}
	stamp(sample.TickAt(w, 1)) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	return op.Wait(ctx)
}

func zero(ticks []sample.Tick) { clear(ticks) }

func BadHelperClears(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	ticks, err := barewire.Slice(w)
	if err != nil {
		return err
	}
	op, err := rdma.Send(c, m.Span(0, m.Len()))
	if err != nil {
		return err
	}
	zero(ticks) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	return op.Wait(ctx)
}

func BadCopyIn(ctx context.Context, c *rdma.Conn, m *L, rem Rem, from []sample.Tick) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	ticks, err := barewire.Slice(w)
	if err != nil {
		return err
	}
	op, err := rdma.Read(c, m.Span(0, m.Len()), rem)
	if err != nil {
		return err
	}
	copy(ticks, from) // want "BW5114 memory of .m. .* is written while an operation that writes it is in flight"
	return op.Wait(ctx)
}

func post(c *rdma.Conn, m *L, rem Rem, i int) (rdma.Op, error) {
	return rdma.Write(c, rem.Slice(i, 1), m.Span(i, 1))
}

func BadHelperPosts(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	op, err := post(c, m, rem, 5)
	if err != nil {
		return err
	}
	sample.TickAt(w, 5).SetSide(1) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	return op.Wait(ctx)
}

func BadDeferredReset(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	defer sample.TickAt(w, 0).SetLive(0) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
	_, err = rdma.Write(c, rem, m.Span(0, 1))
	return err
}

func BadFromRegion(dom *rdma.Domain, c *rdma.Conn, ctx context.Context, rem Rem) (err error) {
	u, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, u, sample.TickLocal())
	if err != nil {
		return errors.Join(err, u.Close())
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	op, err := rdma.WriteNotify(c, rem, m.Span(0, 4), 7)
	if err != nil {
		return err
	}
	err = barewire.With(m, func(w LW) error {
		sample.TickAt(w, 1).SetVenue(2) // want "BW5114 memory of .m. .* is written while an operation that reads it is in flight"
		return nil
	})
	return errors.Join(err, op.Wait(ctx))
}

// BadReadAfterWait has both ends: that the write has ended says nothing of the other.
func BadReadAfterWait(ctx context.Context, c *rdma.Conn, here *L, there *sample.TickCPU[barewire.RemoteReadWrite]) (price float64, err error) {
	rem, err := rdma.RemoteOf(there)
	if err != nil {
		return 0, err
	}
	op, err := rdma.Write(c, rem, here.Span(0, 1))
	if err != nil {
		return 0, err
	}
	if err := op.Wait(ctx); err != nil {
		return 0, err
	}
	err = barewire.With(there, func(w sample.TickWindow[barewire.RemoteReadWrite]) error {
		price = sample.TickAt(w, 0).Price() // want "BW5120 memory of .there. .* is read before what was written to it is in place"
		return nil
	})
	return price, err
}

func BadReadSliceAfterWait(ctx context.Context, c *rdma.Conn, here *L, there *sample.TickCPU[barewire.RemoteReadWrite], i int) (qty float64, err error) {
	rem, err := rdma.RemoteOf(there)
	if err != nil {
		return 0, err
	}
	w, err := barewire.Open(there)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	op, err := rdma.Write(c, rem.Slice(i, 1), here.Span(0, 1))
	if err != nil {
		return 0, err
	}
	if err := op.Wait(ctx); err != nil {
		return 0, err
	}
	return sample.TickAt(w, i).Qty(), nil // want "BW5120 memory of .there. .* is read before what was written to it is in place"
}
