package good

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func GoodOneDomain(ctx context.Context, dev *rdma.Device, rem help.Rem) (err error) {
	dom, err := dev.Domain()
	if err != nil {
		return err
	}
	conn, err := dom.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodConnsDomain(ctx context.Context, conn *rdma.Conn, rem help.Rem) error {
	m, err := help.Open(conn.Domain())
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// GoodTwoDomains has two, and a sibling for the second.
func GoodTwoDomains(ctx context.Context, dev, other *rdma.Device, rem help.Rem) error {
	a, err := dev.Domain()
	if err != nil {
		return err
	}
	b, err := other.Domain()
	if err != nil {
		return err
	}
	m, err := help.Open(a)
	if err != nil {
		return err
	}
	defer m.Close()
	conn, err := b.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	s, err := rdma.Also(b, m, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	defer s.Close()
	op, err := help.Start(conn, s, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// GoodTwoParameters may be the same domain twice.
func GoodTwoParameters(ctx context.Context, dom, same *rdma.Domain, rem help.Rem) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	conn, err := same.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// GoodEither takes the domain that there is.
func GoodEither(ctx context.Context, dev *rdma.Device, conn *rdma.Conn, rem help.Rem) (err error) {
	var dom *rdma.Domain
	if conn != nil {
		dom = conn.Domain()
	} else {
		if dom, err = dev.Domain(); err != nil {
			return err
		}
		if conn, err = dom.Dial(ctx, "peer"); err != nil {
			return err
		}
		defer conn.Close()
	}
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := help.Start(conn, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

type end struct {
	dom  *rdma.Domain
	conn *rdma.Conn
}

func connect(ctx context.Context, dev *rdma.Device) (e end, err error) {
	if e.dom, err = dev.Domain(); err != nil {
		return e, err
	}
	e.conn, err = e.dom.Dial(ctx, "peer")
	return e, err
}

func GoodInStruct(ctx context.Context, dev *rdma.Device, rem help.Rem) error {
	e, err := connect(ctx, dev)
	if err != nil {
		return err
	}
	m, err := help.Open(e.dom)
	if err != nil {
		return err
	}
	defer m.Close()
	op, err := help.Start(e.conn, m, rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// GoodDomainPerTurn makes a new one in each turn, and all else in it.
func GoodDomainPerTurn(ctx context.Context, devs []*rdma.Device) error {
	for _, dev := range devs {
		dom, err := dev.Domain()
		if err != nil {
			return err
		}
		m, err := help.Open(dom)
		if err != nil {
			return err
		}
		conn, err := dom.Dial(ctx, "peer")
		if err != nil {
			return errors.Join(err, m.Close())
		}
		err = rdma.Offer(ctx, conn, "m", m)
		if err := errors.Join(err, conn.Close(), m.Close()); err != nil {
			return err
		}
	}
	return nil
}
