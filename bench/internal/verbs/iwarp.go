package verbs

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// ways are the ways to use iWARP, as rows name them. Both sides have the same.
var ways = map[string]rdma.Config{
	"iwarp":              {},
	"iwarp, no CRC":      {Transport: rdma.IWARP{NoCRC: true}},
	"iwarp, adaptive":    {Mode: rdma.Adaptive},
	"iwarp, busy":        {Mode: rdma.Busy},
	"iwarp, 256 credits": {Credits: 4 * many},
}

func init() {
	for way := range ways {
		peers[way] = func(ready func(string)) error { return serveIWARP(way, ready) }
	}
}

// side is one side of a connection over iWARP: memory of its own and of its peer's.
type side struct {
	conn *rdma.Conn

	in, out *barewire.Region[regions.Packet, barewire.CPU, barewire.RemoteWrite]
	pages   *barewire.Region[regions.Page, barewire.CPU, barewire.RemoteReadWrite]

	to      barewire.Remote[regions.Packet, barewire.RemoteWrite]
	toPages barewire.Remote[regions.Page, barewire.RemoteReadWrite]

	read, write barewire.Window[regions.Packet, barewire.RemoteWrite]
}

// domainOver opens the device with one domain.
func domainOver(ctx context.Context, l *Loop, way string) (*rdma.Domain, error) {
	cfg := ways[way]
	cfg.Provider, cfg.Logger = iwarp.New(iwarp.Options{}), quiet
	dev, err := rdma.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	l.onClose(dev.Close)
	return dev.Domain()
}

// newSide registers the memory, offers it and takes what the peer offers.
func newSide(ctx context.Context, l *Loop, dom *rdma.Domain, conn *rdma.Conn) (s *side, err error) {
	s = &side{conn: conn}
	if s.in, err = registered(l, dom, regions.PacketInCPU(), regions.PacketRemoteWrite(), many); err != nil {
		return nil, err
	}
	if s.out, err = registered(l, dom, regions.PacketInCPU(), regions.PacketRemoteWrite(), many); err != nil {
		return nil, err
	}
	if s.pages, err = registered(l, dom, regions.PageInCPU(), regions.PageRemoteReadWrite(), pages); err != nil {
		return nil, err
	}
	if err := fill(s.pages); err != nil {
		return nil, err
	}
	if s.read, err = opened(l, s.in); err != nil {
		return nil, err
	}
	if s.write, err = opened(l, s.out); err != nil {
		return nil, err
	}
	if err := errors.Join(rdma.Offer(ctx, conn, "packets", s.in), rdma.Offer(ctx, conn, "pages", s.pages)); err != nil {
		return nil, err
	}
	if s.to, err = rdma.Import(ctx, conn, "packets", regions.PacketRemoteWrite()); err != nil {
		return nil, err
	}
	s.toPages, err = rdma.Import(ctx, conn, "pages", regions.PageRemoteReadWrite())
	return s, err
}

// fill writes all pages, as message does.
func fill(pages *barewire.Region[regions.Page, barewire.CPU, barewire.RemoteReadWrite]) error {
	w, err := barewire.Open(pages)
	if err != nil {
		return err
	}
	b := message()
	for i, v := range regions.PageAll(w) {
		copy(v.Bytes(), b[i*pageBytes:])
	}
	return w.Close()
}

