package verbs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/bench/regions"
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
)

// modes are the ways to wait, as rows name them.
var modes = map[string]rdma.Mode{"shm, busy": rdma.Busy, "shm, adaptive": rdma.Adaptive, "shm, event": rdma.ByEvent}

func init() {
	for name, mode := range modes {
		peers[name] = func(ready func(string)) error { return echoPackets(mode, ready) }
	}
	peers["shm, bulk"] = takePages
}

// quiet logs nothing: that the other side is done is no news here.
var quiet = slog.New(slog.DiscardHandler)

// packets is one side of the exchange: what the peer writes to, and what is written from.
type packets struct {
	conn *rdma.Conn
	in   *barewire.Region[regions.Packet, barewire.CPU, barewire.RemoteWrite]
	out  *barewire.Region[regions.Packet, barewire.CPU, barewire.Local]
	to   barewire.Remote[regions.Packet, barewire.RemoteWrite]

	read  barewire.Window[regions.Packet, barewire.RemoteWrite]
	write barewire.Window[regions.Packet, barewire.Local]
}

// register makes both regions.
func (p *packets) register(l *Loop, dom *rdma.Domain) (err error) {
	if p.in, err = registered(l, dom, regions.PacketInCPU(), regions.PacketRemoteWrite(), 1); err != nil {
		return err
	}
	if p.out, err = registered(l, dom, regions.PacketInCPU(), regions.PacketLocal(), 1); err != nil {
		return err
	}
	if p.read, err = opened(l, p.in); err != nil {
		return err
	}
	p.write, err = opened(l, p.out)
	return err
}

// exchange offers what the peer writes to, and takes what it offers.
func (p *packets) exchange(ctx context.Context, conn *rdma.Conn) (err error) {
	p.conn = conn
	if err := rdma.Offer(ctx, conn, "packets", p.in); err != nil {
		return err
	}
	p.to, err = rdma.Import(ctx, conn, "packets", regions.PacketRemoteWrite())
	return err
}

// send writes the packet to the peer and tells it.
func (p *packets) send(ctx context.Context, imm uint32) error {
	op, err := rdma.WriteNotify(p.conn, p.to, p.out.Span(0, 1), imm)
	if err != nil {
		return err
	}
	return op.Wait(ctx)
}

// domainOn opens a device of shm with one domain.
func domainOn(ctx context.Context, l *Loop, mode rdma.Mode) (*rdma.Domain, error) {
	dev, err := rdma.Open(ctx, rdma.Config{Provider: shm.Provider(), Mode: mode, Logger: quiet})
	if err != nil {
		return nil, err
	}
	l.onClose(dev.Close)
	return dev.Domain()
}

// accept waits for the one peer there is.
func accept(ctx context.Context, dom *rdma.Domain, ready func(string)) (*rdma.Conn, error) {
	ln, err := dom.Listen(ctx, fmt.Sprintf("@barewire-bench-%d", os.Getpid()))
	if err != nil {
		return nil, err
	}
	defer ln.Close()
	ready(ln.Addr())
	return ln.Accept(ctx)
}

// echoPackets is the other process: it sends back what it gets.
func echoPackets(mode rdma.Mode, ready func(string)) error {
	ctx := context.Background()
	l := &Loop{} // the end of the process closes what it has
	dom, err := domainOn(ctx, l, mode)
	if err != nil {
		return err
	}
	conn, err := accept(ctx, dom, ready)
	if err != nil {
		return err
	}
	var p packets
	if err := errors.Join(p.register(l, dom), p.exchange(ctx, conn)); err != nil {
		return err
	}
	for {
		n, err := p.conn.NextNotification(ctx)
		if err != nil {
			return nil // the other side is done
		}
		copy(regions.PacketAt(p.write, 0).Bytes(), regions.PacketAt(p.read, 0).Bytes())
		if err := p.send(ctx, n.Imm); err != nil {
			return err
		}
	}
}

// shmRoundTrip sends packets and waits for them to come back.
func shmRoundTrip(name string) func(*Loop) error {
	return func(l *Loop) error {
		addr, err := l.start(name)
		if err != nil {
			return err
		}
		ctx, cancel := within()
		l.onClose(func() error { cancel(); return nil })
		dom, err := domainOn(ctx, l, modes[name])
		if err != nil {
			return err
		}
		var p packets
		if err := p.register(l, dom); err != nil {
			return err
		}
		conn, err := dom.Dial(ctx, addr)
		if err != nil {
			return err
		}
		if err := p.exchange(ctx, conn); err != nil {
			return err
		}
		seq := uint64(0)
		l.Run = func(n int) error {
			for range n {
				seq++
				regions.PacketAt(p.write, 0).SetSeq(seq)
				if err := p.send(ctx, uint32(seq)); err != nil {
					return err
				}
				note, err := p.conn.NextNotification(ctx)
				if err != nil {
					return err
				}
				if got := regions.PacketAt(p.read, 0).Seq(); got != seq || note.Imm != uint32(seq) {
					return differ(got, seq)
				}
			}
			return nil
		}
		return nil
	}
}

