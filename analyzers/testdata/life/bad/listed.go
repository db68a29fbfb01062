package bad

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
)

func BadListErrorPath(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, rem help.Rem) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	var ops []rdma.Op
	for i := range 8 {
		op, err := rdma.Read(c, m.Span(i, 1), rem)
		if err != nil {
			return errors.Join(err, m.Close()) // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
		}
		ops = append(ops, op)
	}
	for _, op := range ops {
		err = errors.Join(err, op.Wait(ctx))
	}
	return errors.Join(err, m.Close())
}

func BadListNobodyWaits(c *rdma.Conn, m *M, rem help.Rem) error {
	var ops []rdma.Op
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	ops = append(ops, op)
	_ = ops
	return m.Close() // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
}

func BadListDeferredClose(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, rem help.Rem) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close() // want "BW5108 .m. .* is ended by Close while an operation on it is in flight"
	ops := make([]rdma.Op, 0, 2)
	for i := range 2 {
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
	return nil
}
