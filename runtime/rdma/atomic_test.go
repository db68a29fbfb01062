package rdma_test

import (
	"sync"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func TestAtomics(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	f := sample.TickSeqOf(s.rem, 3)
	a := must(rdma.FetchAdd(s.b.conn, f, 5))(t)
	b := must(rdma.CompareAndSwap(s.b.conn, f, 5, 100))(t)
	c := must(rdma.CompareAndSwap(s.b.conn, f, 5, 200))(t)
	d := must(rdma.FetchAdd(s.b.conn, f, ^uint64(0)))(t) // minus one
	for i, want := range []struct {
		op   rdma.AtomicOp[uint64]
		word uint64
	}{{d, 100}, {a, 0}, {c, 100}, {b, 5}, {a, 0}} {
		if got := must(want.op.Wait(ctx))(t); got != want.word {
			t.Errorf("%d: the word was %d, want %d", i, got, want.word)
		}
	}
	var seq uint64
	ok(t, barewire.With(s.target, func(w barewire.Window[sample.Tick, barewire.RemoteReadWriteAtomic]) error {
		seq = sample.TickAt(w, 3).Seq()
		return nil
	}))
	if seq != 99 {
		t.Errorf("the word is %d, want 99", seq)
	}
}

// TestAtomicResultIsKept for whoever waits first, however many others are posted and
// waited for meanwhile; and others that nobody waits for use up no memory.
func TestAtomicResultIsKept(t *testing.T) {
	s := newScene(t, rdma.Config{Depth: 4})
	ctx := limit(t)
	f := sample.TickSeqOf(s.rem, 0)
	first := must(rdma.FetchAdd(s.b.conn, f, 1))(t)
	for i := range uint64(2000) {
		got := must(must(rdma.FetchAdd(s.b.conn, f, 1))(t).Wait(ctx))(t)
		if got != i+1 {
			t.Fatalf("the word was %d, want %d", got, i+1)
		}
	}
	if got := must(first.Wait(ctx))(t); got != 0 {
		t.Errorf("the word was %d, want 0", got)
	}
	if got := must(first.Wait(ctx))(t); got != 0 {
		t.Errorf("the second time the word was %d, want 0", got)
	}
	late := must(rdma.FetchAdd(s.b.conn, f, 1))(t)
	for range 300 { // and nobody waits
		must(rdma.FetchAdd(s.b.conn, f, 1))(t)
		ok(t, s.b.conn.Flush(ctx))
	}
	if got := must(late.Wait(ctx))(t); got != 2001 {
		t.Errorf("the word was %d, want 2001", got)
	}
	is(t, second(first.Wait(ctx)), rdma.ErrCollected)
	last := must(rdma.FetchAdd(s.b.conn, f, 1))(t)
	if got := must(last.Wait(ctx))(t); got != 2302 {
		t.Errorf("the word was %d, want 2302", got)
	}
}

// TestMisalignedAtomic has a reference that came from outside.
func TestMisalignedAtomic(t *testing.T) {
	s := newScene(t, rdma.Config{})
	raw := must(barewire.AppendRemote(nil, s.rem.Slice(0, 2)))(t)
	raw[0] += 4
	rem := must(barewire.RemoteFrom(raw, sample.TickRemoteAtomic()))(t)
	_, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(rem, 0), 1)
	refused(t, err, rdma.ErrMisaligned)
	_, err = rdma.FetchAdd(s.b.conn, sample.TickSeqOf(rem, 2), 1)
	refused(t, err, barewire.ErrRange)
}

// TestGlobalAtomics counts from both sides at once.
func TestGlobalAtomics(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	g := must(s.a.dom.GlobalAtomics())(t)
	w := must(barewire.Open(s.target))(t)
	defer w.Close()
	other := must(s.b.dom.GlobalAtomics())(t)
	if _, err := sample.TickSeqGlobal(w, 0, other); err == nil {
		t.Error("the witness of another domain will do")
	}
	word := must(sample.TickSeqGlobal(w, 0, g))(t)
	const n = 1000
	var wg sync.WaitGroup
	wg.Go(func() {
		for range n {
			word.Add(1)
		}
	})
	for range n {
		must(must(rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 1))(t).Wait(ctx))(t)
	}
	wg.Wait()
	if got := word.Load(); got != 2*n {
		t.Errorf("counted %d, want %d", got, 2*n)
	}
}

