package rdma_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

type (
	localTicks  = barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
	plainTicks  = barewire.Region[sample.Tick, barewire.CPU, barewire.Unregistered]
	sharedTicks = barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteReadWriteAtomic]
	sharedRem   = barewire.Remote[sample.Tick, barewire.RemoteReadWriteAtomic]
)

// TestNilArguments gives the functions nothing, or zero values, one at a time.
func TestNilArguments(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	plain := must(barewire.New(sample.TickInCPU(), 1))(t)
	defer plain.Close()
	c := s.b.conn
	var noField barewire.Field[uint64, barewire.RemoteReadWriteAtomic]
	var noLocal barewire.LocalField[uint64]
	for what, err := range map[string]error{
		"register in no domain":       second(rdma.Register(nil, plain, sample.TickLocal())),
		"register in a zero domain":   second(rdma.Register(new(rdma.Domain), plain, sample.TickLocal())),
		"register nothing":            second(rdma.Register(s.a.dom, (*plainTicks)(nil), sample.TickLocal())),
		"register a zero region":      second(rdma.Register(s.a.dom, new(plainTicks), sample.TickLocal())),
		"register for a zero grant":   second(rdma.Register(s.a.dom, plain, barewire.Grant[sample.Tick, barewire.Local]{})),
		"also in no domain":           second(rdma.Also(nil, s.local, sample.TickLocal())),
		"also nothing":                second(rdma.Also(s.a.dom, (*localTicks)(nil), sample.TickLocal())),
		"also a zero region":          second(rdma.Also(s.a.dom, new(localTicks), sample.TickLocal())),
		"deregister nothing":          second(rdma.Deregister(ctx, (*localTicks)(nil))),
		"deregister a zero region":    second(rdma.Deregister(ctx, new(localTicks))),
		"reference to nothing":        second(rdma.RemoteOf((*sharedTicks)(nil))),
		"revoke nothing":              rdma.Revoke(ctx, (*sharedTicks)(nil)),
		"revoke a zero region":        rdma.Revoke(ctx, new(sharedTicks)),
		"grant on no connection":      second(rdma.Grant(nil, s.target, sample.TickRemoteRead())),
		"grant nothing":               second(rdma.Grant(c, (*sharedTicks)(nil), sample.TickRemoteRead())),
		"grant a zero grant":          second(rdma.Grant(s.a.conn, s.target, barewire.Grant[sample.Tick, barewire.RemoteRead]{})),
		"offer on no connection":      rdma.Offer(ctx, nil, "x", s.target),
		"offer on a zero connection":  rdma.Offer(ctx, new(rdma.Conn), "x", s.target),
		"offer nothing":               rdma.Offer(ctx, s.a.conn, "x", (*sharedTicks)(nil)),
		"offer a zero region":         rdma.Offer(ctx, s.a.conn, "x", new(sharedTicks)),
		"offer no scoped":             rdma.OfferScoped(ctx, s.a.conn, "x", (*rdma.Scoped[sample.Tick, barewire.RemoteRead])(nil)),
		"offer a zero scoped":         rdma.OfferScoped(ctx, s.a.conn, "x", new(rdma.Scoped[sample.Tick, barewire.RemoteRead])),
		"import on no connection":     second(rdma.Import(ctx, nil, "x", sample.TickRemoteRead())),
		"import on a zero connection": second(rdma.Import(ctx, new(rdma.Conn), "x", sample.TickRemoteRead())),
		"import for a zero grant":     second(rdma.Import(ctx, c, "x", barewire.Grant[sample.Tick, barewire.RemoteRead]{})),
		"write on nothing":            second(rdma.Write(nil, s.rem, s.local.Span(0, 64))),
		"write on a nil batch":        second(rdma.Write((*rdma.Batch)(nil), s.rem, s.local.Span(0, 64))),
		"write on a zero batch":       second(rdma.Write(new(rdma.Batch), s.rem, s.local.Span(0, 64))),
		"write on a zero connection":  second(rdma.Write(new(rdma.Conn), s.rem, s.local.Span(0, 64))),
		"write a zero span":           second(rdma.Write(c, s.rem, barewire.Span[sample.Tick, barewire.Local]{})),
		"write to a zero remote":      second(rdma.Write(c, sharedRem{}, s.local.Span(0, 64))),
		"write to a slice of one":     second(rdma.Write(c, sharedRem{}.Slice(0, 0), s.local.Span(0, 1))),
		"gather on nothing":           second(rdma.WriteGather(nil, s.rem, s.local.Span(0, 32), s.local.Span(32, 32))),
		"gather a zero span":          second(rdma.WriteGather(c, s.rem, s.local.Span(0, 64), barewire.Span[sample.Tick, barewire.Local]{})),
		"send on nothing":             second(rdma.Send(nil, s.local.Span(0, 1))),
		"send a zero span":            second(rdma.Send(c, barewire.Span[sample.Tick, barewire.Local]{})),
		"add on nothing":              second(rdma.FetchAdd(nil, sample.TickSeqOf(s.rem, 0), 1)),
		"add to no field":             second(rdma.FetchAdd(c, noField, 1)),
		"add to a zero remote's":      second(rdma.FetchAdd(c, sample.TickSeqOf(sharedRem{}, 0), 1)),
		"swap no field":               second(rdma.CompareAndSwap(c, noField, 1, 2)),
		"read into no field":          second(rdma.ReadField(c, noLocal, sample.TickSeqOf(s.rem, 0))),
		"read no field":               second(rdma.ReadField(c, sample.TickSeqIn(s.local.Span(0, 1), 0), noField)),
		"write no field":              second(rdma.WriteField(c, noField, sample.TickSeqIn(s.local.Span(0, 1), 0))),
		"received without one":        second(rdma.Received(rdma.Notification{}, barewire.Window[sample.Tick, barewire.RemoteReadWriteAtomic]{}, 0, 1)),
		"encode a zero remote":        second(barewire.AppendRemote(nil, sharedRem{})),
		"decode for a zero grant":     second(barewire.RemoteFrom(make([]byte, 48), barewire.Grant[sample.Tick, barewire.RemoteRead]{})),
		"decode zeros":                second(barewire.RemoteFrom(make([]byte, 48), sample.TickRemoteRead())),
		"decode nothing":              second(barewire.RemoteFrom(nil, sample.TickRemoteRead())),
		"narrow a zero remote":        second(barewire.Narrow(sharedRem{}, sample.TickRemoteRead())),
		"new in no place":             second(barewire.New(barewire.Place[sample.Tick, barewire.CPU]{}, 1)),
		"open nothing":                second(barewire.Open((*plainTicks)(nil))),
		"open a zero region":          second(barewire.Open(new(plainTicks))),
		"with nothing":                barewire.With((*plainTicks)(nil), func(sample.TickWindow[barewire.Unregistered]) error { return nil }),
		"backing of nothing":          second(barewire.Backing(new(plainTicks))),
		"placement of nothing":        second(barewire.Placement((*plainTicks)(nil))),
		"send no bytes":               c.SendBytes(ctx, nil),
		"open a zero provider":        second(rdma.Open(ctx, rdma.Config{Provider: new(soft.Fabric)})),
		"open a nil provider":         second(rdma.Open(ctx, rdma.Config{Provider: (*soft.Fabric)(nil)})),
		"open a nil transport":        second(rdma.Open(ctx, rdma.Config{Transport: (*rdma.RoCEv2)(nil)})),
	} {
		if err == nil {
			t.Errorf("%s: no error", what)
		} else if n := strings.Count(err.Error(), "rdma: ") + strings.Count(err.Error(), "barewire: "); n != 1 {
			t.Errorf("%s: %v", what, err)
		}
	}
	rdma.Use(nil)
	if rdma.Withdraw(nil, "x") || rdma.Withdraw(new(rdma.Conn), "x") {
		t.Error("there was nothing to withdraw")
	}
	if n, err := c.Receive(over(t), nil); n != 0 || err == nil {
		t.Error(n, err)
	}
	must(barewire.New(sample.TickInCPU(), 1, nil))(t).Close()
	ok(t, s.write(t).Wait(ctx))
	ok(t, c.Flush(ctx))
}

