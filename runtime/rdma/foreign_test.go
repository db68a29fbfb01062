package rdma_test

import (
	"context"
	"encoding/binary"
	"errors"
	"math"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestPlainBoth has two programs that speak no barewire, one of them by its configuration or both: nothing of ours is
// said, and they reach each other's memory by addresses and keys that go in their own messages.
func TestPlainBoth(t *testing.T) {
	for name, cfg := range map[string][2]rdma.Config{
		"both":   {{Plain: true}, {Plain: true}},
		"dials":  {{}, {Plain: true}},
		"listen": {{Plain: true}, {}},
	} {
		t.Run(name, func(t *testing.T) {
			fabric := soft.New(soft.Config{})
			p := &pair{fabric: fabric}
			ctx := limit(t)
			for i, s := range []*side{&p.a, &p.b} {
				cfg[i].Provider, cfg[i].Logger = fabric, quiet
				s.dev = must(rdma.Open(ctx, cfg[i]))(t)
				s.dom = must(s.dev.Domain())(t)
				t.Cleanup(func() { _ = s.dev.Close() })
			}
			ln := must(p.a.dom.Listen(ctx, ""))(t)
			accepted := make(chan error, 1)
			go func() {
				var err error
				p.a.conn, err = ln.Accept(ctx)
				accepted <- err
			}()
			p.b.conn = must(p.b.dom.Dial(ctx, ln.Addr()))(t)
			ok(t, <-accepted)
			if !p.a.conn.Plain() || !p.b.conn.Plain() {
				t.Fatal("a side takes the other for one that speaks barewire")
			}
			plainExchange(t, ctx, p)
		})
	}
}

// plainExchange tells an address in a message, reads and writes there, many messages long: nobody counts credits.
func plainExchange(t *testing.T, ctx context.Context, p *pair) {
	target := ticks(t, p.a.dom, 8, sample.TickRemoteReadWriteAtomic())
	local := ticks(t, p.b.dom, 8, sample.TickLocal())
	addr, key, bytes, err := rdma.AddressOf(p.a.conn, target)
	ok(t, err)
	told := binary.BigEndian.AppendUint64(nil, addr)
	told = binary.BigEndian.AppendUint32(told, uint32(key))
	told = binary.BigEndian.AppendUint32(told, uint32(bytes))
	ok(t, p.a.conn.SendBytes(ctx, told))
	buf := make([]byte, 64)
	n := must(p.b.conn.Receive(ctx, buf))(t)
	if n != len(told) {
		t.Fatalf("received %d bytes, want %d: nothing of ours may come", n, len(told))
	}
	const size = 64
	rem := must(rdma.Foreign(p.b.conn, binary.BigEndian.Uint64(buf), rdma.RKey(binary.BigEndian.Uint32(buf[8:])),
		int(binary.BigEndian.Uint32(buf[12:]))/size, sample.TickRemoteReadWriteAtomic()))(t)
	if rem.Len() != 8 {
		t.Fatalf("there are %d elements, want 8", rem.Len())
	}
	op := must(rdma.Write(p.b.conn, rem.Slice(2, 1), local.Span(0, 1)))(t)
	ok(t, op.Wait(ctx))
	ok(t, p.b.conn.Flush(ctx))
	for i := range uint64(300) {
		add := must(rdma.FetchAdd(p.b.conn, sample.TickSeqOf(rem, 3), 1))(t)
		if was := must(add.Wait(ctx))(t); was != i {
			t.Fatalf("the counter was %d, want %d", was, i)
		}
		ok(t, p.b.conn.SendBytes(ctx, buf[:8]))
		must(p.a.conn.Receive(ctx, buf))(t)
	}
	ok(t, rdma.Revoke(ctx, target))
	_, _, _, err = rdma.AddressOf(p.a.conn, target)
	is(t, err, rdma.ErrRevoked)
	op, err = rdma.Read(p.b.conn, local.Span(0, 1), rem.Slice(0, 1))
	if err == nil { // nobody told it
		err = op.Wait(ctx)
	}
	is(t, err, rdma.ErrRevoked)
	if st := p.a.conn.Stats(); st.Violations != 0 {
		t.Errorf("the witness saw %+v", st)
	}
}

// TestForeignMistakes has references that cannot be.
func TestForeignMistakes(t *testing.T) {
	p := connect(t, rdma.Config{Logger: quiet}, soft.Config{})
	ctx := limit(t)
	mr := ticks(t, p.a.dom, 1, sample.TickRemoteRead())
	_, _, _, err := rdma.AddressOf(p.a.conn, mr)
	is(t, err, rdma.ErrBarewire)
	is(t, second(rdma.Foreign(p.a.conn, 0, 1, 1, sample.TickRemoteRead())), rdma.ErrBarewire)
	g := must(rdma.Grant(p.a.conn, mr, sample.TickRemoteRead()))(t)
	_, _, _, err = g.Address()
	is(t, err, rdma.ErrBarewire)

	q := connect(t, rdma.Config{Logger: quiet, Plain: true}, soft.Config{})
	for name, x := range map[string]struct {
		addr  uint64
		key   rdma.RKey
		count int
		want  error
	}{
		"no key":      {0, 0, 1, barewire.ErrNoRemote},
		"no elements": {0, 1, 0, barewire.ErrRange},
		"fewer":       {0, 1, -1, barewire.ErrRange},
		"too many":    {0, 1, math.MaxInt, barewire.ErrRange},
		"beyond":      {math.MaxUint64 - 62, 1, 1, barewire.ErrRange},
	} {
		if _, err := rdma.Foreign(q.a.conn, x.addr, x.key, x.count, sample.TickRemoteRead()); !errors.Is(err, x.want) {
			t.Errorf("%s: got %v, want %v", name, err, x.want)
		}
	}
	is(t, second(rdma.Foreign(q.a.conn, 0, 1, 1, barewire.Grant[sample.Tick, barewire.RemoteRead]{})), barewire.ErrNoGrant)
	is(t, second(rdma.Foreign((*rdma.Conn)(nil), 0, 1, 1, sample.TickRemoteRead())), rdma.ErrClosed)
	_, _, _, err = rdma.AddressOf(q.a.conn, mr)
	is(t, err, rdma.ErrDomain)

	// A right for this connection alone has an address of its own.
	far := ticks(t, q.a.dom, 4, sample.TickRemoteRead())
	s := must(rdma.Grant(q.a.conn, far, sample.TickRemoteRead()))(t)
	addr, key, bytes, err := s.Address()
	ok(t, err)
	if bytes != 4*64 {
		t.Errorf("it has %d bytes", bytes)
	}
	rem := must(rdma.Foreign(q.b.conn, addr, key, 4, sample.TickRemoteRead()))(t)
	op := must(rdma.Read(q.b.conn, ticks(t, q.b.dom, 4, sample.TickLocal()).Span(0, 4), rem))(t)
	ok(t, op.Wait(ctx))
	ok(t, s.Revoke(ctx))
	_, _, _, err = s.Address()
	is(t, err, rdma.ErrRevoked)
}

// TestPlainNotHere asks a device for plain connections that has none but barewire's.
func TestPlainNotHere(t *testing.T) {
	if devices := must(shm.Provider().Devices(limit(t)))(t); devices[0].State != rdma.StateActive {
		return // the system has no such device at all
	}
	_, err := shm.Provider().Open(limit(t), "", &rdma.Config{Plain: true})
	is(t, err, rdma.ErrConfig)
}
