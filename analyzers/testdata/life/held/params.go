package held

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

// block is a parameter server's part of a model, for any element that generated code knows.
type block[T barewire.Fixed[T]] struct {
	*barewire.Region[T, barewire.CPU, barewire.RemoteReadWrite]
	version uint64
}

// tensors are blocks by name.
type tensors[T barewire.Fixed[T]] struct {
	mu  sync.RWMutex
	all map[string]*block[T]
}

func (t *tensors[T]) GoodAdd(dom *rdma.Domain, name string, n int, p barewire.Place[T, barewire.CPU], g barewire.Grant[T, barewire.RemoteReadWrite]) (*block[T], error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.all[name]; ok {
		return b, nil
	}
	r, err := barewire.New(p, n, barewire.Named(name), barewire.HugePages())
	if err != nil {
		return nil, err
	}
	m, err := rdma.Register(dom, r, g)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	b := &block[T]{Region: m}
	if t.all == nil {
		t.all = map[string]*block[T]{}
	}
	t.all[name] = b
	return b, nil
}

func (t *tensors[T]) GoodRemove(name string) error {
	t.mu.Lock()
	b := t.all[name]
	delete(t.all, name)
	t.mu.Unlock()
	if b == nil {
		return nil
	}
	return b.Close()
}

func (t *tensors[T]) blocks() iter.Seq2[string, *block[T]] {
	return func(yield func(string, *block[T]) bool) {
		t.mu.RLock()
		defer t.mu.RUnlock()
		for name, b := range t.all {
			if !yield(name, b) {
				return
			}
		}
	}
}

func (t *tensors[T]) GoodOfferAll(ctx context.Context, conn *rdma.Conn) error {
	for name, b := range t.blocks() {
		if err := rdma.Offer(ctx, conn, name, b.Region); err != nil && !errors.Is(err, rdma.ErrOffered) {
			return fmt.Errorf("offer %s: %w", name, err)
		}
	}
	return nil
}

func (t *tensors[T]) GoodCloseAll() error {
	var errs []error
	for name, b := range t.blocks() {
		if err := b.Close(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", name, err))
		}
	}
	clear(t.all)
	return errors.Join(errs...)
}

// worker pushes gradients and pulls weights.
type worker struct {
	conn    *rdma.Conn
	weights far
	grads   [2]*inbox
	step    int
	pending [2]struct {
		op   rdma.Op
		busy bool
	}
}

// GoodPush writes one of two buffers, when what it was used for before is done.
func (w *worker) GoodPush(ctx context.Context, fill func(sample.TickWindow[barewire.Local]) error) error {
	i := w.step & 1
	slot := &w.pending[i]
	if slot.busy {
		if err := slot.op.Wait(ctx); err != nil {
			return err
		}
		slot.busy = false
	}
	g := w.grads[i]
	if err := barewire.With(g, fill); err != nil {
		return err
	}
	op, err := rdma.WriteNotify(w.conn, w.weights.Slice(0, g.Len()), g.Span(0, g.Len()), uint32(w.step))
	for errors.Is(err, rdma.ErrNoCredit) {
		if err = w.conn.WaitCredit(ctx); err == nil {
			op, err = rdma.WriteNotify(w.conn, w.weights.Slice(0, g.Len()), g.Span(0, g.Len()), uint32(w.step))
		}
	}
	if err != nil {
		return err
	}
	slot.op, slot.busy = op, true
	w.step++
	return nil
}

// GoodBarrier waits for all that is pending.
func (w *worker) GoodBarrier(ctx context.Context) (err error) {
	for i := range w.pending {
		p := &w.pending[i]
		if !p.busy {
			continue
		}
		err = cmp.Or(err, p.op.Wait(ctx))
		p.busy = false
	}
	if err != nil {
		return err
	}
	return w.conn.Flush(ctx)
}

func (w *worker) GoodStop(ctx context.Context) error {
	err := w.GoodBarrier(ctx)
	for i, g := range w.grads {
		if g != nil {
			err = errors.Join(err, g.Close())
			w.grads[i] = nil
		}
	}
	return errors.Join(err, w.conn.Close())
}

// GoodPull reads weights, in parts that the queue has room for.
func GoodPull(ctx context.Context, conn *rdma.Conn, dst *inbox, src far, part int) error {
	var last rdma.Op
	posted := false
	for at := 0; at < dst.Len(); at += part {
		n := min(part, dst.Len()-at)
		op, err := rdma.Read(conn, dst.Span(at, n), src.Slice(at, n))
		if errors.Is(err, rdma.ErrQueueFull) {
			if err = conn.WaitRoom(ctx); err == nil {
				op, err = rdma.Read(conn, dst.Span(at, n), src.Slice(at, n))
			}
		}
		if err != nil {
			return errors.Join(err, conn.Drain(ctx))
		}
		last, posted = op, true
	}
	if !posted {
		return nil
	}
	return last.Wait(ctx)
}

// GoodAverage sums what workers have written, once each has said so.
func GoodAverage(ctx context.Context, conns []*rdma.Conn, m *sample.TickCPU[barewire.RemoteWrite], each int) (avg float64, err error) {
	w, err := barewire.Open(m)
	if err != nil {
		return 0, err
	}
	defer w.Close()
	for i, c := range conns {
		n, err := c.NextNotification(ctx)
		if err != nil {
			return 0, fmt.Errorf("worker %d: %w", i, err)
		}
		ticks, err := rdma.Received(n, w, i*each, each)
		if err != nil {
			return 0, err
		}
		for j := range ticks {
			avg += ticks[j].Price
		}
	}
	return avg / float64(max(1, len(conns)*each)), nil
}

