package fresh

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log"
	"sync"
	"sync/atomic"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help"
	"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/sample"
)

type localWindow = sample.TickWindow[barewire.Local]

// slots hands out elements of a region for sending, and takes them back when their operations have ended.
type slots struct {
	mr   *L
	w    localWindow
	free []int
	busy []busySlot
}

type busySlot struct {
	i  int
	op rdma.Op
}

func (s *slots) get(ctx context.Context) (int, error) {
	if len(s.free) == 0 {
		b := s.busy[0]
		s.busy = s.busy[1:]
		if err := b.op.Wait(ctx); err != nil {
			return 0, err
		}
		s.free = append(s.free, b.i)
	}
	i := s.free[len(s.free)-1]
	s.free = s.free[:len(s.free)-1]
	return i, nil
}

func (s *slots) GoodSend(ctx context.Context, c *rdma.Conn, prices iter.Seq[float64]) error {
	for p := range prices {
		i, err := s.get(ctx)
		if err != nil {
			return err
		}
		sample.TickAt(s.w, i).SetPrice(p)
		op, err := rdma.Send(c, s.mr.Span(i, 1))
		if err != nil {
			return err
		}
		s.busy = append(s.busy, busySlot{i, op})
	}
	return c.Flush(ctx)
}

func GoodRoundRobin(ctx context.Context, c *rdma.Conn, mr *L, rem Rem, prices []float64) error {
	return barewire.With(mr, func(w localWindow) error {
		slot := 0
		for _, p := range prices {
			sample.TickAt(w, slot).SetPrice(p)
			if _, err := rdma.Write(c, rem.Slice(slot, 1), mr.Span(slot, 1)); err != nil {
				return err
			}
			if slot++; slot == w.Len() {
				if err := c.Flush(ctx); err != nil {
					return err
				}
				slot = 0
			}
		}
		return c.Flush(ctx)
	})
}

func GoodTwoHalves(ctx context.Context, c *rdma.Conn, mr *L, rem Rem, next func([]sample.Tick) (int, error)) error {
	w, err := barewire.Open(mr)
	if err != nil {
		return err
	}
	defer w.Close()
	all, err := barewire.Slice(w)
	if err != nil {
		return err
	}
	half := len(all) / 2
	var last rdma.Op
	for at := 0; ; at = half - at {
		n, err := next(all[at : at+half])
		if errors.Is(err, io.EOF) {
			return c.Flush(ctx)
		}
		if err != nil {
			return err
		}
		if at != 0 {
			if err := last.Wait(ctx); err != nil {
				return err
			}
		}
		if last, err = rdma.Write(c, rem, mr.Span(at, n)); err != nil {
			return err
		}
	}
}

func GoodRetryUntilWritten(ctx context.Context, c *rdma.Conn, mr *L, rem Rem, price float64) error {
	return barewire.With(mr, func(w localWindow) error {
		for {
			sample.TickAt(w, 0).SetPrice(price)
			op, err := rdma.Write(c, rem, mr.Span(0, 1))
			if errors.Is(err, rdma.ErrQueueFull) {
				if err := c.WaitRoom(ctx); err != nil {
					return err
				}
				continue
			}
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		}
	})
}

func GoodReadModifyWrite(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) error {
	w, err := barewire.Open(mr)
	if err != nil {
		return err
	}
	defer w.Close()
	v := sample.TickAt(w, 0)
	if err := fetch(ctx, c, mr, rem); err != nil {
		return err
	}
	v.SetPrice(v.Price() * 2)
	op, err := rdma.Write(c, rem, mr.Span(0, 1))
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	v.SetPrice(0)
	return nil
}

