package good

import (
	"errors"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// What random programs have shown to be reported, and is no mistake; see TestRandom.

var errNotNow = errors.New("not now")

func GoodDeferPerTurn(dom *rdma.Domain, n int, stop func() error) error {
	for range n {
		m, err := help.Open(dom)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, m.Close()) }()
		if err := stop(); err != nil {
			return err
		}
	}
	return nil
}

func GoodCapturedFlag(dom *rdma.Domain, r *U, more bool) error {
	return barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error {
		var m *M
		if more {
			got, err := help.Open(dom)
			if err != nil {
				return err
			}
			m = got
		}
		println(w.Len())
		if m != nil {
			println(m.Len())
		}
		if more {
			return m.Close()
		}
		return nil
	})
}

func GoodLentFails(dom *rdma.Domain, r *U, more bool) error {
	if err := barewire.With(r, func(sample.TickWindow[barewire.Unregistered]) error {
		if more {
			return errNotNow
		}
		return nil
	}); err != nil {
		return err
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if more {
		return nil // never: the window's function has failed then
	}
	return m.Close()
}

func GoodWindowThenRest(r *U) error {
	w, err := barewire.Open(r)
	if err != nil {
		return errors.Join(err, r.Close())
	}
	sample.TickAt(w, 0).SetPrice(1)
	if err := w.Close(); err != nil {
		return err
	}
	return r.Close()
}

func GoodWindowThenRegion(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	w, err := barewire.Open(m)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	sample.TickAt(w, 0).SetPrice(1)
	if err := w.Close(); err != nil { // it cannot be: nobody else closes it
		return err
	}
	return m.Close()
}

func GoodCloseMaybeClosed(m *M, early bool) error {
	if early {
		if err := m.Close(); err != nil {
			return err
		}
	}
	if err := m.Close(); err != nil && !errors.Is(err, barewire.ErrReleased) {
		return err
	}
	return nil
}

func GoodCapturedFlagInLoop(dom *rdma.Domain, early bool) error {
	return func() error {
		for range 2 {
			m, err := help.Open(dom)
			if err != nil {
				return err
			}
			help.Release(m, early)
			if !early {
				if err := m.Close(); err != nil {
					return err
				}
			}
		}
		return nil
	}()
}

func GoodFlagOutsideLiteral(dom *rdma.Domain, early, late bool) error {
	if !early {
		return errNotNow
	}
	return func() error {
		m, err := help.Open(dom)
		if err != nil {
			return err
		}
		if early && m.Len() > 0 {
			return m.Close()
		}
		if early {
			return m.Close()
		}
		if late {
			return errNotNow // never
		}
		return nil
	}()
}

func GoodOtherWindowFails(m *M, more bool) error {
	outer, err := barewire.Open(m)
	if err != nil {
		return err
	}
	if more {
		inner, err := barewire.Open(m)
		if err != nil {
			return errors.Join(err, outer.Close())
		}
		sample.TickAt(inner, 1).SetPrice(1)
		if err := inner.Close(); err != nil {
			return err
		}
	}
	return outer.Close()
}

// In the next ones what a function literal gives decides a flag that is tested later, or whether a loop is entered is known.

func GoodLiteralTellsFlag(r *U, early bool) error {
	u, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return err
	}
	if err := func() error {
		if !early {
			return errNotNow
		}
		return nil
	}(); err != nil {
		return errors.Join(err, u.Close())
	}
	for range 2 {
		if early {
			return u.Close()
		}
	}
	return nil // never
}

func GoodLiteralTellsFlagBefore(dom *rdma.Domain, early bool) error {
	if err := func() error {
		if !early {
			return errNotNow
		}
		return nil
	}(); err != nil {
		return err
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if m.Len() > 3 {
		println(m.Len())
	}
	if early {
		return m.Close()
	}
	return nil // never
}

func GoodLiteralTellsFlagByVariable(dom *rdma.Domain, early, late bool) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	closed := false
	check := func() bool {
		if early && late {
			return true
		}
		closed = true
		return false
	}
	if !check() {
		_ = m.Close()
	}
	if !closed && early {
		return m.Close()
	}
	return nil
}

func GoodRangeIsEntered(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	for range 2 {
		return m.Close()
	}
	return nil // never
}

func GoodRangeIsEnteredForFlag(dom *rdma.Domain, early bool) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	for range 2 {
		if !early {
			return errors.Join(errNotNow, m.Close())
		}
		println(m.Len())
	}
	if early {
		return m.Close()
	}
	return nil // never
}

func checkFlag(early bool) error {
	if !early {
		return errNotNow
	}
	return nil
}

func GoodHelperTellsFlag(dom *rdma.Domain, early bool) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if err := checkFlag(early); err != nil {
		return errors.Join(err, m.Close())
	}
	if early {
		return m.Close()
	}
	return nil // never
}

func GoodHelperTellsFlagBefore(dom *rdma.Domain, early bool) error {
	if err := checkFlag(early); err != nil {
		return err
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if early {
		return m.Close()
	}
	return nil // never
}

func explain(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("open: %w", err)
}

func GoodHelperTellsError(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err := explain(err); err != nil {
		return err
	}
	if err != nil {
		return nil // never
	}
	return m.Close()
}

func inOrder(n, most int) (bool, error) {
	if n < 0 {
		return false, fmt.Errorf("%d are asked for", n)
	}
	return n <= most, nil
}

func GoodHelperTellsNumber(dom *rdma.Domain, n int) error {
	few, err := inOrder(n, 10)
	if err != nil {
		return err
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if few || m.Len() > 3 {
		if n < 0 {
			return nil // never
		}
		return m.Close()
	}
	return m.Close()
}

func GoodLoopsOverTheSame(dom *rdma.Domain, early bool, n int) error {
	for i := 0; i < n; i++ {
		if early {
			return errNotNow
		}
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	if early {
		for i := 0; i < n; i++ {
			return nil // never
		}
	}
	return m.Close()
}
