package iwarp

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// patience is how long anything may take on a machine that is busy with other things.
const patience = 20 * time.Second

func limit(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// bits makes octets of hexadecimal digits and of texts in quotes, with spaces between.
func bits(t testing.TB, s string) (b []byte) {
	t.Helper()
	for i, part := range strings.Split(s, "'") {
		if i%2 == 1 {
			b = append(b, part...)
			continue
		}
		x, err := hex.DecodeString(strings.ReplaceAll(part, " ", ""))
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		b = append(b, x...)
	}
	return b
}

// Frames are written here as the RFCs have them: the key of 16 octets, flags (M 80, C 40, R 20, S 10), revision, length
// of the private data in two octets; with S the private data begin with IRD (A 8000, B 4000) and ORD (C 8000, D 4000).
// Sources: RFC 5044, section 7.1.1; RFC 6581, section 9.
const (
	req  = "'MPA ID Req Frame'"
	rep  = "'MPA ID Rep Frame'"
	ours = "'BWI' 01 00000003"
)

// peer is the other end, which does what a test says.
type peer struct {
	t testing.TB
	net.Conn
}

// raw connects to an address, as a peer of another program.
func raw(t testing.TB, addr string) peer {
	t.Helper()
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	return peerOn(t, c)
}

func peerOn(t testing.TB, c net.Conn) peer {
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return peer{t, c}
}

func (p peer) send(s string) {
	p.t.Helper()
	if _, err := p.Write(bits(p.t, s)); err != nil {
		p.t.Fatal(err)
	}
}

// expect reads octets, and no other than those.
func (p peer) expect(s string) {
	p.t.Helper()
	want := bits(p.t, s)
	got := make([]byte, len(want))
	n, err := io.ReadFull(p, got)
	if err != nil || !bytes.Equal(got, want) {
		p.t.Fatalf("received %q, %v, want %q", got[:n], err, want)
	}
}

// ended reads until the other side has ended the connection. It returns what came before.
func (p peer) ended() []byte {
	p.t.Helper()
	b, err := io.ReadAll(p)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		p.t.Fatalf("the connection is not ended; received %q", b)
	}
	return b
}

// hello is what acceptors in these tests say.
func hello([]byte) ([]byte, error) { return []byte("hello"), nil }

func silence([]byte) ([]byte, error) { return nil, nil }

// accepted is what an Accept came to.
type accepted struct {
	q   *queue
	err error
}

// listenOn listens, and accepts one peer. The listener is closed when the test ends.
func listenOn(t testing.TB, d *domain, answer func([]byte) ([]byte, error)) (*listener, <-chan accepted) {
	t.Helper()
	l, err := d.Listen(limit(t), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l.(*listener), acceptOn(t, l.(*listener), answer)
}

func acceptOn(t testing.TB, l *listener, answer func([]byte) ([]byte, error)) <-chan accepted {
	out := make(chan accepted, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	go func() {
		q, err := l.Accept(ctx, answer)
		if err != nil {
			out <- accepted{nil, err}
			return
		}
		out <- accepted{q.(*queue), nil}
	}()
	return out
}

// dialOn dials an address.
func dialOn(t testing.TB, d *domain, addr, hello string) <-chan accepted {
	out := make(chan accepted, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	go func() {
		q, err := d.Dial(ctx, addr, []byte(hello))
		if err != nil {
			out <- accepted{nil, err}
			return
		}
		out <- accepted{q.(*queue), nil}
	}()
	return out
}

// must waits for a queue. It is closed when the test ends.
func (a accepted) must(t testing.TB) *queue {
	t.Helper()
	if a.err != nil {
		t.Fatal(a.err)
	}
	t.Cleanup(func() { _ = a.q.Close() })
	return a.q
}

// agreed is what of a session tests look at.
type agreed struct {
	hello      string
	ready      fpdu.RTR
	crc, ours  bool
	ird, ord   int
	initiators bool
}

func agreedOn(s *session) agreed {
	return agreed{string(s.hello), s.ready, s.crc, s.ours, s.ird, s.ord, s.initiator}
}

// things are what a process has that can be left behind.
type things struct{ goroutines, descriptors int }

func left() things {
	l := things{goroutines: runtime.NumGoroutine()}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		l.descriptors = len(fds)
	}
	return l
}

// check wants no more than there was, after a while for what is on its way out.
func (before things) check(t testing.TB) {
	t.Helper()
	var now things
	for end := time.Now().Add(patience / 4); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if now = left(); now.goroutines <= before.goroutines && now.descriptors <= before.descriptors {
			return
		}
	}
	stacks := make([]byte, 64<<10)
	t.Errorf("left behind: there were %+v, now %+v\n%s", before, now, stacks[:runtime.Stack(stacks, true)])
}

// over runs connections through net.Pipe, or through sockets that say they are of other hosts.
func over(wrap func(net.Conn) net.Conn) (dialer, acceptor Options) {
	conns := make(chan net.Conn)
	dialer.Dial = func(ctx context.Context, addr string) (net.Conn, error) {
		a, b := net.Pipe()
		select {
		case conns <- wrap(b):
			return wrap(a), nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	acceptor.Listen = func(context.Context, string) (net.Listener, error) {
		return &pipes{conns: conns, end: make(chan struct{})}, nil
	}
	return dialer, acceptor
}

// pipes is a listener of connections that are not of the network.
type pipes struct {
	conns chan net.Conn
	end   chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.end:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.end); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe"} }

// elsewhere is a connection that says where its ends are.
type elsewhere struct {
	net.Conn
	local, remote string
}

func (e elsewhere) LocalAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", e.local)
	return a
}

func (e elsewhere) RemoteAddr() net.Addr {
	a, _ := net.ResolveTCPAddr("tcp", e.remote)
	return a
}
