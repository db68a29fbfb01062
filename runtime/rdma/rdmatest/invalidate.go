package rdmatest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var invalidateChecks = []check{
	{"solicited", checkSolicited},
	{"invalidate", checkInvalidate},
	{"invalidate-refused", checkInvalidateRefused},
	{"typed-invalidate", checkTypedInvalidate},
}

// message is a send of 8 bytes.
func message(id uint64, a *side) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: rdma.VerbSend, Segs: 1}
	wr.Local[0] = a.seg(0, 8)
	return wr
}

// checkSolicited sends with and without asking for the event: the receiver is told which.
func checkSolicited(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	if !a.ad.Limits().Solicited {
		b.receive(9, 0, 64)
		b.receive(10, 0, 64)
		wr := message(1, a)
		wr.Solicited = true
		refuse(t, a, b, wr, rdma.StatusLocal)
		return
	}
	for i := range uint64(6) {
		b.receive(i, 1024, 64)
		wr := message(i, a)
		wr.Solicited = i%2 == 1
		a.do(wr)
		if c := b.done(i); c.Verb != rdma.VerbReceive || c.Bytes != 8 || c.Solicited != (wr.Solicited && !f.Unheard) || c.Invalidated != 0 {
			t.Errorf("solicited %v: received %s, solicited %v, ended key %#x", wr.Solicited, text(c), c.Solicited, c.Invalidated)
		}
	}
}

// checkInvalidate ends a key by a message, behind reads and writes that use it. They are done; nothing after is; and
// the owner deregisters the memory as ever. Its other registrations are as good as before.
func checkInvalidate(t *testing.T, f *Factory) {
	for _, solicited := range []bool{false, true} {
		a, b := connect(t, f)
		if l := a.ad.Limits(); !l.Invalidate || !l.ConnGrants {
			b.receive(9, 0, 64)
			b.receive(10, 0, 64)
			wr := message(1, a)
			wr.Invalidate, wr.Epoch = b.keys.R, b.keys.Epoch
			refuse(t, a, b, wr, rdma.StatusLocal)
			return
		}
		m := b.registerFor(128<<10, every, b.q)
		other, err := b.dom.Register(m.m, every, b.q)
		must(t, err)
		big := a.register(128<<10, nobody)
		fill(big.mem, 3)
		b.receive(50, 1024, 64)
		wr := message(4, a)
		wr.Invalidate, wr.Epoch, wr.Fence, wr.Solicited = m.keys.R, m.keys.Epoch, true, solicited
		a.do(op(rdma.VerbWrite, 1, &big, 0, len(big.mem), &m, 0),
			op(rdma.VerbRead, 2, &big, 0, len(big.mem), &m, 0), word(rdma.VerbFetchAdd, 3, &m, 0, 0, 0), wr)
		c := b.done(50)
		if c.Verb != rdma.VerbReceive || c.Invalidated != m.keys.R || c.Solicited != (solicited && !f.Unheard) || c.Bytes != 8 {
			t.Fatalf("received %s, solicited %v, ended key %#x, want %#x", text(c), c.Solicited, c.Invalidated, m.keys.R)
		}
		if !bytes.Equal(m.mem, big.mem) {
			t.Error("the write before the end of its key was not placed")
		}
		before := bytes.Clone(m.mem)
		again := memory{m: m.m, mem: m.mem, keys: other}
		a.do(op(rdma.VerbRead, 5, &big, 0, 64, &again, 0))
		refuse(t, a, b, op(rdma.VerbWrite, 6, &a.memory, 0, 64, &m, 64), rdma.StatusRemoteKey)
		if !bytes.Equal(m.mem, before) {
			t.Error("the memory changed by a key that had ended")
		}
		must(t, b.dom.Deregister(ctx(t), m.keys))
		if err := b.dom.Deregister(ctx(t), m.keys); err == nil {
			t.Error("keys could be deregistered twice")
		}
		must(t, b.dom.Deregister(ctx(t), other))
	}
}

