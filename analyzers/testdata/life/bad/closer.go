package bad

import (
	"context"
	"errors"

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

// lease gives a region and the function that ends it.
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

func BadBorrowedLate(r *U) (float64, error) {
	w, done, err := borrow(r)
	if err != nil {
		return 0, err
	}
	v := sample.TickAt(w, 0)
	if err := done(); err != nil {
		return 0, err
	}
	return v.Price(), nil // want "BW5111 .w. .* has ended by done, and a view of it .* is used"
}

func BadBorrowedLeak(r *U) (float64, error) {
	w, done, err := borrow(r) // want "BW5105 .w. .* is not closed on every path"
	if err != nil {
		return 0, err
	}
	if sample.TickAt(w, 0).Live() == 0 {
		return 0, errors.New("not live")
	}
	return sample.TickAt(w, 0).Price(), done()
}

func BadBorrowedClosed(r *U) error {
	w, done, err := borrow(r)
	if err != nil {
		return err
	}
	defer done()
	sample.TickAt(w, 0).SetPrice(1)
	return r.Close() // want "BW5107 .r. .* is ended by Close while a window on it is open"
}

func BadLeaseClosed(ctx context.Context, dom *rdma.Domain) error {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return err
	}
	release()
	return m.Close() // want "BW5102 .m. .* is ended by Close, and was ended by release before"
}

func BadLeaseUsed(ctx context.Context, dom *rdma.Domain) (int, error) {
	m, release, err := lease(ctx, dom)
	if err != nil {
		return 0, err
	}
	release()
	return m.Span(0, 1).Len(), nil // want "BW5101 .m. .* is used after release"
}

func BadLeaseForgotten(ctx context.Context, dom *rdma.Domain) (int, error) {
	m, _, err := lease(ctx, dom) // want "BW5104 .m. .* is not released on every path"
	if err != nil {
		return 0, err
	}
	return m.Len(), nil
}

// again hands on what it was given.
func again(ctx context.Context, dom *rdma.Domain) (*help.M, func(), error) { return lease(ctx, dom) }

func BadLeaseAgain(ctx context.Context, dom *rdma.Domain) error {
	m, release, err := again(ctx, dom)
	if err != nil {
		return err
	}
	defer release()
	release()
	_, err = rdma.RemoteOf(m) // want "BW5101 .m. .* is used after release"
	return err
}
