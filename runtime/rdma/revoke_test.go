package rdma_test

import (
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestRevoke takes back what a region grants.
func TestRevoke(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 4, sample.TickRemoteReadWrite())
	rem := share(t, &p.a, &p.b, "x", r, sample.TickRemoteReadWrite())
	local := ticks(t, p.b.dom, 4, sample.TickLocal())
	ok(t, must(rdma.Write(p.b.conn, rem, local.Span(0, 4)))(t).Wait(ctx))
	other := ticks(t, p.b.dom, 4, sample.TickRemoteRead())
	back := share(t, &p.b, &p.a, "y", other, sample.TickRemoteRead())

	before := p.b.conn.Stats().Control
	ok(t, rdma.Revoke(ctx, r))
	ok(t, rdma.Revoke(ctx, r)) // again does nothing
	_, err := rdma.RemoteOf(r)
	is(t, err, rdma.ErrRevoked)
	is(t, rdma.Offer(ctx, p.a.conn, "again", r), rdma.ErrRevoked)
	// The region is still good for operations of its own side.
	ok(t, must(rdma.Read(p.a.conn, r.Span(0, 4), back))(t).Wait(ctx))

	// The peer was told: its next operation is refused, and the connection lives.
	for p.b.conn.Stats().Control == before {
		time.Sleep(time.Millisecond)
		ok(t, ctx.Err())
	}
	_, err = rdma.Write(p.b.conn, rem, local.Span(0, 4))
	refused(t, err, rdma.ErrRevoked, "import it again")
	ok(t, p.b.conn.Flush(ctx))
	_, err = rdma.Import(ctx, p.b.conn, "x", sample.TickRemoteRead())
	is(t, err, rdma.ErrRevoked)
	ok(t, r.Close())
}

// TestRevokeWaits has operations of the own side in flight.
func TestRevokeWaits(t *testing.T) {
	s := newScene(t, rdma.Config{})
	mine := ticks(t, s.b.dom, 2, sample.TickRemoteRead())
	rule := s.stall()
	op := must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), mine.Span(0, 1)))(t)
	done := make(chan error, 1)
	go func() { done <- rdma.Revoke(limit(t), mine) }()
	select {
	case err := <-done:
		t.Fatalf("revoked with an operation in flight: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	rule.Remove()
	ok(t, <-done)
	ok(t, op.Wait(limit(t)))
	ok(t, s.write(t).Wait(limit(t)))
}

// TestGrant scopes a right to one connection.
func TestGrant(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	if !p.a.dev.Limits().ConnGrants {
		t.Fatal("soft scopes keys")
	}
	ctx := limit(t)
	r := ticks(t, p.a.dom, 4, sample.TickRemoteRead())
	local := ticks(t, p.b.dom, 4, sample.TickLocal())
	_, err := rdma.Grant(p.a.conn, r, sample.TickRemoteReadWrite())
	is(t, err, rdma.ErrRights)
	_, err = rdma.Grant(p.b.conn, r, sample.TickRemoteRead())
	is(t, err, rdma.ErrDomain)
	g := must(rdma.Grant(p.a.conn, r, sample.TickRemoteRead()))(t)
	ok(t, rdma.OfferScoped(ctx, p.a.conn, "scoped", g))
	rem := must(rdma.Import(ctx, p.b.conn, "scoped", sample.TickRemoteRead()))(t)
	ok(t, must(rdma.Read(p.b.conn, local.Span(0, 4), rem))(t).Wait(ctx))

	// Another connection of the same domains has no use for it.
	ln := must(p.a.dom.Listen(ctx, ""))(t)
	defer ln.Close()
	go func() { _, _ = ln.Accept(ctx) }()
	c2 := must(p.b.dom.Dial(ctx, ln.Addr()))(t)
	op, err := rdma.Read(c2, local.Span(0, 4), rem)
	if err == nil {
		err = op.Wait(ctx)
	}
	is(t, err, rdma.ErrRevoked)

	ok(t, g.Revoke(ctx))
	ok(t, g.Revoke(ctx))
	_, err = g.Remote()
	is(t, err, rdma.ErrRevoked)
	is(t, rdma.OfferScoped(ctx, p.a.conn, "late", g), rdma.ErrRevoked)
	_, err = rdma.Import(ctx, p.b.conn, "scoped", sample.TickRemoteRead())
	is(t, err, rdma.ErrRevoked)
	ok(t, r.Close())
	is(t, g.Revoke(ctx), nil)
	var none *rdma.Scoped[sample.Tick, barewire.RemoteRead]
	is(t, none.Revoke(ctx), rdma.ErrClosed)
}

// TestRegisterFails leaves the region as it was.
func TestRegisterFails(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	r := must(barewire.New(sample.TickInCPU(), 2))(t)
	rule := p.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRegister}, Do: soft.Refuse("no more keys")})
	if _, err := rdma.Register(p.a.dom, r, sample.TickLocal()); err == nil {
		t.Fatal("it was refused")
	}
	rule.Remove()
	prices(t, r, func(int) float64 { return 7 }) // still good
	w := must(barewire.Open(r))(t)
	_, err := rdma.Register(p.a.dom, r, sample.TickLocal())
	is(t, err, barewire.ErrBorrowed)
	ok(t, w.Close())
	mr := must(rdma.Register(p.a.dom, r, sample.TickLocal()))(t)
	_, err = rdma.Register(p.a.dom, r, sample.TickLocal())
	is(t, err, barewire.ErrMoved)
	if price(t, mr, 1) != 7 {
		t.Error("the memory is another")
	}
	var zero barewire.Grant[sample.Tick, barewire.Local]
	_, err = rdma.Register(p.a.dom, r, zero)
	is(t, err, barewire.ErrNoGrant)
	again := must(rdma.Deregister(limit(t), mr))(t)
	ok(t, again.Close())
	_, err = rdma.Deregister(limit(t), mr)
	is(t, err, barewire.ErrMoved)
}
