package devices

import (
	"context"
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

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

// GoodPoolAfterRegions closes what it has of the pool first.
func GoodPoolAfterRegions(ctx context.Context) (err error) {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	for n := range 3 {
		r, err := cxl.New(pool, sample.TickInCXL(), n+1)
		if err != nil {
			return err
		}
		if err := r.Close(); err != nil {
			return err
		}
	}
	return nil
}

// GoodPoolOfRegistered closes the pool after the region that its memory went on in.
func GoodPoolOfRegistered(ctx context.Context, dom *rdma.Domain) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	r, err := cxl.New(pool, sample.TickInCXL(), 8)
	if err != nil {
		return err
	}
	mr, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer mr.Close()
	return serve(ctx)
}

func serve(ctx context.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// GoodPoolKept gives the region to others, who close it before.
func GoodPoolKept(ctx context.Context, keep func(*sample.TickCXL[barewire.Unregistered]) error) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXL(), 1)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return errors.Join(keep(r), pool.Close())
}

// GoodPoolMaybe takes a pool or none, for a place that has a fallback; helpers of it may.
func GoodPoolMaybe(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		pool = nil
	}
	r, err := fromPool(pool)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return errors.Join(r.Close(), pool.Close())
}

func fromPool(p *cxl.Pool) (*sample.TickUnified[barewire.Unregistered], error) {
	return cxl.New(p, sample.TickInCXLOrUnified(), 4)
}

// GoodPoolOrNil hands on a pool that was not made.
func GoodPoolOrNil(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		r, err := fromPool(pool)
		if err != nil {
			return err
		}
		return r.Close()
	}
	return pool.Close()
}

// BadPoolClosed makes a region of a pool that was closed.
func BadPoolClosed(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	if err := pool.Close(); err != nil {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXL(), 1) // want "BW5101 .pool. .*is used after Close"
	if err != nil {
		return err
	}
	return r.Close()
}

// BadPoolClosedBefore does it by a helper.
func BadPoolClosedBefore(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	if err := pool.Close(); err != nil {
		return err
	}
	r, err := fromPool(pool) // want "BW5101 .pool. .*is used after Close"
	if err != nil {
		return err
	}
	return r.Close()
}

// BadPoolBeforeRegion closes the pool while a region of it is not.
func BadPoolBeforeRegion(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXL(), 1)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	if err := pool.Close(); err != nil { // want "BW5107 .pool. .*is ended by Close while a handle on a part of it is not"
		return errors.Join(err, r.Close())
	}
	return r.Close()
}

// BadPoolDefers has its defers in the wrong order.
func BadPoolDefers(ctx context.Context) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	r, err := fromPool(pool)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	defer r.Close()
	defer pool.Close() // want "BW5107 .pool. .*is ended by Close while a handle on a part of it is not"
	return serve(ctx)
}

// BadPoolBeforeRegistered closes the pool while the region that its memory went on in is not.
func BadPoolBeforeRegistered(ctx context.Context, dom *rdma.Domain) error {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	r, err := cxl.New(pool, sample.TickInCXL(), 8)
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	mr, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return errors.Join(err, r.Close(), pool.Close())
	}
	return errors.Join(pool.Close(), mr.Close()) // want "BW5107 .pool. .*is ended by Close while a handle on a part of it is not"
}

// GoodPoolCleanups has a test end them, the last first.
func GoodPoolCleanups(t *testing.T) {
	pool, err := cxl.Open(t.Context())
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := pool.Close(); err != nil {
			t.Error(err)
		}
	})
	r, err := cxl.New(pool, sample.TickInCXL(), 1)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
}

// GoodPoolRefuses wants the error.
func GoodPoolRefuses(t *testing.T, pool *cxl.Pool) {
	r, err := cxl.New(pool, sample.TickInCXL(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Close(); !errors.Is(err, cxl.ErrInUse) {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// GoodPoolOfMany has the regions in a list.
func GoodPoolOfMany(ctx context.Context, n int) (err error) {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return err
	}
	var all []*sample.TickCXL[barewire.Unregistered]
	for range n {
		r, e := cxl.New(pool, sample.TickInCXL(), 1)
		if err = e; err != nil {
			break
		}
		all = append(all, r)
	}
	for _, r := range all {
		err = errors.Join(err, r.Close())
	}
	return errors.Join(err, pool.Close())
}

// tier has a pool and a region of it.
type tier struct {
	pool *cxl.Pool
	mem  *sample.TickCXL[barewire.Unregistered]
}

func openTier(ctx context.Context) (*tier, error) {
	pool, err := cxl.Open(ctx)
	if err != nil {
		return nil, err
	}
	mem, err := cxl.New(pool, sample.TickInCXL(), 64)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return &tier{pool, mem}, nil
}

// Close ends both.
func (t *tier) Close() error { return errors.Join(t.mem.Close(), t.pool.Close()) }

// GoodPoolInFields has both in a struct.
func GoodPoolInFields(ctx context.Context) error {
	t, err := openTier(ctx)
	if err != nil {
		return err
	}
	return t.Close()
}

// store has a pool, and a region of it.
type store struct {
	pool *cxl.Pool
	r    *sample.TickCXL[barewire.Unregistered]
}

// GoodStore closes them in order.
func GoodStore(ctx context.Context) (err error) {
	var s store
	if s.pool, err = cxl.Open(ctx); err != nil {
		return err
	}
	if s.r, err = cxl.New(s.pool, sample.TickInCXL(), 8); err != nil {
		return errors.Join(err, s.pool.Close())
	}
	return errors.Join(s.r.Close(), s.pool.Close())
}

// BadStoreFirst closes the pool first, all in fields.
func BadStoreFirst(ctx context.Context) (err error) {
	var s store
	if s.pool, err = cxl.Open(ctx); err != nil {
		return err
	}
	if s.r, err = cxl.New(s.pool, sample.TickInCXL(), 8); err != nil {
		return errors.Join(err, s.pool.Close())
	}
	return errors.Join(s.pool.Close(), s.r.Close()) // want "BW5107 .s.pool. .* is ended by Close while a handle on a part of it is not"
}

func BadStorePointer(ctx context.Context) (err error) {
	s := &store{}
	if s.pool, err = cxl.Open(ctx); err != nil {
		return err
	}
	if s.r, err = cxl.New(s.pool, sample.TickInCXL(), 8); err != nil {
		return errors.Join(err, s.pool.Close())
	}
	return errors.Join(s.pool.Close(), s.r.Close()) // want "BW5107 .s.pool. .* is ended by Close while a handle on a part of it is not"
}

// BadStoreAdds makes a region of a pool that it was given in a field.
func (s *store) BadStoreAdds() error {
	r, err := cxl.New(s.pool, sample.TickInCXL(), 8)
	if err != nil {
		return err
	}
	s.r = r
	return errors.Join(s.pool.Close(), s.r.Close()) // miss BW5107 what is put into a parameter is others' too
}

func (s *store) close() error { return errors.Join(s.pool.Close(), s.r.Close()) }

// BadStoreMethod has a method close them in the wrong order.
func BadStoreMethod(ctx context.Context) (err error) {
	s := &store{}
	if s.pool, err = cxl.Open(ctx); err != nil {
		return err
	}
	if s.r, err = cxl.New(s.pool, sample.TickInCXL(), 8); err != nil {
		return errors.Join(err, s.pool.Close())
	}
	return s.close() // miss BW5107 the effects of a method are of one field each
}
