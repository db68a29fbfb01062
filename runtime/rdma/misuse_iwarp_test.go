package rdma_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
)

// The entries of the catalogue that are about iWARP, with peers that are other programs.

func iwarpWorld(t *testing.T) *world {
	return &world{T: t, provider: iwarp.New(iwarp.Options{}), address: func() string { return "" }}
}

func init() { otherWorlds["iwarp"] = iwarpWorld }

// program is a program that speaks iWARP and is not ours: it listens, and one connection is made to it.
type program struct {
	*rdma.Conn
	dom  *rdma.Domain
	wire net.Conn // the program's end
}

// other makes one of a revision of MPA. It wants no checksums, and names no message to begin with.
// Sources: RFC 5044, section 7.1.1; RFC 6581, section 4.
func (w *world) other(revision byte) *program {
	w.Helper()
	ctx := limit(w)
	ln := must(net.Listen("tcp", "127.0.0.1:0"))(w)
	w.Cleanup(func() { _ = ln.Close() })
	wire := make(chan net.Conn, 1)
	go func() { wire <- answerMPA(ln, revision) }()
	dev := must(rdma.Open(ctx, w.config(rdma.Config{Plain: true, Transport: rdma.IWARP{NoCRC: true}})))(w)
	w.Cleanup(func() { _ = dev.Close() })
	p := &program{dom: must(dev.Domain())(w)}
	p.Conn = must(p.dom.Dial(ctx, ln.Addr().String()))(w)
	if p.wire = <-wire; p.wire == nil {
		w.Fatal("the other program has no connection")
	}
	w.Cleanup(func() { _ = p.wire.Close() })
	ok(w, p.wire.SetDeadline(time.Now().Add(20*time.Second)))
	return p
}

// answerMPA refuses who asks for a later revision, as revision 1 does, and accepts who comes next.
func answerMPA(ln net.Listener, revision byte) net.Conn {
	const accept, refuse, enhanced = 0, 0x20, 0x10
	for {
		c, err := ln.Accept()
		if err != nil {
			return nil
		}
		head := make([]byte, 20)
		if _, err = io.ReadFull(c, head); err == nil {
			_, err = io.CopyN(io.Discard, c, int64(binary.BigEndian.Uint16(head[18:])))
		}
		if err != nil {
			return nil
		}
		reply := append([]byte("MPA ID Rep Frame"), accept, revision, 0, 0)
		switch {
		case head[17] > revision:
			reply[16] = refuse
		case revision == 2:
			reply[16], reply[19] = enhanced, 4
			reply = append(reply, 0, 16, 0, 16) // reads that it answers, and asks for, at a time
		}
		if _, err := c.Write(reply); err != nil {
			return nil
		}
		if head[17] <= revision {
			return c
		}
		_ = c.Close()
	}
}

// far is a reference to what the program says that it has.
func far[A barewire.RemoteAccess](w *world, p *program, g barewire.Grant[sample.Tick, A]) barewire.Remote[sample.Tick, A] {
	w.Helper()
	return must(rdma.Foreign(p.Conn, 0x10000, 0x100, 8, g))(w)
}

// writeToSink has a peer write by the key that a read's response goes by.
func writeToSink(w *world) error {
	p := w.other(2)
	local := ticks(w.T, p.dom, 1, sample.TickLocal())
	op := must(rdma.Read(p.Conn, local.Span(0, 1), far(w, p, sample.TickRemoteRead()).Slice(0, 1)))(w)
	// A frame is a length, a segment and a checksum, which is not looked at here; the segment is a header of 18 octets
	// and the read request, which begins with the sink's key and address. Source: RFC 5040, section 4.4.
	ask := make([]byte, 2+18+28+4)
	if _, err := io.ReadFull(p.wire, ask); err != nil {
		return err
	}
	if n, op := binary.BigEndian.Uint16(ask), ask[3]&0xf; n != 46 || op != 1 {
		return fmt.Errorf("%d octets of opcode %d are no read request", n, op)
	}
	write := append([]byte{0, 14 + 8, 0xc1, 0x40}, ask[20:32]...) // tagged, the last, a write, to there
	write = append(append(write, "overlaid"...), 0, 0, 0, 0)
	if _, err := p.wire.Write(write); err != nil {
		return err
	}
	err := op.Wait(limit(w))
	if !errors.Is(err, rdma.ErrPeerLost) || !strings.Contains(err.Error(), "there is no such key") {
		return fmt.Errorf("after a write by the key of a read: %w", err)
	}
	return barewire.With(local, func(v sample.TickWindow[barewire.Local]) error {
		if seq := sample.TickAt(v, 0).Seq(); seq != 0 {
			return fmt.Errorf("the peer has written %#x", seq)
		}
		return nil
	})
}

// sinkNeedsNoRight reads into memory that no peer may write, and has a peer that tries.
func sinkNeedsNoRight(w *world) error {
	s := w.stage(rdma.Config{})
	return errors.Join(receives(s, sample.TickLocal()), receives(s, sample.TickRemoteRead()), writeToSink(w))
}

// beyondTheirs asks a peer that is not ours for what RFC 7306 alone has. Nothing breaks: a write goes.
func beyondTheirs(w *world) error {
	p := w.other(2)
	local := ticks(w.T, p.dom, 1, sample.TickLocal())
	rem := far(w, p, sample.TickRemoteReadWriteAtomic())
	_, add := rdma.FetchAdd(p.Conn, sample.TickSeqOf(rem, 0), 1)
	is(w, add, errors.ErrUnsupported)
	_, err := rdma.WriteNotify(p.Conn, rem.Slice(0, 1), local.Span(0, 1), 1)
	ok(w, must(rdma.Write(p.Conn, rem.Slice(0, 1), local.Span(0, 1)))(w).Wait(limit(w)))
	ok(w, p.Err())
	return err
}

// readOfRevision1 reads from a peer that was told of no reads. Nothing breaks: a write goes.
func readOfRevision1(w *world) error {
	p := w.other(1)
	local := ticks(w.T, p.dom, 1, sample.TickLocal())
	rem := far(w, p, sample.TickRemoteReadWriteAtomic())
	_, err := rdma.Read(p.Conn, local.Span(0, 1), rem.Slice(0, 1))
	ok(w, must(rdma.Write(p.Conn, rem.Slice(0, 1), local.Span(0, 1)))(w).Wait(limit(w)))
	is(w, p.Flush(limit(w)), errors.ErrUnsupported)
	ok(w, p.Err())
	return err
}
