package later

import (
	"context"
	"errors"
)

// Order is a stream of a GPU: what is given to it happens one after the other. Of two streams nobody knows which is ahead.
//
//barewire:type domain
type Order struct{ n int }

// NewOrder makes one.
//
//barewire:effect fresh=0 on ok
func NewOrder() (*Order, error) { return &Order{}, nil }

// Ordered is memory of a GPU that something in an order works on: it is good in that order only.
//
//barewire:type handle
type Ordered struct{ n int }

// CopyIn starts a copy to b. From then on b is in the order.
//
//barewire:effect moves=b on ok, fresh=0 on ok, within=0 of o
func (o *Order) CopyIn(b *Buffer, from []float32) (*Ordered, error) {
	if len(from) != b.n {
		return nil, errors.New("another length")
	}
	return &Ordered{b.n}, nil
}

// Kernel starts a kernel that reads b.
//
//barewire:effect uses=b, meets=b of o
func (o *Order) Kernel(b *Ordered) error { return nil }

// After has o wait until the order that b was in has come to here, and takes b over.
//
//barewire:effect moves=b on ok, fresh=0 on ok, within=0 of o
func (o *Order) After(b *Ordered) (*Ordered, error) { return &Ordered{b.n}, nil }

// Close frees b when its order has come to here.
//
//barewire:effect releases=b on ok
func (b *Ordered) Close() error { return nil }

// Mirrored is memory of a GPU with a copy of it on the host. Kernels work on the one, the program on the other.
//
//barewire:type handle
type Mirrored struct{ host []float32 }

// NewMirrored allocates n elements on both sides.
//
//barewire:effect fresh=0 on ok
func NewMirrored(n int) (*Mirrored, error) { return &Mirrored{make([]float32, n)}, nil }

// Download brings the host's copy up to date, and waits for the kernels before.
//
//barewire:effect acquires=m on ok
func (m *Mirrored) Download(ctx context.Context) error { return ctx.Err() }

// Host is the host's copy, until a kernel runs.
//
//barewire:effect needs=m, views=0 of m at all
func (m *Mirrored) Host() []float32 { return m.host }

// Upload brings the GPU's memory up to date.
//
//barewire:effect cleans=m
func (m *Mirrored) Upload(ctx context.Context) error { return ctx.Err() }

// Run starts a kernel that reads and writes the GPU's memory.
//
//barewire:effect hands=m, yields=m
func (m *Mirrored) Run() error { return nil }

// Close frees both.
//
//barewire:effect releases=m on ok
func (m *Mirrored) Close() error { return nil }

// Pages are mapped memory that is on no node before it is touched: then it is where the touch finds it, and stays there.
//
//barewire:type handle
type Pages struct{ words []uint64 }

// MapPages maps n words.
//
//barewire:effect fresh=0 on ok
func MapPages(n int) (*Pages, error) { return &Pages{make([]uint64, n)}, nil }

// Bind says which node the pages are to be on. It moves none.
//
//barewire:effect acquires=p on ok
func (p *Pages) Bind(node int) error {
	if node < 0 {
		return errors.New("no such node")
	}
	return nil
}

// Lock has all pages in memory, and keeps them there: it touches them.
//
//barewire:effect needs=p
func (p *Pages) Lock() error { return nil }

// Words are the memory.
//
//barewire:effect needs=p, views=0 of p at all
func (p *Pages) Words() []uint64 { return p.words }

// Close unmaps them.
//
//barewire:effect releases=p on ok
func (p *Pages) Close() error { return nil }
