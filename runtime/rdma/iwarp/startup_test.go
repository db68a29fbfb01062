package iwarp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

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
			plainMode, silence, agreed{crc: true, ird: 128, ord: 128, ready: fpdu.RTRWrite, hello: "BWI\x01\x00\x00\x00\x03"}},
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

// TestDialsWhoEnds dials who ends the connection without a word: in good order, or with a reset, as the system does where the request
// was not read.
func TestDialsWhoEnds(t *testing.T) {
	redialling(t, 0)
	for name, end := range map[string]func(*net.TCPConn) error{
		"in good order": (*net.TCPConn).CloseWrite,
		"with a reset":  func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			d := openDomain(t, Options{}, &barewireMode)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			got := dialOn(t, d, l.Addr().String(), "")
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			peerOn(t, conn).expect(req + "50 02 000c 8080 c080" + ours)
			if err := end(conn.(*net.TCPConn)); err != nil {
				t.Fatal(err)
			}
			if a := <-got; !errors.Is(a.err, errSilent) || !strings.Contains(a.err.Error(), "under TLS only, is closing, or wants no more connections of ours") {
				t.Errorf("dialled: %v", a.err)
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
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
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
			const most = 200 * time.Millisecond
			short, _ := listenOn(t, openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: most}), silence)
			start := time.Now()
			p := raw(t, short.Addr())
			p.send(c.request)
			p.ended()
			if d := time.Since(start); d < most {
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
	d := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: 300 * time.Millisecond})
	if _, err := d.Dial(context.Background(), l.Addr().String(), nil); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "has not accepted") {
		t.Errorf("after the handshake's time: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	other := openDomain(t, Options{}, &rdma.Config{HandshakeTimeout: patience})
	if _, err := other.Dial(ctx, l.Addr().String(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("after it was given up: %v", err)
	}
	if _, err := d.Dial(ctx, l.Addr().String(), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up before it began: %v", err)
	}
	if _, err := d.Dial(limit(t), l.Addr().String(), make([]byte, 37)); err == nil || !strings.Contains(err.Error(), "49 octets") {
		t.Errorf("with a hello that is too long: %v", err)
	}
	got := dialOn(t, other, l.Addr().String(), "")
	time.Sleep(10 * time.Millisecond)
	if err := errors.Join(d.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	if a := <-got; !errors.Is(a.err, errClosed) {
		t.Errorf("while its domain was closed: %v", a.err)
	}
	if _, err := d.Dial(limit(t), l.Addr().String(), nil); !errors.Is(err, errClosed) {
		t.Errorf("from a closed domain: %v", err)
	}
	before.check(t)
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

func ExampleNew() {
	// Connections through something else than TCP of this host: a proxy, say.
	p := New(Options{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", addr)
	}})
	fmt.Println(p.Name())
	// Output: iwarp
}