func fetch(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) error {
	op, err := rdma.Read(c, mr.Span(0, 1), rem)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

func GoodManyReads(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) (sum float64, err error) {
	w, err := barewire.Open(mr)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	ops := make([]rdma.Op, w.Len())
	for i := range ops {
		if ops[i], err = rdma.Read(c, mr.Span(i, 1), rem.Slice(i, 1)); err != nil {
			return 0, errors.Join(err, c.Flush(ctx))
		}
	}
	for i, op := range ops {
		if err := op.Wait(ctx); err != nil {
			return 0, err
		}
		sum += sample.TickAt(w, i).Price()
	}
	return sum, nil
}

// GoodSentOver waits for the last of them, which ends those before it.
func GoodSentOver(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) error {
	return barewire.With(mr, func(w localWindow) error {
		if _, err := rdma.Write(c, rem, mr.Span(0, 1)); err != nil {
			return err
		}
		last, err := rdma.Write(c, rem.Slice(1, 1), mr.Span(1, 1))
		if err != nil {
			return errors.Join(err, c.Flush(ctx))
		}
		if err := last.Wait(ctx); err != nil {
			return err
		}
		sample.TickAt(w, 0).SetPrice(1)
		return nil
	})
}

// publisher closes over what it needs, and gives a function that stops it.
func publisher(dom *rdma.Domain) (m *help.M, stop func() error, err error) {
	m, err = help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	var once sync.Once
	return m, func() (err error) {
		once.Do(func() { err = m.Close() })
		return err
	}, nil
}

func GoodPublisher(dom *rdma.Domain) (err error) {
	m, stop, err := publisher(dom)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	_, err = rdma.RemoteOf(m)
	return err
}

// maybe gives a function that does nothing where the region is somebody else's.
func maybe(dom *rdma.Domain, m *help.M) (*help.M, func(), error) {
	if m != nil {
		return m, func() {}, nil
	}
	m, err := help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	return m, func() { m.Close() }, nil
}

func GoodMaybe(dom *rdma.Domain, given *help.M) (int, error) {
	m, done, err := maybe(dom, given)
	if err != nil {
		return 0, err
	}
	defer done()
	return m.Len(), nil
}

func GoodMaybeAfter(dom *rdma.Domain, given *help.M) (int, error) {
	m, done, err := maybe(dom, given)
	if err != nil {
		return 0, err
	}
	n := m.Span(0, 1).Len()
	done()
	return n, nil
}

type service struct {
	dom   *rdma.Domain
	m     *help.M
	conns sync.WaitGroup
	stop  atomic.Bool
}

func (s *service) serve(ctx context.Context, c *rdma.Conn) {
	defer s.conns.Done()
	if err := rdma.Offer(ctx, c, "m", s.m); err != nil {
		log.Print(err)
	}
	for !s.stop.Load() {
		time.Sleep(time.Millisecond)
	}
}

func (s *service) GoodRun(ctx context.Context, ln *rdma.Listener) (err error) {
	if s.m, err = help.Open(s.dom); err != nil {
		return err
	}
	defer func() {
		s.stop.Store(true)
		s.conns.Wait()
		err = errors.Join(err, s.m.Close())
	}()
	for {
		c, err := ln.Accept(ctx)
		if err != nil {
			return err
		}
		s.conns.Add(1)
		go s.serve(ctx, c)
	}
}

func GoodFanOut(ctx context.Context, conns []*rdma.Conn, m *help.M) error {
	errs := make(chan error, len(conns))
	for _, c := range conns {
		go func() { errs <- rdma.Offer(ctx, c, "m", m) }()
	}
	var err error
	for range conns {
		err = errors.Join(err, <-errs)
	}
	return errors.Join(err, m.Close())
}

func GoodDomainOfEach(ctx context.Context, devs []*rdma.Device, m *help.M) (err error) {
	for _, dev := range devs {
		dom, err := dev.Domain()
		if err != nil {
			return err
		}
		here, err := rdma.Also(dom, m, sample.TickRemoteRead())
		if err != nil {
			return err
		}
		c, err := dom.Dial(ctx, "peer")
		if err == nil {
			err = errors.Join(rdma.Offer(ctx, c, "m", here), c.Close())
		}
		if err := errors.Join(err, here.Close()); err != nil {
			return fmt.Errorf("%v: %w", dev, err)
		}
	}
	return nil
}

func BadRoundRobin(ctx context.Context, c *rdma.Conn, mr *L, rem Rem, prices []float64) error {
	return barewire.With(mr, func(w localWindow) error {
		v := sample.TickAt(w, 0)
		for i, p := range prices {
			v.SetPrice(p) // want "BW5114 memory of .mr. .* is written while an operation that reads it is in flight"
			if _, err := rdma.Write(c, rem.Slice(i, 1), mr.Span(0, 1)); err != nil {
				return err
			}
			if i%8 == 7 {
				if err := c.Flush(ctx); err != nil {
					return err
				}
			}
		}
		return c.Flush(ctx)
	})
}

func BadReadModify(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) error {
	w, err := barewire.Open(mr)
	if err != nil {
		return err
	}
	defer w.Close()
	v := sample.TickAt(w, 0)
	op, err := rdma.Read(c, mr.Span(0, 1), rem)
	if err != nil {
		return err
	}
	v.SetPrice(v.Price() * 2) // want "BW5114 memory of .mr. .* is read while an operation that writes it is in flight"
	return op.Wait(ctx)
}

func BadPublisher(dom *rdma.Domain) error {
	m, stop, err := stoppable(dom)
	if err != nil {
		return err
	}
	if err := stop(); err != nil {
		return err
	}
	_, err = rdma.RemoteOf(m) // want "BW5101 .m. .* is used after stop"
	return err
}

func stoppable(dom *rdma.Domain) (*help.M, func() error, error) {
	m, err := help.Open(dom)
	if err != nil {
		return nil, nil, err
	}
	return m, func() error { log.Print("stop"); return m.Close() }, nil
}

func BadFanOut(ctx context.Context, conns []*rdma.Conn, m *help.M) error {
	errs := make(chan error, len(conns))
	for _, c := range conns {
		go func() { errs <- rdma.Offer(ctx, c, "m", m) }()
	}
	if err := m.Close(); err != nil { // joins "BW5115 .m. .* is ended by Close while a goroutine may use it"
		return err
	}
	for range conns {
		if err := <-errs; err != nil {
			return err
		}
	}
	return nil
}

func BadDrainLast(ctx context.Context, c *rdma.Conn, mr *L, rem Rem) (err error) {
	defer func() { err = errors.Join(err, c.Drain(ctx)) }()
	defer mr.Close() // want "BW5108 .mr. .* is ended by Close while an operation on it is in flight"
	_, err = rdma.Write(c, rem, mr.Span(0, 1))
	return err
}
