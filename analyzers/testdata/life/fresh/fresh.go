// Package fresh has functions that were written when the analyzer was done: what it made of them at first says
// what it makes of programs that it has not seen.
package fresh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	M   = sample.TickCPU[barewire.RemoteReadWrite]
	L   = sample.TickCPU[barewire.Local]
	U   = sample.TickCPU[barewire.Unregistered]
	Rem = sample.TickRemote[barewire.RemoteReadWrite]
)

// cache reads ticks of a peer and keeps them for a while.
type cache struct {
	mu    sync.Mutex
	conn  *rdma.Conn
	rem   Rem
	local *L
	view  sample.TickWindow[barewire.Local]
	have  map[int]time.Time
	done  chan struct{}
}

func GoodNewCache(ctx context.Context, dom *rdma.Domain, conn *rdma.Conn, n int) (_ *cache, err error) {
	rem, err := rdma.Import(ctx, conn, "ticks", sample.TickRemoteReadWrite())
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	r, err := barewire.New(sample.TickInCPU(), n, barewire.Named("cache"))
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	local, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cache: %w", err), r.Close())
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, local.Close())
		}
	}()
	w, err := barewire.Open(local)
	if err != nil {
		return nil, fmt.Errorf("cache: %w", err)
	}
	c := &cache{conn: conn, rem: rem, local: local, view: w, have: map[int]time.Time{}, done: make(chan struct{})}
	go c.expire()
	return c, nil
}

func (c *cache) expire() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-c.done:
			return
		case now := <-tick.C:
			c.mu.Lock()
			for i, at := range c.have {
				if now.Sub(at) > time.Minute {
					delete(c.have, i)
				}
			}
			c.mu.Unlock()
		}
	}
}

func (c *cache) GoodGet(ctx context.Context, i int) (float64, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.have[i]; !ok {
		op, err := rdma.Read(c.conn, c.local.Span(i, 1), c.rem.Slice(i, 1))
		if err != nil {
			return 0, err
		}
		if err := op.Wait(ctx); err != nil {
			return 0, err
		}
		c.have[i] = time.Now()
	}
	return sample.TickAt(c.view, i).Price(), nil
}

func (c *cache) GoodPrefetch(ctx context.Context, from, n int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	ops := map[int]rdma.Op{}
	var first error
	for i := from; i < from+n; i++ {
		if _, ok := c.have[i]; ok {
			continue
		}
		op, err := rdma.Read(c.conn, c.local.Span(i, 1), c.rem.Slice(i, 1))
		if err != nil {
			first = err
			break
		}
		ops[i] = op
	}
	for i, op := range ops {
		if err := op.Wait(ctx); err != nil {
			first = cmpOr(first, err)
			continue
		}
		c.have[i] = time.Now()
	}
	return first
}

func cmpOr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

func (c *cache) GoodClose() error {
	close(c.done)
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(c.view.Close(), c.local.Close())
}

// publisher writes ticks, double buffered.
func GoodPublish(ctx context.Context, conn *rdma.Conn, rem Rem, local *L, next func(*sample.Tick) bool) error {
	var ops [2]rdma.Op
	var busy [2]bool
	defer func() {
		for i, op := range ops {
			if busy[i] {
				_ = op.Wait(ctx)
			}
		}
	}()
	w, err := barewire.Open(local)
	if err != nil {
		return err
	}
	defer w.Close()
	var x sample.Tick
	for turn := 0; next(&x); turn = 1 - turn {
		if busy[turn] {
			if err := ops[turn].Wait(ctx); err != nil {
				return err
			}
			busy[turn] = false
		}
		if err := sample.TickAt(w, turn).Store(&x); err != nil {
			return err
		}
		if ops[turn], err = rdma.Write(conn, rem.Slice(turn, 1), local.Span(turn, 1)); err != nil {
			return err
		}
		busy[turn] = true
	}
	return nil
}

