package good

import (
	"errors"
	"sync"

	barewire "github.com/fidelityframework/barewire-gen/runtime"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// shared is a server's memory: behind a mutex, and closed once however often Close is called.
type shared struct {
	mu     sync.Mutex
	closed bool
	quotes *U
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
	if s.quotes != nil {
		errs = append(errs, s.quotes.Close())
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
	if s.quotes, err = barewire.New(sample.TickInCPU(), n); err != nil {
		return s, err
	}
	if s.win, err = barewire.Open(s.quotes); err != nil {
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
	s := &shared{quotes: r}
	defer s.GoodCloseOnce()
	if bad != nil {
		return bad
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return barewire.With(s.quotes, func(UW) error { return nil })
}
