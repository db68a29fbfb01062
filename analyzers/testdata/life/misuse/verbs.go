// Package misuse has mistakes that real programs were found to have, one function for each of the entries of docs/misuse.md that vet
// catches, by its number, with the same thing done right beside it.
package misuse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	plain  = sample.TickCPU[barewire.Unregistered]
	local  = sample.TickCPU[barewire.Local]
	window = sample.TickWindow[barewire.Local]
	remote = sample.TickRemote[barewire.RemoteReadWrite]
)

// BadVerbs02UseDeregistered keeps the span of a region that it deregisters to grow it.
func BadVerbs02UseDeregistered(ctx context.Context, c *rdma.Conn, mr *local, rem remote, grow func(*plain) error) error {
	header := mr.Span(0, 1)
	r, err := rdma.Deregister(ctx, mr)
	if err != nil {
		return err
	}
	if err := grow(r); err != nil {
		return err
	}
	op, err := rdma.Write(c, rem, header) // want "BW5111 .mr. .* has ended by Deregister, and a view of it .* is used"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// BadVerbs02UseHandle goes on with the handle itself.
func BadVerbs02UseHandle(ctx context.Context, c *rdma.Conn, mr *local, rem remote) error {
	r, err := rdma.Deregister(ctx, mr)
	if err != nil {
		return err
	}
	defer r.Close()
	op, err := rdma.Read(c, mr.Span(0, 1), rem) // want "BW5103 .mr. .* is used after Deregister"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodVerbs02Deregister(ctx context.Context, c *rdma.Conn, mr *local, rem remote) (*plain, error) {
	op, err := rdma.Write(c, rem, mr.Span(0, 1))
	if err != nil {
		return nil, err
	}
	if err := op.Wait(ctx); err != nil {
		return nil, err
	}
	return rdma.Deregister(ctx, mr)
}

// BadVerbs04OtherDomain has one pool of memory for all devices, and registers it in the domain of the first.
func BadVerbs04OtherDomain(ctx context.Context, devices [2]*rdma.Device, r *plain, rem remote) error {
	first, err := devices[0].Domain()
	if err != nil {
		return err
	}
	mr, err := rdma.Register(first, r, sample.TickLocal())
	if err != nil {
		return err
	}
	defer mr.Close()
	second, err := devices[1].Domain()
	if err != nil {
		return err
	}
	conn, err := second.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	op, err := rdma.Write(conn, rem, mr.Span(0, 1)) // want "BW5116 .mr. .* is used with .conn. .*, which belongs to another domain"
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodVerbs04Sibling(ctx context.Context, second *rdma.Domain, mr *local, rem remote) error {
	conn, err := second.Dial(ctx, "peer")
	if err != nil {
		return err
	}
	defer conn.Close()
	here, err := rdma.Also(second, mr, sample.TickLocal())
	if err != nil {
		return err
	}
	defer here.Close()
	op, err := rdma.Write(conn, rem, here.Span(0, 1))
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// BadVerbs13DropAfterPost posts, and lets go of the registration with the function that made it.
func BadVerbs13DropAfterPost(dom *rdma.Domain, c *rdma.Conn, rem remote, n int) (rdma.Op, error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return rdma.Op{}, err
	}
	mr, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return rdma.Op{}, errors.Join(err, r.Close())
	}
	defer mr.Close() // want "BW5108 .mr. .* is ended by Close while an operation on it is in flight"
	return rdma.Write(c, rem, mr.Span(0, n))
}

func GoodVerbs13KeepUntilDone(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote, n int) (err error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	mr, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer func() { err = errors.Join(err, mr.Close()) }()
	op, err := rdma.Write(c, rem, mr.Span(0, n))
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// entry is a value that a store fetches.
type entry struct {
	mr *local
	op rdma.Op
}

// BadVerbs14FreeBeforeDone frees the entry when nobody wants its value any more.
func BadVerbs14FreeBeforeDone(ctx context.Context, c *rdma.Conn, mr *local, rem remote, wanted bool) error {
	op, err := rdma.Read(c, mr.Span(0, mr.Len()), rem) // want "BW5109 .op. .* is not waited for on every path"
	if err != nil {
		return errors.Join(err, mr.Close())
	}
	if !wanted {
		return mr.Close() // want "BW5108 .mr. .* is ended by Close while an operation on it is in flight"
	}
	return errors.Join(op.Wait(ctx), mr.Close())
}

func (e *entry) GoodVerbs14Evict(ctx context.Context) error {
	if err := e.op.Wait(ctx); err != nil {
		return err
	}
	return e.mr.Close()
}

// BadVerbs15BackToPool gives up waiting, and fills the buffer anew.
func BadVerbs15BackToPool(ctx context.Context, c *rdma.Conn, mr *local, w window, rem remote) error {
	op, err := rdma.Read(c, mr.Span(0, 1), rem)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	err = op.Wait(short)
	if errors.Is(err, context.DeadlineExceeded) {
		return mr.Close() // want "BW5108 .mr. .* is ended by Close while an operation on it is in flight"
	}
	return err
}

// BadVerbs15Refill is the same with another fetch's data.
func BadVerbs15Refill(ctx context.Context, c *rdma.Conn, mr *local, rem remote) error {
	return barewire.With(mr, func(w window) error {
		op, err := rdma.Read(c, mr.Span(0, 1), rem)
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); errors.Is(err, context.Canceled) {
			sample.TickAt(w, 0).SetPrice(0) // want "BW5114 memory of .mr. .* is written while an operation that writes it is in flight"
			return err
		} else if err != nil {
			return err
		}
		return nil
	})
}

func GoodVerbs15Drain(ctx context.Context, c *rdma.Conn, mr *local, rem remote) error {
	op, err := rdma.Read(c, mr.Span(0, 1), rem)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := op.Wait(short); errors.Is(err, context.DeadlineExceeded) {
		c.Abort(err)
		return errors.Join(err, c.Drain(ctx), mr.Close())
	} else if err != nil {
		return errors.Join(err, mr.Close())
	}
	return mr.Close()
}

// GoodVerbs15WaitAgain has a second, longer wait.
func GoodVerbs15WaitAgain(ctx context.Context, c *rdma.Conn, mr *local, rem remote) error {
	op, err := rdma.Read(c, mr.Span(0, 1), rem)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	err = op.Wait(short)
	if errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("slow")
		err = op.Wait(context.WithoutCancel(ctx))
	}
	return errors.Join(err, mr.Close())
}

