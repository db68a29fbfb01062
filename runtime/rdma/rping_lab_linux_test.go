//go:build lab && (amd64 || arm64)

package rdma_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// The peer of these tests is rping(1) of rdma-core, of which nothing is ours. They run in the lab, which has a device on the network of
// these addresses: siw0, by which rping speaks iWARP, or rxe0, by which it speaks RoCEv2.

// overRping runs a test with the providers that can speak to rping here.
func overRping(t *testing.T, test func(t *testing.T, provider rdma.Provider)) {
	if os.Getenv("BAREWIRE_LAB") == "siw" {
		t.Run("iwarp", func(t *testing.T) { test(t, iwarp.New(iwarp.Options{})) })
	}
	t.Run("verbs", func(t *testing.T) { test(t, verbs.New(verbs.Options{})) })
}

// infoSize is the bytes of rping's messages: address, key and size of its buffer, in network order.
const infoSize = 16

func info(addr uint64, key uint32, n int) []byte {
	b := binary.BigEndian.AppendUint64(nil, addr)
	b = binary.BigEndian.AppendUint32(b, key)
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

var rpingAddresses = []string{"10.99.0.1", "fd99::1"}

// rpingSizes are bytes of rping's buffers; it takes less than 64 KiB. Those of the greatest take many segments.
var rpingSizes = []int{64, 4096, 65528}

// inTime is how long what ends by itself may take in a guest.
func inTime(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

const rpings = 20 // rounds: each has a read, a write and four messages

// rping starts it, with checks of what it gets, on a free port of an address.
func rping(t *testing.T, role, addr string, port, rounds, size int) *exec.Cmd {
	t.Helper()
	cmd := exec.Command("rping", role, "-a", addr, "-p", strconv.Itoa(port), "-C", strconv.Itoa(rounds), "-S", strconv.Itoa(size), "-v", "-V")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("rping said: %s", out.String())
		}
	})
	return cmd
}

// endedLate reports whether rping, as the client, did all rounds, each with its contents checked, and failed after that: seen once, with
// EBADF from its channel of events. By what it says, one thread had closed the channel before another one read from it.
func endedLate(cmd *exec.Cmd, rounds int) bool {
	said := cmd.Stdout.(*bytes.Buffer).String()
	return strings.Contains(said, fmt.Sprintf("ping data: rdma-ping-%d:", rounds-1)) && strings.Contains(said, "rdma_get_cm_event: Bad file descriptor")
}

// pinger is this side: a buffer that the peer may use, and one for what is read and written there.
type pinger struct {
	dom    *rdma.Domain
	theirs *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite]
	ours   *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite]
	bytes  int
}

func newPinger(t *testing.T, provider rdma.Provider, bytes int) *pinger {
	t.Helper()
	dev := must(rdma.Open(inTime(t), rdma.Config{Provider: provider, Plain: true, Logger: quiet}))(t)
	t.Cleanup(func() { ok(t, dev.Close()) })
	p := &pinger{dom: must(dev.Domain())(t), bytes: bytes}
	region := func() *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite] {
		r := must(rdma.Register(p.dom, must(barewire.New(sample.WordInCPU(), bytes/8))(t), sample.WordRemoteReadWrite()))(t)
		t.Cleanup(func() { ok(t, r.Close()) })
		return r
	}
	p.theirs, p.ours = region(), region()
	return p
}

// listen takes a free port. An address of IPv6 stands in brackets.
func (p *pinger) listen(t *testing.T, addr string) (*rdma.Listener, int) {
	t.Helper()
	ln := must(p.dom.Listen(inTime(t), join(addr, 0)))(t)
	_, port, _ := strings.Cut(strings.TrimPrefix(ln.Addr(), "["+addr+"]"), ":")
	return ln, must(strconv.Atoi(port))(t)
}

func join(addr string, port int) string {
	if strings.Contains(addr, ":") {
		addr = "[" + addr + "]"
	}
	return addr + ":" + strconv.Itoa(port)
}