func GoodProgram(ctx context.Context) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt)
	defer stop()
	dev, err := rdma.Open(ctx, rdma.Config{})
	if err != nil {
		log.Print(err)
		return 1
	}
	defer dev.Close()
	dom, err := dev.Domain()
	if err != nil {
		log.Print(err)
		return 1
	}
	r, err := barewire.New(sample.TickInCPU(), 64)
	if err != nil {
		log.Print(err)
		return 1
	}
	m, err := rdma.Register(dom, r, sample.TickRemoteReadWrite())
	if err != nil {
		log.Print(err)
		if err := r.Close(); err != nil {
			log.Print(err)
		}
		return 1
	}
	defer func() {
		if err := m.Close(); err != nil {
			log.Print(err)
		}
	}()
	ln, err := dom.Listen(ctx, "")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer ln.Close()
	for {
		conn, err := ln.Accept(ctx)
		if err != nil {
			if ctx.Err() != nil {
				return 0
			}
			log.Print(err)
			return 1
		}
		go func() {
			if err := rdma.Offer(ctx, conn, "ticks", m); err != nil {
				log.Print(err)
			}
		}()
	}
}

type node struct {
	name  string
	m     *M
	left  *node
	right *node
}

func (n *node) GoodCloseTree() error {
	if n == nil {
		return nil
	}
	return errors.Join(n.left.GoodCloseTree(), n.right.GoodCloseTree(), n.m.Close())
}

type source interface {
	Next(ctx context.Context) (*M, error)
}

func GoodFromSource(ctx context.Context, s source) error {
	for {
		m, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		_, rerr := rdma.RemoteOf(m)
		if err := errors.Join(rerr, m.Close()); err != nil {
			return err
		}
	}
}

type registry[K comparable] struct {
	mu sync.RWMutex
	m  map[K]*M
}

func (r *registry[K]) GoodAdd(dom *rdma.Domain, k K) (err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old, ok := r.m[k]; ok {
		delete(r.m, k)
		if err := old.Close(); err != nil {
			return err
		}
	}
	u, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, u, sample.TickRemoteReadWrite())
	if err != nil {
		u.Close()
		return err
	}
	r.m[k] = m
	return nil
}

func (r *registry[K]) GoodDo(k K, f func(*M) error) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	m, ok := r.m[k]
	if !ok {
		return fmt.Errorf("no %v", k)
	}
	return f(m)
}

func GoodBackoff(ctx context.Context, dom *rdma.Domain, r *U) (m *M, err error) {
	for wait := time.Millisecond; ; wait *= 2 {
		if m, err = rdma.Register(dom, r, sample.TickRemoteReadWrite()); err == nil {
			return m, nil
		}
		if !errors.Is(err, barewire.ErrBorrowed) || wait > time.Second {
			return nil, errors.Join(err, r.Close())
		}
		select {
		case <-time.After(wait + rand.N(wait)):
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), r.Close())
		}
	}
}

func GoodTransfer(ctx context.Context, from, to *rdma.Domain, m *L) (*M, error) {
	r, err := rdma.Deregister(ctx, m)
	if err != nil {
		return nil, fmt.Errorf("leaving: %w", errors.Join(err, m.Close()))
	}
	n, err := rdma.Register(to, r, sample.TickRemoteReadWrite())
	if err != nil {
		if back, berr := rdma.Register(from, r, sample.TickLocal()); berr == nil {
			return nil, errors.Join(err, back.Close())
		}
		return nil, errors.Join(err, r.Close())
	}
	return n, nil
}

func GoodSum(rs ...*U) (sum float64, err error) {
	for _, r := range rs {
		if e := barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error {
			for _, v := range sample.TickAll(w) {
				sum += v.Price()
			}
			return nil
		}); e != nil {
			err = errors.Join(err, e)
		}
	}
	return sum, err
}

func GoodFindFirst(r *U, is func(sample.TickView) bool) (x *sample.Tick, err error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, v := range sample.TickAll(w) {
		if is(v) {
			x = new(sample.Tick)
			if err := v.Load(x); err != nil {
				return nil, err
			}
			return x, nil
		}
	}
	return nil, nil
}

func GoodTwoPhase(dom *rdma.Domain, twice bool) error {
	a, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	var b *U
	if twice {
		b, err = barewire.New(sample.TickInCPU(), 1)
	}
	if err == nil && b != nil {
		err = b.Close()
	}
	return errors.Join(err, a.Close())
}

