package iwarp

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
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
	ours = "'BWI' 01 00000001"
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

var (
	barewireMode = rdma.Config{}
	plainMode    = rdma.Config{Plain: true}
	noChecksums  = rdma.Config{Transport: rdma.IWARP{NoCRC: true}}
)

// TestAccepts has requests of foreign programs and of ours, octet by octet, and what they are answered.
func TestAccepts(t *testing.T) {
	for _, c := range []struct {
		name, request, reply string
		cfg                  rdma.Config
		answer               func([]byte) ([]byte, error)
		want                 agreed
	}{
		{"revision 1, as rping without enhanced set-up", req + "40 01 0000", rep + "40 01 0000",
			plainMode, silence, agreed{crc: true, ird: 128}},
		{"revision 1 with private data", req + "40 01 0007 'rping 1'", rep + "40 01 0000",
			plainMode, silence, agreed{crc: true, ird: 128, hello: "rping 1"}},
		{"revision 1 without checksums, which we want", req + "00 01 0000", rep + "40 01 0000",
			plainMode, silence, agreed{crc: true, ird: 128}},
		{"revision 1 at a listener of barewire's", req + "40 01 0000", rep + "40 01 0000",
			barewireMode, silence, agreed{crc: true, ird: 128}},
		{"revision 2 without the enhanced set-up", req + "40 02 0003 'abc'", rep + "40 02 0000",
			plainMode, silence, agreed{crc: true, ird: 128, hello: "abc"}},
		{"revision 2, as siw sends it", req + "50 02 0004 0010 0010", rep + "50 02 0004 0080 0010",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 16}},
		{"revision 2 with private data", req + "50 02 0009 0001 0001 'rping'", rep + "50 02 0004 0080 0001",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 1, hello: "rping"}},
		{"revision 2, peer-to-peer with all messages", req + "50 02 0004 c008 c008", rep + "50 02 0004 8080 8008",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 8, ready: fpdu.RTRWrite}},
		{"revision 2, peer-to-peer with a read", req + "50 02 0004 8008 4008", rep + "50 02 0004 8080 4008",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 8, ready: fpdu.RTRRead}},
		{"revision 2, peer-to-peer with a send", req + "50 02 0004 c008 0008", rep + "50 02 0004 c080 0008",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 8, ready: fpdu.RTRSend}},
		{"messages without peer-to-peer mean nothing", req + "50 02 0004 4008 c008", rep + "50 02 0004 0080 0008",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 8}},
		{"more reads than we want", req + "50 02 0004 3ffe 3ffe", rep + "50 02 0004 0080 0080",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 128}},
		{"no reads at all", req + "50 02 0004 0000 0000", rep + "50 02 0004 0080 0000",
			plainMode, silence, agreed{crc: true, ird: 128}},
		{"reads left to the programs", req + "50 02 0004 3fff 3fff", rep + "50 02 0004 3fff 3fff",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 128}},
		{"private data of the program's", req + "50 02 0004 0001 0001", rep + "50 02 0009 0080 0001 'hello'",
			plainMode, hello, agreed{crc: true, ird: 128, ord: 1}},
		{"as much as a request may have", req + "50 02 0200 0001 0001 '" + strings.Repeat("x", 508) + "'", rep + "50 02 0004 0080 0001",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 1, hello: strings.Repeat("x", 508)}},
		{"a peer of ours", req + "50 02 0011 8080 c080 'magic'" + ours, rep + "50 02 0011 8080 8080 'hello'" + ours,
			barewireMode, hello, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true, hello: "magic"}},
		{"a peer of ours with nothing to say", req + "50 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080" + ours,
			barewireMode, silence, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}},
		{"a peer of ours in plain mode", req + "50 02 000c 8080 c080" + ours, rep + "50 02 0004 8080 8080",
			plainMode, silence, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, hello: "BWI\x01\x00\x00\x00\x01"}},
		{"no checksums, on one host", req + "10 02 000c 8080 c080" + ours, rep + "10 02 000c 8080 8080" + ours,
			noChecksums, silence, agreed{ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}},
		{"no checksums, which the peer wants", req + "50 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080" + ours,
			noChecksums, silence, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDomain(t, Options{}, &c.cfg)
			l, got := listenOn(t, d, c.answer)
			p := raw(t, l.Addr())
			p.send(c.request)
			p.expect(c.reply)
			q := (<-got).must(t)
			if a := agreedOn(q.s); a != c.want {
				t.Errorf("agreed on %+v, want %+v", a, c.want)
			}
			if q.s.peer != p.LocalAddr().String() || q.s.tcp == nil || q.s.conn != net.Conn(q.s.tcp) || q.s.mulpdu < minULPDU {
				t.Errorf("the session is %+v", q.s)
			}
		})
	}
}

