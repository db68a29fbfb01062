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
	"syscall"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const honest, welcomed = req + "50 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080" + ours

// states counts a listener's guests.
func (ln *listener) states() (guests, waiting int) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	return len(ln.guests), len(ln.waiting)
}

// until waits for something to become true.
func until(t testing.TB, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: not within %v", what, patience)
		}
	}
}

// bare listens, and accepts nobody yet.
func bare(t testing.TB, d *domain) *listener {
	t.Helper()
	l, err := d.Listen(limit(t), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.(*listener)
}

// TestAddresses listens at addresses of both families.
func TestAddresses(t *testing.T) {
	for addr, want := range map[string]string{"": "127.0.0.1:", "127.0.0.1:0": "127.0.0.1:", "[::1]:0": "[::1]:", "localhost:0": ":", ":0": "[::]:"} {
		d := openDomain(t, Options{}, &rdma.Config{})
		l, err := d.Listen(limit(t), addr)
		if err != nil && strings.Contains(addr, "::") && errors.Is(err, syscall.EADDRNOTAVAIL) {
			t.Logf("no IPv6 here: %v", err)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(l.Addr(), want) || strings.HasSuffix(l.Addr(), ":0") {
			t.Errorf("listens at %q for %q", l.Addr(), addr)
		}
		got := acceptOn(t, l.(*listener), silence)
		(<-dialOn(t, d, l.Addr(), "")).must(t)
		if q := (<-got).must(t); q.s.initiator || q.s.peer == "" {
			t.Errorf("the session is %+v", q.s)
		}
		if _, err := d.Listen(limit(t), l.Addr()); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("listened twice at %s: %v", l.Addr(), err)
		}
		_ = l.Close()
	}
	d := openDomain(t, Options{}, &rdma.Config{})
	for _, bad := range []string{"nonsense", "127.0.0.1", "127.0.0.1:http:80", "127.0.0.1:99999"} {
		if _, err := d.Listen(limit(t), bad); err == nil || !strings.HasPrefix(err.Error(), "iwarp: ") {
			t.Errorf("listened at %q: %v", bad, err)
		}
		if _, err := d.Dial(limit(t), bad, nil); err == nil || !strings.HasPrefix(err.Error(), "iwarp: ") {
			t.Errorf("dialled %q: %v", bad, err)
		}
	}
}

// TestCrowd has silent peers take all places of their source. An honest peer of the same source gets in, at once.
func TestCrowd(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l := bare(t, d)
	var crowd []peer
	for range maxSourceGuests {
		crowd = append(crowd, raw(t, l.Addr()))
	}
	until(t, "the crowd is there", func() bool { n, _ := l.states(); return n == maxSourceGuests })
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
	for i := range maxSourceGuests {
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
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 100 * time.Millisecond})
	l := bare(t, d)
	p := raw(t, l.Addr())
	p.send(honest)
	if b := p.ended(); !bytes.Contains(b, []byte("nobody has accepted within 100ms")) {
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

// TestCloseEndsGuests closes listeners with guests of every kind. Nothing is left behind.
func TestCloseEndsGuests(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	d.guard.exact = true
	before := left()
	for range 5 {
		l := bare(t, d)
		var peers []peer
		for i := range 12 {
			p := raw(t, l.Addr())
			peers = append(peers, p)
			p.send([]string{"", req, honest}[i%3])
		}
		until(t, "they have come", func() bool { g, w := l.states(); return g == 12 && w == 4 })
		waits := make(chan error, 1)
		_, err := l.Accept(context.Background(), silence)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				if _, err := l.Accept(context.Background(), silence); err != nil {
					waits <- err
					return
				}
			}
		}()
		until(t, "all that asked are accepted", func() bool { g, w := l.states(); return g == 8 && w == 0 })
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-waits; !errors.Is(err, errClosed) {
			t.Errorf("Accept of a closed listener: %v", err)
		}
		if _, err := l.Accept(context.Background(), silence); !errors.Is(err, errClosed) {
			t.Errorf("Accept after that: %v", err)
		}
		for i, p := range peers {
			if i%3 != 2 {
				p.ended()
			}
		}
		d.mu.Lock()
		var queues []*queue
		for q := range d.queues {
			queues = append(queues, q)
		}
		d.mu.Unlock()
		if len(queues) != 4 {
			t.Errorf("%d queues, want 4", len(queues))
		}
		for _, q := range queues {
			_ = q.Close()
		}
		for _, p := range peers {
			_ = p.Close()
		}
		if err := l.Close(); err != nil {
			t.Errorf("closed again: %v", err)
		}
	}
	before.check(t)
	if len(d.guard.conns) != 0 {
		t.Errorf("connections are counted that are closed: %v", d.guard.conns)
	}
}