// checkInvalidateRefused tries to end keys that are not for one's own connection alone. They must stay good, and the queue fail.
func checkInvalidateRefused(t *testing.T, f *Factory) {
	for name, x := range map[string]struct {
		want rdma.Status
		keys func(a, b *side) rdma.Keys
	}{
		"all connections'":     {rdma.StatusRemoteRight, func(a, b *side) rdma.Keys { return b.keys }},
		"another connection's": {rdma.StatusRemoteKey, func(a, b *side) rdma.Keys { _, q := join(t, a, b); return b.registerFor(4096, every, q).keys }},
		"nobody's": {rdma.StatusRemoteKey, func(a, b *side) rdma.Keys {
			k := b.keys
			k.R ^= 0x5a5a5a00 // the low bits go with the epoch
			return k
		}},
		"deregistered": {rdma.StatusRemoteKey, func(a, b *side) rdma.Keys {
			m := b.registerFor(4096, every, b.q)
			must(t, b.dom.Deregister(ctx(t), m.keys))
			return m.keys
		}},
		"another epoch": {rdma.StatusRemoteKey, func(a, b *side) rdma.Keys {
			k := b.registerFor(4096, every, b.q).keys
			k.Epoch++
			return k
		}},
	} {
		t.Run(name, func(t *testing.T) {
			a, b := connect(t, f)
			if l := a.ad.Limits(); !l.Invalidate || !l.ConnGrants {
				return // that it is refused altogether is tested elsewhere
			}
			b.receive(9, sideBytes-64, 64)
			wr := message(3, a)
			k := x.keys(a, b)
			wr.Invalidate, wr.Epoch = k.R, k.Epoch
			a.post(wr, flush(4))
			a.refused(3, rdma.VerbSend, x.want)
			b.mustEnd()
			qa, _ := join(t, a, b)
			second := &side{t: t, f: f, q: qa, name: "second", memory: a.memory}
			second.do(op(rdma.VerbWrite, 1, &a.memory, 0, 8, &b.memory, 0), flush(2))
		})
	}
}

// checkTypedInvalidate gives a right back as programs do.
func checkTypedInvalidate(t *testing.T, f *Factory) {
	p := openTyped(t, f, rdma.Config{})
	if l := p.a.dev.Limits(); !l.Invalidate || !l.ConnGrants {
		if err := rdma.SendInvalidate(ctx(t), p.a.conn, []byte("done"), p.rem); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("a device that cannot end a key: got %v, want %v", err, errors.ErrUnsupported)
		}
		return
	}
	g, err := rdma.Grant(p.b.conn, p.target, sample.TickRemoteReadWrite())
	must(t, err)
	must(t, rdma.OfferScoped(ctx(t), p.b.conn, "mine", g))
	rem, err := rdma.Import(ctx(t), p.a.conn, "mine", sample.TickRemoteReadWrite())
	must(t, err)
	setPrice(t, p.local, 0, 11)
	op, err := rdma.Write(p.a.conn, rem.Slice(7, 1), p.local.Span(0, 1))
	must(t, err)
	must(t, rdma.SendInvalidate(ctx(t), p.a.conn, []byte("done"), rem.Slice(0, 1)))
	must(t, op.Wait(ctx(t)))
	if _, err := rdma.Write(p.a.conn, rem.Slice(7, 1), p.local.Span(0, 1)); !errors.Is(err, rdma.ErrRevoked) {
		t.Errorf("a write by what was given back: got %v, want %v", err, rdma.ErrRevoked)
	}
	if err := rdma.SendInvalidate(ctx(t), p.a.conn, []byte("again"), rem); !errors.Is(err, rdma.ErrRevoked) {
		t.Errorf("given back twice: got %v, want %v", err, rdma.ErrRevoked)
	}
	var buf [16]byte
	n, err := p.b.conn.Receive(ctx(t), buf[:])
	must(t, err)
	if _, held := g.Remote(); string(buf[:n]) != "done" || price(t, p.target, 7) != 11 || !errors.Is(g.Err(), rdma.ErrRevoked) || !errors.Is(held, rdma.ErrRevoked) {
		t.Errorf("received %q; the element is %v; the right: %v, %v", buf[:n], price(t, p.target, 7), g.Err(), held)
	}
	must(t, g.Revoke(ctx(t))) // lets go of what is left of it
	must(t, p.a.conn.SendSolicited(ctx(t), []byte("wake")))
	n, err = p.b.conn.Receive(ctx(t), buf[:])
	must(t, err)
	// The region, and who has it otherwise, are as before; to end its own key is refused.
	op, err = rdma.Write(p.a.conn, p.rem.Slice(8, 1), p.local.Span(0, 1))
	wait(t, op, err)
	must(t, p.a.conn.Flush(ctx(t)))
	err = rdma.SendInvalidate(ctx(t), p.a.conn, []byte("all"), p.rem)
	if err == nil {
		err = p.a.conn.Flush(ctx(t))
	}
	if string(buf[:n]) != "wake" || price(t, p.target, 8) != 11 || !errors.Is(err, rdma.ErrRights) {
		t.Errorf("received %q; the element is %v; ending a shared key: got %v, want %v", buf[:n], price(t, p.target, 8), err, rdma.ErrRights)
	}
}