// TestDials has what we ask for, octet by octet, answers to it, and what comes of them.
func TestDials(t *testing.T) {
	const plain = req + "50 02 0004 8080 c080"
	for _, c := range []struct {
		name, hello, request, reply string
		cfg                         rdma.Config
		want                        agreed
		err                         string
	}{
		{"a peer of ours", "magic", req + "50 02 0011 8080 c080 'magic'" + ours, rep + "50 02 000e 8010 8020 'hi'" + ours,
			barewireMode, agreed{crc: true, ird: 128, ord: 16, ready: fpdu.RTRWrite, ours: true, hello: "hi"}, ""},
		{"as long a hello as there may be", strings.Repeat("h", 36), req + "50 02 0030 8080 c080 '" + strings.Repeat("h", 36) + "'" + ours, rep + "50 02 000c 8080 8080" + ours,
			barewireMode, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}, ""},
		{"a peer that is not ours", "", req + "50 02 000c 8080 c080" + ours, rep + "50 02 0006 8004 4004 'hi'",
			barewireMode, agreed{crc: true, ird: 128, ord: 4, ready: fpdu.RTRRead, hello: "hi"}, ""},
		{"plain", "", plain, rep + "50 02 0004 8004 8004",
			plainMode, agreed{crc: true, ird: 128, ord: 4, ready: fpdu.RTRWrite}, ""},
		{"plain, and the peer is as a client's server", "", plain, rep + "50 02 0004 0004 0004",
			plainMode, agreed{crc: true, ird: 128, ord: 4}, ""},
		{"plain, with private data", "user", req + "50 02 0008 8080 c080 'user'", rep + "50 02 0004 3fff 3fff",
			plainMode, agreed{crc: true, ird: 128, ord: 128}, ""},
		{"a peer that wants no checksums", "", plain, rep + "10 02 0004 8004 8004",
			plainMode, agreed{crc: true, ird: 128, ord: 4, ready: fpdu.RTRWrite}, ""},
		{"no checksums", "", req + "10 02 000c 8080 c080" + ours, rep + "10 02 000c 8080 8080" + ours,
			noChecksums, agreed{ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}, ""},
		{"no checksums, and the peer wants them", "", req + "10 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080" + ours,
			noChecksums, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, ours: true}, ""},
		{"a peer that answers as revision 1", "", plain, rep + "40 01 0002 'hi'",
			plainMode, agreed{crc: true, ird: 128, hello: "hi"}, ""},
		{"a peer that does not answer as enhanced", "", plain, rep + "40 02 0000",
			plainMode, agreed{crc: true, ird: 128}, ""},

		{"refused by ours", "", req + "50 02 000c 8080 c080" + ours, rep + "70 02 0017 0080 0080 'no' 0a 'visitors'" + ours,
			barewireMode, agreed{}, "refuses the connection: no?visitors"},
		{"refused by others", "", plain, rep + "70 02 0009 0080 0080 'apple'", plainMode, agreed{}, "does not say why"},
		{"markers", "", plain, rep + "d0 02 0004 8080 8080", plainMode, agreed{}, "markers"},
		{"no message that we can send", "", plain, rep + "50 02 0004 c080 0080", plainMode, agreed{}, "0x2007"},
		{"no message at all", "", plain, rep + "50 02 0004 8080 0080", plainMode, agreed{}, "0x2007"},
		{"a later revision", "", plain, rep + "50 03 0004 8080 8080", plainMode, agreed{}, "revision 3"},
		{"revision 0", "", plain, rep + "50 00 0000", plainMode, agreed{}, "revision 0"},
		{"too many private data", "", plain, rep + "50 02 0201 8080 8080", plainMode, agreed{}, "513 octets"},
		{"without the numbers", "", plain, rep + "50 02 0003 808080", plainMode, agreed{}, "without the numbers"},
		{"cut in the head", "", plain, "'MPA ID Rep'", plainMode, agreed{}, "ended after 10 octets"},
		{"cut in the private data", "", plain, rep + "50 02 0010 8080 8080", plainMode, agreed{}, "ended after 24 octets"},
		{"a request", "", plain, req + "50 02 0004 8080 8080", plainMode, agreed{}, "both sides dialled"},
		{"TLS", "", plain, "15 0301 0002 0228" + strings.Repeat("00", 20), plainMode, agreed{}, "Config.TLS"},
		{"HTTP", "", plain, "'HTTP/1.1 400 Bad Request' 0d0a 0d0a", plainMode, agreed{}, "does not speak iWARP"},
		{"ours of another version", "", req + "50 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080 'BWI' 02 00000001",
			barewireMode, agreed{}, "version 2"},
		{"ours without atomics", "", req + "50 02 000c 8080 c080" + ours, rep + "50 02 000c 8080 8080 'BWI' 01 00000000",
			barewireMode, agreed{}, "no atomics"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := openDomain(t, Options{}, &c.cfg)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			got := dialOn(t, d, l.Addr().String(), c.hello)
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			p := peerOn(t, conn)
			p.expect(c.request)
			p.send(c.reply)
			if c.err != "" {
				_ = conn.(*net.TCPConn).CloseWrite()
				a := <-got
				if a.err == nil || !strings.Contains(a.err.Error(), c.err) {
					t.Fatalf("dialled: %v, want an error with %q", a.err, c.err)
				}
				if refused := strings.HasPrefix(c.name, "refused"); refused != errors.Is(a.err, rdma.ErrRefused) {
					t.Errorf("%v is ErrRefused: %v", a.err, !refused)
				}
				p.ended()
				return
			}
			q := (<-got).must(t)
			c.want.initiators = true
			if a := agreedOn(q.s); a != c.want {
				t.Errorf("agreed on %+v, want %+v", a, c.want)
			}
			if q.s.peer != l.Addr().String() || q.s.tcp == nil {
				t.Errorf("the session is %+v", q.s)
			}
		})
	}
}

