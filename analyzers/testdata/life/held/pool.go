package held

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// buffers is a pool of registered buffers of one size.
type buffers struct {
	dom  *rdma.Domain
	size int
	free chan *inbox
	made atomic.Int64
	max  int64
}

var errClosedPool = errors.New("the pool is closed")

// acquire takes a buffer that is free, makes one while there may be more, or waits.
func (p *buffers) acquire(ctx context.Context) (*lent, error) {
	select {
	case b, ok := <-p.free:
		if !ok {
			return nil, errClosedPool
		}
		return &lent{inbox: b, home: p}, nil
	default:
	}
	if p.made.Add(1) <= p.max {
		b, err := p.make()
		if err != nil {
			p.made.Add(-1)
			return nil, err
		}
		return &lent{inbox: b, home: p}, nil
	}
	p.made.Add(-1)
	select {
	case b, ok := <-p.free:
		if !ok {
			return nil, errClosedPool
		}
		return &lent{inbox: b, home: p}, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (p *buffers) make() (*inbox, error) {
	raw, err := barewire.New(sample.TickInCPU(), p.size)
	if err != nil {
		return nil, err
	}
	b, err := rdma.Register(p.dom, raw, sample.TickLocal())
	if err != nil {
		_ = raw.Close()
		return nil, err
	}
	return b, nil
}

// lent is a buffer of a pool; Release gives it back, once.
type lent struct {
	*inbox
	home *buffers
	once sync.Once
}

func (l *lent) Release() {
	l.once.Do(func() {
		select {
		case l.home.free <- l.inbox:
		default:
			if err := l.inbox.Close(); err == nil {
				l.home.made.Add(-1)
			}
		}
	})
}

func (p *buffers) GoodShutdown() (err error) {
	close(p.free)
	for b := range p.free {
		err = errors.Join(err, b.Close())
	}
	return err
}

// GoodWithBuffer lends a buffer to a function.
func (p *buffers) GoodWithBuffer(ctx context.Context, do func(*inbox) error) error {
	l, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer l.Release()
	return do(l.inbox)
}

// GoodTransferOut reads through a lent buffer, which goes back when the read has ended.
func (p *buffers) GoodTransferOut(ctx context.Context, c *rdma.Conn, rem far, to []sample.Tick) error {
	l, err := p.acquire(ctx)
	if err != nil {
		return err
	}
	defer l.Release()
	for at := 0; at < len(to); at += p.size {
		n := min(p.size, len(to)-at)
		op, err := rdma.Read(c, l.Span(0, n), rem.Slice(at, n))
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); err != nil {
			if derr := c.Drain(context.WithoutCancel(ctx)); derr != nil {
				return errors.Join(err, derr)
			}
			return err
		}
		if err := barewire.With(l.inbox, func(w sample.TickWindow[barewire.Local]) error {
			s, err := barewire.Slice(w)
			if err != nil {
				return err
			}
			copy(to[at:], s[:n])
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// arena makes regions and closes all of them at the end.
type arena struct {
	closers []func() error
	failed  error
}

func (a *arena) defers(f func() error) { a.closers = append(a.closers, f) }

func (a *arena) ticks(n int) *bare {
	if a.failed != nil {
		return nil
	}
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		a.failed = err
		return nil
	}
	a.defers(r.Close)
	return r
}

func (a *arena) Close() error {
	err := a.failed
	for i := range a.closers {
		err = errors.Join(err, a.closers[len(a.closers)-1-i]())
	}
	a.closers = nil
	return err
}

func GoodArena() (err error) {
	var a arena
	defer func() { err = errors.Join(err, a.Close()) }()
	x, y := a.ticks(1), a.ticks(2)
	if a.failed != nil {
		return nil
	}
	return barewire.With(x, func(from sample.TickWindow[barewire.Unregistered]) error {
		return barewire.With(y, func(to sample.TickWindow[barewire.Unregistered]) error {
			sample.TickAt(to, 0).SetPrice(sample.TickAt(from, 0).Price())
			return nil
		})
	})
}

// spec builds a region step by step.
type spec struct {
	n     int
	name  string
	huge  bool
	also  []*rdma.Domain
	onErr func(error)
}

func (s spec) named(name string) spec          { s.name = name; return s }
func (s spec) mirrored(d ...*rdma.Domain) spec { s.also = append(s.also, d...); return s }

func (s spec) build(dom *rdma.Domain) (m *store, others []*store, err error) {
	var opts []barewire.Option
	if s.huge {
		opts = append(opts, barewire.HugePages())
	}
	if s.name != "" {
		opts = append(opts, barewire.Named(s.name))
	}
	r, err := barewire.New(sample.TickInCPU(), s.n, opts...)
	if err != nil {
		return nil, nil, err
	}
	if m, err = rdma.Register(dom, r, sample.TickRemoteReadWrite()); err != nil {
		return nil, nil, errors.Join(err, r.Close())
	}
	for _, d := range s.also {
		o, err := rdma.Also(d, m, sample.TickRemoteReadWrite())
		if err != nil {
			for _, o := range others {
				err = errors.Join(err, o.Close())
			}
			return nil, nil, errors.Join(err, m.Close())
		}
		others = append(others, o)
	}
	return m, others, nil
}

func GoodBuild(dom, spare *rdma.Domain) error {
	m, others, err := spec{n: 8}.named("built").mirrored(spare).build(dom)
	if err != nil {
		return err
	}
	for _, o := range others {
		defer o.Close()
	}
	return m.Close()
}

// parallel runs functions and gives the first error, as errgroup does.
type parallel struct {
	wg   sync.WaitGroup
	once sync.Once
	err  error
}

func (p *parallel) do(f func() error) {
	p.wg.Add(1)
	go func() {
		defer p.wg.Done()
		if err := f(); err != nil {
			p.once.Do(func() { p.err = err })
		}
	}()
}

func (p *parallel) wait() error { p.wg.Wait(); return p.err }

func GoodFanOut(ctx context.Context, conns []*rdma.Conn, m *store) error {
	var p parallel
	for _, c := range conns {
		p.do(func() error { return rdma.Offer(ctx, c, "m", m) })
	}
	if err := p.wait(); err != nil {
		return errors.Join(err, m.Close())
	}
	return nil
}

func GoodFillParallel(dom *rdma.Domain, n int) (_ []*store, err error) {
	all := make([]*store, n)
	var p parallel
	for i := range all {
		p.do(func() (err error) {
			all[i], _, err = spec{n: 1}.build(dom)
			return err
		})
	}
	if err := p.wait(); err != nil {
		for _, m := range all {
			if m != nil {
				err = errors.Join(err, m.Close())
			}
		}
		return nil, err
	}
	return all, nil
}

// GoodSwitchover closes the old when the new is in place, whichever it was.
func GoodSwitchover(cur *atomic.Pointer[store], dom *rdma.Domain) error {
	next, _, err := spec{n: 4, name: "next"}.build(dom)
	if err != nil {
		return err
	}
	if old := cur.Swap(next); old != nil {
		return old.Close()
	}
	return nil
}

// GoodTake moves a region out of an optional, or says that there is none.
func GoodTake(opt **store) (m *store, err error) {
	if m = *opt; m == nil {
		return nil, errClosedPool
	}
	*opt = nil
	return m, nil
}

// GoodUntil tries again while the region is borrowed by somebody else.
func GoodUntil(ctx context.Context, m *store, idle <-chan struct{}) error {
	for {
		err := m.Close()
		if !errors.Is(err, barewire.ErrBorrowed) && !errors.Is(err, barewire.ErrInFlight) {
			return err
		}
		select {
		case <-idle:
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		}
	}
}

// GoodExchange is a state machine over one buffer.
func GoodExchange(ctx context.Context, c *rdma.Conn, in *inbox, rem far, rounds int) (err error) {
	const (
		idle = iota
		reading
		writing
	)
	state, op := idle, rdma.Op{}
	for n := 0; n < rounds; {
		switch state {
		case idle:
			if op, err = rdma.Read(c, in.Span(0, 1), rem.Slice(0, 1)); err != nil {
				return err
			}
			state = reading
		case reading:
			if err := op.Wait(ctx); err != nil {
				return err
			}
			if op, err = rdma.Write(c, rem.Slice(1, 1), in.Span(0, 1)); err != nil {
				return err
			}
			state = writing
		case writing:
			if err := op.Wait(ctx); err != nil {
				return err
			}
			n++
			state = idle
		}
	}
	if state != idle {
		return op.Wait(ctx)
	}
	return nil
}

// ---- wrong

// BadAcquire makes a buffer, and drops it where the pool was closed meanwhile.
func (p *buffers) BadAcquire(closed *atomic.Bool) (*lent, error) {
	b, err := p.make() // want "BW5104"
	if err != nil {
		return nil, err
	}
	if closed.Load() {
		return nil, errClosedPool
	}
	return &lent{inbox: b, home: p}, nil
}

// BadRelease closes a buffer that it also gives back.
func (l *lent) BadRelease(broken bool) {
	if broken {
		if err := l.inbox.Close(); err != nil {
			return
		}
	}
	if l.inbox.Span(0, 1).Len() == 1 { // want "BW5101"
		l.home.free <- l.inbox
	}
}

// BadTransfer returns at the wrong error: the write goes on while the buffer closes.
func (p *buffers) BadTransfer(ctx context.Context, c *rdma.Conn, rem far) error {
	b, err := p.make()
	if err != nil {
		return err
	}
	op, err := rdma.Write(c, rem, b.Span(0, 1)) // want "BW5109"
	if err != nil {
		return errors.Join(err, b.Close())
	}
	if n, err := c.NextNotification(ctx); err != nil || n.Imm == 0 {
		return errors.Join(err, b.Close()) // want "BW5108"
	}
	return errors.Join(op.Wait(ctx), b.Close())
}

// BadArena closes what the arena closes again.
func BadArena() (err error) {
	var todo []func() error
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	todo = append(todo, r.Close)
	if err := r.Close(); err != nil {
		return err
	}
	for _, f := range todo {
		err = errors.Join(err, f()) // miss functions in a slice
	}
	return err
}

// BadBuild gives its own region away and closes it.
func BadBuild(dom *rdma.Domain, n int) (m *store, err error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }() // want "BW5103"
	if m, err = rdma.Register(dom, r, sample.TickRemoteReadWrite()); err != nil {
		return nil, fmt.Errorf("build: %w", err)
	}
	return m, nil
}

// BadSwitchover uses what the swap has closed.
func BadSwitchover(cur *store, dom *rdma.Domain, c *rdma.Conn, ctx context.Context) (*store, error) {
	retire := func(m *store) error {
		if m == nil {
			return nil
		}
		return m.Close()
	}
	next, _, err := spec{n: cur.Len()}.build(dom)
	if err != nil {
		return cur, err
	}
	if err := retire(cur); err != nil {
		return cur, errors.Join(err, next.Close())
	}
	return next, rdma.Offer(ctx, c, "old", cur) // want "BW5101"
}

// BadLast closes every region that it is given, and then tells of the last.
func BadLast(all ...*store) (back barewire.Back, err error) {
	var last *store
	for _, m := range all {
		if err := m.Close(); err != nil {
			return back, err
		}
		last = m
	}
	if last == nil {
		return back, nil
	}
	return barewire.Backing(last) // want "BW5101"
}