func TestFields(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	prices(t, s.local, func(i int) float64 { return float64(i) })
	ok(t, must(rdma.WriteField(s.b.conn, sample.TickPriceOf(s.rem, 5), sample.TickPriceIn(s.local.Span(0, 64), 7)))(t).Wait(ctx))
	ok(t, s.b.conn.Flush(ctx))
	if got := price(t, s.target, 5); got != 7 {
		t.Errorf("the field is %v, want 7", got)
	}
	ok(t, must(rdma.ReadField(s.b.conn, sample.TickQtyIn(s.local.Span(0, 64), 1), sample.TickPriceOf(s.rem, 5)))(t).Wait(ctx))
	_, err := rdma.ReadField(s.b.conn, sample.TickPriceIn(s.local.Span(0, 4), 4), sample.TickPriceOf(s.rem, 5))
	refused(t, err, barewire.ErrRange)
	_, err = rdma.WriteField(s.b.conn, sample.TickPriceOf(s.rem, 64), sample.TickPriceIn(s.local.Span(0, 4), 0))
	refused(t, err, barewire.ErrRange)
	var none barewire.LocalField[float64]
	_, err = rdma.WriteField(s.b.conn, sample.TickPriceOf(s.rem, 0), none)
	refused(t, err, barewire.ErrNoRegion)
}

func TestGather(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	prices(t, s.local, func(i int) float64 { return float64(i) })
	second := ticks(t, s.b.dom, 2, sample.TickLocal())
	prices(t, second, func(i int) float64 { return 100 + float64(i) })
	op := must(rdma.WriteGather(s.b.conn, s.rem.Slice(1, 4), s.local.Span(9, 1), second.Span(0, 2), s.local.Span(3, 1)))(t)
	ok(t, op.Wait(ctx))
	ok(t, s.b.conn.Flush(ctx))
	for i, want := range []float64{0, 9, 100, 101, 3, 0} {
		if got := price(t, s.target, i); got != want {
			t.Errorf("element %d is %v, want %v", i, got, want)
		}
	}
	ok(t, second.Close()) // it is not held any more
	rule := s.stall()
	third := ticks(t, s.b.dom, 2, sample.TickLocal())
	op = must(rdma.WriteGather(s.b.conn, s.rem.Slice(0, 2), s.local.Span(0, 1), third.Span(0, 1)))(t)
	is(t, third.Close(), barewire.ErrInFlight)
	rule.Remove()
	ok(t, op.Wait(ctx))
	ok(t, third.Close())
}

// TestBatch counts doorbells.
func TestBatch(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	before := s.b.conn.Stats().Doorbells
	b := s.b.conn.Batch()
	var ops []rdma.Op
	for i := range 10 {
		ops = append(ops, must(rdma.Write(b, s.rem.Slice(i, 1), s.local.Span(i, 1)))(t))
	}
	if got := s.b.conn.Stats().Doorbells - before; got != 0 {
		t.Errorf("%d doorbells before Post", got)
	}
	ok(t, b.Post())
	ok(t, b.Post())
	for _, op := range ops {
		ok(t, op.Wait(ctx))
	}
	if got := s.b.conn.Stats().Doorbells - before; got != 1 {
		t.Errorf("%d doorbells for a batch", got)
	}
	// Waiting hands over what is collected, and so does posting on the connection.
	op := must(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
	ok(t, op.Wait(ctx))
	op = must(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
	ok(t, s.b.conn.Flush(ctx))
	if !op.Done() {
		t.Error("a flush went before what was collected earlier")
	}
	// More than fit are handed over on the way.
	for range 100 {
		must(rdma.Write(b, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
	}
	ok(t, s.b.conn.Flush(ctx))
	ok(t, s.local.Close())
}