// TestDomainCloses closes a domain with a listener, guests and queues.
func TestDomainCloses(t *testing.T) {
	before := left()
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	l, got := listenOn(t, d, silence)
	p := raw(t, l.Addr())
	p.send(honest)
	p.expect(welcomed)
	if a := <-got; a.err != nil {
		t.Fatal(a.err)
	}
	silent := raw(t, l.Addr())
	until(t, "it has come", func() bool { g, _ := l.states(); return g == 1 })
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p.ended()
	silent.ended()
	if _, err := d.Listen(limit(t), ""); !errors.Is(err, errClosed) {
		t.Errorf("a closed domain listens: %v", err)
	}
	_, _ = p.Close(), silent.Close()
	before.check(t)
}

// TestManyAccepts has several Accepts wait at once.
func TestManyAccepts(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	l := bare(t, d)
	const n = 16
	var gots []<-chan accepted
	for range n {
		gots = append(gots, acceptOn(t, l, silence))
	}
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {
			if a := <-dialOn(t, d, l.Addr(), ""); a.err != nil {
				t.Error(a.err)
			} else {
				t.Cleanup(func() { _ = a.q.Close() })
			}
		})
	}
	wg.Wait()
	for _, got := range gots {
		(<-got).must(t)
	}
}

// failing is a listener whose Accept fails first.
type failing struct {
	net.Listener
	mu   sync.Mutex
	errs []error
}

func (f *failing) Accept() (net.Conn, error) {
	f.mu.Lock()
	if len(f.errs) > 0 {
		err := f.errs[0]
		f.errs = f.errs[1:]
		f.mu.Unlock()
		return nil, &net.OpError{Op: "accept", Err: err}
	}
	f.mu.Unlock()
	return f.Listener.Accept()
}

// TestScarce has no descriptors for a while: it is tried again and logged once, with what to do.
func TestScarce(t *testing.T) {
	var log bytes.Buffer
	errs := []error{syscall.EMFILE, syscall.ENFILE, syscall.ECONNABORTED, syscall.ENOBUFS}
	d := openDomain(t, Options{Listen: func(context.Context, string) (net.Listener, error) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		return &failing{Listener: l, errs: errs}, err
	}}, &rdma.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	l, got := listenOn(t, d, silence)
	p := raw(t, l.Addr())
	p.send(honest)
	p.expect(welcomed)
	(<-got).must(t)
	if err := l.Close(); err != nil { // the log is quiet after this
		t.Fatal(err)
	}
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "ulimit -n") || !strings.Contains(text, "too many open files") {
		t.Errorf("logged:\n%s", text)
	}
}