// GoodCheckpoint takes a region off the network while it is saved, and puts it back.
func GoodCheckpoint(ctx context.Context, dom *rdma.Domain, m *store, save func(*sample.Tick) error) (*store, error) {
	quiet, err := rdma.Deregister(ctx, m)
	if err != nil {
		return m, err
	}
	serr := barewire.With(quiet, func(w sample.TickWindow[barewire.Unregistered]) error {
		var x sample.Tick
		for _, t := range sample.TickAll(w) {
			if err := t.Load(&x); err != nil {
				return err
			}
			if err := save(&x); err != nil {
				return err
			}
		}
		return nil
	})
	back, err := rdma.Register(dom, quiet, sample.TickRemoteReadWrite())
	if err != nil {
		return nil, errors.Join(serr, err, quiet.Close())
	}
	return back, serr
}

// GoodReplicas registers one memory with several devices, and gives all of them or none.
func GoodReplicas(doms []*rdma.Domain, m *store) (all []*store, err error) {
	all = append(all, m)
	defer func() {
		if err != nil {
			for _, r := range all[1:] {
				err = errors.Join(err, r.Close())
			}
			all = nil
		}
	}()
	for _, dom := range doms {
		r, err := rdma.Also(dom, m, sample.TickRemoteReadWrite())
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// GoodLease grants a region to one peer for a time.
func GoodLease(ctx context.Context, c *rdma.Conn, m *store, d time.Duration) error {
	g, err := rdma.Grant(c, m, sample.TickRemoteRead())
	if err != nil {
		return err
	}
	if err := rdma.OfferScoped(ctx, c, "lease", g); err != nil {
		return errors.Join(err, g.Revoke(ctx))
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return g.Revoke(context.WithoutCancel(ctx))
}

// ---- wrong

// BadTensorsAdd registers, and then finds that the name is taken.
func (t *tensors[T]) BadTensorsAdd(dom *rdma.Domain, name string, r *barewire.Region[T, barewire.CPU, barewire.Unregistered], g barewire.Grant[T, barewire.RemoteReadWrite]) (*block[T], error) {
	m, err := rdma.Register(dom, r, g) // want "BW5104"
	if err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if b, ok := t.all[name]; ok {
		return b, nil
	}
	b := &block[T]{Region: m}
	t.all[name] = b
	return b, nil
}

// BadRemove closes the embedded region and says how long it was.
func (t *tensors[T]) BadRemove(name string) (freed barewire.Back, err error) {
	b := t.all[name]
	if b == nil {
		return freed, nil
	}
	if err := b.Close(); err != nil {
		return freed, err
	}
	delete(t.all, name)
	return barewire.Backing(b.Region) // want "BW5101 .b.Region. .* is used after Close"
}

// BadCheckpoint goes on with the region that was deregistered.
func BadCheckpoint(ctx context.Context, c *rdma.Conn, m *store) (*bare, error) {
	quiet, err := rdma.Deregister(ctx, m)
	if err != nil {
		return nil, err
	}
	if err := rdma.Offer(ctx, c, "weights", m); err != nil { // want "BW5103"
		return nil, errors.Join(err, quiet.Close())
	}
	return quiet, nil
}

// BadPush forgets the first write where the second is refused, and closes the buffer that both are from.
func BadPush(ctx context.Context, c *rdma.Conn, dom *rdma.Domain, to far) error {
	raw, err := barewire.New(sample.TickInCPU(), 2)
	if err != nil {
		return err
	}
	g, err := rdma.Register(dom, raw, sample.TickLocal())
	if err != nil {
		return errors.Join(err, raw.Close())
	}
	defer g.Close() // want "BW5108"
	head, err := rdma.Write(c, to.Slice(0, 1), g.Span(0, 1))
	if err != nil {
		return err
	}
	tail, err := rdma.Write(c, to.Slice(1, 1), g.Span(1, 1))
	if err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	return errors.Join(head.Wait(ctx), tail.Wait(ctx))
}

// BadPull posts reads into a region, and nothing waits for them.
func BadPull(c *rdma.Conn, dst *inbox, src far) (n int, err error) {
	op, err := rdma.Read(c, dst.Span(0, 1), src.Slice(0, 1)) // want "BW5109"
	if err != nil {
		return 0, err
	}
	if op.Done() {
		n++
	}
	return n, nil
}

// BadReplica closes a second registration of a memory on one way only.
func BadReplica(ctx context.Context, other *rdma.Domain, c *rdma.Conn, m *store) error {
	r, err := rdma.Also(other, m, sample.TickRemoteRead()) // want "BW5104"
	if err != nil {
		return err
	}
	if err := rdma.Offer(ctx, c, "replica", r); err != nil {
		return err
	}
	<-ctx.Done()
	return r.Close()
}

// BadSnapshotAll keeps slices of memory that it gives back.
func BadSnapshotAll(r *bare) ([]sample.Tick, error) {
	w, err := barewire.Open(r)
	if err != nil {
		return nil, err
	}
	s, err := barewire.Slice(w)
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	var top []sample.Tick
	for i := range s {
		if s[i].Live != 0 { // want "BW5111"
			top = append(top, s[i])
		}
	}
	return top, nil
}

// BadAverage reads the window after it was closed, in a function that was kept for later.
func BadAverage(m *store) (float64, error) {
	w, err := barewire.Open(m)
	if err != nil {
		return 0, err
	}
	price := func(i int) float64 { return sample.TickAt(w, i).Price() } // want "BW5106"
	n := w.Len()
	if err := w.Close(); err != nil {
		return 0, err
	}
	return price(0) / float64(max(n, 1)), nil
}
