package iwarp

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// clock is a time that a test sets.
type clock struct{ now time.Time }

func (c *clock) guard(conns int) *guard {
	g := newGuard(conns)
	g.now = func() time.Time { return c.now }
	return g
}

// TestBackOff wants delays to double with each failure up to the longest, and to be forgiven.
func TestBackOff(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	g := c.guard(64)
	host := netip.MustParseAddr("192.0.2.1")
	if d := g.delay(host); d != 0 {
		t.Errorf("who did nothing waits %v", d)
	}
	for _, want := range []time.Duration{100, 200, 400, 800, 1600, 3200, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000} {
		g.blame("192.0.2.1:4000")
		if d := g.delay(host); d != want*time.Millisecond {
			t.Fatalf("waits %v, want %v", d, want*time.Millisecond)
		}
	}
	if d := g.delay(netip.MustParseAddr("192.0.2.2")); d != 0 {
		t.Errorf("the neighbour waits %v", d)
	}
	c.now = c.now.Add(longestWait)
	if d := g.delay(host); d != 0 {
		t.Errorf("after its time it waits %v", d)
	}
	c.now = c.now.Add(10*forgiveness - longestWait) // 2 of 12 are left
	if g.blame("192.0.2.1:4001"); g.delay(host) != 4*firstDelay {
		t.Errorf("after most was forgiven it waits %v", g.delay(host))
	}
	c.now = c.now.Add(3 * forgiveness)
	if g.delay(host); len(g.bad) != 0 {
		t.Errorf("%d sources are remembered after all was forgiven", len(g.bad))
	}
}

// TestSources has what counts as one source, and what of none.
func TestSources(t *testing.T) {
	g := (&clock{}).guard(64)
	for _, c := range []struct{ a, b string }{
		{"192.0.2.1", "::ffff:192.0.2.1"}, {"2001:db8::1", "2001:db8::ffff:2"}, {"fe80::1%eth0", "fe80::2%eth1"},
	} {
		if a, b := g.source(netip.MustParseAddr(c.a)), g.source(netip.MustParseAddr(c.b)); a != b || !a.IsValid() {
			t.Errorf("%s and %s are %v and %v", c.a, c.b, a, b)
		}
	}
	if a, b := g.source(netip.MustParseAddr("2001:db8::1")), g.source(netip.MustParseAddr("2001:db8:0:1::1")); a == b {
		t.Error("two networks are one source")
	}
	for _, own := range []string{"127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1"} {
		if s := g.source(netip.MustParseAddr(own)); s.IsValid() {
			t.Errorf("%s is the source %v", own, s)
		}
	}
	for _, addr := range []string{"", "pipe", "host.example:80", "127.0.0.1:4", "@"} {
		g.blame(addr)
	}
	if len(g.bad) != 0 {
		t.Errorf("blamed %v", g.bad)
	}
}

// TestSourcesAreBounded has more sources fail than are remembered. The newest is.
func TestSourcesAreBounded(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	g := c.guard(64)
	var last netip.Addr
	for i := range maxSources + 500 {
		c.now = c.now.Add(time.Microsecond)
		last = netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		g.strike(last)
	}
	if len(g.bad) != maxSources || g.delay(last) == 0 {
		t.Errorf("%d sources are remembered, and the last waits %v", len(g.bad), g.delay(last))
	}
}

// TestPlaces counts connections of sources.
func TestPlaces(t *testing.T) {
	for conns, most := range map[int]int{1: 1, 15: 15, 16: 12, 1024: 768} {
		if g := newGuard(conns); g.most != most {
			t.Errorf("of %d connections one source may have %d, want %d", conns, g.most, most)
		}
	}
	g := newGuard(16)
	host, other, own := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("127.0.0.1")
	for i := range 100 {
		if err := g.enter(host); (err == nil) != (i < 12) || err != nil && !errors.Is(err, rdma.ErrTooMany) {
			t.Fatalf("connection %d: %v", i, err)
		}
		if err := errors.Join(g.enter(own), g.enter(netip.Addr{})); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.enter(other); err != nil {
		t.Errorf("another source: %v", err)
	}
	g.leave(host)
	if err := g.enter(host); err != nil {
		t.Errorf("after one is closed: %v", err)
	}
	for range 100 {
		g.leave(host)
		g.leave(own)
	}
	if g.leave(other); len(g.conns) != 0 {
		t.Errorf("counted are %v", g.conns)
	}
}

// TestBackOffOnTheWire has a peer break the rules, and wait for it the next time.
func TestBackOffOnTheWire(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	d.guard.exact = true
	l, got := listenOn(t, d, silence)
	looks := raw(t, l.Addr()) // no harm in that
	_ = looks.Close()
	start := time.Now()
	for range 2 {
		p := raw(t, l.Addr())
		p.send("'GET / HTTP/1.1' 0d0a0d0a")
		p.ended()
	}
	p := raw(t, l.Addr())
	p.send(honest)
	p.expect(welcomed)
	(<-got).must(t)
	// The first failure makes the second wait 100 ms, and that one makes the honest peer wait 200 ms.
	if d := time.Since(start); d < 300*time.Millisecond {
		t.Errorf("it was accepted %v after the first of two failures began", d)
	}
	d.guard.mu.Lock()
	defer d.guard.mu.Unlock()
	if n := d.guard.bad[netip.MustParseAddr("127.0.0.1")].strikes; n != 2 {
		t.Errorf("%d failures are remembered, want 2", n)
	}
}

// TestTooManyOfOne refuses a source that has its share of connections, and takes it again when one is closed.
func TestTooManyOfOne(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{MaxConns: 16})
	d.guard.exact = true
	l, got := listenOn(t, d, silence)
	var queues []*queue
	for range 12 {
		p := raw(t, l.Addr())
		p.send(honest)
		p.expect(welcomed)
		queues = append(queues, (<-got).must(t))
		got = acceptOn(t, l, silence)
	}
	p := raw(t, l.Addr())
	p.send(honest)
	if b := p.ended(); !bytes.Contains(b, []byte("has 12 connections")) || !strings.Contains(string(b), "MaxConns") {
		t.Errorf("was told %q", b)
	}
	_ = queues[5].Close()
	p = raw(t, l.Addr())
	p.send(honest)
	p.expect(welcomed)
	(<-got).must(t)
}
