package rdmatest

import (
	"errors"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// checkTypedGrantedAgain takes back what a region grants while its own side uses it, and grants it again: to one peer, where keys can be
// for one, and to all. Nothing of it needs another connection, since the peer leaves the old reference alone.
func checkTypedGrantedAgain(t *testing.T, f *Factory) {
	var revoked []error
	p := openTyped(t, f, rdma.Config{Observer: func(e rdma.Event) {
		if e.Kind == rdma.EventRevoked {
			revoked = append(revoked, e.Err)
		}
	}})
	mine := register(t, p.a.dom, sample.TickRemoteReadWrite())
	must(t, rdma.Offer(ctx(t), p.a.conn, "mine", mine))
	back, err := rdma.Import(ctx(t), p.b.conn, "mine", sample.TickRemoteReadWrite())
	must(t, err)
	op, err := rdma.Write(p.a.conn, p.rem.Slice(0, 1), p.local.Span(0, 1))
	wait(t, op, err)
	must(t, p.a.conn.Flush(ctx(t))) // where writes complete when they are handed over it could come late
	setPrice(t, p.target, 5, 55)
	own, err := rdma.Write(p.b.conn, back.Slice(5, 1), p.target.Span(5, 1))
	must(t, err)
	must(t, rdma.Revoke(ctx(t), p.target))
	wait(t, own, nil) // posted before, with the local key
	own, err = rdma.Write(p.b.conn, back.Slice(6, 1), p.target.Span(5, 1))
	wait(t, own, err) // and after
	must(t, p.b.conn.Flush(ctx(t)))
	if price(t, mine, 5) != 55 || price(t, mine, 6) != 55 {
		t.Errorf("the own side wrote %v and %v, want 55", price(t, mine, 5), price(t, mine, 6))
	}
	if len(revoked) != 1 || revoked[0] != nil && !errors.Is(revoked[0], errors.ErrUnsupported) {
		t.Errorf("it said %v", revoked)
	}
	if p.a.dev.Limits().ConnGrants {
		g, err := rdma.Grant(p.b.conn, p.target, sample.TickRemoteReadWrite())
		must(t, err)
		must(t, rdma.OfferScoped(ctx(t), p.b.conn, "for one", g))
		rem, err := rdma.Import(ctx(t), p.a.conn, "for one", sample.TickRemoteReadWrite())
		must(t, err)
		setPrice(t, p.local, 0, 7)
		op, err := rdma.Write(p.a.conn, rem.Slice(7, 1), p.local.Span(0, 1))
		wait(t, op, err)
		must(t, p.a.conn.Flush(ctx(t)))
		if price(t, p.target, 7) != 7 {
			t.Errorf("granted to one, the element is %v", price(t, p.target, 7))
		}
	}
	all, err := rdma.Also(p.b.dom, p.target, sample.TickRemoteReadWrite())
	must(t, err)
	defer func() { must(t, all.Close()) }()
	must(t, rdma.Offer(ctx(t), p.b.conn, "for all", all))
	rem, err := rdma.Import(ctx(t), p.a.conn, "for all", sample.TickRemoteReadWrite())
	must(t, err)
	setPrice(t, p.local, 0, 8)
	op, err = rdma.Write(p.a.conn, rem.Slice(8, 1), p.local.Span(0, 1))
	wait(t, op, err)
	must(t, p.a.conn.Flush(ctx(t)))
	if price(t, p.target, 8) != 8 {
		t.Errorf("granted to all, the element is %v", price(t, p.target, 8))
	}
}