// send writes the first packet to the peer and tells it.
func (s *side) send(ctx context.Context, imm uint32) error {
	op, err := rdma.WriteNotify(s.conn, s.to.Slice(0, 1), s.out.Span(0, 1), imm)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// serveIWARP is the other process. It offers memory, takes notifications, and answers
// those whose number is not 0 with the packet that came.
func serveIWARP(way string, ready func(string)) error {
	ctx := context.Background()
	l := &Loop{} // the end of the process closes what it has
	dom, err := domainOver(ctx, l, way)
	if err != nil {
		return err
	}
	ln, err := dom.Listen(ctx, loopback)
	if err != nil {
		return err
	}
	defer ln.Close()
	ready(ln.Addr())
	conn, err := ln.Accept(ctx)
	if err != nil {
		return err
	}
	s, err := newSide(ctx, l, dom, conn)
	if err != nil {
		return err
	}
	for {
		note, err := conn.NextNotification(ctx)
		if err != nil {
			return nil // the other side is done
		}
		if note.Imm == 0 {
			continue
		}
		copy(regions.PacketAt(s.write, 0).Bytes(), regions.PacketAt(s.read, 0).Bytes())
		if err := s.send(ctx, note.Imm); err != nil {
			return err
		}
	}
}

// iwarpRun does something n times on a connection.
type iwarpRun func(ctx context.Context, s *side, n int) error

// overIWARP makes a row's Open of what it runs on a connection.
func overIWARP(way string, run iwarpRun) func() (*Loop, error) {
	where := anywhere
	if ways[way].Mode == rdma.Busy {
		where = separate
	}
	return opener(placed(where, connects(way, run)))
}

// connects starts a peer and runs operations on a connection to it.
func connects(way string, run iwarpRun) func(*Loop) error {
	return func(l *Loop) error {
		addr, err := l.start(way)
		if err != nil {
			return err
		}
		ctx, cancel := within()
		l.onClose(func() error { cancel(); return nil })
		dom, err := domainOver(ctx, l, way)
		if err != nil {
			return err
		}
		conn, err := dom.Dial(ctx, addr)
		if err != nil {
			return err
		}
		s, err := newSide(ctx, l, dom, conn)
		if err != nil {
			return err
		}
		l.Run = func(n int) error { return run(ctx, s, n) }
		return nil
	}
}

// iwarpPing exchanges packets with the application on the other side.
func iwarpPing(ctx context.Context, s *side, n int) error {
	for k := range n {
		seq := uint64(k) + 1
		regions.PacketAt(s.write, 0).SetSeq(seq)
		if err := s.send(ctx, uint32(seq)); err != nil {
			return err
		}
		note, err := s.conn.NextNotification(ctx)
		if err != nil {
			return err
		}
		if got := regions.PacketAt(s.read, 0).Seq(); got != seq || note.Imm != uint32(seq) {
			return differ(got, seq)
		}
	}
	return nil
}

// iwarpFlushes writes a packet and waits until it is in place, as often as n says.
func iwarpFlushes(ctx context.Context, s *side, n int) error {
	for range n {
		if _, err := rdma.Write(s.conn, s.to.Slice(0, 1), s.out.Span(0, 1)); err != nil {
			return err
		}
		if err := s.conn.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// iwarpBatchFlushes is iwarpFlushes, and the device is told of both at once.
func iwarpBatchFlushes(ctx context.Context, s *side, n int) error {
	b := s.conn.Batch()
	for range n {
		if _, err := rdma.Write(b, s.to.Slice(0, 1), s.out.Span(0, 1)); err != nil {
			return err
		}
		if err := s.conn.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// iwarpManyWrites writes many packets, each by an operation, and waits until all are in place.
func iwarpManyWrites(ctx context.Context, s *side, n int) error {
	b := s.conn.Batch()
	for range n {
		for i := range many {
			if _, err := rdma.Write(b, s.to.Slice(i, 1), s.out.Span(i, 1)); err != nil {
				return err
			}
		}
		if err := s.conn.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// iwarpNotifies writes packets and tells the peer, as fast as it gives credit back.
func iwarpNotifies(ctx context.Context, s *side, n int) error {
	b := s.conn.Batch()
	for range n {
		for i := range many {
			_, err := rdma.WriteNotify(b, s.to.Slice(i, 1), s.out.Span(i, 1), 0)
			for err != nil {
				if err := s.room(ctx, err); err != nil {
					return err
				}
				_, err = rdma.WriteNotify(b, s.to.Slice(i, 1), s.out.Span(i, 1), 0)
			}
		}
	}
	return s.conn.Flush(ctx)
}

// room waits for what an operation was refused for the want of.
func (s *side) room(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, rdma.ErrNoCredit):
		return s.conn.WaitCredit(ctx)
	case errors.Is(err, rdma.ErrQueueFull):
		return s.conn.WaitRoom(ctx)
	}
	return err
}

// iwarpWrites writes messages of a MiB, so many before it waits until all are in place.
func iwarpWrites(some int) iwarpRun {
	return func(ctx context.Context, s *side, n int) error {
		for range n {
			for range some {
				if _, err := rdma.Write(s.conn, s.toPages, s.pages.Span(0, pages)); err != nil {
					return err
				}
			}
			if err := s.conn.Flush(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}

// iwarpReads reads messages of a MiB, so many before it waits until all are there.
func iwarpReads(some int) iwarpRun {
	return func(ctx context.Context, s *side, n int) error {
		for range n {
			var op rdma.Op
			for range some {
				var err error
				if op, err = rdma.Read(s.conn, s.pages.Span(0, pages), s.toPages); err != nil {
					return err
				}
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
