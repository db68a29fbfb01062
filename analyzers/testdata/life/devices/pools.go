package devices

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/cxl"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// These are about pools of runtime/cxl.

// GoodPoolOrNone takes no pool for one: the place has a fallback.
func GoodPoolOrNone(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil && !errors.Is(err, cxl.ErrNoCXL) {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXLOrUnified(), 1)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return errors.Join(r.Close(), pool.Close())
}

// BadPoolLeft has closed the region, and not the pool.
func BadPoolLeft(ctx context.Context) error {
	pool, err := cxl.Open(ctx) // want "BW5104 .pool. .*is not released on every path"
	if err != nil {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXL(), 1)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return r.Close()
}