// TestHugeNumbers has counts, offsets and settings at the ends of their types.
func TestHugeNumbers(t *testing.T) {
	s := newScene(t, rdma.Config{})
	c := s.b.conn
	ends := []int{math.MinInt, math.MinInt + 1, -65, -1, 65, math.MaxInt/64 - 1, math.MaxInt / 64, math.MaxInt/64 + 1, math.MaxInt - 1, math.MaxInt}
	for _, i := range ends {
		for _, n := range append(ends, 0, 1, 64) {
			is(t, second(rdma.Write(c, s.rem.Slice(0, 1), s.local.Span(i, n))), barewire.ErrRange)
			is(t, second(rdma.Write(c, s.rem.Slice(i, n), s.local.Span(0, 1))), barewire.ErrRange)
			is(t, second(rdma.Write(c, s.rem.Slice(i, n).Slice(0, 1), s.local.Span(0, 1))), barewire.ErrRange)
		}
		is(t, second(rdma.Read(c, s.local.Span(0, i), s.rem.Slice(0, 1))), barewire.ErrRange)
		is(t, second(rdma.FetchAdd(c, sample.TickSeqOf(s.rem, i), 1)), barewire.ErrRange)
		is(t, second(rdma.ReadField(c, sample.TickSeqIn(s.local.Span(0, 1), i), sample.TickSeqOf(s.rem, 0))), barewire.ErrRange)
	}
	for _, n := range []int{math.MinInt, -1, 0} {
		is(t, second(barewire.New(sample.TickInCPU(), n)), barewire.ErrRange)
	}
	for _, n := range []int{math.MaxInt, math.MaxInt / 64, math.MaxInt/64 + 1, math.MaxInt / 128} {
		is(t, second(barewire.New(sample.TickInCPU(), n)), barewire.ErrNoMemory)
		is(t, second(barewire.New(sample.TickInCPU(), n, barewire.HugePages())), barewire.ErrNoMemory)
	}
	for _, n := range []int{math.MinInt, -1, math.MaxInt, 1 << 30} {
		for _, cfg := range []rdma.Config{{Depth: n}, {MaxMessage: n}, {MTU: n}, {Credits: n}, {MaxOffers: n}, {DSCP: rdma.DSCP(n - 1)}, {Transport: rdma.SoftRDMA{Depth: n}}, {Mode: 200}, {Credits: 4096, MaxMessage: 16 << 20}} {
			is(t, second(rdma.Open(t.Context(), cfg)), rdma.ErrConfig)
		}
	}
	for _, d := range []time.Duration{-1, math.MinInt64} {
		is(t, second(rdma.Open(t.Context(), rdma.Config{HandshakeTimeout: d})), rdma.ErrConfig)
	}
	is(t, c.SendBytes(t.Context(), make([]byte, 1<<26)), rdma.ErrTooLong)
	ok(t, s.write(t).Wait(limit(t)))
}

