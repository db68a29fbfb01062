//go:build !lab && (amd64 || arm64)

package verbs

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// TestConformanceIWARP runs the suite of all providers on a stand-in that is a device of iWARP.
func TestConformanceIWARP(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	p = New(Options{Library: p.opts.Library, OpenSinks: true})
	a, err := p.Open(t.Context(), "", nil)
	ok(t, err)
	ok(t, a.Close())
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: "fake0", Unheard: true, Eager: true, NotReady: 2 * notReady, NoAtomics: iwarpLacks})
}

// overGate is two connected ends on the stand-in that is a device of iWARP, and memory of each.
type overGate struct {
	*ends
	ma, mb []byte
	ka, kb rdma.Keys
}

func throughGate(t *testing.T, p *Provider, cfg rdma.Config) *overGate {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	e := &overGate{ma: mapped(t, 8192), mb: mapped(t, 8192)}
	e.ends = connected(t, p, cfg)
	var err error
	e.ka, err = e.da.Register(memory(e.ma, "of a"), iregion.Read|iregion.Write, nil)
	ok(t, err)
	e.kb, err = e.db.Register(memory(e.mb, "of b"), iregion.Read|iregion.Write, nil)
	ok(t, err)
	return e
}

// at is n bytes of memory from an offset on.
func at(mem []byte, off, n int, k rdma.Keys) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Pointer(&mem[off]), Len: n, Key: k.L}
}

// nextOf is a queue's next completion.
func nextOf(t *testing.T, q *queue) rdma.Completion {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		ok(t, q.Wait(ctx))
	}
	return out[0]
}

// TestGateTurns: the side that dialed is the first to send, whichever program speaks first, and what the other one says waits for nothing.
func TestGateTurns(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	rude := abi.At(symbol(t, p, "fake_rude"))
	before := rude.U32(0)
	e := throughGate(t, p, rdma.Config{})
	ok(t, e.a.PostReceive([]rdma.ReceiveRequest{{ID: 7, Buf: at(e.ma, 0, 64, e.ka)}}))
	copy(e.mb, "first")
	wr := rdma.WorkRequest{ID: 1, Verb: rdma.VerbSend, Segs: 1, Imm: 0xfeedbeef}
	wr.Local[0] = at(e.mb, 0, 5, e.kb)
	if c := end(t, e.b, wr); c.Err != nil {
		t.Errorf("the side that accepted says something: %v", c.Err)
	}
	if c := nextOf(t, e.a); c.Err != nil || c.ID != 7 || c.Bytes != 5 || c.Imm != wr.Imm || string(e.ma[:6]) != "first\x00" {
		t.Errorf("received %+v, %q", c, e.ma[:6])
	}
	if n := rude.U32(0) - before; n != 0 {
		t.Errorf("%d messages came before their side might speak", n)
	}
}

// TestGateAddress: who listens where the device has no address is met at one of this host's that the device has; if there is none, the peer
// hears why.
func TestGateAddress(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	away := abi.At(symbol(t, p, "fake_away"))
	away.Put32(0, 1)
	defer away.Put32(0, 0)
	e := throughGate(t, p, rdma.Config{})
	g, err := e.db.openGate(netip.MustParseAddr("127.0.0.1"))
	ok(t, err)
	if g.m.close(); g.at.Addr().IsLoopback() || g.at.Port() == 0 {
		t.Errorf("the gate is at %v", g.at)
	}
}

// TestGateStranger: who comes to a gate without its token is refused, and the peer that it is for is let in.
func TestGateStranger(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	e := throughGate(t, p, rdma.Config{})
	g, err := e.db.openGate(netip.MustParseAddr("127.0.0.1"))
	ok(t, err)
	defer g.m.close()
	q, err := newQueue(e.db, "whoever comes")
	ok(t, err)
	in := make(chan error, 1)
	var m *meeting
	go func() {
		var err error
		m, err = g.connect(t.Context(), q)
		in <- err
	}()
	for _, token := range [][]byte{nil, []byte("let me in"), make([]byte, 16)} {
		if _, err := knock(t, e.da, g.at, token); err == nil || !strings.Contains(err.Error(), "refused") {
			t.Errorf("with the token %q: %v", token, err)
		}
	}
	far, err := knock(t, e.da, g.at, g.token[:])
	ok(t, err)
	ok(t, <-in)
	ok(t, far.release())
	ok(t, q.release())
	m.close()
}

