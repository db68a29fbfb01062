package rdma_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// The entries of the catalogue that are about connections, queues and messages.

// replyAfterWrite writes, waits for nothing, and says so in a message: the peer sees
// the writes, also over a fabric that reorders what may be.
func replyAfterWrite(w *world) error {
	worlds := []*world{w}
	if w.fabric != nil {
		for seed := range uint64(10) {
			worlds = append(worlds, softWorld(w.T, soft.Config{Seed: seed + 1, Reorder: true}))
		}
	}
	for _, w := range worlds {
		s := w.stage(rdma.Config{})
		for i := range 50 {
			ok(w, barewire.With(s.local, func(v sample.TickWindow[barewire.Local]) error {
				sample.TickSeqAtomic(v, 0).Store(uint64(i))
				return nil
			}))
			op := must(rdma.Write(s.b.conn, s.rem.Slice(i%stageLen, 1), s.local.Span(0, 1)))(w)
			ok(w, s.b.conn.SendBytes(s.ctx, []byte{byte(i)}))
			must(s.a.conn.Receive(s.ctx, make([]byte, 1)))(w)
			ok(w, barewire.With(s.target, func(v sample.TickWindow[barewire.RemoteReadWriteAtomic]) error {
				if got := sample.TickSeqLoad(v, i%stageLen); got != uint64(i) {
					return fmt.Errorf("the message %d came, and the write before it did not: %d", i, got)
				}
				return nil
			}))
			ok(w, op.Wait(s.ctx))
		}
	}
	return nil
}

func overflowQueue(w *world) error {
	s := w.stage(rdma.Config{Depth: 4})
	release := s.hold(rdma.VerbWrite)
	for range 4 {
		must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(w)
	}
	_, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
	release()
	ok(w, s.b.conn.WaitRoom(s.ctx))
	ok(w, s.ended(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))))
	return err
}

// pingPong waits by events for each of many notifications, in turns.
func pingPong(w *world) error {
	s := w.stage(rdma.Config{Mode: rdma.ByEvent})
	theirs := ticks(w.T, s.b.dom, 1, sample.TickRemoteWrite())
	back := share(w.T, &s.b, &s.a, "back", theirs, sample.TickRemoteWrite())
	mine := ticks(w.T, s.a.dom, 1, sample.TickLocal())
	const n = 500
	echo := make(chan error, 1)
	go func() {
		for range n {
			got, err := s.a.conn.NextNotification(s.ctx)
			if err == nil {
				_, err = rdma.WriteNotify(s.a.conn, back, mine.Span(0, 1), got.Imm)
			}
			if err != nil {
				echo <- err
				return
			}
		}
		echo <- nil
	}()
	for i := range uint32(n) {
		if _, err := rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), i); err != nil {
			return err
		}
		got, err := s.b.conn.NextNotification(s.ctx)
		if err != nil {
			return err
		}
		if got.Imm != i {
			return fmt.Errorf("notification %d, want %d", got.Imm, i)
		}
	}
	return <-echo
}

// neverPolled posts many times the queue's depth and waits for nothing but room.
func neverPolled(w *world) error {
	s := w.stage(rdma.Config{Depth: 8})
	const n = 400
	before := s.b.conn.Stats()
	for range n {
		_, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
		for errors.Is(err, rdma.ErrQueueFull) {
			ok(w, s.b.conn.WaitRoom(s.ctx))
			_, err = rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
		}
		ok(w, err)
	}
	ok(w, s.b.conn.Flush(s.ctx))
	after := s.b.conn.Stats()
	if got := after.Completed - before.Completed; got < n+1 || after.Failed+after.Flushed+after.InFlight > 0 {
		return fmt.Errorf("%d writes and a flush were posted: %+v", n, after)
	}
	return nil
}

// noReceive sends to a peer that takes nothing.
func noReceive(w *world) error {
	s := w.stage(rdma.Config{})
	var err error
	for sent := 0; err == nil; sent++ {
		if _, err = rdma.Send(s.b.conn, s.local.Span(0, 1)); errors.Is(err, rdma.ErrQueueFull) {
			err = s.b.conn.WaitRoom(s.ctx)
		}
		if sent > 1000 {
			return errors.New("there is room without end")
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, 5*time.Millisecond)
	defer cancel()
	is(w, s.b.conn.SendBytes(ctx, []byte("x")), context.DeadlineExceeded)
	must(s.a.conn.Receive(s.ctx, make([]byte, 64)))(w) // nothing broke
	return err
}

// starveOthers has a second connection in the domains of one that is stuffed.
func starveOthers(w *world) error {
	s := w.stage(rdma.Config{})
	is(w, func() (err error) {
		for err == nil {
			err = second(rdma.WriteNotify(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1), 1))
			if err == nil {
				err = s.b.conn.WaitRoom(s.ctx)
			}
		}
		return err
	}(), rdma.ErrNoCredit)
	ln := must(s.a.dom.Listen(s.ctx, w.address()))(w)
	defer ln.Close()
	accepted := make(chan *rdma.Conn, 1)
	go func() {
		c, _ := ln.Accept(s.ctx)
		accepted <- c
	}()
	c := must(s.b.dom.Dial(s.ctx, ln.Addr()))(w)
	if err := c.SendBytes(s.ctx, []byte("hello")); err != nil {
		return err
	}
	return second((<-accepted).Receive(s.ctx, make([]byte, 10)))
}