// roundTrips are the rows of two processes that exchange 64 bytes.
func roundTrips() []Row {
	row := func(name string, class rows.Class, note string, open func() (*Loop, error)) Row {
		return Row{Table: RoundTrip, Name: name, Class: class, Note: note, Wall: true, Open: open}
	}
	list := bareRoundTrips(row)
	for _, m := range []struct {
		name  string
		class rows.Class
		note  string
	}{
		{"shm, busy", rows.Ours, "both sides poll"},
		{"shm, adaptive", rows.Variant, "looks for some time, then sleeps"},
		{"shm, event", rows.Variant, "sleeps: each way wakes a process"},
	} {
		open := shmRoundTrip(m.name)
		if modes[m.name] == rdma.Busy {
			open = apart(open)
		}
		r := row(m.name, m.class, m.note, opener(open))
		r.NoAlloc = true
		list = append(list, r)
	}
	list = append(list, Row{Table: Software, Name: "shm", Class: rows.Ours, NoAlloc: true, Open: opener(oneThread)})
	return append(list, grpcRoundTrips(row)...)
}

// oneThread is the round trip with both sides in this process, one after the other: what
// our code takes, without the way between processors.
func oneThread(l *Loop) error {
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	var sides [2]packets
	addr, accepted := make(chan string, 1), make(chan error, 1)
	for i := range sides {
		dom, err := domainOn(ctx, l, rdma.Busy)
		if err != nil {
			return err
		}
		if err := sides[i].register(l, dom); err != nil {
			return err
		}
		if i == 0 {
			go func() {
				conn, err := accept(ctx, dom, func(a string) { addr <- a })
				if err != nil {
					close(addr)
				} else {
					err = sides[0].exchange(ctx, conn)
				}
				accepted <- err
			}()
			continue
		}
		conn, err := dom.Dial(ctx, <-addr)
		if err == nil {
			err = sides[1].exchange(ctx, conn)
		}
		if err := errors.Join(err, <-accepted); err != nil {
			return err
		}
	}
	l.Run = func(n int) error {
		for range n {
			for i := range sides {
				if err := sides[i].send(ctx, 1); err != nil {
					return err
				}
				if _, err := sides[1-i].conn.NextNotification(ctx); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return nil
}

const (
	pageBytes = 4096
	mib       = 1 << 20
	pages     = mib / pageBytes
)

// takePages is the other process: it offers memory, and does nothing.
func takePages(ready func(string)) error {
	ctx := context.Background()
	l := &Loop{} // the end of the process closes what it has
	dom, err := domainOn(ctx, l, rdma.ByEvent)
	if err != nil {
		return err
	}
	conn, err := accept(ctx, dom, ready)
	if err != nil {
		return err
	}
	in, err := registered(l, dom, regions.PageInCPU(), regions.PageRemoteWrite(), pages)
	if err != nil {
		return err
	}
	return rdma.Offer(ctx, conn, "pages", in)
}

// shmBulk writes a MiB to another process and waits for the end.
func shmBulk(l *Loop) error {
	addr, err := l.start("shm, bulk")
	if err != nil {
		return err
	}
	ctx, cancel := within()
	l.onClose(func() error { cancel(); return nil })
	dom, err := domainOn(ctx, l, rdma.Adaptive)
	if err != nil {
		return err
	}
	conn, err := dom.Dial(ctx, addr)
	if err != nil {
		return err
	}
	to, err := rdma.Import(ctx, conn, "pages", regions.PageRemoteWrite())
	if err != nil {
		return err
	}
	from, err := registered(l, dom, regions.PageInCPU(), regions.PageLocal(), pages)
	if err != nil {
		return err
	}
	if to.Len() != pages {
		return fmt.Errorf("the peer has %d pages, want %d", to.Len(), pages)
	}
	l.Run = func(n int) error {
		for range n {
			op, err := rdma.Write(conn, to, from.Span(0, pages))
			if err != nil {
				return err
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// bulks are the rows of 1 MiB.
func bulks() []Row {
	heap := opener(func(l *Loop) error {
		from, to := make([]byte, mib), make([]byte, mib)
		for i := range from {
			from[i] = byte(i)
		}
		l.Run = moves(to, from)
		return nil
	})
	list := []Row{
		{Table: Bulk, Name: "memmove", Class: rows.Limit, Note: "between two slices", Open: heap},
		{Table: Bulk, Name: "shm", Class: rows.Ours, NoAlloc: true, Open: opener(shmBulk)},
	}
	return append(list, bareBulks()...)
}

func moves(to, from []byte) func(int) error {
	return func(n int) error {
		for range n {
			copy(to, from)
		}
		return nil
	}
}