// knock connects a queue pair at a gate.
func knock(t *testing.T, d *domain, gate netip.AddrPort, token []byte) (*queue, error) {
	t.Helper()
	m, err := newMeeting(d.adapter.lib, 0)
	ok(t, err)
	t.Cleanup(m.close)
	q, err := d.meet(t.Context(), m, gate, "the gate", token)
	if err != nil && q != nil {
		ok(t, q.release())
	}
	return q, err
}

// TestGateClass: connections of iWARP have the class of service that the configuration says, none where it says none.
func TestGateClass(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	class := abi.At(symbol(t, p, "fake_class"))
	for dscp, want := range map[rdma.DSCP]uint32{0: 0xff, rdma.BestEffort: 0xff, 26: 26 << 2, 46: 46 << 2} {
		class.Put32(0, 0xff) // nothing asked for
		throughGate(t, p, rdma.Config{DSCP: dscp})
		if got := class.U32(0); got != want {
			t.Errorf("DSCP %d: the class of service is %#x, want %#x", dscp, got, want)
		}
	}
}

// TestShortReads reads a few bytes across the end of a page, which siw answers wrongly: by two requests, which complete once.
func TestShortReads(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	e := throughGate(t, p, rdma.Config{})
	for i := range e.mb {
		e.mb[i] = byte(i * 7)
	}
	for _, n := range []int{1, 2, 8, 31, 32, 33, 64} {
		for _, from := range []int{0, 4090, 4095, 4096, 4096 - n} {
			clear(e.ma)
			wr := rdma.WorkRequest{ID: uint64(n), Verb: rdma.VerbRead, Segs: 1, Key: e.kb.R, Epoch: e.kb.Epoch, Addr: e.kb.Addr + uint64(from), Fence: true}
			wr.Local[0] = at(e.ma, 100, n, e.ka)
			if c := end(t, e.a, wr); c.Err != nil || c.ID != uint64(n) || string(e.ma[100:100+n]) != string(e.mb[from:from+n]) || e.ma[100+n] != 0 {
				t.Errorf("%d bytes from %d on: %+v", n, from, c)
			}
			if two := split(wr.Addr, uint64(n)); two != (n > 1 && n <= 32 && from < 4096 && from+n > 4096) {
				t.Errorf("%d bytes from %d on: by two requests: %v", n, from, two)
			}
		}
	}
}

// partedQuietly is two ends whose connection the device has ended, what is posted to it now being mislaid in a way (see testdata/fake.c).
func partedQuietly(t *testing.T, mislaid uint32) *overGate {
	t.Helper()
	p := fakeOf(t, "-DIWARP")
	e := throughGate(t, p, rdma.Config{})
	if c := end(t, e.a, write(e.ma, e.ka, e.kb)); c.Err != nil {
		t.Fatal(c.Err)
	}
	how := abi.At(symbol(t, p, "fake_mislaid"))
	how.Put32(0, mislaid)
	t.Cleanup(func() { how.Put32(0, 0) })
	e.b.hw.toError(e.db)
	return e
}

// TestSettleParted: deregistering does not wait for the answer to a read that siw has taken and never ends, since the connection has ended.
func TestSettleParted(t *testing.T) {
	defer func(d time.Duration) { settlePatience = d }(settlePatience)
	settlePatience = time.Hour
	for _, mislaid := range []uint32{1, 2} {
		e := partedQuietly(t, mislaid)
		done := make(chan error, 1)
		go func() { done <- e.db.Deregister(t.Context(), e.kb) }()
		select {
		case err := <-done:
			ok(t, err)
		case <-time.After(30 * time.Second):
			t.Fatalf("%d: it waits still", mislaid)
		}
	}
}

