//go:build !lab && (amd64 || arm64)

package verbs

import (
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// witness looks, when it is called, at what the stand-in saw since then: that its objects were destroyed in order, and so many queue pairs.
func witness(t testing.TB, p *Provider) (saw func(pairs uint32)) {
	t.Helper()
	count := func(name string) func() uint32 {
		at := abi.At(symbol(t, p, name))
		before := at.U32(0)
		return func() uint32 { return at.U32(0) - before }
	}
	parents, undrained, destroyed := count("fake_parents"), count("fake_undrained"), count("fake_destroyed")
	return func(pairs uint32) {
		t.Helper()
		if n := parents(); n != 0 {
			t.Errorf("%d calls would have destroyed what others hang on", n)
		}
		if n := undrained(); n != 0 {
			t.Errorf("%d requests and receives had not ended, or nobody had polled their ends, when their queue pair was destroyed", n)
		}
		if n := destroyed(); n != pairs {
			t.Errorf("%d queue pairs were destroyed, want %d", n, pairs)
		}
	}
}

// TestDrainBeforeDestroy closes in every order that a user of the provider can, with requests and receives outstanding: no parent
// goes before its children, and no queue pair before the ends of all its requests and receives have been taken from the device.
func TestDrainBeforeDestroy(t *testing.T) {
	for name, order := range map[string]func(e *ends, k rdma.Keys) []error{
		"queue":        func(e *ends, _ rdma.Keys) []error { return []error{e.a.Close(), e.b.Close()} },
		"peer's queue": func(e *ends, _ rdma.Keys) []error { return []error{e.b.Close(), e.a.Close()} },
		"domain before queue": func(e *ends, _ rdma.Keys) []error {
			return []error{e.da.Close(), e.a.Close(), e.db.Close(), e.b.Close()}
		},
		"device before all": func(e *ends, _ rdma.Keys) []error {
			return []error{e.da.adapter.Close(), e.da.Close(), e.a.Close(), e.db.adapter.Close()}
		},
		"region while posted": func(e *ends, k rdma.Keys) []error {
			return []error{e.da.Deregister(e.a.dom.life, k), e.a.Close(), e.da.Close(), e.b.Close()}
		},
		"aborted, not polled": func(e *ends, _ rdma.Keys) []error {
			e.a.Abort(errors.New("on purpose"))
			return []error{e.a.Close(), e.b.Close()}
		},
		"aborted, and given up": func(e *ends, _ rdma.Keys) []error {
			e.a.Abort(errors.New("on purpose"))
			e.a.reap()
			return []error{e.a.Close(), e.b.Close()}
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := fake(t)
			e := connected(t, p, rdma.Config{Logger: slog.New(slog.DiscardHandler)})
			mem := mapped(t, 4096)
			k, err := e.da.Register(memory(mem, "own"), 0, nil)
			ok(t, err)
			_, err = e.db.Register(memory(mapped(t, 4096), "for one queue"), iregion.Write, e.b)
			ok(t, err)
			saw := witness(t, p)
			for i := range 3 {
				wr := rdma.WorkRequest{ID: uint64(i), Verb: rdma.VerbSend, Segs: 1} // no receive is there for it
				wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: 8, Key: k.L}
				if n, err := e.a.Post([]rdma.WorkRequest{wr}); n != 1 {
					t.Fatal(err)
				}
				ok(t, e.a.PostReceive([]rdma.ReceiveRequest{{ID: 8, Buf: rdma.Segment{Ptr: unsafe.Pointer(&mem[64]), Len: 64, Key: k.L}}}))
			}
			for i, err := range order(e, k) {
				if err != nil {
					t.Errorf("the step %d: %v", i, err)
				}
			}
			saw(2)
			ok(t, e.da.adapter.Close())
			ok(t, e.db.adapter.Close())
			saw(2)
		})
	}
}