// ---- wrong

func BadCacheClose(c *cache) error {
	if err := c.view.Close(); err != nil {
		return err
	}
	if p := sample.TickAt(c.view, 0).Price(); p > 0 { // want "BW5106 .c.view. .* is used after Close"
		fmt.Println(p)
	}
	return c.local.Close()
}

func BadNewCache(dom *rdma.Domain, conn *rdma.Conn, n int) (*cache, error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	local, err := rdma.Register(dom, r, sample.TickLocal()) // want "BW5104 .local. .* is not released on every path"
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	w, err := barewire.Open(local)
	if err != nil {
		return nil, err
	}
	return &cache{conn: conn, local: local, view: w}, nil
}

func BadTransfer(ctx context.Context, to *rdma.Domain, m *L) (*M, error) {
	r, err := rdma.Deregister(ctx, m) // want "BW5104 .r. .* is not released on every path"
	if err != nil {
		return nil, err
	}
	n, err := rdma.Register(to, r, sample.TickRemoteReadWrite())
	if err != nil {
		return nil, errors.Join(err, m.Close()) // want "BW5103 .m. .* is ended by Close, and was ended by Deregister before"
	}
	return n, nil
}

func BadBackoff(dom *rdma.Domain, r *U) (m *M, err error) {
	for range 3 {
		if m, err = rdma.Register(dom, r, sample.TickRemoteReadWrite()); err == nil {
			break
		}
	}
	return m, errors.Join(err, r.Close()) // want "BW5103 .r. .* is ended by Close, and was ended by Register before"
}

func BadFindFirst(r *U, is func(sample.TickView) bool) (sample.TickView, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return sample.TickView{}, err
	}
	for _, v := range sample.TickAll(w) {
		if is(v) {
			return v, w.Close() // want "BW5111 .w. .* has ended by Close, and a view of it .* is returned"
		}
	}
	return sample.TickView{}, w.Close()
}

func BadLateWindow(ctx context.Context, dom *rdma.Domain, r *U, conn *rdma.Conn) error {
	w, err := barewire.Open(r)
	if err != nil {
		return err
	}
	sample.TickAt(w, 0).SetPrice(1)
	m, err := rdma.Register(dom, r, sample.TickRemoteReadWrite()) // want "BW5107 .r. .* is ended by Register while a window on it is open"
	if err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(rdma.Offer(ctx, conn, "t", m), w.Close(), m.Close())
}

func BadTree(n *node) error {
	if err := n.m.Close(); err != nil {
		return err
	}
	if n.left == nil {
		return n.m.Close() // want "BW5102 .n.m. .* is ended by Close, and was ended by Close before"
	}
	return nil
}

func BadRegistry(r *registry[string]) error {
	m := r.m["a"]
	if m == nil {
		return nil
	}
	defer delete(r.m, "a")
	if err := m.Close(); err != nil {
		return err
	}
	return r.GoodDo("b", func(o *M) error {
		_, err := rdma.RemoteOf(m) // want "BW5101 .m. .* is used after Close"
		return err
	})
}

func BadReads(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, rem Rem) error {
	u, err := barewire.New(sample.TickInCPU(), 4)
	if err != nil {
		return err
	}
	l, err := rdma.Register(dom, u, sample.TickLocal())
	if err != nil {
		return errors.Join(err, u.Close())
	}
	a, err := rdma.Read(c, l.Span(0, 1), rem)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	b, err := rdma.Read(c, l.Span(1, 1), rem)
	if err != nil {
		return errors.Join(err, l.Close()) // want "BW5108 .l. .* is ended by Close while an operation on it is in flight"
	}
	return errors.Join(a.Wait(ctx), b.Wait(ctx), l.Close())
}

func BadSum(r *U) (first *uint64) {
	_ = barewire.With(r, func(w sample.TickWindow[barewire.Unregistered]) error {
		s, err := barewire.Slice(w)
		if err == nil {
			first = &s[0].Seq
		}
		return err
	})
	*first++ // want "BW5111 .the window of With. .* has ended by the end of With, and a view of it .* is used"
	return first
}
