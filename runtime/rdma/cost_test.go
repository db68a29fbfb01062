package rdma_test

import (
	"context"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// TestNoAllocation holds operations to what they promise: none, once they have run a while.
func TestNoAllocation(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates for its own")
	}
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	c := s.b.conn
	b := c.Batch()
	f := sample.TickSeqOf(s.rem, 0)
	msg, buf := []byte("hello"), make([]byte, 64)
	cases := map[string]func() error{
		"write": func() error {
			op, err := rdma.Write(c, s.rem.Slice(3, 2), s.local.Span(1, 2))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		"read": func() error {
			op, err := rdma.Read(c, s.local.Span(1, 2), s.rem.Slice(3, 2))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		"flush": func() error { return c.Flush(ctx) },
		"read whole": func() error {
			return rdma.ReadWhole(ctx, c, s.local.Span(1, 6), s.rem.Slice(3, 6))
		},
		"write whole": func() error {
			return rdma.WriteWhole(ctx, c, s.rem.Slice(3, 6), s.local.Span(1, 6))
		},
		"atomic": func() error {
			op, err := rdma.FetchAdd(c, f, 1)
			if err != nil {
				return err
			}
			return second(op.Wait(ctx))
		},
		"field": func() error {
			op, err := rdma.WriteField(c, sample.TickPriceOf(s.rem, 1), sample.TickPriceIn(s.local.Span(0, 2), 1))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		"gather": func() error {
			op, err := rdma.WriteGather(c, s.rem.Slice(0, 2), s.local.Span(0, 1), s.local.Span(2, 1))
			if err != nil {
				return err
			}
			return op.Wait(ctx)
		},
		"batch": func() error {
			var op rdma.Op
			for range 4 {
				var err error
				if op, err = rdma.Write(b, s.rem.Slice(3, 2), s.local.Span(1, 2)); err != nil {
					return err
				}
			}
			return op.Wait(ctx)
		},
		"notify": func() error {
			op, err := rdma.WriteNotify(c, s.rem.Slice(0, 1), s.local.Span(0, 1), 1)
			if err != nil {
				return err
			}
			if err := op.Wait(ctx); err != nil {
				return err
			}
			return second(s.a.conn.NextNotification(ctx))
		},
		"message": func() error {
			if err := c.SendBytes(ctx, msg); err != nil {
				return err
			}
			return second(s.a.conn.Receive(ctx, buf))
		},
	}
	for name, run := range cases {
		for range 1000 {
			ok(t, run())
		}
		if n := testing.AllocsPerRun(2000, func() { ok(t, run()) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestNoAllocationAsleep has one side wait for the other, over and over.
func TestNoAllocationAsleep(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates for its own")
	}
	p := connect(t, rdma.Config{}, soft.Config{})
	ctx, cancel := context.WithCancel(limit(t))
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 8)
		for {
			n, err := p.a.conn.Receive(ctx, buf)
			if err != nil || p.a.conn.SendBytes(ctx, buf[:n]) != nil {
				return
			}
		}
	}()
	buf, msg := make([]byte, 8), []byte("x")
	turn := func() {
		ok(t, p.b.conn.SendBytes(ctx, msg))
		must(p.b.conn.Receive(ctx, buf))(t)
	}
	for range 1000 {
		turn()
	}
	if n := testing.AllocsPerRun(2000, turn); n >= 1 {
		t.Errorf("%v allocations a turn", n)
	}
	cancel()
	<-done
}
