package iwarp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestCrowd has silent peers take all places of their source. An honest peer of the same source gets in, at once.
func TestCrowd(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	var crowd []peer
	for range maxSourceGuests {
		crowd = append(crowd, raw(t, l.Addr()))
	}
	until(t, "the crowd is there", func() bool { n, _ := l.states(); return n == maxSourceGuests })
	time.Sleep(moment)
	got := acceptOn(t, l, silence)
	p := raw(t, l.Addr())
	p.send(honest)
	p.expect(welcomed)
	(<-got).must(t)
	if b := crowd[0].ended(); len(b) != 0 {
		t.Errorf("who made room was sent %q", b)
	}
	if n, _ := l.states(); n != maxSourceGuests-1 {
		t.Errorf("%d guests, want %d", n, maxSourceGuests-1)
	}
}

// TestBurst has one source connect with more peers than it has places, at once, as a program does that opens its connections.
// All ask, and none is dropped before it could. Then it has more come than there is room for in such a moment.
func TestBurst(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	l.mu.Lock()
	l.wait = patience // on a busy machine it takes more than a moment until all are there and ask
	l.mu.Unlock()
	const n = 3 * maxSourceGuests
	var crowd []peer
	for range n {
		crowd = append(crowd, raw(t, l.Addr()))
	}
	until(t, "all are there", func() bool { g, _ := l.states(); return g == n })
	for _, p := range crowd {
		p.send(honest)
	}
	until(t, "all have asked", func() bool { _, w := l.states(); return w == n })
	for range n {
		(<-acceptOn(t, l, silence)).must(t)
	}
	for _, p := range crowd {
		p.expect(welcomed)
	}
	crowd = crowd[:0]
	for range burst*maxSourceGuests + 10 {
		crowd = append(crowd, raw(t, l.Addr()))
	}
	for _, p := range crowd[:10] {
		p.ended()
	}
	if g, _ := l.states(); g > burst*maxSourceGuests {
		t.Errorf("%d guests, and no more than %d may be there", g, burst*maxSourceGuests)
	}
}

// TestRulesBroken has peers that are accepted, and then send a frame whose checksum is wrong, or close. Who breaks
// the rules is logged as that, and who only goes is not.
func TestRulesBroken(t *testing.T) {
	for name, c := range map[string]struct{ frame, logged string }{
		"breaks them": {"000e c140 00000000 0000000000000000 00000000", "checksum error"},
		"goes":        {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			d := openDomain(t, Options{}, &rdma.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
			l, got := listenOn(t, d, silence)
			p := raw(t, l.Addr())
			p.send(honest)
			p.expect(welcomed)
			q := (<-got).must(t)
			p.send(c.frame)
			_ = p.Conn.(*net.TCPConn).CloseWrite()
			p.ended()
			if err := q.Close(); err != nil { // the log is quiet after this
				t.Fatal(err)
			}
			text := log.String()
			if !strings.Contains(text, c.logged) || c.logged == "" && text != "" {
				t.Errorf("logged:\n%s", text)
			}
			if c.logged != "" && !(strings.Contains(text, "level=WARN") && strings.Contains(text, p.LocalAddr().String())) {
				t.Errorf("logged without the peer, or not as a warning:\n%s", text)
			}
		})
	}
}

