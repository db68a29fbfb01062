package good

import (
	"context"
	"errors"
	"fmt"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type (
	L   = sample.TickCPU[barewire.Local]
	Rem = sample.TickRemote[barewire.RemoteReadWrite]
)

func GoodReadOne(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem.Slice(0, 1))
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodReadThenClose(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, rem Rem) (err error) {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		return errors.Join(err, r.Close())
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodPipeline(ctx context.Context, c *rdma.Conn, m *L, rem Rem, n int) error {
	ops := make([]rdma.Op, 0, n)
	var err error
	for i := range n {
		var op rdma.Op
		if op, err = rdma.Read(c, m.Span(i, 1), rem.Slice(i, 1)); err != nil {
			break
		}
		ops = append(ops, op)
	}
	for _, op := range ops {
		err = errors.Join(err, op.Wait(ctx))
	}
	return err
}

func GoodLastOfMany(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	var last rdma.Op
	for i := range 8 {
		op, err := rdma.Write(c, rem.Slice(i, 1), m.Span(i, 1))
		if err != nil {
			return err
		}
		last = op
	}
	return last.Wait(ctx)
}

func GoodBatch(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	b := c.Batch()
	for i := range 8 {
		if _, err := rdma.Write(b, rem.Slice(i, 1), m.Span(i, 1)); err != nil {
			return err
		}
	}
	if err := b.Post(); err != nil {
		return err
	}
	return c.Flush(ctx)
}

func GoodFlush(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	if _, err := rdma.Write(c, rem, m.Span(0, 1)); err != nil {
		return err
	}
	if err := c.Flush(ctx); err != nil {
		return err
	}
	return m.Close()
}

func GoodLeaveToCaller(c *rdma.Conn, m *L, rem Rem) error {
	_, err := rdma.Write(c, rem, m.Span(0, 1))
	return err
}

func GoodDrainOnError(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	defer m.Close()
	first, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	second, err := rdma.Read(c, m.Span(1, 1), rem)
	if err != nil {
		c.Abort(err)
		return errors.Join(err, c.Drain(ctx))
	}
	return errors.Join(first.Wait(ctx), second.Wait(ctx))
}

func GoodWaitInCleanup(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	first, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	second, err := rdma.Read(c, m.Span(1, 1), rem)
	if err != nil {
		first.Wait(ctx)
		return err
	}
	if err := first.Wait(ctx); err != nil {
		_ = second.Wait(ctx)
		return err
	}
	return second.Wait(ctx)
}

func GoodPoll(c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	for !op.Done() {
		time.Sleep(time.Microsecond)
	}
	return m.Close()
}

func GoodTimeout(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	short, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	if err := op.Wait(short); errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("slow:", op)
		return op.Wait(ctx)
	} else if err != nil {
		return err
	}
	return nil
}

type pending struct {
	op rdma.Op
	m  *L
}

func GoodPendingStruct(c *rdma.Conn, m *L, rem Rem) (pending, error) {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return pending{}, err
	}
	return pending{op, m}, nil
}

func (p pending) GoodFinish(ctx context.Context) error {
	if err := p.op.Wait(ctx); err != nil {
		return err
	}
	return p.m.Close()
}

func GoodOpChannel(c *rdma.Conn, m *L, rem Rem, done chan<- rdma.Op) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	done <- op
	return nil
}

func GoodOpGoroutine(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	if err != nil {
		return err
	}
	errs := make(chan error, 1)
	go func() { errs <- op.Wait(ctx) }()
	if err := <-errs; err != nil {
		return err
	}
	return m.Close()
}

func GoodOpHelper(ctx context.Context, c *rdma.Conn, m *help.M, rem help.Rem) error {
	op, err := help.Start(c, m, rem)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	err = help.Finish(ctx, op)
	return errors.Join(err, m.Close())
}

