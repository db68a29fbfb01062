package good

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

func GoodErrgroupRead(ctx context.Context, conns []*rdma.Conn, m *L, rem Rem) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(4)
	for i, c := range conns {
		g.Go(func() error {
			op, err := rdma.Read(c, m.Span(i, 1), rem.Slice(i, 1))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		})
	}
	return errors.Join(g.Wait(), m.Close())
}

func GoodErrgroupOpen(dom *rdma.Domain, n int) (_ []*help.M, err error) {
	all := make([]*help.M, n)
	var g errgroup.Group
	for i := range all {
		g.Go(func() (err error) {
			all[i], err = help.Open(dom)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		for _, m := range all {
			if m != nil {
				err = errors.Join(err, m.Close())
			}
		}
		return nil, err
	}
	return all, nil
}

func GoodErrgroupOwn(dom *rdma.Domain, n int) error {
	var g errgroup.Group
	for range n {
		g.Go(func() error {
			r, err := barewire.New(sample.TickInCPU(), 1)
			if err != nil {
				return err
			}
			w, err := barewire.Open(r)
			if err != nil {
				return errors.Join(err, r.Close())
			}
			sample.TickAt(w, 0).SetPrice(1)
			return errors.Join(w.Close(), r.Close())
		})
	}
	if err := g.Wait(); err != nil {
		return fmt.Errorf("some of %d: %w", n, err)
	}
	return nil
}