// TestPostParted: a request that siw takes and never ends, or does not take, since the connection has ended, ends with that.
func TestPostParted(t *testing.T) {
	for _, mislaid := range []uint32{1, 2} {
		e := partedQuietly(t, mislaid)
		for range 2 {
			if c := end(t, e.b, rdma.WorkRequest{Verb: rdma.VerbFlush}); !errors.Is(c.Err, &rdma.StatusError{Status: rdma.StatusPeerLost}) {
				t.Errorf("%d: it ends with %v", mislaid, c.Err)
			}
		}
	}
}

// TestSinks: a read into memory that peers may not write to is refused with a type, unless sinks are open.
func TestSinks(t *testing.T) {
	for open, want := range map[bool]string{false: "remote_write", true: ""} {
		p := New(Options{Library: fakeOf(t, "-DIWARP").opts.Library, OpenSinks: open})
		e := throughGate(t, p, rdma.Config{})
		mem := mapped(t, 4096)
		k, err := e.da.Register(memory(mem, "a sink"), iregion.Read, nil)
		ok(t, err)
		copy(e.mb, "what is read")
		wr := rdma.WorkRequest{Verb: rdma.VerbRead, Segs: 1, Key: e.kb.R, Epoch: e.kb.Epoch, Addr: e.kb.Addr}
		wr.Local[0] = at(mem, 0, 12, k)
		switch c := end(t, e.a, wr); {
		case open && (c.Err != nil || string(mem[:12]) != "what is read"):
			t.Errorf("with open sinks: %+v", c)
		case !open && (!errors.Is(c.Err, &rdma.StatusError{Status: rdma.StatusLocal}) || !strings.Contains(c.Err.Error(), want)):
			t.Errorf("without: %v", c.Err)
		}
	}
}

// TestAddressOfNone: an address that rdma_cm binds to no device is told of as that, and not as another device's.
func TestAddressOfNone(t *testing.T) {
	id, err := abi.NewBlock(4096)
	ok(t, err)
	defer id.Free()
	err = (&meeting{id: id.Addr(0)}).on(&port{device: "rxe0"})
	if err == nil || !strings.Contains(err.Error(), "no device is bound to the address") || !strings.Contains(err.Error(), `interface of "rxe0"`) {
		t.Errorf("got %v", err)
	}
}

// TestGateWithoutPort: a connection that finds no port to come from, as over siw now and then, is tried again, with another; one that never
// finds one is an error, and leaves nothing.
func TestGateWithoutPort(t *testing.T) {
	p := fakeOf(t, "-DIWARP")
	e := connected(t, p, rdma.Config{Logger: slog.New(slog.DiscardHandler)})
	portless := abi.At(symbol(t, p, "fake_portless"))
	portless.Put32(0, 2)
	a, b := e.join(t)
	if n := portless.U32(0); n != 0 {
		t.Errorf("it was not tried %d times", n)
	}
	ok(t, a.Close())
	ok(t, b.Close())
	portless.Put32(0, 1<<20)
	defer portless.Put32(0, 0)
	l, err := e.db.Listen(t.Context(), "")
	ok(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	accepted := make(chan error, 1)
	go func() {
		_, err := l.Accept(ctx, func([]byte) ([]byte, error) { return []byte("hello"), nil })
		accepted <- err
	}()
	if _, err := e.da.Dial(t.Context(), l.Addr(), []byte("hello")); !errors.Is(err, syscall.EADDRNOTAVAIL) {
		t.Errorf("without any port: %v", err)
	}
	cancel()
	if err := <-accepted; err == nil {
		t.Error("it was accepted")
	}
	ok(t, l.Close())
}
