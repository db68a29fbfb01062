package rdma_test

import (
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// words makes a region of words on one side and a reference to it on the other.
func words(t testing.TB, p *pair, n int) (local *barewire.Region[sample.Word, barewire.CPU, barewire.Local], rem barewire.Remote[sample.Word, barewire.RemoteReadWriteAtomic]) {
	t.Helper()
	ctx := limit(t)
	target := must(rdma.Register(p.a.dom, must(barewire.New(sample.WordInCPU(), n))(t), sample.WordRemoteReadWriteAtomic()))(t)
	local = must(rdma.Register(p.b.dom, must(barewire.New(sample.WordInCPU(), n))(t), sample.WordLocal()))(t)
	t.Cleanup(func() { _, _ = target.Close(), local.Close() })
	ok(t, rdma.Offer(ctx, p.a.conn, "words", target))
	return local, must(rdma.Import(ctx, p.b.conn, "words", sample.WordRemoteReadWriteAtomic()))(t)
}

// BenchmarkWrite8 is a write of 8 bytes and the wait for it.
func BenchmarkWrite8(b *testing.B) {
	p := connect(b, rdma.Config{}, soft.Config{})
	local, rem := words(b, p, 1024)
	ctx := limit(b)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) & 1023
		op, err := rdma.Write(p.b.conn, rem.Slice(i, 1), local.Span(i, 1))
		if err != nil {
			b.Fatal(err)
		}
		if err := op.Wait(ctx); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHand8 is what one would write by hand in its place: a copy with
// checked bounds, and an entry in a ring of completions.
func BenchmarkHand8(b *testing.B) {
	h := newHand(8 << 10)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		i = (i + 1) & 1023
		if !h.write(i*8, i*8, 8) || !h.poll() {
			b.Fatal("not written")
		}
	}
}

// BenchmarkPingPong is a write with notification there and one back, two goroutines
// waiting for each other: a turn is both.
func BenchmarkPingPong(b *testing.B) {
	for name, mode := range map[string]rdma.Mode{"event": rdma.ByEvent, "adaptive": rdma.Adaptive, "busy": rdma.Busy} {
		b.Run(name, func(b *testing.B) {
			p := connect(b, rdma.Config{Mode: mode, Logger: quiet}, soft.Config{})
			if mode == rdma.Busy {
				stop := pollNow(p.a.conn)
				defer stop()
			}
			local, rem := words(b, p, 8)
			mine := must(rdma.Register(p.a.dom, must(barewire.New(sample.WordInCPU(), 8))(b), sample.WordLocal()))(b)
			theirs := must(rdma.Register(p.b.dom, must(barewire.New(sample.WordInCPU(), 8))(b), sample.WordRemoteReadWrite()))(b)
			b.Cleanup(func() { _, _ = mine.Close(), theirs.Close() })
			ctx := limit(b)
			ok(b, rdma.Offer(ctx, p.b.conn, "back", theirs))
			back := must(rdma.Import(ctx, p.a.conn, "back", sample.WordRemoteReadWrite()))(b)
			done := make(chan error, 1)
			go func() {
				for {
					n, err := p.a.conn.NextNotification(ctx)
					if err == nil && n.Imm == 1 {
						_, err = rdma.WriteNotify(p.a.conn, back.Slice(0, 1), mine.Span(0, 1), 2)
					}
					if err != nil || n.Imm == 0 {
						done <- err
						return
					}
				}
			}()
			b.ReportAllocs()
			for b.Loop() {
				must(rdma.WriteNotify(p.b.conn, rem.Slice(0, 1), local.Span(0, 1), 1))(b)
				must(p.b.conn.NextNotification(ctx))(b)
			}
			must(rdma.WriteNotify(p.b.conn, rem.Slice(0, 1), local.Span(0, 1), 0))(b)
			ok(b, <-done)
		})
	}
}