// TestManySources has silent peers of many sources take all places. An honest peer gets in.
func TestManySources(t *testing.T) {
	conns := make(chan net.Conn)
	d := openDomain(t, Options{Listen: func(context.Context, string) (net.Listener, error) {
		return &pipes{conns: conns, end: make(chan struct{})}, nil
	}}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	come := func(source int) peer {
		a, b := net.Pipe()
		host := net.IPv4(192, 0, byte(source>>8), byte(source)).String()
		conns <- elsewhere{b, "198.51.100.1:1", net.JoinHostPort(host, "4000")}
		return peerOn(t, a)
	}
	var crowd []peer
	for i := range maxGuests + 10 {
		if i == maxGuests {
			until(t, "they are there", func() bool { n, _ := l.states(); return n == maxGuests })
			time.Sleep(moment)
		}
		crowd = append(crowd, come(i/20)) // 20 of each
	}
	for _, p := range crowd[:10] {
		p.ended()
	}
	if n, _ := l.states(); n != maxGuests {
		t.Fatalf("%d guests, want %d", n, maxGuests)
	}
	got := acceptOn(t, l, silence)
	p := come(1000)
	p.send(honest)
	p.expect(welcomed[:len(req)] + " 50 02 000c 8080 8080" + ours)
	(<-got).must(t)
}

// TestNoRoom has peers that have asked, and that nobody accepts, take all places of their source: more are turned away,
// and those that are there keep theirs.
func TestNoRoom(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	var first peer
	for i := range burst * maxSourceGuests {
		p := raw(t, l.Addr())
		p.send(honest)
		if i == 0 {
			first = p
		}
		until(t, "it has asked", func() bool { _, n := l.states(); return n == i+1 })
	}
	raw(t, l.Addr()).ended()
	got := acceptOn(t, l, silence)
	first.expect(welcomed)
	(<-got).must(t)
}

// TestPatienceOfGuests wants a peer that nobody accepts to be told so, after its time.
func TestPatienceOfGuests(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: time.Second})
	l := bare(t, d)
	p := raw(t, l.Addr())
	p.send(honest)
	if b := p.ended(); !bytes.Contains(b, []byte("nobody has accepted within 1s")) {
		t.Errorf("was told %q", b)
	}
	if g, w := l.states(); g+w != 0 {
		t.Errorf("%d guests, %d waiting", g, w)
	}
}

// TestGoneGuests wants peers that went away, or sent before they had an answer, not to be accepted.
func TestGoneGuests(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	for name, end := range map[string]func(p peer){
		"closed":         func(p peer) { _ = p.Close() },
		"half closed":    func(p peer) { _ = p.Conn.(*net.TCPConn).CloseWrite() },
		"reset":          func(p peer) { _ = p.Conn.(*net.TCPConn).SetLinger(0); _ = p.Close() },
		"sent too early": func(p peer) { p.send("00") },
	} {
		for range 20 { // the end may be seen before Accept or by it
			p := raw(t, l.Addr())
			p.send(honest)
			until(t, "it has asked", func() bool { _, n := l.states(); return n == 1 })
			end(p)
			short, cancel := context.WithTimeout(context.Background(), 3*time.Millisecond)
			if q, err := l.Accept(short, silence); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("accepted a peer that has %s: %v", name, err)
				if err == nil {
					_ = q.Close()
				}
			}
			cancel()
			until(t, "it is gone", func() bool { g, n := l.states(); return g+n == 0 })
		}
	}
}

// TestChurn has peers of all kinds come and go while Accepts begin and end, and closes the listener in the middle of
// it. Who dialled has a queue if it was accepted, and nothing is left behind.
func TestChurn(t *testing.T) {
	before := left()
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 200 * time.Millisecond, Logger: slog.New(slog.DiscardHandler)})
	for range 3 {
		l := bare(t, d)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		many := func(n int, do func(i int)) {
			for range n {
				wg.Go(func() {
					for i := 0; ; i++ {
						select {
						case <-stop:
							return
						default:
							do(i)
						}
					}
				})
			}
		}
		var met, dialled atomic.Int64
		many(3, func(i int) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%5)*time.Millisecond)
			defer cancel()
			if q, err := l.Accept(ctx, silence); err == nil {
				met.Add(1)
				_ = q.Close()
			}
		})
		many(3, func(i int) {
			// Longer as time goes by: on a busy machine the first may all be too short.
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%7)*(1+time.Duration(i)/100)*time.Millisecond)
			defer cancel()
			if q, err := d.Dial(ctx, l.Addr(), nil); err == nil {
				dialled.Add(1)
				_ = q.Close()
			}
		})
		many(2, func(i int) {
			c, err := net.Dial("tcp", l.Addr())
			if err != nil {
				return
			}
			_, _ = c.Write(bits(t, []string{"", req, honest, honest + "00", "'GET '"}[i%5]))
			_ = c.Close()
		})
		time.Sleep(300 * time.Millisecond)
		until(t, "one is dialled", func() bool { return dialled.Load() > 0 })
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(stop)
		wg.Wait()
		if met.Load() < dialled.Load() {
			t.Errorf("%d dialled, and %d were accepted", dialled.Load(), met.Load())
		}
		if g, w := l.states(); w != 0 || g != 0 {
			t.Errorf("%d guests, %d waiting", g, w)
		}
	}
	before.check(t)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.queues) != 0 || len(d.listeners) != 0 {
		t.Errorf("the domain keeps %d queues and %d listeners", len(d.queues), len(d.listeners))
	}
}