// TestDialsOlder dials peers that know revision 1 only: one that refuses, and one that ends the connection.
func TestDialsOlder(t *testing.T) {
	for name, reply := range map[string]string{"that refuses": rep + "60 01 0000", "that ends the connection": ""} {
		t.Run(name, func(t *testing.T) {
			d := openDomain(t, Options{}, &plainMode)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			got := dialOn(t, d, l.Addr().String(), "")
			first, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			p := peerOn(t, first)
			p.expect(req + "50 02 0004 8080 c080")
			p.send(reply)
			_ = first.(*net.TCPConn).CloseWrite()
			second, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			p.ended()
			p = peerOn(t, second)
			p.expect(req + "40 01 0000")
			p.send(rep + "40 01 0000")
			q := (<-got).must(t)
			if a, want := agreedOn(q.s), (agreed{crc: true, ird: 128, initiators: true}); a != want {
				t.Errorf("agreed on %+v, want %+v", a, want)
			}
		})
	}
}

// TestRefusesRequests has requests that are none, or will not do. Each is answered as it can be and ends, and
// nobody is accepted; an honest peer is, after them all.
func TestRefusesRequests(t *testing.T) {
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 300 * time.Millisecond})
	l, got := listenOn(t, d, silence)
	for _, c := range []struct{ name, request, reply string }{
		{"nothing", "", ""},
		{"one octet", "4d", ""},
		{"all but one of the head", "'MPA ID Req Frame' 50 02 00", ""},
		{"HTTP", "'GET / HTTP/1.1' 0d0a 'Host: example.org' 0d0a 0d0a", ""},
		{"TLS", "16 0301 0200 0100 01fc 0303" + strings.Repeat("ab", 512), ""},
		{"a reply", rep + "50 02 0004 8080 8080", ""},
		{"noise", strings.Repeat("5a", 600), ""},
		{"revision 0", req + "40 00 0000", ""},
		{"revision 3", req + "50 03 0004 8080 8080", rep + "20 02 0000"},
		{"too many private data", req + "40 01 0201" + strings.Repeat("00", 513), rep + "20 01 0000"},
		{"the most that the length can say", req + "50 02 ffff 8080 8080", rep + "30 02 0004 0080 0080"},
		{"without the numbers", req + "50 02 0003 808080", rep + "30 02 0004 0080 0080"},
		{"cut in the private data", req + "50 02 0010 8080 8080", rep + "30 02 0004 0080 0080"},
		{"markers", req + "c0 01 0000", rep + "20 01 0000"},
		{"markers, enhanced", req + "d0 02 0004 8080 8080", rep + "30 02 0004 0080 0080"},
		{"markers, of ours", req + "d0 02 000c 8080 8080" + ours,
			rep + "30 02 0063 0080 0080 'the peer wants markers, which this package never sends (bad start-up frame, MPA 0x2004)'" + ours},
		{"peer-to-peer with no message", req + "50 02 0004 8080 0080", rep + "30 02 0004 0080 0080"},
		{"ours of another version", req + "50 02 000c 8080 c080 'BWI' 02 00000001",
			rep + "30 02 0065 0080 0080 'the peer broke the protocol: the peer speaks version 2 over iWARP, this program version 1'" + ours},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := raw(t, l.Addr())
			p.send(c.request)
			_ = p.Conn.(*net.TCPConn).CloseWrite()
			if b := p.ended(); !bytes.Equal(b, bits(t, c.reply)) {
				if len(b) == 0 && len(c.request) > 600 {
					return // what was not read ended the connection before the reply came
				}
				t.Errorf("was answered %q, want %q", b, bits(t, c.reply))
			}
		})
	}
	for _, c := range []struct{ name, request string }{
		{"nothing, slowly", ""}, {"the head, slowly", req}, {"private data, slowly", req + "50 02 0004 8080"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := raw(t, l.Addr())
			p.send(c.request)
			start := time.Now()
			p.ended()
			if d := time.Since(start); d < 200*time.Millisecond {
				t.Errorf("was ended after %v, before its time", d)
			}
		})
	}
	select {
	case a := <-got:
		t.Fatalf("accepted %+v", a)
	default:
	}
	p := raw(t, l.Addr())
	p.send(req + "50 02 0004 8080 c080")
	p.expect(rep + "50 02 0004 8080 8080")
	(<-got).must(t)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.guests)+len(l.waiting) != 0 {
		t.Errorf("guests are left: %d, %d waiting", len(l.guests), len(l.waiting))
	}
}