func GoodRetryPost(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.Read(c, m.Span(0, 1), rem)
	for errors.Is(err, rdma.ErrQueueFull) {
		if err = c.WaitRoom(ctx); err != nil {
			return err
		}
		op, err = rdma.Read(c, m.Span(0, 1), rem)
	}
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodSpanHeld(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	span := m.Span(0, 4)
	for i := range 4 {
		op, err := rdma.Read(c, span, rem.Slice(i, 4))
		if err != nil {
			return err
		}
		if err := op.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

func GoodGather(ctx context.Context, c *rdma.Conn, m *L, rem Rem) error {
	op, err := rdma.WriteGather(c, rem, m.Span(0, 1), m.Span(4, 1))
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	return m.Close()
}

func GoodAtomicOp(ctx context.Context, c *rdma.Conn, rem sample.TickRemote[barewire.RemoteAtomic]) (uint64, error) {
	op, err := rdma.FetchAdd(c, sample.TickSeqOf(rem, 0), 1)
	if err != nil {
		return 0, err
	}
	return op.Wait(ctx)
}

func GoodSwitchOnKind(ctx context.Context, c *rdma.Conn, m *L, rem Rem, write bool) error {
	var op rdma.Op
	var err error
	switch {
	case write:
		op, err = rdma.Write(c, rem, m.Span(0, 1))
	default:
		op, err = rdma.Read(c, m.Span(0, 1), rem)
	}
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodMoveAround(ctx context.Context, dom *rdma.Domain) error {
	r, err := barewire.New(sample.TickInCPU(), 1)
	if err != nil {
		return err
	}
	m, err := rdma.Register(dom, r, sample.TickLocal())
	if err != nil {
		r.Close()
		return err
	}
	r, err = rdma.Deregister(ctx, m)
	if err != nil {
		return errors.Join(err, m.Close())
	}
	return r.Close()
}

func GoodSiblings(dom, other *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	s, err := rdma.Also(other, m, sample.TickRemoteRead())
	if err != nil {
		return errors.Join(err, m.Close())
	}
	if err := m.Close(); err != nil {
		return errors.Join(err, s.Close())
	}
	fmt.Println(s.Span(0, 1))
	return s.Close()
}

func GoodOfferAndKeep(ctx context.Context, c *rdma.Conn, dom *rdma.Domain) (*help.M, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	if err := rdma.Offer(ctx, c, "m", m); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return m, nil
}

func GoodSwap(dom *rdma.Domain, keep **help.M) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	old := *keep
	*keep = m
	if old == nil {
		return nil
	}
	return old.Close()
}

func register[A barewire.Registered](dom *rdma.Domain, n int, g barewire.Grant[sample.Tick, A]) (*sample.TickCPU[A], error) {
	r, err := barewire.New(sample.TickInCPU(), n)
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(dom, r, g)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return m, nil
}

func GoodGeneric(dom *rdma.Domain) error {
	a, err := register(dom, 1, sample.TickLocal())
	if err != nil {
		return err
	}
	defer a.Close()
	b, err := register(dom, 1, sample.TickRemoteWrite())
	if err != nil {
		return err
	}
	return b.Close()
}

type closers []func() error

func (c *closers) add(f func() error) { *c = append(*c, f) }

func (c closers) close() (err error) {
	for i := len(c) - 1; i >= 0; i-- {
		err = errors.Join(err, c[i]())
	}
	return err
}

func GoodClosers(dom *rdma.Domain) (err error) {
	var stack closers
	defer func() { err = errors.Join(err, stack.close()) }()
	a, err := help.Open(dom)
	if err != nil {
		return err
	}
	stack.add(a.Close)
	b, err := help.Open(dom)
	if err != nil {
		return err
	}
	stack.add(b.Close)
	fmt.Println(a.Len(), b.Len())
	return nil
}

type builder struct {
	dom *rdma.Domain
	m   *help.M
	err error
}

func (b *builder) region() *builder {
	if b.err == nil {
		b.m, b.err = help.Open(b.dom)
	}
	return b
}

func (b *builder) build() (*help.M, error) { return b.m, b.err }

func GoodBuilder(dom *rdma.Domain) error {
	m, err := (&builder{dom: dom}).region().build()
	if err != nil {
		return err
	}
	return m.Close()
}

func GoodCloseUnlessKept(dom *rdma.Domain) (*help.M, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	ok := false
	defer func() {
		if !ok {
			m.Close()
		}
	}()
	if m.Len() < 2 {
		return nil, errors.New("too small")
	}
	ok = true
	return m, nil
}

func GoodCloseOnError(dom *rdma.Domain) (_ *help.M, err error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			m.Close()
		}
	}()
	if m.Len() < 2 {
		return nil, fmt.Errorf("%d are too few", m.Len())
	}
	return m, nil
}

func GoodPanicSafe(dom *rdma.Domain) (err error) {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
		err = errors.Join(err, m.Close())
	}()
	fmt.Println(m.Span(0, 9))
	return nil
}

func GoodNilAfterClose(dom *rdma.Domain) error {
	m, err := help.Open(dom)
	if err != nil {
		return err
	}
	defer func() {
		if m != nil {
			m.Close()
		}
	}()
	if m.Len() > 4 {
		if err := m.Close(); err != nil {
			return err
		}
		m = nil
	}
	return nil
}

func GoodModes(dom *rdma.Domain, mode int) error {
	var m *help.M
	var err error
	if mode == 2 {
		if m, err = help.Open(dom); err != nil {
			return err
		}
	}
	switch mode {
	case 1:
		fmt.Println("none")
	case 2:
		return m.Close()
	}
	return nil
}
