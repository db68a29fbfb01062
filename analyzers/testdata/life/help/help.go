// Package help has no directives: what its functions do is inferred.
package help

import (
	"context"
	"errors"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// What most functions here are about.
type (
	M   = sample.TickCPU[barewire.RemoteRead]
	W   = sample.TickWindow[barewire.RemoteRead]
	Rem = sample.TickRemote[barewire.RemoteRead]
)

func Drop(m *M)                                          { _ = m.Close() }
func DropDeep(m *M)                                      { Drop(m) }
func DropDefer(m *M) int                                 { defer m.Close(); return m.Span(0, 1).Len() }
func DropGen[A barewire.Access](m *sample.TickCPU[A])    { m.Close() }
func Peek(m *M) int                                      { return m.Span(0, 1).Len() }
func Same(m *M) *M                                       { return m }
func With(m *M, f func(*M))                              { f(m) }
func Close(m *M)                                         { m.Close() }
func CloseC(c interface{ Close() error })                { c.Close() }
func CloseG[T interface{ Close() error }](c T)           { c.Close() }
func Start(c *rdma.Conn, m *M, rem Rem) (rdma.Op, error) { return rdma.Read(c, m.Span(0, 1), rem) }
func First(w W) sample.TickView                          { return sample.TickAt(w, 0) }
func Shut(w W) error                                     { return w.Close() }

func TryDrop(m *M, c int) bool {
	if c > 3 {
		m.Close()
		return true
	}
	return false
}

func Release(m *M, really bool) {
	if really {
		m.Close()
	}
}

func Finish(ctx context.Context, o rdma.Op) error {
	if err := o.Wait(ctx); err != nil {
		return err
	}
	return nil
}

// Open makes a region and registers it.
func Open(dom *rdma.Domain) (*M, error) {
	r, err := barewire.New(sample.TickInCPU(), 8)
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

// Holder has a handle in a field.
type Holder struct{ m *M }

// OpenHolder gives a handle away in a struct.
func OpenHolder(dom *rdma.Domain) (*Holder, error) {
	m, err := Open(dom)
	if err != nil {
		return nil, err
	}
	return &Holder{m}, nil
}

func (h *Holder) Close() error { return h.m.Close() }

// CloseAll closes all that it is given.
func CloseAll(ms ...*M) (err error) {
	for _, m := range ms {
		err = errors.Join(err, m.Close())
	}
	return err
}

// Lend closes what it has given to f.
func Lend(dom *rdma.Domain, f func(*M) error) error {
	m, err := Open(dom)
	if err != nil {
		return err
	}
	return errors.Join(f(m), m.Close())
}

// Must is Open for programs that end without.
func Must(dom *rdma.Domain) *M {
	m, err := Open(dom)
	if err != nil {
		panic(err)
	}
	return m
}
