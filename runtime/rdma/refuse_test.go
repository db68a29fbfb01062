package rdma_test

import (
	"errors"
	"strings"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// refused checks the error of an operation that was not posted: its reason, and
// that it says what a person needs.
func refused(t *testing.T, err, want error, says ...string) {
	t.Helper()
	is(t, err, want)
	var oe *rdma.OpError
	if !errors.As(err, &oe) {
		t.Fatalf("%v is no *OpError", err)
	}
	says = append(says, "_test.go:")
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the message lacks %q:\n%v", s, err)
		}
	}
}

// TestRefusedBeforePosting has the mistakes of the catalogue that can be seen
// before anything is posted.
func TestRefusedBeforePosting(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	target := ticks(t, p.a.dom, 10, sample.TickRemoteReadWriteAtomic())
	rem := share(t, &p.a, &p.b, "ticks", target, sample.TickRemoteReadWriteAtomic())
	local := ticks(t, p.b.dom, 10, sample.TickLocal())
	c := p.b.conn
	made := "region of sample.Tick made at rdma/pair_test.go:"

	t.Run("lengths differ", func(t *testing.T) {
		_, err := rdma.Write(c, rem.Slice(0, 3), local.Span(0, 2))
		refused(t, err, rdma.ErrLength, "128 bytes here", "192 bytes, there", made)
	})
	t.Run("nothing", func(t *testing.T) {
		_, err := rdma.Write(c, rem.Slice(0, 0), local.Span(0, 0))
		refused(t, err, rdma.ErrEmpty, made)
	})
	t.Run("local range", func(t *testing.T) {
		_, err := rdma.Read(c, local.Span(8, 3), rem.Slice(0, 3))
		refused(t, err, barewire.ErrRange, "3 elements from 8 on, and it has 10")
	})
	t.Run("remote range", func(t *testing.T) {
		_, err := rdma.Read(c, local.Span(0, 3), rem.Slice(8, 3))
		refused(t, err, barewire.ErrRange, "3 elements from 8 on, and it has 10")
	})
	t.Run("no remote", func(t *testing.T) {
		var zero barewire.Remote[sample.Tick, barewire.RemoteRead]
		_, err := rdma.Read(c, local.Span(0, 3), zero)
		refused(t, err, barewire.ErrNoRemote)
	})
	t.Run("no region", func(t *testing.T) {
		var none *barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
		_, err := rdma.Read(c, none.Span(0, 1), rem.Slice(0, 1))
		refused(t, err, barewire.ErrNoRegion)
	})
	t.Run("no connection", func(t *testing.T) {
		_, err := rdma.Read(nil, local.Span(0, 1), rem.Slice(0, 1))
		refused(t, err, rdma.ErrClosed, "nil pointer")
		_, err = rdma.Read((*rdma.Conn)(nil), local.Span(0, 1), rem.Slice(0, 1))
		refused(t, err, rdma.ErrClosed)
		is(t, (*rdma.Conn)(nil).Flush(ctx), rdma.ErrClosed)
	})
	t.Run("another device's region", func(t *testing.T) {
		_, err := rdma.Write(c, rem.Slice(0, 1), target.Span(0, 1))
		refused(t, err, rdma.ErrDomain, "see Also")
	})
	t.Run("another domain's region", func(t *testing.T) {
		dom := must(p.b.dev.Domain())(t)
		other := ticks(t, dom, 1, sample.TickLocal())
		_, err := rdma.Write(c, rem.Slice(0, 1), other.Span(0, 1))
		refused(t, err, rdma.ErrDomain, "another domain", "see Also")
		also := must(rdma.Also(p.b.dom, other, sample.TickLocal()))(t)
		ok(t, must(rdma.Write(c, rem.Slice(0, 1), also.Span(0, 1)))(t).Wait(ctx))
		ok(t, also.Close())
	})
	t.Run("a closed region", func(t *testing.T) {
		r := ticks(t, p.b.dom, 1, sample.TickLocal())
		span := r.Span(0, 1)
		ok(t, r.Close())
		_, err := rdma.Write(c, rem.Slice(0, 1), span)
		refused(t, err, barewire.ErrReleased, "refuse_test.go")
	})
	t.Run("a deregistered region", func(t *testing.T) {
		r := ticks(t, p.b.dom, 1, sample.TickLocal())
		plain := must(rdma.Deregister(ctx, r))(t)
		_, err := rdma.Write(c, rem.Slice(0, 1), r.Span(0, 1))
		refused(t, err, barewire.ErrMoved, "refuse_test.go")
		ok(t, plain.Close())
	})
	t.Run("gather", func(t *testing.T) {
		_, err := rdma.WriteGather(c, rem.Slice(0, 5), local.Span(0, 1), local.Span(1, 1), local.Span(2, 1), local.Span(3, 1), local.Span(4, 1))
		refused(t, err, rdma.ErrLength, "5 spans")
		other := ticks(t, p.a.dom, 1, sample.TickLocal())
		_, err = rdma.WriteGather(c, rem.Slice(0, 2), local.Span(0, 1), other.Span(0, 1))
		refused(t, err, rdma.ErrDomain)
		var none []barewire.Span[sample.Tick, barewire.Local]
		_, err = rdma.WriteGather(c, rem.Slice(0, 2), none...)
		refused(t, err, rdma.ErrLength)
	})
	ok(t, c.Flush(ctx)) // none of it hurt the connection
	ok(t, local.Close())
}

// TestRights has references with less than an operation needs: the types say the
// right, and a reference from a message can lie about it.
func TestRights(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	target := ticks(t, p.a.dom, 10, sample.TickRemoteRead())
	ok(t, rdma.Offer(ctx, p.a.conn, "ticks", target))
	_, err := rdma.Import(ctx, p.b.conn, "ticks", sample.TickRemoteReadWrite())
	is(t, err, rdma.ErrRights)
	is(t, err, rdma.ErrRefused)
	for _, s := range []string{`"ticks" grants remote_read`, "asked for was remote_read|remote_write", "sample.Tick"} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the message lacks %q:\n%v", s, err)
		}
	}

	// A forged reference: the peer's device refuses it, whatever it claims.
	rem := must(rdma.Import(ctx, p.b.conn, "ticks", sample.TickRemoteRead()))(t)
	raw := must(barewire.AppendRemote(nil, rem))(t)
	raw[44] |= 2 // the right to write
	forged := must(barewire.RemoteFrom(raw, sample.TickRemoteWrite()))(t)
	local := ticks(t, p.b.dom, 10, sample.TickLocal())
	op := must(rdma.Write(p.b.conn, forged.Slice(0, 1), local.Span(0, 1)))(t)
	failed := errors.Join(op.Wait(ctx), p.b.conn.Flush(ctx))
	is(t, failed, rdma.ErrRights)
	if !strings.Contains(failed.Error(), "refuse_test.go:") {
		t.Errorf("the error does not say where the write was posted: %v", failed)
	}
}

// TestAnotherSchema imports what is another type.
func TestAnotherSchema(t *testing.T) {
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx := limit(t)
	ok(t, rdma.Offer(ctx, p.a.conn, "ticks", ticks(t, p.a.dom, 10, sample.TickRemoteRead())))
	_, err := rdma.Import(ctx, p.b.conn, "ticks", sample.SensorRemoteRead())
	is(t, err, rdma.ErrSchema)
	for _, s := range []string{"sample.Tick", "sample.Sensor", `"ticks"`} {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the message lacks %q:\n%v", s, err)
		}
	}
}
