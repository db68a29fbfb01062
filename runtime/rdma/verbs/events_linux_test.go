//go:build !lab && (amd64 || arm64)

package verbs

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// symbol is the address of something of the stand-in's.
func symbol(t testing.TB, p *Provider, name string) uintptr {
	t.Helper()
	l, err := dl.Open(p.opts.Library)
	ok(t, err)
	at, err := l.Func(name, "")
	ok(t, err)
	return at
}

// makeEvent makes an event of a device.
func makeEvent(t testing.TB, a *adapter, kind uint32, element uintptr) {
	t.Helper()
	l, err := dl.Open(a.lib.path)
	ok(t, err)
	fn, err := l.Func("fake_event", "")
	ok(t, err)
	if r, errno := dl.Call(fn, a.ctx, uintptr(kind), element); r != 0 {
		t.Fatal(errno)
	}
}

// outstanding posts a write, and a message for which there is no receive: one request does not end.
func outstanding(t testing.TB, e *ends, a *queue) {
	t.Helper()
	mem := mapped(t, 4096)
	l, err := e.da.Register(memory(mem, "own"), 0, nil)
	ok(t, err)
	k, err := e.db.Register(memory(mem, "far"), iregion.Write, nil)
	ok(t, err)
	if c := end(t, a, write(mem[:64], l, k)); c.Err != nil {
		t.Fatal(c.Err)
	}
	wr := rdma.WorkRequest{ID: 7, Verb: rdma.VerbSend, Segs: 1}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[0]), Len: 8, Key: l.L}
	if n, err := a.Post([]rdma.WorkRequest{wr}); n != 1 {
		t.Fatal(err)
	}
	ok(t, a.PostReceive([]rdma.ReceiveRequest{{ID: 8, Buf: rdma.Segment{Ptr: unsafe.Pointer(&mem[64]), Len: 64, Key: l.L}}}))
}

// allEnd wants n completions, with errors that say something.
func allEnd(t testing.TB, q *queue, n int, says string) {
	t.Helper()
	out := make([]rdma.Completion, n)
	for got := 0; got < n; {
		k := q.Poll(out[:1])
		if got += k; k == 0 {
			ok(t, t.Context().Err())
			_ = q.Wait(t.Context())
			time.Sleep(time.Millisecond)
			continue
		}
		if c := out[0]; c.Err == nil || !strings.Contains(c.Err.Error(), says) {
			t.Errorf("%d ended with %v, want an error that says %q", c.ID, c.Err, says)
		}
	}
}

// TestEvents has a device report what it does: what the queues do not survive ends all that is outstanding, and says why; the
// program's observer sees each.
func TestEvents(t *testing.T) {
	for name, c := range map[string]struct {
		kind  uint32
		of    func(*queue) uintptr
		says  string
		ended int // 0: nothing ends; 1: the queue; 2: another queue of the device too
	}{
		"queue pair failed":     {abi.EventQPFatal, func(q *queue) uintptr { return q.hw.qp }, "a queue pair has failed", 1},
		"invalid request":       {abi.EventQPReqErr, func(q *queue) uintptr { return q.hw.qp }, "no valid request", 1},
		"access refused":        {abi.EventQPAccessErr, func(q *queue) uintptr { return q.hw.qp }, "may not", 1},
		"completions overrun":   {abi.EventCQErr, func(q *queue) uintptr { return q.hw.cq }, "overrun", 1},
		"the device failed":     {abi.EventDeviceFatal, func(*queue) uintptr { return 0 }, "the device has failed", 2},
		"the port is down":      {abi.EventPortErr, func(*queue) uintptr { return 1 }, "the port is down", 0},
		"the port is up":        {abi.EventPortActive, func(*queue) uintptr { return 1 }, "the port is up", 0},
		"the addresses changed": {abi.EventGIDChange, func(*queue) uintptr { return 1 }, "addresses", 0},
	} {
		t.Run(name, func(t *testing.T) {
			seen := make(chan rdma.Event, 16)
			e := connected(t, fake(t), rdma.Config{Observer: func(e rdma.Event) { seen <- e }, Logger: slog.New(slog.DiscardHandler)})
			other, _ := e.join(t)
			outstanding(t, e, e.a)
			outstanding(t, e, other)
			makeEvent(t, e.da.adapter, abi.EventPortErr, 9) // of another port: nobody's
			makeEvent(t, e.da.adapter, c.kind, c.of(e.a))
			got := <-seen
			if got.Kind != rdma.EventDevice || got.Kind.String() != "device" || got.Name != "fake0" || !strings.Contains(got.Err.Error(), c.says) {
				t.Errorf("seen %+v, want %q", got, c.says)
			}
			for i, q := range []*queue{e.a, other} {
				if i < c.ended {
					allEnd(t, q, 2, c.says)
				} else if f := q.failed.Load(); f != nil {
					t.Errorf("the queue %d failed: %s", i, f.text)
				}
			}
		})
	}
}

