package good

import (
	"errors"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// shared is a server's memory: behind a mutex, and closed once however often Close is called.
type shared struct {
	mu     sync.Mutex
	closed bool
	ticks  *U
	win    UW
}

// GoodCloseOnce may be called several times.
func (s *shared) GoodCloseOnce() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	var errs []error
	if s.win.Len() > 0 {
		errs = append(errs, s.win.Close())
	}
	if s.ticks != nil {
		errs = append(errs, s.ticks.Close())
	}
	return errors.Join(errs...)
}

// GoodNewShared closes what it has made so far where it fails.
func GoodNewShared(n int) (s *shared, err error) {
	s = &shared{}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.GoodCloseOnce())
			s = nil
		}
	}()
	if s.ticks, err = barewire.New(sample.TickInCPU(), n); err != nil {
		return s, err
	}
	if s.win, err = barewire.Open(s.ticks); err != nil {
		return s, err
	}
	sample.TickAt(s.win, 0).SetPrice(1)
	return s, nil
}

// GoodOnceInTheEnd holds by a flag what it has.
func GoodOnceInTheEnd(n int, bad error) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	s := &shared{ticks: r}
	defer s.GoodCloseOnce()
	if bad != nil {
		return bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return barewire.With(s.ticks, func(UW) error { return nil })
}

// onceClosed is closed once by sync.Once, flagged by an atomic flag.
type onceClosed struct {
	once   sync.Once
	closed atomic.Bool
	ticks  *U
	err    error
}

// GoodOnceDo may be called several times.
func (o *onceClosed) GoodOnceDo() error {
	o.once.Do(func() { o.err = o.ticks.Close() })
	return o.err
}

// GoodSwapFlag may be called several times.
func (o *onceClosed) GoodSwapFlag() error {
	if !o.closed.CompareAndSwap(false, true) {
		return nil
	}
	return o.ticks.Close()
}

// GoodDoTwice calls it by defer, and before for its error.
func GoodDoTwice(n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	o := &onceClosed{ticks: r}
	defer o.GoodOnceDo()
	if r.Len() > 3 {
		return nil
	}
	return o.GoodOnceDo()
}

// GoodSwapTwice does so with the flag.
func GoodSwapTwice(n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	o := &onceClosed{ticks: r}
	defer o.GoodSwapFlag()
	if err := o.GoodSwapFlag(); err != nil {
		return err
	}
	return nil
}

// GoodResize closes the old memory, and has new memory in its place.
func (s *shared) GoodResize(n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	if err := s.ticks.Close(); err != nil {
		return errors.Join(err, r.Close())
	}
	s.ticks = r
	return nil
}

// GoodAfterResize closes what is there by then.
func GoodAfterResize(n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	s := &shared{ticks: r}
	if err := s.GoodResize(2 * n); err != nil {
		return errors.Join(err, s.ticks.Close())
	}
	return s.ticks.Close()
}

// GoodMaybe gives a region, nothing, or an error.
func GoodMaybe(n int) (r *U, ok bool, err error) {
	if n == 0 {
		return nil, false, nil
	}
	r, err = barewire.New(sample.TickInCPU(), n)
	return r, err == nil, err
}

// GoodIfAny has nothing to close where there is none.
func GoodIfAny(n int) error {
	r, ok, err := GoodMaybe(n)
	if err != nil {
		return err
	}
	if !ok {
		return nil
	}
	return r.Close()
}