// TestLongTimeouts: times beyond any clock are as good as none.
func TestLongTimeouts(t *testing.T) {
	s := newScene(t, rdma.Config{OpTimeout: math.MaxInt64, HandshakeTimeout: math.MaxInt64})
	ok(t, s.write(t).Wait(limit(t)))
	s = newScene(t, rdma.Config{OpTimeout: -1, HandshakeTimeout: 1 << 40})
	ok(t, s.write(t).Wait(limit(t)))
}

// TestForgedReferences flips every bit of a reference: the result is refused here or at the
// peer, or it is as good as the one it was made of; nothing panics.
func TestForgedReferences(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	raw := must(barewire.AppendRemote(nil, s.rem))(t)
	refusedThere := 0
	for bit := range len(raw) * 8 {
		b := append([]byte(nil), raw...)
		b[bit/8] ^= 1 << (bit % 8)
		rem, err := barewire.RemoteFrom(b, sample.TickRemoteWrite())
		if err != nil {
			if !errors.Is(err, barewire.ErrBadRef) {
				t.Errorf("bit %d: %v", bit, err)
			}
			continue
		}
		op, err := rdma.Write(s.b.conn, rem.Slice(rem.Len()-1, 1), s.local.Span(0, 1))
		if err == nil {
			err = op.Wait(ctx)
		}
		if err == nil {
			err = s.b.conn.Flush(ctx)
		}
		if err != nil {
			if refusedThere++; !errors.Is(err, rdma.ErrRevoked) && !errors.Is(err, barewire.ErrRange) && !errors.Is(err, rdma.ErrMisaligned) {
				t.Errorf("bit %d: %v", bit, err)
			}
			s = newScene(t, rdma.Config{})
			raw = must(barewire.AppendRemote(nil, s.rem))(t)
		}
	}
	if refusedThere == 0 {
		t.Error("the peer refused nothing")
	}
}

