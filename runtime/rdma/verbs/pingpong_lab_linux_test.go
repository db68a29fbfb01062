//go:build lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// The peer of these tests is ibv_rc_pingpong(1) of rdma-core. It tells of its queue pair in a way of its own, over TCP, which
// package verbs does not speak: the exchange below is the tests'. What follows is not: the queue pair, its states, and the
// messages that are sent and received are as between our own, with its queue of this package.

// pingPort is the port of TCP on which it listens, or this side does.
const pingPort = 18515

// greeting is the bytes of what each side says: LID, number of the queue pair and sequence number in hexadecimal digits, the GID,
// and a zero. Source: ibverbs/examples/rc_pingpong.c of rdma-core, pp_client_exch_dest.
const greeting = len("0000:000000:000000:00000000000000000000000000000000") + 1

// pingMTU is the path MTU that it takes unless told otherwise, 1024 bytes (enum ibv_mtu).
const pingMTU = 3

// parseGreeting reads one.
func parseGreeting(b []byte) (*far, error) {
	f := &far{mtu: pingMTU, serves: 1, asks: 1}
	words := strings.Split(string(bytes.TrimRight(b, "\x00")), ":")
	if len(words) != 4 {
		return nil, fmt.Errorf("it said %q", b)
	}
	for i, p := range []*uint32{nil, &f.qpn, &f.psn} {
		v, err := strconv.ParseUint(words[i], 16, 24)
		if err != nil {
			return nil, fmt.Errorf("it said %q: %w", b, err)
		}
		if p == nil {
			f.lid = uint16(v)
		} else {
			*p = uint32(v)
		}
	}
	n, err := hex.Decode(f.gid[:], []byte(words[3]))
	if err != nil || n != len(f.gid) {
		return nil, fmt.Errorf("it said %q: %w", b, err)
	}
	return f, nil
}

// ponger is this side: a queue pair, and memory of which a half is sent from and the other one received to.
type ponger struct {
	q    *queue
	mem  []byte
	key  rdma.LKey
	size int
	out  [4]rdma.Completion
	got  int // messages received
	sent int // and completed
}

const pongSize = 65536

func newPonger(t *testing.T, size int) *ponger {
	t.Helper()
	a := must(standard.Open(t.Context(), device(t), &rdma.Config{Depth: 16, Credits: 32, MaxMessage: pongSize}))(t)
	t.Cleanup(func() { ok(t, a.Close()) })
	d := must(a.NewDomain())(t)
	h := must(iregion.New(iregion.Spec{Type: &iregion.Type{Name: "Bytes", Size: 1, Align: 64}, Count: 2 * pongSize}))(t)
	base, _, _ := h.Memory()
	keys := must(d.Register(rdma.Memory{Base: base, Len: 2 * pongSize, Name: "the messages"}, iregion.Write, nil))(t)
	t.Cleanup(func() { ok(t, d.Close()); ok(t, h.Close(h.Gen())) })
	p := &ponger{mem: unsafe.Slice((*byte)(base), 2*pongSize), key: keys.L, size: size}
	p.q = must(newQueue(d.(*domain), "ibv_rc_pingpong"))(t)
	p.q.plain, p.q.keys.open = true, true
	ok(t, d.(*domain).admit(p.q))
	t.Cleanup(func() { ok(t, p.q.Close()) })
	p.expect(t)
	return p
}

// gidIndex is where the table has the address, which ibv_rc_pingpong has to be told.
func (p *ponger) gidIndex(t *testing.T, addr string) gid {
	t.Helper()
	for _, g := range p.q.dom.adapter.port.gids {
		if g.addr.String() == addr && g.kind == kindRoCEv2 {
			return g
		}
	}
	t.Fatalf("there is no %s among %+v", addr, p.q.dom.adapter.port.gids)
	return gid{}
}

// expect posts a receive: there is always one before a message may come.
func (p *ponger) expect(t *testing.T) {
	t.Helper()
	ok(t, p.q.PostReceive([]rdma.ReceiveRequest{{Buf: rdma.Segment{Ptr: unsafe.Pointer(&p.mem[pongSize]), Len: p.size, Key: p.key}}}))
}

// meet tells the other program of the queue pair and connects with its. Who dialed says more than once: that is who is told first.
func (p *ponger) meet(c net.Conn, own gid, dialed bool) error {
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	say := func() error {
		_, err := c.Write(append(fmt.Appendf(nil, "%04x:%06x:%06x:%x", 0, p.q.hw.qpn(), p.q.hw.psn, own.raw), 0))
		return err
	}
	if dialed {
		if err := say(); err != nil {
			return err
		}
	}
	b := make([]byte, greeting)
	if _, err := io.ReadFull(c, b); err != nil {
		return fmt.Errorf("its greeting: %w", err)
	}
	theirs, err := parseGreeting(b)
	if err != nil {
		return err
	}
	theirs.own = own
	if err := p.q.hw.connect(p.q.dom, theirs); err != nil {
		return err
	}
	if dialed {
		_, err := c.Write([]byte("done\x00"))
		return err
	}
	if err := say(); err != nil {
		return err
	}
	if _, err := io.ReadFull(c, b[:5]); err != nil || string(b[:5]) != "done\x00" {
		return fmt.Errorf("at the end it said %q: %w", b[:5], err)
	}
	return nil
}

// send sends a text that nobody else has.
func (p *ponger) send(round int) error {
	copy(p.mem[:p.size], pongText(round, p.size))
	w := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1}
	w.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&p.mem[0]), Len: p.size, Key: p.key}
	_, err := p.q.Post([]rdma.WorkRequest{w})
	return err
}

