package good

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These have cleanups of tests, and defers, that end what somebody else does not.

func GoodCleanupOnly(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	_ = m.Span(0, 1)
}

// GoodCleanupUnlessClosed asks before it closes.
func GoodCleanupUnlessClosed(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	t.Cleanup(func() {
		if !closed {
			m.Close()
		}
	})
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	closed = true
}

// GoodCleanupOfAnother closes the one that is there in the end.
func GoodCleanupOfAnother(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if m, err = help.Open(dom); err != nil {
		t.Fatal(err)
	}
}

// GoodCleanupRegistered closes what it was before it was registered, which gives an error and no harm.
func GoodCleanupRegistered(t *testing.T, dom *rdma.Domain) *M {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// GoodCleanupSeesError closes it to see that the second time is an error.
func GoodCleanupSeesError(t *testing.T, dom *rdma.Domain) {
	m, err := help.Open(dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); !errors.Is(err, barewire.ErrReleased) {
			t.Error(err)
		}
	})
}

// GoodDeferOnError closes only what it does not return.
func GoodDeferOnError(dom *rdma.Domain, f func(*M) error) (_ *M, err error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if err = f(m); err != nil {
		return nil, err
	}
	return m, nil
}

// GoodReturnsAnother returns what it has made of it.
func GoodReturnsAnother(dom *rdma.Domain) (int, error) {
	m, err := help.Open(dom)
	if err != nil {
		return 0, err
	}
	defer m.Close()
	return m.Len(), nil
}