// TestDialEnds dials a peer that never answers.
func TestDialEnds(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	before := left()
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 50 * time.Millisecond})
	if _, err := d.Dial(context.Background(), l.Addr().String(), nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not accepted") {
		t.Errorf("after the handshake's time: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := d.Dial(ctx, l.Addr().String(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was given up: %v", err)
	}
	if _, err := d.Dial(ctx, l.Addr().String(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up before it began: %v", err)
	}
	if _, err := d.Dial(limit(t), l.Addr().String(), make([]byte, 37)); err == nil || !strings.Contains(err.Error(), "49 octets") {
		t.Errorf("with a hello that is too long: %v", err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Dial(limit(t), l.Addr().String(), nil); !errors.Is(err, errClosed) {
		t.Errorf("from a closed domain: %v", err)
	}
	before.check(t)
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

// TestSegments has what fits a segment of TCP.
func TestSegments(t *testing.T) {
	for mss, want := range map[int]int{1448: 1442, 1460: 1454, 1461: 1454, 8960: 8954, 65483: 65474, 32: minULPDU, 0: minULPDU, 1 << 20: 65534} {
		n := mulpduOf(mss)
		if n != want || fpdu.Pad(n) != 0 || mss >= 512 && mss < 1<<16 && fpdu.FrameSize(n) > mss {
			t.Errorf("of %d bytes a ULPDU has %d and a frame %d, want %d", mss, n, fpdu.FrameSize(n), want)
		}
	}
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

// TestAnyConn connects over connections that are not TCP, and refuses over them.
func TestAnyConn(t *testing.T) {
	dialer, acceptor := over(func(c net.Conn) net.Conn { return c })
	a, b := openDomain(t, dialer, &rdma.Config{}), openDomain(t, acceptor, &rdma.Config{})
	l, got := listenOn(t, b, func(h []byte) ([]byte, error) {
		if string(h) == "stranger" {
			return nil, errors.New("strangers are not welcome")
		}
		return []byte("welcome"), nil
	})
	if s := <-dialOn(t, a, l.Addr(), "stranger"); !errors.Is(s.err, rdma.ErrRefused) || !strings.Contains(s.err.Error(), "strangers are not welcome") {
		t.Errorf("a stranger: %v", s.err)
	}
	q := (<-dialOn(t, a, l.Addr(), "friend")).must(t)
	if w := (<-got).must(t); string(w.s.hello) != "friend" || string(q.s.hello) != "welcome" || !q.s.crc || q.s.tcp != nil || q.s.mulpdu != streamULPDU {
		t.Errorf("the sessions are %+v and %+v", q.s, w.s)
	}
}

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

// TestChecksums has who wants checksums, where the ends are, and whether there are some.
func TestChecksums(t *testing.T) {
	never, always := &noChecksums, &rdma.Config{}
	for _, c := range []struct {
		name          string
		local, remote string
		a, b          *rdma.Config
		want          bool
	}{
		{"nobody wants them, one address", "192.0.2.1:1", "192.0.2.1:2", never, never, false},
		{"nobody wants them, loopback", "127.0.0.1:1", "127.0.0.5:2", never, never, false},
		{"nobody wants them, loopback of IPv6", "[::1]:1", "[::1]:2", never, never, false},
		{"nobody wants them, IPv4 in IPv6", "[::ffff:192.0.2.1]:1", "192.0.2.1:2", never, never, false},
		{"nobody wants them, two hosts", "192.0.2.1:1", "192.0.2.2:2", never, never, true},
		{"one wants them, one address", "192.0.2.1:1", "192.0.2.1:2", always, never, true},
		{"the other wants them, one address", "192.0.2.1:1", "192.0.2.1:2", never, always, true},
		{"both want them", "127.0.0.1:1", "127.0.0.1:2", always, always, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			dialer, acceptor := over(func(p net.Conn) net.Conn { return elsewhere{p, c.local, c.remote} })
			a, b := openDomain(t, dialer, c.a), openDomain(t, acceptor, c.b)
			l, got := listenOn(t, b, silence)
			q := (<-dialOn(t, a, l.Addr(), "")).must(t)
			if w := (<-got).must(t); q.s.crc != c.want || w.s.crc != c.want {
				t.Errorf("checksums: %v and %v, want %v", q.s.crc, w.s.crc, c.want)
			}
		})
	}
}

// FuzzAcceptor gives octets to the side that accepts, as one request after TCP has connected. What it agrees on is never
// more than both sides said.
func FuzzAcceptor(f *testing.F) {
	for _, s := range []string{honest, req + "40 01 0000", req + "50 02 0004 c008 c008", req + "d0 02 0004 8080 8080", req + "50 03 0004"} {
		f.Add(bits(f, s), false, true)
		f.Add(bits(f, s), true, false)
	}
	f.Fuzz(func(t *testing.T, b []byte, plain, crc bool) {
		own := side{inbound: maxInbound, plain: plain, crc: crc}
		frame, err := readFrame(bytes.NewReader(b), false)
		a := &asked{frame: frame}
		if err == nil {
			a, err = own.consider(frame)
		}
		if err != nil {
			no := own.reject(a, err)
			if out, err := no.Append(nil); err != nil || !no.Reject || a.ours && plain || !a.ours && len(no.Private) > 0 || len(out) > fpdu.StartupSize+fpdu.MaxPrivate {
				t.Fatalf("refused by %q, %v", out, err)
			}
			return
		}
		reply, ses, err := own.reply(a, []byte("hello"), "peer")
		if err != nil {
			t.Fatal(err)
		}
		out, err := reply.Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		if ses.ird != maxInbound || ses.ord > min(maxInbound, int(frame.IRD)) || ses.crc != (crc || frame.CRC) || ses.ready&^frame.RTR != 0 ||
			(ses.ready == 0) == frame.PeerToPeer || ses.ours && (plain || !bytes.Contains(b, []byte(mark))) || frame.Markers || len(ses.hello) > len(b) {
			t.Fatalf("a request %+v became the session %+v", frame, ses)
		}
		// The other side understands the answer as we do.
		asked, _ := side{inbound: int(frame.ORD), crc: frame.CRC}.request(fpdu.Revision2, nil)
		asked.Revision, asked.RTR = frame.Revision, fpdu.RTRWrite|fpdu.RTRRead|fpdu.RTRSend
		back, err := readFrame(bytes.NewReader(out), true)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := side{inbound: int(frame.ORD), plain: !a.ours, crc: frame.CRC}.replied(asked, back, "us")
		if err != nil || theirs.crc != ses.crc || theirs.ready != ses.ready || theirs.ours != ses.ours ||
			theirs.ord > ses.ird && frame.ORD != fpdu.MaxDepth { // then it is left to the programs
			t.Fatalf("we agreed on %+v, and the other side on %+v, %v", ses, theirs, err)
		}
	})
}

// FuzzDialer gives octets to the side that dialled, as the reply.
func FuzzDialer(f *testing.F) {
	for _, s := range []string{welcomed, rep + "70 02 0017 0080 0080 'no visitors'" + ours, rep + "60 01 0000", rep + "50 02 0004 3fff 3fff"} {
		f.Add(bits(f, s), false)
		f.Add(bits(f, s), true)
	}
	f.Fuzz(func(t *testing.T, b []byte, plain bool) {
		own := side{inbound: maxInbound, plain: plain}
		asked, err := own.request(fpdu.Revision2, []byte("hello"))
		if err != nil {
			t.Fatal(err)
		}
		back, err := readFrame(bytes.NewReader(b), true)
		if err != nil {
			return
		}
		ses, err := own.replied(asked, back, "peer")
		if err != nil {
			if no := (*refusal)(nil); errors.As(err, &no) && strings.ContainsAny(no.why, "\x00\n\r\x1b\x7f") {
				t.Fatalf("a refusal that is not to be printed: %q", no.why)
			}
			return
		}
		if back.Reject || back.Markers || ses.ord > maxInbound || ses.ird != maxInbound || ses.ready&(ses.ready-1) != 0 ||
			ses.ready&^(back.RTR&asked.RTR) != 0 || ses.crc != back.CRC || ses.ours && (plain || !bytes.Contains(b, []byte(mark))) {
			t.Fatalf("a reply %+v became the session %+v", back, ses)
		}
	})
}

func ExampleNew() {
	// Connections through something else than TCP of this host: a proxy, say.
	p := New(Options{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", addr)
	}})
	fmt.Println(p.Name())
	// Output: iwarp
}
