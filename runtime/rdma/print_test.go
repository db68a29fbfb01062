package rdma_test

import (
	"fmt"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestPrinted prints everything that a program might log, while it is in use: a name is
// printed, and nothing is read that others write (the race detector would see).
func TestPrinted(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	r := ticks(t, p.a.dom, 4, sample.TickRemoteReadWrite())
	rem := share(t, &p.a, &p.b, "x", r, sample.TickRemoteReadWrite())
	local := ticks(t, p.b.dom, 4, sample.TickLocal())
	scoped := must(rdma.Grant(p.a.conn, r, sample.TickRemoteRead()))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			op, err := rdma.Write(p.b.conn, rem, local.Span(0, 4))
			if err != nil {
				t.Error(err)
				return
			}
			ok(t, op.Wait(ctx))
		}
	}()
	op := must(rdma.Write(p.b.conn, rem, local.Span(0, 4)))(t)
	for _, test := range []struct {
		it   any
		want string
	}{
		{p.b.conn, "connection with " + p.b.conn.Peer()},
		{p.b.dom, "a domain of device soft/" + p.b.dom.Device().Info().Name},
		{p.b.dom.Device(), "device soft/" + p.b.dom.Device().Info().Name},
		{scoped, "a right on sample.Tick for the connection with " + p.a.conn.Peer()},
		{rem, "4 elements of sample.Tick at a peer, granting remote_read, remote_write"},
		{rem.Slice(3, 2), "slice of a Remote: out of range: 2 elements from 3 on, and it has 4"},
		{local.Span(1, 2), "2 elements from 1 on of " + local.String()},
		{(*rdma.Conn)(nil), "no connection"},
		{&rdma.Domain{}, "no domain"},
		{&rdma.Device{}, "no device"},
		{&rdma.Listener{}, "no listener"},
		{rdma.Op{}, "no operation"},
		{&rdma.Scoped[sample.Tick, barewire.RemoteRead]{}, "no right"},
		{barewire.Span[sample.Tick, barewire.Local]{}, "no region"},
	} {
		for _, verb := range []string{"%v", "%+v", "%s"} {
			if got := fmt.Sprintf(verb, test.it); got != test.want {
				t.Errorf("%s: %q, want %q", verb, got, test.want)
			}
		}
	}
	if got := fmt.Sprint(op); !strings.HasPrefix(got, "operation ") || !strings.HasSuffix(got, " of the connection with "+p.b.conn.Peer()) {
		t.Errorf("an Op is printed as %q", got)
	}
	<-done
}
