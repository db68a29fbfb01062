package good

import (
	"context"
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// borrow opens a window and gives the function that closes it.
func borrow(r *U) (w UW, done func() error, err error) {
	w, err = barewire.Open(r)
	if err != nil {
		return w, nil, err
	}
	return w, w.Close, nil
}

// lease gives a region, and the function that ends it and takes it from the peers first.
func lease(ctx context.Context, dom *rdma.Domain) (*help.M, func(), error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	return m, func() {
		_ = rdma.Revoke(ctx, m)
		_ = m.Close()
	}, nil
}

func GoodBorrowed(r *U) (price float64, err error) {
	w, done, err := borrow(r)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	return sample.TickAt(w, 0).Price(), nil
}

func GoodBorrowedThenClosed(r *U) error {
	w, done, err := borrow(r)
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	if err := done(); err != nil {
		return err
	}
	return r.Close()
}

func GoodLease(ctx context.Context, dom *rdma.Domain) (int, error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return 0, err
	}
	defer release()
	return m.Span(0, 1).Len(), nil
}

// GoodLeaseTwice may call the function twice: on the way out nothing is left to do.
func GoodLeaseTwice(ctx context.Context, dom *rdma.Domain) (int, error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return 0, err
	}
	defer release()
	n := m.Len()
	if n > 4 {
		release()
	}
	return n, nil
}

func GoodLeaseGiven(ctx context.Context, dom *rdma.Domain) (*help.M, func(), error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return nil, nil, err
	}
	if m.Len() < 2 {
		release()
		return nil, nil, errors.New("too small")
	}
	return m, release, nil
}

func GoodLeaseInTest(t *testing.T, ctx context.Context, dom *rdma.Domain) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(release)
	if m.Len() == 0 {
		t.Error("empty")
	}
}

type leased struct {
	m       *help.M
	release func()
}

func GoodLeaseKept(ctx context.Context, dom *rdma.Domain) (*leased, error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return nil, err
	}
	return &leased{m, release}, nil
}

func GoodLeaseStack(ctx context.Context, dom *rdma.Domain, n int) (err error) {
	var all []func()
	defer func() {
		for _, f := range all {
			f()
		}
	}()
	for range n {
		m, release, err := lease(ctx, dom)
		if err != nil {
			return err
		}
		all = append(all, release)
		_ = m.Len()
	}
	return nil
}

func GoodLeaseAfterFunc(ctx context.Context, dom *rdma.Domain) (*help.M, error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, release)
	return m, nil
}