// TestBrokenListener has the listener be closed by somebody else: Accept fails, and does not wait for ever.
func TestBrokenListener(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	l := bare(t, d)
	got, more := acceptOn(t, l, silence), acceptOn(t, l, silence)
	_ = l.l.Close()
	for _, c := range []<-chan accepted{got, more, acceptOn(t, l, silence)} {
		if a := <-c; !errors.Is(a.err, net.ErrClosed) {
			t.Errorf("accepted at a listener that is broken: %v", a.err)
		}
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

// TestAnswers refuses by answer, and has an answer that is too long.
func TestAnswers(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{})
	l, got := listenOn(t, d, func(h []byte) ([]byte, error) {
		switch string(h) {
		case "no":
			return nil, errors.New(strings.Repeat("no ", 1000))
		case "long":
			return make([]byte, 100), nil
		}
		return nil, nil
	})
	a := <-dialOn(t, d, l.Addr(), "no")
	if !errors.Is(a.err, rdma.ErrRefused) || !strings.Contains(a.err.Error(), "no no no") || len(a.err.Error()) > maxReason+100 {
		t.Errorf("was refused with %v", a.err)
	}
	foreign := raw(t, l.Addr())
	foreign.send(req + "50 02 0006 8080 c080 'no'")
	foreign.expect(rep + "30 02 0004 0080 0080")
	foreign.ended()
	if a := <-dialOn(t, d, l.Addr(), "long"); !errors.Is(a.err, rdma.ErrRefused) {
		t.Errorf("an answer that is too long: %v", a.err)
	}
	if a := <-got; a.err == nil || !strings.Contains(a.err.Error(), "112 octets") {
		t.Errorf("who answered too long is told %v", a.err)
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
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i%7)*time.Millisecond)
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
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		close(stop)
		wg.Wait()
		if met.Load() < dialled.Load() || dialled.Load() == 0 {
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

// deaf is a connection that has no deadlines.
type deaf struct{ net.Conn }

func (deaf) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// TestOptionsThatFail has functions of the program's that do not do what they should.
func TestOptionsThatFail(t *testing.T) {
	failed := errors.New("no route to the moon")
	for name, opts := range map[string]Options{
		"nothing": {
			Dial:   func(context.Context, string) (net.Conn, error) { return nil, nil },
			Listen: func(context.Context, string) (net.Listener, error) { return nil, nil },
		},
		"an error": {
			Dial:   func(context.Context, string) (net.Conn, error) { return nil, failed },
			Listen: func(context.Context, string) (net.Listener, error) { return nil, failed },
		},
	} {
		d := openDomain(t, opts, &rdma.Config{})
		if _, err := d.Dial(limit(t), "moon:1", nil); err == nil || name == "an error" && !errors.Is(err, failed) {
			t.Errorf("dialled by what returns %s: %v", name, err)
		}
		if _, err := d.Listen(limit(t), "moon:1"); err == nil || name == "an error" && !errors.Is(err, failed) {
			t.Errorf("listened by what returns %s: %v", name, err)
		}
	}
	dialer, acceptor := over(func(c net.Conn) net.Conn { return deaf{c} })
	a, b := openDomain(t, dialer, &rdma.Config{}), openDomain(t, acceptor, &rdma.Config{})
	l := bare(t, b)
	if q := <-dialOn(t, a, l.Addr(), ""); q.err == nil {
		t.Error("connected over what has no deadlines")
	}
}

// TestOpens has names and contexts that will not do, and what is said of the device.
func TestOpens(t *testing.T) {
	p := New(Options{})
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := p.Open(ended, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("opened when it was over: %v", err)
	}
	if _, err := p.Open(limit(t), "eth0", nil); err == nil || !strings.Contains(err.Error(), `only one is "tcp"`) {
		t.Errorf("opened eth0: %v", err)
	}
	if _, err := (*Provider)(nil).Open(limit(t), "", nil); err == nil {
		t.Error("a nil Provider opened")
	}
	a, err := p.Open(limit(t), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	devices, err := p.Devices(limit(t))
	if err != nil || len(devices) != 1 || devices[0] != a.Info() || devices[0].State != rdma.StateActive {
		t.Errorf("the devices are %+v, %v", devices, err)
	}
	if l := a.Limits(); l.Depth != defaultDepth || l.MaxMessage != defaultMessage || !l.ConnGrants || !l.AtomicGlobal || l.FileMemory {
		t.Errorf("the limits are %+v", l)
	}
	if err := errors.Join(a.Close(), a.Close()); err != nil {
		t.Error(err)
	}
	if _, err := a.NewDomain(); !errors.Is(err, errClosed) {
		t.Errorf("a closed adapter makes a domain: %v", err)
	}
}
