package soft_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// opTimeout is how long operations may take in the sweep: some faults end only so.
const opTimeout = 150 * time.Millisecond

// TestFaultSweep lets each fault strike each verb, early and late, under a program that uses all of
// them. Whatever happens, each operation must end, the regions be free, and nothing be left.
func TestFaultSweep(t *testing.T) {
	actions := map[string]soft.Action{
		"delay": soft.Delay(5 * time.Millisecond), "drop": soft.Drop(), "stall": soft.Stall(), "kill": soft.Kill(),
		"not ready": soft.NotReady(time.Millisecond), "never ready": soft.NotReady(time.Hour),
		"refuse": soft.Refuse("no"), "reorder": soft.Reorder(),
	}
	for s := rdma.StatusLocal; s <= rdma.StatusProvider; s++ {
		actions["fail: "+s.String()] = soft.Fail(s)
	}
	harmless := map[string]bool{"delay": true, "not ready": true, "reorder": true}
	before := runtime.NumGoroutine()
	for name, do := range actions {
		for verb := rdma.VerbWrite; verb <= rdma.VerbFlush; verb++ {
			for _, nth := range []int{1, 7} {
				if testing.Short() && nth > 1 {
					continue
				}
				t.Run(fmt.Sprintf("%s/%v/%d", name, verb, nth), func(t *testing.T) {
					sweep(t, soft.Fault{When: soft.When{Verb: verb, Peer: "sweep", Nth: nth, Times: 1}, Do: do}, harmless[name])
				})
			}
		}
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d goroutines are left of the %d that there were more", runtime.NumGoroutine(), before)
		}
	}
}

// sweep runs the program under one fault of the side that dials.
func sweep(t *testing.T, fault soft.Fault, harmless bool) {
	f := soft.New(soft.Config{NotReady: opTimeout / 2, Seed: 5})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	a, b := openSide(t, f), openSide(t, f)
	ln, err := b.dom.Listen(ctx, "sweep")
	ok(t, err)
	accepted := make(chan error, 1)
	go func() {
		var err error
		b.conn, err = ln.Accept(ctx)
		accepted <- err
	}()
	a.conn, err = a.dom.Dial(ctx, ln.Addr())
	ok(t, err)
	ok(t, <-accepted)
	local, target := region(t, a.dom, sample.TickLocal()), region(t, b.dom, sample.TickRemoteReadWriteAtomic())
	ok(t, rdma.Offer(ctx, b.conn, "ticks", target))
	rem, err := rdma.Import(ctx, a.conn, "ticks", sample.TickRemoteReadWriteAtomic())
	ok(t, err)

	rule := f.Inject(fault)
	err = program(ctx, a.conn, local, rem)
	switch {
	case ctx.Err() != nil:
		t.Fatalf("the program hung: %v", err)
	case rule.Hits() != 1:
		t.Errorf("the fault struck %d times, want once", rule.Hits())
	case harmless && err != nil:
		t.Errorf("the program ended with %v", err)
	case !harmless && err == nil && fault.When.Verb != rdma.VerbSend: // the last message may be lost after the program
		t.Error("the program did not notice")
	}
	ok(t, a.conn.Drain(ctx))
	ok(t, local.Close())
	ok(t, a.dev.Close())
	ok(t, target.Close())
	ok(t, b.dev.Close())
	rule.Remove()
}

type swept struct {
	dev  *rdma.Device
	dom  *rdma.Domain
	conn *rdma.Conn
}

func openSide(t *testing.T, f *soft.Fabric) *swept {
	t.Helper()
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: f, OpTimeout: opTimeout, Logger: slog.New(slog.DiscardHandler)})
	ok(t, err)
	dom, err := dev.Domain()
	ok(t, err)
	return &swept{dev: dev, dom: dom}
}

func region[A barewire.Registered](t *testing.T, dom *rdma.Domain, g barewire.Grant[sample.Tick, A]) *barewire.Region[sample.Tick, barewire.CPU, A] {
	t.Helper()
	r, err := barewire.New(sample.TickInCPU(), 16)
	ok(t, err)
	mr, err := rdma.Register(dom, r, g)
	ok(t, err)
	return mr
}

// program uses every verb several times, until something fails.
func program(ctx context.Context, c *rdma.Conn, local *barewire.Region[sample.Tick, barewire.CPU, barewire.Local],
	rem barewire.Remote[sample.Tick, barewire.RemoteReadWriteAtomic],
) error {
	for range 8 {
		w, err := rdma.Write(c, rem.Slice(0, 4), local.Span(0, 4))
		if err != nil {
			return err
		}
		r, err := rdma.Read(c, local.Span(4, 4), rem.Slice(4, 4))
		if err != nil {
			return err
		}
		n, err := rdma.WriteNotify(c, rem.Slice(8, 1), local.Span(8, 1), 1)
		if err != nil {
			return err
		}
		add, err := rdma.FetchAdd(c, sample.TickSeqOf(rem, 12), 1)
		if err != nil {
			return err
		}
		swap, err := rdma.CompareAndSwap(c, sample.TickSeqOf(rem, 13), 0, 1)
		if err != nil {
			return err
		}
		_, addErr := add.Wait(ctx)
		_, swapErr := swap.Wait(ctx)
		if err := errors.Join(w.Wait(ctx), r.Wait(ctx), n.Wait(ctx), addErr, swapErr); err != nil {
			return err
		}
		if err := c.SendBytes(ctx, []byte("hello")); err != nil {
			return err
		}
		if err := c.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