// BadVerbs17SendReused writes the next request over the one that is on its way.
func BadVerbs17SendReused(ctx context.Context, c *rdma.Conn, mr *local, w window, times []int64) error {
	return barewire.With(mr, func(w window) error {
		req := sample.TickAt(w, 0)
		for _, at := range times {
			req.SetTime(at) // want "BW5114 memory of .mr. .* is written while an operation that reads it is in flight"
			if _, err := rdma.Send(c, mr.Span(0, 1)); err != nil {
				return err
			}
		}
		return c.Flush(ctx)
	})
}

func GoodVerbs17Ring(ctx context.Context, c *rdma.Conn, mr *local, times []int64) error {
	return barewire.With(mr, func(w window) error {
		slots := w.Len()
		for i, at := range times {
			if i > 0 && i%slots == 0 {
				if err := c.Flush(ctx); err != nil {
					return err
				}
			}
			sample.TickAt(w, i%slots).SetTime(at)
			if _, err := rdma.Send(c, mr.Span(i%slots, 1)); err != nil {
				return err
			}
		}
		return c.Flush(ctx)
	})
}

// BadVerbs22NeverDeregistered registers memory for each request, and leaves it to the end of the program.
func BadVerbs22NeverDeregistered(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote, n int) error {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return err
	}
	mr, err := rdma.Register(dom, r, sample.TickLocal()) // want "BW5104 .mr. .* is not released on every path"
	if err != nil {
		return errors.Join(err, r.Close())
	}
	op, err := rdma.Read(c, mr.Span(0, n), rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodVerbs22Cached(dom *rdma.Domain, cache *sync.Map, n int) (*local, error) {
	if mr, ok := cache.Load(n); ok {
		return mr.(*local), nil
	}
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	mr, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	cache.Store(n, mr)
	return mr, nil
}

// BadVerbs46Unchecked takes what a read brought without asking whether it did.
func BadVerbs46Unchecked(ctx context.Context, c *rdma.Conn, mr *local, rem remote) (price float64) {
	err := barewire.With(mr, func(w window) error {
		op, err := rdma.Read(c, mr.Span(0, 1), rem)
		if err != nil {
			return err
		}
		op.Wait(ctx) // want "BW5110 .op. .* may have failed"
		price = sample.TickAt(w, 0).Price()
		return nil
	})
	if err != nil {
		return 0
	}
	return price
}

// BadVerbs46Dropped looks at no error at all.
func BadVerbs46Dropped(c *rdma.Conn, mr *local, rem remote) {
	rdma.Write(c, rem, mr.Span(0, 1)) // want "BW5109 .what Write gives. .* is not waited for on every path"
}

func GoodVerbs46Checked(ctx context.Context, c *rdma.Conn, mr *local, rem remote) (price float64, err error) {
	err = barewire.With(mr, func(w window) error {
		op, err := rdma.Read(c, mr.Span(0, 1), rem)
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); err != nil {
			return err
		}
		price = sample.TickAt(w, 0).Price()
		return nil
	})
	return price, err
}

// BadVerbs50PerThread registers the same memory for a second thread.
func BadVerbs50PerThread(dom *rdma.Domain, r *plain) (mrs []*local, err error) {
	for range 2 {
		mr, err := rdma.Register(dom, r, sample.TickLocal()) // want "BW5103 .r. .* is ended by Register, and was ended by Register before"
		if err != nil {
			return mrs, err
		}
		mrs = append(mrs, mr)
	}
	return mrs, nil
}

func GoodVerbs50OneForAll(dom *rdma.Domain, r *plain, work func(*local)) error {
	mr, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { work(mr) })
	}
	wg.Wait()
	return mr.Close()
}