// text is what rping has in its buffer in a round: its number and characters from A on, with zero at the end.
// Source: rping.c of rdma-core, rping_test_client.
func text(round, n int) []byte {
	b := fmt.Appendf(nil, "rdma-ping-%d: ", round)
	for c := 65 + round%58; len(b) < n-1; c++ {
		if c > 122 {
			c = 65
		}
		b = append(b, byte(c))
	}
	return append(b, 0)
}

// hear receives what rping says, 16 octets: where its memory is; or anything, for "go on".
func hear(ctx context.Context, c *rdma.Conn) (addr uint64, key rdma.RKey, n int, err error) {
	b := make([]byte, 64)
	got, err := c.Receive(ctx, b)
	if err == nil && got != infoSize {
		err = fmt.Errorf("was told %d bytes: %x", got, b[:got])
	}
	be := binary.BigEndian
	return be.Uint64(b), rdma.RKey(be.Uint32(b[8:])), int(be.Uint32(b[12:])), err
}

// serve is rping's server: in each round it reads what the client has, and writes it to where the client wants it.
func (p *pinger) serve(ctx context.Context, c *rdma.Conn, rounds int) error {
	for round := range rounds {
		for step := range 2 {
			addr, key, n, err := hear(ctx, c)
			if err != nil {
				return err
			}
			rem, err := rdma.Foreign(c, addr, key, n/8, sample.WordRemoteReadWrite())
			if err != nil {
				return err
			}
			if step == 0 {
				err = p.read(ctx, c, rem, round, n)
			} else if _, err = rdma.Write(c, rem, p.ours.Span(0, n/8)); err == nil {
				err = c.Flush(ctx)
			}
			if err != nil {
				return err
			}
			if err := c.SendBytes(ctx, make([]byte, infoSize)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *pinger) read(ctx context.Context, c *rdma.Conn, rem barewire.Remote[sample.Word, barewire.RemoteReadWrite], round, n int) error {
	op, err := rdma.Read(c, p.ours.Span(0, n/8), rem)
	if err != nil {
		return err
	}
	if err := op.Wait(ctx); err != nil {
		return err
	}
	if got := p.contents(p.ours); !bytes.Equal(got, text(round, n)) {
		return fmt.Errorf("round %d: read %.80q, want %.80q", round, got, text(round, n))
	}
	return nil
}

// ping is rping's client: it tells where its text is and where it wants it to be written.
func (p *pinger) ping(ctx context.Context, c *rdma.Conn, rounds int) error {
	for round := range rounds {
		want := text(round, p.bytes)
		p.fill(p.theirs, want)
		for _, r := range []*barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite]{p.theirs, p.ours} {
			addr, key, n, err := rdma.AddressOf(c, r)
			if err != nil {
				return err
			}
			if err := c.SendBytes(ctx, info(addr, uint32(key), n)); err != nil {
				return err
			}
			if _, _, _, err := hear(ctx, c); err != nil {
				return err
			}
		}
		if got := p.contents(p.ours); !bytes.Equal(got, want) {
			return fmt.Errorf("round %d: %.80q was written, want %.80q", round, got, want)
		}
	}
	return nil
}

func (p *pinger) fill(r *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite], b []byte) {
	_ = barewire.With(r, func(w barewire.Window[sample.Word, barewire.RemoteReadWrite]) error {
		for i := range p.bytes / 8 {
			sample.WordAt(w, i).SetValue(binary.LittleEndian.Uint64(b[i*8:]))
		}
		return nil
	})
}

func (p *pinger) contents(r *barewire.Region[sample.Word, barewire.CPU, barewire.RemoteReadWrite]) (b []byte) {
	_ = barewire.With(r, func(w barewire.Window[sample.Word, barewire.RemoteReadWrite]) error {
		for i := range p.bytes / 8 {
			b = binary.LittleEndian.AppendUint64(b, sample.WordAt(w, i).Value())
		}
		return nil
	})
	return b
}

// eachRping runs a test for each address and size.
func eachRping(t *testing.T, test func(t *testing.T, by rdma.Provider, addr string, size int)) {
	overRping(t, func(t *testing.T, by rdma.Provider) { eachAddress(t, by, test) })
}

func eachAddress(t *testing.T, by rdma.Provider, test func(t *testing.T, by rdma.Provider, addr string, size int)) {
	for _, addr := range rpingAddresses {
		for _, size := range rpingSizes {
			t.Run(fmt.Sprintf("%s, %d bytes", addr, size), func(t *testing.T) { test(t, by, addr, size) })
		}
	}
}

// TestRpingClient has rping be the client: it connects by siw and checks what this side wrote.
func TestRpingClient(t *testing.T) {
	eachRping(t, func(t *testing.T, by rdma.Provider, addr string, size int) {
		p := newPinger(t, by, size)
		ln, port := p.listen(t, addr)
		defer ln.Close()
		peer := rping(t, "-c", addr, port, rpings, size)
		c := must(ln.Accept(inTime(t)))(t)
		defer c.Close()
		ok(t, p.serve(inTime(t), c, rpings))
		if !c.Plain() {
			t.Error("the connection is not plain")
		}
		if err := peer.Wait(); err != nil && !endedLate(peer, rpings) {
			t.Error(err)
		}
	})
}

// TestRpingServer has rping be the server: it reads from this side's memory and writes to it.
func TestRpingServer(t *testing.T) {
	eachRping(t, func(t *testing.T, by rdma.Provider, addr string, size int) {
		p := newPinger(t, by, size)
		c, peer := p.dial(t, addr, rpings, size)
		ok(t, p.ping(inTime(t), c, rpings))
		ok(t, c.Close())
		ended(t, peer) // with what status, rping takes from how the connection ends
	})
}

// dial starts rping as the server and dials it, which it takes a moment to be ready for.
func (p *pinger) dial(t *testing.T, addr string, rounds, size int) (*rdma.Conn, *exec.Cmd) {
	t.Helper()
	const port = 7174
	peer := rping(t, "-s", addr, port, rounds, size)
	var err error
	for range 200 {
		var c *rdma.Conn
		if c, err = p.dom.Dial(inTime(t), join(addr, port)); err == nil {
			t.Cleanup(func() { _ = c.Close() })
			time.Sleep(200 * time.Millisecond) // what comes before siw has told rping of the connection may be lost sight of: docs/hardware.md
			return c, peer
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal(err)
	return nil, nil
}

// ended waits for rping to end by itself.
func ended(t *testing.T, peer *exec.Cmd) {
	t.Helper()
	late := time.AfterFunc(time.Minute, func() { _ = peer.Process.Kill() })
	_ = peer.Wait()
	if !late.Stop() {
		t.Error("rping had not ended after a minute")
	}
}

// TestRpingKilled kills rping in the midst of its rounds, in both roles: what this side does ends, with an error, and
// nothing is left.
func TestRpingKilled(t *testing.T) { overRping(t, rpingKilled) }

func rpingKilled(t *testing.T, by rdma.Provider) {
	const size, forever = 4096, 1 << 30
	for _, role := range []string{"client", "server"} {
		t.Run(role, func(t *testing.T) {
			p := newPinger(t, by, size)
			var c *rdma.Conn
			var peer *exec.Cmd
			do := p.ping
			if role == "client" {
				ln, port := p.listen(t, rpingAddresses[0])
				defer ln.Close()
				peer = rping(t, "-c", rpingAddresses[0], port, forever, size)
				c = must(ln.Accept(inTime(t)))(t)
				do = p.serve
			} else {
				c, peer = p.dial(t, rpingAddresses[0], forever, size)
			}
			defer c.Close()
			done := make(chan error, 1)
			go func() { done <- do(inTime(t), c, forever) }()
			for c.Stats().Messages < 10 {
				time.Sleep(10 * time.Millisecond)
			}
			ok(t, peer.Process.Kill())
			if err := <-done; err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			} else {
				t.Log(err)
			}
			if c.Err() == nil {
				t.Error("the connection has not failed")
			}
		})
	}
}

// TestRpingLeft has this side go away in the midst: rping ends.
func TestRpingLeft(t *testing.T) {
	overRping(t, rpingLeft)
}

func rpingLeft(t *testing.T, by rdma.Provider) {
	p := newPinger(t, by, 4096)
	c, peer := p.dial(t, rpingAddresses[0], 1<<30, 4096)
	ok(t, p.ping(inTime(t), c, 10))
	c.Abort(errors.New("the test leaves"))
	ended(t, peer)
}
