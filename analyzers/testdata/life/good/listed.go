package good

import (
	"context"
	"errors"

	"golang.org/x/sync/errgroup"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// These keep operations in slices, and end what they are on when all have ended.

func GoodListWaited(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var ops []rdma.Op
	for i := range 8 {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	for _, op := range ops {
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return m.Close()
}

func waitAll(ctx context.Context, ops []rdma.Op) (err error) {
	for _, op := range ops {
		err = errors.Join(err, op.Wait(ctx))
	}
	return err
}

func GoodListByHelper(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	ops := make([]rdma.Op, 0, 8)
	var err error
	for i := range 8 {
		var op rdma.Op
		if op, err = rdma.Read(c, m.Span(i, 1), rem); err != nil {
			break
		}
		ops = append(ops, op)
	}
	return errors.Join(err, waitAll(ctx, ops), m.Close())
}

func GoodListDrained(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var ops []rdma.Op
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	ops = append(ops, op)
	_ = ops
	if err := c.Drain(ctx); err != nil {
		return err
	}
	return m.Close()
}

// GoodListLast waits for the last, which ends those before it.
func GoodListLast(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var ops []rdma.Op
	for i := range 8 {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	if err := ops[len(ops)-1].Wait(ctx); err != nil {
		return err
	}
	return m.Close()
}

type flight struct{ ops []rdma.Op }

func (f *flight) land(ctx context.Context) error { return waitAll(ctx, f.ops) }

func GoodListInStruct(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var f flight
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	f.ops = append(f.ops, op)
	if err := f.land(ctx); err != nil {
		return err
	}
	return m.Close()
}

func GoodListInLiteral(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (err error) {
	var ops []rdma.Op
	defer func() { err = errors.Join(err, m.Close()) }()
	defer func() { err = errors.Join(err, waitAll(ctx, ops)) }()
	for i := range 8 {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	return nil
}

func GoodListByGroup(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var g errgroup.Group
	var ops []rdma.Op
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	ops = append(ops, op)
	g.Go(func() error { return waitAll(ctx, ops) })
	if err := g.Wait(); err != nil {
		return err
	}
	return m.Close()
}

// GoodListJoined waits by another list.
func GoodListJoined(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var some, all []rdma.Op
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	some = append(some, op)
	all = append(all, some...)
	if err := waitAll(ctx, all); err != nil {
		return err
	}
	return m.Close()
}

// GoodListWindow keeps a few in flight, and waits for the oldest.
func GoodListWindow(ctx context.Context, c *rdma.Conn, m *L, rem Rem) (err error) {
	var ops []rdma.Op
	for i := range 64 {
		if len(ops) == 4 {
			if err := ops[0].Wait(ctx); err != nil {
				return err
			}
			ops = ops[1:]
		}
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return err
		}
		ops = append(ops, op)
	}
	for len(ops) > 0 {
		err = errors.Join(err, ops[0].Wait(ctx))
		ops = ops[1:]
	}
	return errors.Join(err, m.Close())
}