func pongText(round, size int) []byte {
	b := bytes.Repeat(fmt.Appendf(nil, "round %d;", round), size/8)
	return b[:size]
}

// until polls, and sleeps by the completion channel, until so many messages have come and so many were sent.
func (p *ponger) until(ctx context.Context, got, sent int) error {
	for p.got < got || p.sent < sent {
		n := p.q.Poll(p.out[:])
		for _, c := range p.out[:n] {
			switch {
			case c.Err != nil:
				return fmt.Errorf("%v: %w", c.Verb, c.Err)
			case c.Verb != rdma.VerbReceive:
				p.sent++
			case c.Bytes != p.size:
				return fmt.Errorf("a message of %d bytes", c.Bytes)
			default:
				p.got++
			}
		}
		if n == 0 {
			if err := p.q.Wait(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// play exchanges messages. The other program sends from where it receives, so each message that comes is what was sent last;
// the first of one that begins is its own, a byte that it has filled its buffer with.
func (p *ponger) play(ctx context.Context, t *testing.T, rounds int, begin bool) error {
	came := func() []byte { return p.mem[pongSize:][:p.size] }
	for i := range rounds {
		want := pongText(i-1, p.size)
		if begin {
			want = pongText(i, p.size)
			if err := p.send(i); err != nil {
				return err
			}
		} else if i == 0 {
			want = bytes.Repeat([]byte{0x7b}, p.size)
		}
		if err := p.until(ctx, i+1, i); err != nil {
			return err
		}
		if !bytes.Equal(came(), want) {
			return fmt.Errorf("round %d: %.40q came, want %.40q", i, came(), want)
		}
		if i < rounds-1 {
			p.expect(t)
		}
		if !begin {
			if err := p.send(i); err != nil {
				return err
			}
		}
	}
	return p.until(ctx, rounds, rounds)
}

// pingpong starts it. A server is told no address.
func pingpong(t *testing.T, gid, rounds, size int, more ...string) *exec.Cmd {
	t.Helper()
	name, _, _ := strings.Cut(device(t), ":")
	args := []string{"-d", name, "-g", strconv.Itoa(gid), "-n", strconv.Itoa(rounds), "-s", strconv.Itoa(size), "-p", strconv.Itoa(pingPort)}
	cmd := exec.Command("ibv_rc_pingpong", append(args, more...)...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("ibv_rc_pingpong said: %s", out.String())
		}
	})
	return cmd
}

// against has this side be the client or the server of ibv_rc_pingpong, by the GID of an address. As a server it listens by IPv4 only,
// whatever the GID is.
func (p *ponger) against(t *testing.T, addr string, client bool, rounds int, more ...string) *exec.Cmd {
	t.Helper()
	own := p.gidIndex(t, addr)
	at := net.JoinHostPort("10.99.0.1", strconv.Itoa(pingPort))
	if !client {
		ln := must(net.Listen("tcp", at))(t)
		defer ln.Close()
		peer := pingpong(t, own.index, rounds, p.size, append(more, "10.99.0.1")...)
		ok(t, p.meet(must(ln.Accept())(t), own, false))
		return peer
	}
	peer := pingpong(t, own.index, rounds, p.size, more...)
	var c net.Conn
	var err error
	for range 600 {
		if c, err = net.Dial("tcp", at); err == nil {
			break
		}
		time.Sleep(100 * time.Millisecond) // it does not listen yet
	}
	ok(t, err)
	ok(t, p.meet(c, own, true))
	return peer
}

// TestPingpong exchanges messages with ibv_rc_pingpong in both roles, by polling and by events on its side, over both kinds of
// addresses, in one packet and in many. All of what comes is looked at.
func TestPingpong(t *testing.T) {
	const rounds = 50
	for _, c := range []struct {
		addr   string
		size   int
		client bool
		more   []string
	}{
		{"10.99.0.1", 64, true, nil},
		{"10.99.0.1", 64, false, nil},
		{"10.99.0.1", 4096, true, []string{"-e"}},
		{"10.99.0.1", pongSize, false, []string{"-e"}},
		{"fd99::1", 4096, true, nil},
		{"fd99::1", pongSize, true, nil},
		{"fd99::1", 4096, false, nil},
	} {
		role := map[bool]string{true: "client", false: "server"}[c.client]
		t.Run(fmt.Sprintf("%s, %s, %d bytes%s", role, c.addr, c.size, strings.Join(c.more, " ")), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			p := newPonger(t, c.size)
			peer := p.against(t, c.addr, c.client, rounds, c.more...)
			ok(t, p.play(ctx, t, rounds, c.client))
			ok(t, peer.Wait())
		})
	}
}

// TestPingpongKilled kills it in the midst, in both roles. Nothing tells this side, as rdma_cm would: what it sends next ends with an
// error.
func TestPingpongKilled(t *testing.T) {
	for _, client := range []bool{true, false} {
		t.Run(map[bool]string{true: "client", false: "server"}[client], func(t *testing.T) {
			p := newPonger(t, 4096)
			peer := p.against(t, "10.99.0.1", client, 1<<30)
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			err := p.play(ctx, t, 1<<30, client)
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("before it was killed: %v", err)
			}
			ok(t, peer.Process.Kill())
			_ = peer.Wait()
			ok(t, p.send(0))
			ctx, cancel = context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			err = p.until(ctx, 0, 1<<30)
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
			t.Logf("after %d messages: %v", p.got, err)
		})
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
