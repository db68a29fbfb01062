// Package mend has wrong functions that can surely be mended: mend.go.golden is how.
package mend

import (
	"context"
	"errors"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	plain  = sample.TickCPU[barewire.Unregistered]
	local  = sample.TickCPU[barewire.Local]
	remote = sample.TickRemote[barewire.RemoteReadWrite]
)

func BadMendLeak(n int) (int, error) {
	r, err := barewire.New(sample.TickInCPU(), n) // want "BW5104"
	if err != nil {
		return 0, err
	}
	return r.Len(), nil
}

func BadMendWindow(r *plain) error {
	w, err := barewire.Open(r) // want "BW5105"
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	return nil
}

func BadMendWait(ctx context.Context, c *rdma.Conn, m *local, rem remote) error {
	op, err := rdma.Write(c, rem, m.Span(0, 1)) // want "BW5109"
	if err != nil {
		return err
	}
	fmt.Println("posted", op)
	return m.Close() // want "BW5108"
}

func BadMendWaitResults(ctx context.Context, c *rdma.Conn, m *local, rem remote) (*plain, int, error) {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return nil, 0, err
	}
	r, err := rdma.Deregister(ctx, m) // want "BW5108"
	if err != nil {
		return nil, 0, errors.Join(err, op.Wait(ctx))
	}
	return r, r.Len(), op.Wait(ctx)
}

func BadMendSecond(m *local) error {
	if err := m.Close(); err != nil {
		return err
	}
	fmt.Println("closed")
	m.Close() // want "BW5102"
	return nil
}

func BadMendBlank(r *plain) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	err = w.Close()
	_ = w.Close() // want "BW5102"
	return err
}

func BadMendSlice(r *plain) ([]sample.Tick, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer w.Close()
	s, err := barewire.Slice(w)
	if err != nil {
		return nil, err
	}
	return s[1:3], nil // want "BW5111"
}

// What follows has no sure way to be mended.

// BadKeepOnePath posts on one way only: the other has nothing to wait for.
func BadKeepOnePath(ctx context.Context, c *rdma.Conn, m *local, rem remote, write bool) (err error) {
	var op rdma.Op
	if write {
		if op, err = rdma.Write(c, rem, m.Span(0, 1)); err != nil {
			return err
		}
	}
	err = m.Close() // want "BW5108"
	if write {
		err = errors.Join(err, op.Wait(ctx))
	}
	return err
}

// BadKeepNoContext has none to wait with.
func BadKeepNoContext(c *rdma.Conn, m *local, rem remote) error {
	op, err := rdma.Write(c, rem, m.Span(0, 1)) // want "BW5109"
	if err != nil {
		return err
	}
	fmt.Println(op)
	return m.Close() // want "BW5108"
}

// BadKeepEither closes it before on one way only.
func BadKeepEither(m *local, early bool) {
	if early {
		if err := m.Close(); err != nil {
			return
		}
	}
	m.Close() // want "BW5102"
}

// BadKeepView returns an element, which has no copy of this form.
func BadKeepView(r *plain) (v sample.TickView, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return v, err
	}
	defer w.Close()
	return sample.TickAt(w, 0), nil // want "BW5111"
}

func BadMendDeferred(m *local) error {
	defer m.Close() // want "BW5102"
	if m.Len() == 0 {
		fmt.Println("empty")
	}
	return m.Close()
}

type shared = barewire.Region[sample.Tick, barewire.CXLShared, barewire.Unregistered]

func BadMendIgnored(s *shared, t *sample.Tick) (int, error) {
	cxl.Publish(s, 0, t) // want "BW5124"
	return 1, nil
}

// BadKeepIgnored gives no error.
func BadKeepIgnored(s *shared, t *sample.Tick) {
	cxl.Publish(s, 0, t) // want "BW5124"
}

// BadKeepSequence has a name for something else.
func BadKeepSequence(s *shared, t *sample.Tick) (uint64, error) {
	n, _ := cxl.Publish(s, 0, t) // want "BW5124"
	return n, nil
}