// TestPortDown has requests fail while the port is down: the error says that it is.
func TestPortDown(t *testing.T) {
	p := fake(t)
	down := abi.At(symbol(t, p, "fake_down"))
	e := connected(t, p, rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	mem := mapped(t, 4096)
	l, err := e.da.Register(memory(mem, "own"), 0, nil)
	ok(t, err)
	k, err := e.db.Register(memory(mem, "far"), iregion.Write, nil)
	ok(t, err)
	ok(t, e.a.Prepare(t.Context(), k.R, k.Epoch))
	down.Put32(0, 1)
	defer down.Put32(0, 0)
	c := end(t, e.a, write(mem[:64], l, k))
	if !errors.Is(c.Err, rdma.ErrPeerLost) || !strings.Contains(c.Err.Error(), "the port of fake0 is down") {
		t.Errorf("ended with %v, want %v, since the port is down", c.Err, rdma.ErrPeerLost)
	}
	if _, err := p.Open(t.Context(), "", nil); !errors.Is(err, ErrNoVerbs) || !strings.Contains(err.Error(), "down") {
		t.Errorf("opened: %v, want %v, since the port is down", err, ErrNoVerbs)
	}
}

// TestPortStaysDown has a request that the device leaves alone while its port is down: it ends, and says why.
func TestPortStaysDown(t *testing.T) {
	e := connected(t, fake(t), rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	other, _ := e.join(t)
	outstanding(t, e, e.a)
	outstanding(t, e, other)
	e.da.adapter.portStaysDown() // it is up
	if e.a.failed.Load() != nil {
		t.Fatal("a queue failed whose port is up")
	}
	e.da.adapter.portDown.Store(true)
	e.da.adapter.portStaysDown()
	allEnd(t, e.a, 2, "the port of fake0 is down")
	allEnd(t, other, 2, "the port of fake0 is down")
}

// TestRemovals reads what the kernel says when a device is removed, and when it says other things.
func TestRemovals(t *testing.T) {
	const path = "/devices/virtual/infiniband_verbs/uverbs1"
	for msg, want := range map[string]bool{
		"remove@" + path + "\x00ACTION=remove\x00DEVPATH=" + path + "\x00SUBSYSTEM=infiniband_verbs\x00": true,
		"remove@" + path:       true,
		"add@" + path:          false,
		"remove@" + path + "0": false,
		"remove@/devices/virtual/infiniband/uverbs1": false,
		"remove@uverbs1":            false,
		"libudev\x00remove@" + path: false,
		"":                          false,
	} {
		if got := isRemoval([]byte(msg), "uverbs1"); got != want {
			t.Errorf("%q: %v, want %v", msg, got, want)
		}
	}
	e := connected(t, fake(t), rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	outstanding(t, e, e.a)
	e.da.adapter.remove()
	allEnd(t, e.a, 2, "is being removed")
	if _, err := newQueue(e.da, "nobody"); err == nil || !strings.Contains(err.Error(), "is being removed") {
		t.Errorf("a queue pair of a device that is being removed: %v", err)
	}
}

// TestGone has the kernel take the device away: all ends, and what is closed is closed, though the device gives nothing back.
func TestGone(t *testing.T) {
	p := fake(t)
	gone := abi.At(symbol(t, p, "fake_gone"))
	e := connected(t, p, rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	outstanding(t, e, e.a)
	gone.Put32(0, 1)
	t.Cleanup(func() { gone.Put32(0, 0) }) // before the adapters of connected are closed: they were, below
	makeEvent(t, e.da.adapter, abi.EventDeviceFatal, 0)
	makeEvent(t, e.db.adapter, abi.EventDeviceFatal, 0)
	allEnd(t, e.a, 2, "the device has failed")
	for _, d := range []*domain{e.da, e.db} {
		if err := d.adapter.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
}
