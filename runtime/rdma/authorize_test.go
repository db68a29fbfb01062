package rdma_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// refusing has a listener that refuses the first peer that comes, and what that one, and the listener's observer,
// get to know of it. The second is taken.
func refusing(t *testing.T, p rdma.Provider, addr string) (first *rdma.Conn, err error) {
	t.Helper()
	ctx := limit(t)
	open := func(cfg rdma.Config) *rdma.Domain {
		cfg.Provider, cfg.Logger = p, quiet
		dev := must(rdma.Open(ctx, cfg))(t)
		t.Cleanup(func() { ok(t, dev.Close()) })
		return must(dev.Domain())(t)
	}
	var asked []rdma.Request
	seen := make(chan rdma.Event, 10)
	server := open(rdma.Config{
		Authorize: func(r rdma.Request) error {
			if asked = append(asked, r); len(asked) == 1 {
				return errors.New("go away")
			}
			return nil
		},
		Observer: func(e rdma.Event) { seen <- e },
	})
	client := open(rdma.Config{})
	ln := must(server.Listen(ctx, addr))(t)
	accepted := make(chan error, 1)
	var conn *rdma.Conn
	go func() {
		c, err := ln.Accept(ctx)
		conn = c
		accepted <- err
	}()
	first, err = client.Dial(ctx, ln.Addr())
	must(client.Dial(ctx, ln.Addr()))(t)
	ok(t, <-accepted)
	if e := <-seen; e.Kind != rdma.EventRefused || e.Peer != asked[0].Peer || e.Err.Error() != "go away" {
		t.Errorf("seen: %+v", e)
	}
	if asked[1].Peer != conn.Peer() || asked[0].Peer == "" {
		t.Errorf("asked for %q and %q; the connection's peer is %q", asked[0].Peer, asked[1].Peer, conn.Peer())
	}
	ok(t, ln.Close())
	return first, err
}

// TestAuthorizeRefusesPeer: the Dial of who is refused fails with the reason.
func TestAuthorizeRefusesPeer(t *testing.T) {
	everyWorld(t, func(w *world) {
		_, err := refusing(w.T, w.provider, w.address())
		is(w, err, rdma.ErrRefused)
		if err == nil || !strings.HasSuffix(err.Error(), ": go away") || strings.Count(err.Error(), "refuses") != 1 {
			t.Errorf("the peer is not told why, or more than once: %v", err)
		}
	})
}

// TestAuthorizeLate has a provider that does not know its peers before they are connected.
func TestAuthorizeLate(t *testing.T) {
	c, err := refusing(t, simple{soft.New(soft.Config{})}, "")
	ok(t, err)
	_, err = c.Receive(limit(t), make([]byte, 1))
	is(t, err, rdma.ErrPeerLost)
	if !strings.Contains(err.Error(), "go away") {
		t.Errorf("the peer is not told why: %v", err)
	}
}

// simple is a provider whose acceptors have nothing optional.
type simple struct{ rdma.Provider }

type simpleAdapter struct{ rdma.Adapter }

type simpleDomain struct{ rdma.ProtectionDomain }

type simpleAcceptor struct{ rdma.Acceptor }

func (p simple) Open(ctx context.Context, name string, cfg *rdma.Config) (rdma.Adapter, error) {
	a, err := p.Provider.Open(ctx, name, cfg)
	return simpleAdapter{a}, err
}

func (a simpleAdapter) NewDomain() (rdma.ProtectionDomain, error) {
	d, err := a.Adapter.NewDomain()
	return simpleDomain{d}, err
}

func (d simpleDomain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	a, err := d.ProtectionDomain.Listen(ctx, addr)
	return simpleAcceptor{a}, err
}
