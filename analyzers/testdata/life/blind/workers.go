// Package blind has functions that were written without a look at what the analyzer makes of them, as users of the runtime would
// write them: first the functions, then one run, then what there was to mend. docs/vet.md has the counts of that run.
package blind

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	plain  = sample.TickCPU[barewire.Unregistered]
	local  = sample.TickCPU[barewire.Local]
	table  = sample.TickCPU[barewire.RemoteRead]
	remote = sample.TickRemote[barewire.RemoteRead]
	window = sample.TickWindow[barewire.RemoteRead]
)

// newTable makes a table that peers read.
func newTable(dom *rdma.Domain, n int) (*table, error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, fmt.Errorf("table of %d: %w", n, err)
	}
	t, err := rdma.Register(dom, r, sample.TickRemoteRead())
	if err != nil {
		if cerr := r.Close(); cerr != nil {
			log.Printf("close: %v", cerr)
		}
		return nil, fmt.Errorf("table of %d: %w", n, err)
	}
	return t, nil
}

// job is what a worker does with a buffer.
type job struct {
	at   int
	done chan<- error
}

// pool has workers with a buffer each.
type pool struct {
	jobs chan job
	wg   sync.WaitGroup
	mu   sync.Mutex
	errs []error
}

func (p *pool) note(err error) {
	if err == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.errs = append(p.errs, err)
}

func (p *pool) work(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) {
	defer p.wg.Done()
	buf, err := newTable(dom, 1)
	if err != nil {
		p.note(err)
		return
	}
	defer func() { p.note(buf.Close()) }()
	for {
		select {
		case <-ctx.Done():
			return
		case j, ok := <-p.jobs:
			if !ok {
				return
			}
			op, err := rdma.Read(c, buf.Span(0, 1), rem.Slice(j.at, 1))
			if err == nil {
				err = op.Wait(ctx)
			}
			j.done <- err
		}
	}
}

// GoodWorkerPool starts workers, and ends with them.
func GoodWorkerPool(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote, n int) error {
	p := &pool{jobs: make(chan job)}
	for range n {
		p.wg.Add(1)
		go p.work(ctx, dom, c, rem)
	}
	for i := range 100 {
		done := make(chan error, 1)
		p.jobs <- job{i, done}
		if err := <-done; err != nil {
			p.note(err)
			break
		}
	}
	close(p.jobs)
	p.wg.Wait()
	return errors.Join(p.errs...)
}

// GoodErrgroupWorkers gives each goroutine a buffer of its own.
func GoodErrgroupWorkers(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	g, ctx := errgroup.WithContext(ctx)
	for i := range 4 {
		g.Go(func() (err error) {
			buf, err := newTable(dom, 8)
			if err != nil {
				return err
			}
			defer func() {
				if cerr := buf.Close(); cerr != nil && err == nil {
					err = cerr
				}
			}()
			op, err := rdma.Read(c, buf.Span(0, 8), rem.Slice(8*i, 8))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		})
	}
	return g.Wait()
}

// GoodRetryDial makes the buffer once, and tries the read a few times.
func GoodRetryRead(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	buf, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	defer buf.Close()
	var last error
	for attempt := 0; attempt < 3; attempt++ {
		if attempt > 0 {
			select {
			case <-time.After(time.Duration(attempt) * time.Second):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		op, err := rdma.Read(c, buf.Span(0, 1), rem)
		if err != nil {
			last = err
			continue
		}
		if last = op.Wait(ctx); last == nil {
			return nil
		}
	}
	return fmt.Errorf("gave up: %w", last)
}

// GoodRetryOpen makes one at each attempt, and keeps the first that can be opened.
func GoodRetryOpen(ctx context.Context, dom *rdma.Domain) (*table, error) {
	backoff := 10 * time.Millisecond
	for {
		t, err := newTable(dom, 64)
		if err == nil {
			return t, nil
		}
		if !errors.Is(err, barewire.ErrNoMemory) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(backoff):
			backoff *= 2
		}
	}
}

// GoodUntilOne closes those that do not fit.
func GoodUntilOne(dom *rdma.Domain, fits func(int) bool) (*table, error) {
	for n := 1; n < 1<<20; n *= 2 {
		t, err := newTable(dom, n)
		if err != nil {
			return nil, err
		}
		if fits(t.Len()) {
			return t, nil
		}
		if err := t.Close(); err != nil {
			return nil, err
		}
	}
	return nil, errors.New("none fits")
}

// GoodContextAfterFunc closes it when the context ends, if it was not closed before.
func GoodContextAfterFunc(ctx context.Context, dom *rdma.Domain) (*table, error) {
	t, err := newTable(dom, 4)
	if err != nil {
		return nil, err
	}
	context.AfterFunc(ctx, func() { _ = t.Close() })
	return t, nil
}

// GoodTimeout waits for a while and drains if that was too short.
func GoodTimeout(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) (err error) {
	buf, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, buf.Close()) }()
	op, err := rdma.Read(c, buf.Span(0, 1), rem)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if err := op.Wait(short); err != nil {
		return errors.Join(err, c.Drain(ctx))
	}
	return nil
}

// GoodPipeline hands buffers from stage to stage; the last closes them.
func GoodPipeline(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem remote) error {
	filled := make(chan *table)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(filled)
		for i := range 16 {
			t, err := newTable(dom, 1)
			if err != nil {
				return err
			}
			op, err := rdma.Read(c, t.Span(0, 1), rem.Slice(i, 1))
			if err != nil {
				return errors.Join(err, t.Close())
			}
			if err := op.Wait(ctx); err != nil {
				return errors.Join(err, t.Close())
			}
			select {
			case filled <- t:
			case <-ctx.Done():
				return errors.Join(ctx.Err(), t.Close())
			}
		}
		return nil
	})
	g.Go(func() error {
		var err error
		for t := range filled {
			err = errors.Join(err, t.Close())
		}
		return err
	})
	return g.Wait()
}

// GoodFreeList takes a buffer from a channel, and puts it back whatever happens.
func GoodFreeList(ctx context.Context, free chan *table, c *rdma.Conn, rem remote) error {
	t := <-free
	defer func() { free <- t }()
	op, err := rdma.Read(c, t.Span(0, 1), rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// GoodFreeListOrNew makes one if there is none, and closes it if there is no room for it.
func GoodFreeListOrNew(dom *rdma.Domain, free chan *table, use func(*table) error) (err error) {
	var t *table
	select {
	case t = <-free:
	default:
		if t, err = newTable(dom, 1); err != nil {
			return err
		}
	}
	defer func() {
		select {
		case free <- t:
		default:
			err = errors.Join(err, t.Close())
		}
	}()
	return use(t)
}

// GoodSemaphore holds a slot while the buffer lives.
func GoodSemaphore(ctx context.Context, slots chan struct{}, dom *rdma.Domain) error {
	select {
	case slots <- struct{}{}:
		defer func() { <-slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	t, err := newTable(dom, 1)
	if err != nil {
		return err
	}
	return t.Close()
}

// GoodTicker swaps the table now and then.
func GoodTicker(ctx context.Context, dom *rdma.Domain, publish func(*table)) (err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var current *table
	defer func() {
		if current != nil {
			err = errors.Join(err, current.Close())
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			next, err := newTable(dom, 4)
			if err != nil {
				return err
			}
			publish(next)
			if current != nil {
				if err := current.Close(); err != nil {
					current = next
					return err
				}
			}
			current = next
		}
	}
}