// TestCloseUnflushed closes a queue of a device that flushes nothing: it is waited for, and then the queue pair is destroyed all the same.
func TestCloseUnflushed(t *testing.T) {
	p := fake(t)
	e := connected(t, p, rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	still, undrained := abi.At(symbol(t, p, "fake_still")), abi.At(symbol(t, p, "fake_undrained"))
	outstanding(t, e, e.a)
	before := undrained.U32(0)
	still.Put32(0, 2)
	defer still.Put32(0, 0)
	ok(t, e.a.Close())
	if n := undrained.U32(0) - before; n != 2 || !e.a.hw.gone.Load() {
		t.Errorf("%d requests and receives went with the queue pair, want 2", n)
	}
}

// typedEnd is a side as programs have it.
type typedEnd struct {
	dev  *rdma.Device
	dom  *rdma.Domain
	conn *rdma.Conn
}

// TestEndInWrongOrder closes what programs have in every wrong order while the device does nothing: each operation ends with an
// error, and what the stand-in saw is in order.
func TestEndInWrongOrder(t *testing.T) {
	for name, order := range map[string]func(x, y *typedEnd) []func() error{
		"device first":          func(x, y *typedEnd) []func() error { return []func() error{x.dev.Close, x.dom.Close, x.conn.Close} },
		"domain first":          func(x, y *typedEnd) []func() error { return []func() error{x.dom.Close, x.conn.Close, x.dev.Close} },
		"connection, then all":  func(x, y *typedEnd) []func() error { return []func() error{x.conn.Close, x.dev.Close, x.dom.Close} },
		"the peer's device":     func(x, y *typedEnd) []func() error { return []func() error{y.dev.Close, x.dev.Close} },
		"the peer's domain":     func(x, y *typedEnd) []func() error { return []func() error{y.dom.Close, x.dom.Close} },
		"the peer's connection": func(x, y *typedEnd) []func() error { return []func() error{y.conn.Close, x.conn.Close} },
	} {
		t.Run(name, func(t *testing.T) { endInOrder(t, order) })
	}
}

func endInOrder(t *testing.T, order func(x, y *typedEnd) []func() error) {
	p := fake(t)
	var x, y typedEnd
	for _, e := range []*typedEnd{&x, &y} {
		var err error
		e.dev, err = rdma.Open(t.Context(), rdma.Config{Provider: p, Device: "fake0", Logger: slog.New(slog.DiscardHandler)})
		ok(t, err)
		e.dom, err = e.dev.Domain()
		ok(t, err)
	}
	ln, err := y.dom.Listen(t.Context(), "")
	ok(t, err)
	accepted := make(chan error, 1)
	go func() {
		var err error
		y.conn, err = ln.Accept(t.Context())
		accepted <- err
	}()
	x.conn, err = x.dom.Dial(t.Context(), ln.Addr())
	ok(t, err)
	ok(t, <-accepted)
	r, err := barewire.New(sample.TickInCPU(), 8)
	ok(t, err)
	mine, err := rdma.Register(x.dom, r, sample.TickLocal())
	ok(t, err)
	saw, still := witness(t, p), abi.At(symbol(t, p, "fake_still"))
	still.Put32(0, 1)
	defer still.Put32(0, 0)
	var ops []rdma.Op
	for range 3 {
		op, err := rdma.Send(x.conn, mine.Span(0, 1))
		ok(t, err)
		ops = append(ops, op)
	}
	received := make(chan error, 1)
	go func() {
		_, err := x.conn.Receive(t.Context(), make([]byte, 64))
		received <- err
	}()
	if err := mine.Close(); err == nil {
		t.Error("a region was closed that operations are using")
	}
	for i, c := range append(order(&x, &y), x.dev.Close, y.dev.Close) {
		if err := c(); err != nil {
			t.Errorf("the step %d: %v", i, err)
		}
	}
	for i, op := range ops {
		if err := op.Wait(t.Context()); err == nil {
			t.Errorf("the operation %d ended without an error, and the device had done nothing", i)
		}
	}
	if err := <-received; err == nil {
		t.Error("a message was received that nobody sent")
	}
	saw(2)
	if err := mine.Close(); err != nil && !errors.Is(err, barewire.ErrReleased) {
		t.Errorf("close the region: %v", err)
	}
}

// TestCloseWhileConnecting closes devices while a peer is taken in and dialed: the queue pairs that are being made end first, so that no
// domain goes before what hangs on it.
func TestCloseWhileConnecting(t *testing.T) {
	p := fake(t)
	parents := abi.At(symbol(t, p, "fake_parents"))
	before := parents.U32(0)
	for i := range 200 {
		var ds [2]*domain
		for k := range ds {
			a, err := p.Open(t.Context(), "", &rdma.Config{Logger: slog.New(slog.DiscardHandler)})
			ok(t, err)
			d, err := a.NewDomain()
			ok(t, err)
			ds[k] = d.(*domain)
		}
		l, err := ds[0].Listen(t.Context(), "")
		ok(t, err)
		var work sync.WaitGroup
		work.Go(func() {
			_, _ = l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("hello"), nil })
		})
		work.Go(func() { _, _ = ds[1].Dial(t.Context(), l.Addr(), []byte("hello")) })
		time.Sleep(time.Duration(i) * 10 * time.Microsecond)
		for _, d := range ds {
			if err := d.adapter.Close(); err != nil {
				t.Errorf("closed %d times 10 µs after dialing: %v", i, err)
			}
		}
		work.Wait()
	}
	if n := parents.U32(0) - before; n != 0 {
		t.Errorf("%d calls would have destroyed what others hang on", n)
	}
}