// failWith makes b's connection fail by a write that the peer refuses.
func (s *stage) failWith() (rdma.Op, error) {
	s.w.Helper()
	r := ticks(s.w.T, s.a.dom, 1, sample.TickRemoteRead())
	return rdma.Write(s.b.conn, forged(s, r, sample.TickRemoteWrite()), s.local.Span(0, 1))
}

func receiveAfterFailure(w *world) error {
	s := w.stage(rdma.Config{})
	ok(w, s.a.conn.SendBytes(s.ctx, []byte("before")))
	ok(w, s.a.conn.Flush(s.ctx))
	soon(w, func() bool { return s.b.conn.Stats().Messages == 1 })
	is(w, s.ended(s.failWith()), rdma.ErrRights)
	got := make([]byte, 10)
	if n := must(s.b.conn.Receive(s.ctx, got))(w); string(got[:n]) != "before" {
		w.Errorf("received %q", got[:n])
	}
	_, err := s.b.conn.Receive(s.ctx, got)
	ok(w, s.local.Close())
	ok(w, s.b.conn.Close())
	return err
}

func closeWithOutstanding(w *world) error {
	s := w.stage(rdma.Config{})
	defer s.hold(rdma.VerbWrite)()
	op := must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(w)
	ok(w, s.b.conn.Close())
	ok(w, s.local.Close())
	is(w, op.Wait(s.ctx), rdma.ErrClosed)
	return op.Wait(s.ctx)
}

// otherMTU has sides of different packet sizes.
func otherMTU(w *world) error {
	ctx := limit(w)
	open := func(mtu int) *rdma.Domain {
		dev := must(rdma.Open(ctx, w.config(rdma.Config{MTU: mtu})))(w)
		w.Cleanup(func() { _ = dev.Close() })
		return must(dev.Domain())(w)
	}
	small, large := open(1024), open(4096)
	ln := must(small.Listen(ctx, w.address()))(w)
	defer ln.Close()
	accepted := make(chan *rdma.Conn, 1)
	go func() {
		c, _ := ln.Accept(ctx)
		accepted <- c
	}()
	b := must(large.Dial(ctx, ln.Addr()))(w)
	if a := <-accepted; a == nil || a.MTU() != 1024 || b.MTU() != 1024 {
		return fmt.Errorf("MTU %d at one side, and %v at the other", b.MTU(), a)
	}
	return nil
}

func badDSCP(w *world) error {
	return second(rdma.Open(limit(w), w.config(rdma.Config{Transport: rdma.RoCEv2{DSCP: 26 << 2}}))) // the traffic class
}

func tooManySegments(w *world) error {
	s := w.stage(rdma.Config{})
	var spans []barewire.Span[sample.Tick, barewire.Local]
	for i := range 5 {
		spans = append(spans, s.local.Span(i, 1))
	}
	return second(rdma.WriteGather(s.b.conn, s.rem.Slice(0, 5), spans...))
}

// manyReads posts more reads and atomics than iWARP has outstanding, and waits for none of them.
func manyReads(w *world) error {
	s := w.stage(rdma.Config{Depth: 512})
	const n = 400
	var last rdma.AtomicOp[uint64]
	for i := range n {
		if i%2 == 0 {
			must(rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)))(w)
			continue
		}
		last = must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 1), 1))(w)
	}
	was, err := last.Wait(s.ctx)
	if err == nil && was != n/2-1 {
		err = fmt.Errorf("the last of %d additions found %d", n/2, was)
	}
	return err
}

// slowReader takes messages late, in pieces: all come, in order, as they were sent.
func slowReader(w *world) error {
	s := w.stage(rdma.Config{Credits: 32})
	const n = 300
	sent := make(chan error, 1)
	go func() {
		var b [8]byte
		for i := range uint64(n) {
			binary.LittleEndian.PutUint64(b[:], i)
			if err := s.b.conn.SendBytes(s.ctx, b[:]); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	var b [8]byte
	for i := range uint64(n) {
		if i%40 == 0 {
			time.Sleep(2 * time.Millisecond) // until there is no room
		}
		if _, err := s.a.conn.Receive(s.ctx, b[:]); err != nil {
			return err
		}
		if got := binary.LittleEndian.Uint64(b[:]); got != i {
			return fmt.Errorf("message %d has %d", i, got)
		}
	}
	return <-sent
}

func ignoredError(w *world) error {
	s := w.stage(rdma.Config{})
	op, err := s.failWith()
	ok(w, err)
	soon(w, op.Done) // and nobody asks how
	return s.ended(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))
}

// anyOrder closes all there is in random orders, and again.
func anyOrder(w *world) error {
	for seed := range uint64(10) {
		s := w.stage(rdma.Config{})
		closers := []func() error{s.a.dev.Close, s.a.dom.Close, s.a.conn.Close, s.target.Close, s.b.dev.Close, s.b.dom.Close, s.b.conn.Close, s.local.Close}
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(closers), func(i, j int) { closers[i], closers[j] = closers[j], closers[i] })
		for _, c := range closers {
			if err := c(); err != nil {
				return err
			}
		}
		for _, c := range closers {
			if err := c(); err != nil && !errors.Is(err, barewire.ErrReleased) {
				return err
			}
		}
	}
	return nil
}
