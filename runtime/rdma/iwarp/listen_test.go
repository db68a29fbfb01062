package iwarp

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync"
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
	if q := <-dialOn(t, a, l.Addr(), ""); q.err == nil || !strings.Contains(q.err.Error(), "without deadlines") {
		t.Errorf("dialled over what has no deadlines: %v", q.err)
	}
	a.adapter.opts.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		c, err := dialer.Dial(ctx, addr)
		if err != nil {
			return nil, err
		}
		return c.(deaf).Conn, nil
	}
	if q := <-dialOn(t, a, l.Addr(), ""); q.err == nil {
		t.Error("accepted over what has no deadlines")
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