// TestCancelled does everything under a context that has ended: it returns at once, and
// nothing is broken.
func TestCancelled(t *testing.T) {
	s := newScene(t, rdma.Config{})
	gone := over(t)
	c := s.b.conn
	op := s.write(t)
	ok(t, op.Wait(limit(t)))
	ok(t, op.Wait(gone)) // it has ended
	for what, f := range map[string]func() error{
		"receive":      func() error { return second(c.Receive(gone, make([]byte, 8))) },
		"notification": func() error { return second(c.NextNotification(gone)) },
		"import":       func() error { return second(rdma.Import(gone, c, "nothing", sample.TickRemoteRead())) },
		"offer":        func() error { return rdma.Offer(gone, s.a.conn, "more", s.target) },
		"accept": func() error {
			ln := must(s.a.dom.Listen(limit(t), ""))(t)
			defer ln.Close()
			return second(ln.Accept(gone))
		},
		"dial":   func() error { return second(s.a.dom.Dial(gone, "nobody")) },
		"listen": func() error { return second(s.a.dom.Listen(gone, "")) },
		"open":   func() error { return second(rdma.Open(gone, rdma.Config{Provider: s.fabric})) },
		"wait": func() error {
			rule := s.stall()
			defer rule.Remove()
			return s.write(t).Wait(gone)
		},
		"flush": func() error {
			rule := s.fabric.Inject(soft.Fault{When: soft.When{Verb: rdma.VerbFlush}, Do: soft.Stall()})
			defer rule.Remove()
			return c.Flush(gone)
		},
		"drain": func() error {
			rule := s.stall()
			defer rule.Remove()
			s.write(t)
			return c.Drain(gone)
		},
	} {
		calmly(t, what, func() {
			if err := f(); !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", what, err)
			}
		})
	}
	ok(t, c.SendBytes(gone, []byte("there is room"))) // nothing to wait for
	ok(t, s.write(t).Wait(limit(t)))
	ok(t, c.Flush(limit(t)))
	mine := ticks(t, s.b.dom, 1, sample.TickRemoteRead())
	for _, err := range []error{rdma.Revoke(gone, mine), second(rdma.Deregister(gone, mine))} {
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
}

// TestLongerThanTheDevice moves more in one operation than the device does. The memory is not touched.
func TestLongerThanTheDevice(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector memory is of the heap, and all of it zeroed")
	}
	p := connect(t, rdma.Config{}, soft.Config{})
	n := p.a.dev.Limits().MaxTransfer/64 + 1
	if uint64(n) > math.MaxInt/256 {
		t.Skip("more than a process can address")
	}
	here, there := must(barewire.New(sample.TickInCPU(), n))(t), ticks(t, p.a.dom, n, sample.TickRemoteReadWrite())
	mr := must(rdma.Register(p.b.dom, here, sample.TickLocal()))(t)
	defer mr.Close()
	rem := share(t, &p.a, &p.b, "long", there, sample.TickRemoteReadWrite())
	_, err := rdma.Write(p.b.conn, rem, mr.Span(0, n))
	refused(t, err, rdma.ErrTooLong, "at most 1073741824 bytes", "split it")
	ok(t, must(rdma.Write(p.b.conn, rem.Slice(n-1, 1), mr.Span(n-1, 1)))(t).Wait(limit(t)))
	ok(t, p.b.conn.Flush(limit(t)))
}
