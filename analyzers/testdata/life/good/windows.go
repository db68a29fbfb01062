package good

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func GoodWindow(r *U) (float64, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	return sample.TickAt(w, 0).Price(), nil
}

func GoodWindowCloseError(r *U) (err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := w.Close(); err == nil {
			err = cerr
		}
	}()
	s, err := barewire.Slice(w)
	if err != nil {
		return err
	}
	for i := range s {
		s[i].Price = float64(i)
	}
	return nil
}

func GoodWindowThenRegister(dom *rdma.Domain) (*M, error) {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return nil, err
	}
	w, err := barewire.Open(r)
	if err != nil {
		r.Close()
		return nil, err
	}
	for i, v := range sample.TickAll(w) {
		v.SetVenue(uint32(i))
	}
	if err := w.Close(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

func GoodDeferOrder(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	fmt.Println(help.First(w).Price())
	return nil
}

func GoodTwoWindows(r *U) error {
	a, err := barewire.Open(r)
	if err != nil {
		return err
	}
	b, err := barewire.Open(r)
	if err != nil {
		return errors.Join(err, a.Close())
	}
	sample.TickAt(a, 0).SetPrice(sample.TickAt(b, 1).Price())
	return errors.Join(a.Close(), b.Close())
}

func GoodWindowPerElement(rs []*U) (sum float64, err error) {
	for _, r := range rs {
		w, err := barewire.Open(r)
		if err != nil {
			return 0, err
		}
		sum += sample.TickAt(w, 0).Price()
		if err := w.Close(); err != nil {
			return 0, err
		}
	}
	return sum, nil
}

func GoodCopyOut(r *U) ([]sample.Tick, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	s, err := barewire.Slice(w)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s), nil
}

func GoodLoadOut(r *U) (x sample.Tick, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return x, err
	}
	err = sample.TickAt(w, 3).Load(&x)
	return x, errors.Join(err, w.Close())
}

func GoodValueOut(r *U) (string, error) {
	var b strings.Builder
	err := barewire.With(r, func(w UW) error {
		for i := range w.Len() {
			fmt.Fprintf(&b, "%g ", sample.TickAt(w, i).Price())
		}
		return nil
	})
	return b.String(), err
}

func GoodWithNested(a, b *U) error {
	return barewire.With(a, func(x UW) error {
		return barewire.With(b, func(y UW) error {
			for i := range min(x.Len(), y.Len()) {
				sample.TickAt(y, i).SetPrice(sample.TickAt(x, i).Price())
			}
			return nil
		})
	})
}

func GoodWithThenClose(dom *rdma.Domain) error {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return err
	}
	werr := barewire.With(r, fill)
	return errors.Join(werr, r.Close())
}

func fill(w UW) error {
	for i := range w.Len() {
		sample.TickAt(w, i).SetSide(uint16(i))
	}
	return nil
}

func GoodWindowGivenOn(r *U) (*holder, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	return &holder{w: w, v: sample.TickAt(w, 0)}, nil
}

type holder struct {
	w UW
	v sample.TickView
}

func (h *holder) GoodUse() float64 { return h.v.Price() }

func (h *holder) GoodClose() error {
	v := h.v.Price()
	if err := h.w.Close(); err != nil {
		return fmt.Errorf("at %g: %w", v, err)
	}
	return nil
}

func GoodReturnWindow(r *U) (UW, error) { return barewire.Open(r) }

func GoodReturnCloser(r *U) (view sample.TickView, done func() error, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return sample.TickView{}, nil, err
	}
	return sample.TickAt(w, 0), w.Close, nil
}

func GoodUseReturned(r *U) error {
	w, err := GoodReturnWindow(r)
	if err != nil {
		return err
	}
	defer w.Close()
	return fill(w)
}

func GoodHelperCloses(m *M) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	_ = help.First(w).Price()
	return help.Shut(w)
}

func GoodWorkers(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for i := range w.Len() {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sample.TickAt(w, i).SetPrice(1)
		}()
	}
	wg.Wait()
	return w.Close()
}

func GoodBreakOut(r *U) (at int, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return -1, err
	}
	defer w.Close()
	for i, v := range sample.TickAll(w) {
		if v.Live() != 0 {
			return i, nil
		}
	}
	return -1, nil
}

func GoodConditionalWindow(r *U, look bool) (p float64, err error) {
	var w UW
	if look {
		if w, err = barewire.Open(r); err != nil {
			return 0, err
		}
	}
	if look {
		p = sample.TickAt(w, 0).Price()
		err = w.Close()
	}
	return p, err
}

func GoodLabelled(rs []*U) error {
next:
	for _, r := range rs {
		w, err := barewire.Open(r)
		if err != nil {
			return err
		}
		for i := range w.Len() {
			if sample.TickAt(w, i).Live() == 0 {
				w.Close()
				continue next
			}
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return nil
}

func GoodReceived(ctx context.Context, conn *rdma.Conn, m *sample.TickCPU[barewire.RemoteWrite]) error {
	w, err := barewire.Open(m)
	if err != nil {
		return err
	}
	defer w.Close()
	for n, err := range conn.Notifications(ctx) {
		if err != nil {
			return err
		}
		s, err := rdma.Received(n, w, 0, 1)
		if err != nil {
			return err
		}
		fmt.Println(s[0].Price)
	}
	return nil
}

func GoodAtomic(r *U) (n uint32, err error) {
	err = barewire.With(r, func(w UW) error {
		a := sample.TickHitsAtomic(w, 0)
		n = a.Add(1)
		return nil
	})
	return n, err
}

func GoodCloseLog(w UW) {
	fmt.Println("closing", w)
	if err := w.Close(); err != nil {
		fmt.Println(w.Len(), err)
	}
}
