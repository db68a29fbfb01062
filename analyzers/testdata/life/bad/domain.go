package bad

import (
	"context"
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// local makes a region for one side only.
func local(dom *rdma.Domain) (*L, error) {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

func BadTwoDomains(ctx context.Context, dev *rdma.Device, rem Rem) error {
	a, err := dev.Domain()
	if err != nil {
		return err
	}
	b, err := dev.Domain()
	if err != nil {
		return err
	}
	conn, err := a.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	m, err := local(b)
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := rdma.Write(conn, rem, m.Span(0, 1)) // want "BW5116 .m. .* is used with .conn. .*, which belongs to another domain"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func BadTwoDevices(ctx context.Context, first, second *rdma.Device, rem Rem) (err error) {
	in, err := first.Domain()
	if err != nil {
		return err
	}
	out, err := second.Domain()
	if err != nil {
		return err
	}
	m, err := help.Open(in)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	ln, err := out.Listen(ctx, "")
	if err != nil {
		return err
	}
	defer ln.Close()
	conn, err := ln.Accept(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return rdma.Offer(ctx, conn, "m", m) // want "BW5116 .m. .* is used with .conn. .*, which belongs to another domain"
}

func BadOwnDomain(ctx context.Context, dev *rdma.Device, conn *rdma.Conn, rem help.Rem) error {
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := help.Start(conn, m, rem) // want "BW5116 .m. .* is used with .conn. .*, which belongs to another domain"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func BadBatchOfOther(ctx context.Context, dev *rdma.Device, m *L, rem Rem) error {
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	conn, err := dom.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	b := conn.Batch()
	if _, err := rdma.Write(b, rem, m.Span(0, 1)); err != nil { // want "BW5116 .m. .* is used with .b. .*, which belongs to another domain"
		return err
	}
	return errors.Join(b.Post(), conn.Flush(ctx))
}

func BadSiblingOfOther(ctx context.Context, dev, other *rdma.Device, m *help.M) error {
	a, err := dev.Domain()
	if err != nil {
		return err
	}
	b, err := other.Domain()
	if err != nil {
		return err
	}
	s, err := rdma.Also(b, m, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	defer s.Close()
	conn, err := a.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	return rdma.Offer(ctx, conn, "s", s) // want "BW5116 .s. .* is used with .conn. .*, which belongs to another domain"
}
