package fresh

import (
	"context"
	"errors"
	"fmt"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type UW = sample.TickWindow[barewire.Unregistered]

func newRegion(n int) (*U, error) { return barewire.New(sample.TickInCPU(), n) }

func GoodDeferArgument(n int) error {
	r, err := newRegion(n)
	if err != nil {
		return err
	}
	defer func(r *U) {
		if err := r.Close(); err != nil {
			fmt.Println(err)
		}
	}(r)
	return barewire.With(r, func(w UW) error { return sample.TickAt(w, 0).Validate() })
}

func GoodWorkQueue(ctx context.Context, jobs <-chan int, out chan<- *U) error {
	for n := range jobs {
		r, err := newRegion(n)
		if err != nil {
			return err
		}
		select {
		case out <- r:
		case <-ctx.Done():
			return errors.Join(ctx.Err(), r.Close())
		}
	}
	return nil
}

func GoodDrainQueue(in <-chan *U) (err error) {
	for r := range in {
		if e := r.Close(); e != nil {
			err = errors.Join(err, e)
		}
	}
	return err
}

type lease struct {
	r    *U
	once sync.Once
	err  error
}

func (l *lease) Close() error {
	l.once.Do(func() { l.err = l.r.Close() })
	return l.err
}

func GoodLease(n int) (*lease, error) {
	r, err := newRegion(n)
	if err != nil {
		return nil, err
	}
	return &lease{r: r}, nil
}

func GoodUseLease(n int) error {
	l, err := GoodLease(n)
	if err != nil {
		return err
	}
	defer l.Close()
	if l.r.Len() == 0 {
		return l.Close()
	}
	return nil
}

type callbacks struct {
	onOpen  func(*U)
	onClose map[string]func() error
}

func GoodCallbacks(c *callbacks, n int) error {
	r, err := newRegion(n)
	if err != nil {
		return err
	}
	if c.onOpen != nil {
		c.onOpen(r)
	}
	c.onClose["r"] = r.Close
	return nil
}

func open2(r *U) (w UW, done func(), err error) {
	w, err = barewire.Open(r)
	if err != nil {
		return w, nil, err
	}
	return w, func() {
		if err := w.Close(); err != nil {
			fmt.Println(err)
		}
	}, nil
}

func GoodOpen2(r *U) (float64, error) {
	w, done, err := open2(r)
	if err != nil {
		return 0, err
	}
	defer done()
	return sample.TickAt(w, 0).Price(), nil
}

func GoodCompare(a, b *U) (same bool, err error) {
	err = barewire.With(a, func(x UW) error {
		w, err := barewire.Open(b)
		if err != nil {
			return err
		}
		defer w.Close()
		same = x.Len() == w.Len()
		for i := 0; same && i < x.Len(); i++ {
			same = sample.TickAt(x, i).Price() == sample.TickAt(w, i).Price()
		}
		return nil
	})
	return same, err
}

func GoodScatter(ctx context.Context, conns []*rdma.Conn, rems []Rem, m *L) (err error) {
	type sent struct {
		to int
		op rdma.Op
	}
	var all []sent
	defer func() {
		for _, s := range all {
			if e := s.op.Wait(ctx); e != nil {
				err = errors.Join(err, fmt.Errorf("to %d: %w", s.to, e))
			}
		}
	}()
	for i, c := range conns {
		op, err := rdma.Write(c, rems[i], m.Span(0, m.Len()))
		if err != nil {
			return err
		}
		all = append(all, sent{i, op})
	}
	return nil
}

func GoodRing(ctx context.Context, c *rdma.Conn, rem Rem, m *L, n int) error {
	const depth = 4
	var ring [depth]rdma.Op
	for i := range n {
		if i >= depth {
			if err := ring[i%depth].Wait(ctx); err != nil {
				return err
			}
		}
		op, err := rdma.Write(c, rem.Slice(i, 1), m.Span(i%depth, 1))
		if err != nil {
			return err
		}
		ring[i%depth] = op
	}
	return c.Flush(ctx)
}

func GoodGrow(old *U, n int) (*U, error) {
	if old != nil && old.Len() >= n {
		return old, nil
	}
	r, err := newRegion(n)
	if err != nil {
		return old, err
	}
	if old == nil {
		return r, nil
	}
	if err := copyTicks(r, old); err != nil {
		return old, errors.Join(err, r.Close())
	}
	if err := old.Close(); err != nil {
		return old, errors.Join(err, r.Close())
	}
	return r, nil
}

func copyTicks(to, from *U) error {
	return barewire.With(from, func(f UW) error {
		return barewire.With(to, func(t UW) error {
			src, err := barewire.Slice(f)
			if err != nil {
				return err
			}
			dst, err := barewire.Slice(t)
			if err != nil {
				return err
			}
			copy(dst, src)
			return nil
		})
	})
}

func GoodEither(dom *rdma.Domain, r *U, share bool) (c interface{ Close() error }, err error) {
	if share {
		m, err := rdma.Register(dom, r, sample.TickRemoteReadWrite())
		if err != nil {
			return nil, errors.Join(err, r.Close())
		}
		return m, nil
	}
	l, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return l, nil
}

// ---- wrong

func BadDeferArgument(n int) error {
	r, err := newRegion(n)
	if err != nil {
		return err
	}
	defer func(r *U) { r.Close() }(r) // want "BW5102 .r. .* is ended by Close, and was ended by Close before"
	return r.Close()
}

func BadWorkQueue(ctx context.Context, jobs <-chan int, out chan<- *U) error {
	for n := range jobs {
		r, err := newRegion(n) // want "BW5104 .r. .* is not released on every path"
		if err != nil {
			return err
		}
		select {
		case out <- r:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func BadOpen2(r *U) float64 {
	w, done, err := open2(r)
	if err != nil {
		return 0
	}
	done()
	return sample.TickAt(w, 0).Price() // want "BW5106 .w. .* is used after done"
}

func BadGrow(old *U, n int) (*U, error) {
	r, err := newRegion(n) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return old, err
	}
	if err := copyTicks(r, old); err != nil {
		return old, err
	}
	return r, old.Close()
}

func BadCompare(a, b *U) (bool, error) {
	x, err := barewire.Open(a)
	if err != nil {
		return false, err
	}
	defer x.Close()
	y, err := barewire.Open(b) // want "BW5105 .y. .* is not closed on every path"
	if err != nil {
		return false, err
	}
	return x.Len() == y.Len(), nil
}

func BadScatter(ctx context.Context, a, b *rdma.Conn, rem Rem, m *L) error {
	first, err := rdma.Write(a, rem, m.Span(0, 1))
	if err != nil {
		return err
	}
	if _, err := rdma.Write(b, rem, m.Span(0, 1)); err != nil {
		fmt.Println(err)
	}
	if err := m.Close(); err != nil { // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
		return err
	}
	return first.Wait(ctx)
}

func BadEither(dom *rdma.Domain, r *U, share bool) (interface{ Close() error }, error) {
	if share {
		m, err := rdma.Register(dom, r, sample.TickRemoteReadWrite())
		if err != nil {
			return nil, err
		}
		return m, nil
	}
	if err := r.Close(); err != nil {
		return nil, err
	}
	return r, barewire.With(r, func(w UW) error { return nil }) // want "BW5101 .r. .* is used after Close"
}

func BadLease(n int) (l *lease, err error) {
	l = new(lease)
	if l.r, err = newRegion(n); err != nil { // want "BW5104 .l.r. .* is not released on every path"
		return nil, err
	}
	if l.r.Len() < 2 {
		return nil, errors.New("too small")
	}
	return l, nil
}

func BadCopyTicks(to, from *U) error {
	var src []sample.Tick
	if err := barewire.With(from, func(f UW) (err error) {
		src, err = barewire.Slice(f)
		return err
	}); err != nil {
		return err
	}
	return barewire.With(to, func(t UW) error {
		dst, err := barewire.Slice(t)
		if err != nil {
			return err
		}
		copy(dst, src) // want "BW5111 .the window of With. .* has ended by the end of With, and a view of it .* is used"
		return nil
	})
}

func BadGoWait(ctx context.Context, c *rdma.Conn, rem Rem, n int) error {
	r, err := newRegion(n)
	if err != nil {
		return err
	}
	w, err := barewire.Open(r)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	for i := range w.Len() {
		sample.TickAt(w, i).SetPrice(1)
	}
	if err := r.Close(); err != nil { // want "BW5107 .r. .* is ended by Close while a window on it is open"
		return errors.Join(err, w.Close())
	}
	return w.Close()
}
