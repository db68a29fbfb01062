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

// The peers of these tests are perftest's ib_write_lat, ib_write_bw, ib_read_bw and ib_send_bw. They tell each other of their queue pairs and memory over TCP, in a
// way of their own, which the tests speak; what follows is between their queue pair and one of this package. Its keys are those that
// peers of ours have: memory windows, where the device has them. Source: src/perftest_communication.c of perftest 4.5-0.17 (exchange_versions, check_sys_data,
// check_mtu, ctx_hand_shake, xchg_bw_reports, ctx_close_connection). Whoever dialed says each thing first.

const (
	perftestVersion = "6.06" // at least 5.33, with what that exchanges
	perftestPort    = 18600
	perftestCycle   = 4096 // bytes of memory, at least, that transfers go around in
	perftestBytes   = 64 << 10
	perftestGuard   = 4096 // behind it, which nobody writes to
)

// tester is this side of a conversation with one of perftest's programs.
type tester struct {
	q      *queue
	mem    []byte // what the peer uses, a guard, and what this side sends from
	keys   rdma.Keys
	size   int
	own    gid
	conn   net.Conn
	dialed bool
	theirs far
	at     place // their memory
}

func newTester(t *testing.T, size int) *tester {
	t.Helper()
	a := must(standard.Open(t.Context(), device(t), &rdma.Config{Depth: 64, Credits: 32}))(t)
	t.Cleanup(func() { ok(t, a.Close()) })
	d := must(a.NewDomain())(t).(*domain)
	x := &tester{mem: mapped(t, 2*perftestBytes+perftestGuard), size: size}
	x.keys = must(d.Register(memoryOf(x.mem, "what perftest uses"), iregion.Write|iregion.Read, nil))(t)
	if r := d.find(x.keys.L); r.why != "" {
		t.Errorf("the key is no window's: %s", r.why)
	}
	x.q = must(newQueue(d, "perftest"))(t)
	x.q.plain, x.q.keys.open = true, true
	ok(t, d.admit(x.q))
	t.Cleanup(func() { ok(t, x.q.Close()) })
	return x
}

// swap says something and hears as much.
func (x *tester) swap(say []byte) ([]byte, error) {
	hear := make([]byte, len(say))
	if x.dialed {
		if _, err := x.conn.Write(say); err != nil {
			return nil, err
		}
	}
	if _, err := io.ReadFull(x.conn, hear); err != nil {
		return nil, err
	}
	if !x.dialed {
		if _, err := x.conn.Write(say); err != nil {
			return nil, err
		}
	}
	return hear, nil
}

// shake tells of the queue pair and the memory, and hears of theirs: LID, reads at a time, numbers of the queue pair and of its first packet, key,
// address, the 16 octets of the GID and a number of no use, in hexadecimal digits, with a colon behind each and a zero at the end.
func (x *tester) shake() error {
	say := fmt.Appendf(nil, "%04x:%04x:%06x:%06x:%08x:%016x:", 0, 1, x.q.hw.qpn(), x.q.hw.psn, uint32(x.keys.R), x.keys.Addr)
	for _, b := range x.own.raw {
		say = fmt.Appendf(say, "%02x:", b)
	}
	hear, err := x.swap(append(fmt.Appendf(say, "%08x:", 0), 0))
	if err != nil {
		return err
	}
	words := strings.Split(string(hear), ":")
	if len(words) != 24 {
		return fmt.Errorf("it said %q", hear)
	}
	var n [6]uint64
	for i := range n {
		if n[i], err = strconv.ParseUint(words[i], 16, 64); err != nil {
			return fmt.Errorf("it said %q: %w", hear, err)
		}
	}
	raw, err := hex.DecodeString(strings.Join(words[6:22], ""))
	if err != nil || len(raw) != 16 {
		return fmt.Errorf("it said %q: %w", hear, err)
	}
	x.theirs = far{gid: [16]byte(raw), qpn: uint32(n[2]), psn: uint32(n[3]), mtu: x.theirs.mtu, serves: uint8(n[1]), asks: 1, own: x.own}
	x.at = place{key: rdma.RKey(n[4]), addr: n[5]}
	return nil
}

// meet speaks until both queue pairs are ready. The program says how often hands are shaken before they are connected, and after.
func (x *tester) meet(name string) error {
	_ = x.conn.SetDeadline(time.Now().Add(2 * time.Minute))
	version := make([]byte, 16)
	copy(version, perftestVersion)
	hear, err := x.swap(version)
	if err != nil {
		return fmt.Errorf("its version: %w", err)
	}
	if v, err := strconv.ParseFloat(strings.TrimRight(string(bytes.TrimRight(hear, "\x00")), "H"), 64); err != nil || v < 5.33 {
		return fmt.Errorf("its version is %q", hear)
	}
	for _, say := range [][]byte{{0, 0, perftestCycle >> 8, 0}, {0, 0, 0, 64}} { // and the octets of a line of the cache
		if _, err := x.swap(say); err != nil {
			return fmt.Errorf("its sizes: %w", err)
		}
	}
	if hear, err = x.swap([]byte{'0' + x.q.dom.adapter.mtu, 0}); err != nil || hear[0] < '1' || hear[0] > '5' {
		return fmt.Errorf("its MTU is %q: %w", hear, err)
	}
	x.theirs.mtu = hear[0] - '0'
	before, after := 1, 2
	switch name {
	case "ib_write_lat":
		before = 2
	case "ib_send_bw":
		after = 3 // the last when there are receives
	}
	for range before {
		if err := x.shake(); err != nil {
			return fmt.Errorf("its queue pair: %w", err)
		}
	}
	if err := x.q.hw.connect(x.q.dom, &x.theirs); err != nil {
		return err
	}
	for range after {
		if err := x.shake(); err != nil {
			return fmt.Errorf("that it is connected: %w", err)
		}
	}
	return nil
}

// leave says good-bye: hands, and a word.
func (x *tester) leave() error {
	if err := x.shake(); err != nil {
		return err
	}
	_, err := x.conn.Write([]byte("done\x00"))
	return err
}

// part is good-bye where one side has used the other's memory: hands, a report of five numbers that nobody here measures, and then as leave.
func (x *tester) part(iterations int) error {
	if err := x.shake(); err != nil {
		return err
	}
	var said []byte
	for i := range 5 {
		b := make([]byte, 8)
		switch i {
		case 0:
			b[5], b[6], b[7] = byte(x.size>>16), byte(x.size>>8), byte(x.size)
		case 1:
			b[6], b[7] = byte(iterations>>8), byte(iterations)
		}
		hear, err := x.swap(b)
		if err != nil {
			return fmt.Errorf("its report: %w", err)
		}
		said = append(said, hear...)
	}
	if err := x.leave(); err != nil {
		return err
	}
	if x.dialed {
		return nil // a server reports nothing of its own
	}
	if size, n := beInt(said[:8]), beInt(said[8:16]); size != x.size || n != iterations {
		return fmt.Errorf("it reports %d transfers of %d bytes", n, size)
	}
	return nil
}

func beInt(b []byte) (n int) {
	for _, c := range b {
		n = n<<8 | int(c)
	}
	return n
}

// start runs one of perftest's programs as the other role, and meets it.
func (x *tester) start(t *testing.T, name, addr string, client bool, iterations int) *exec.Cmd {
	t.Helper()
	for _, g := range x.q.dom.adapter.port.gids {
		if g.addr.String() == addr && g.kind == kindRoCEv2 {
			x.own = g
		}
	}
	dev, _, _ := strings.Cut(device(t), ":")
	at := net.JoinHostPort("10.99.0.1", strconv.Itoa(perftestPort))
	args := []string{"-d", dev, "-x", strconv.Itoa(x.own.index), "-s", strconv.Itoa(x.size), "-n", strconv.Itoa(iterations), "-p", strconv.Itoa(perftestPort), "-F"}
	var ln net.Listener
	if !client {
		ln = must(net.Listen("tcp4", at))(t)
		defer ln.Close()
		args = append(args, "10.99.0.1")
	}
	cmd := exec.Command(name, args...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	ok(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("%s said: %s", name, out.String())
		}
	})
	var err error
	if x.dialed = client; client {
		for range 600 {
			if x.conn, err = net.Dial("tcp4", at); err == nil {
				break
			}
			time.Sleep(100 * time.Millisecond) // it does not listen yet
		}
	} else {
		x.conn, err = ln.Accept()
	}
	ok(t, err)
	t.Cleanup(func() { _ = x.conn.Close() })
	ok(t, x.meet(name))
	return cmd
}

// mine is what this side sends from or reads into.
func (x *tester) mine() []byte { return x.mem[perftestBytes+perftestGuard:] }

// transfer is a write or a read of this side's.
func (x *tester) transfer(ctx context.Context, v rdma.Verb) error {
	wr := rdma.WorkRequest{Verb: v, Segs: 1, Key: x.at.key, Addr: x.at.addr}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&x.mine()[0]), Len: x.size, Key: x.keys.L}
	return do(ctx, x.q, wr)
}

// guarded reports whether nobody wrote behind what the peer was told of.
func (x *tester) guarded() error {
	if used := max(x.size, perftestCycle); !bytes.Equal(x.mem[used:perftestBytes+perftestGuard], make([]byte, perftestBytes+perftestGuard-used)) {
		return errors.New("it wrote behind its memory")
	}
	return nil
}

// pings is ib_write_lat's exchange: the last octet of what each side writes is the number of the round, and its peer looks at that. Its server begins.
// Source: src/perftest_resources.c, run_iter_lat_write.
func (x *tester) pings(ctx context.Context, rounds int, serves bool) error {
	last := x.mem[:x.size]
	var first []byte // of what it writes: it is the same each time, but for the number
	sent := 0
	send := func() error {
		sent++
		for i := range x.size {
			x.mine()[i] = byte(sent + i)
		}
		x.mine()[x.size-1] = byte(sent)
		return x.transfer(ctx, rdma.VerbWrite)
	}
	if serves {
		if err := send(); err != nil {
			return err
		}
	}
	for round := 1; round <= rounds; round++ {
		for seen := (*byte)(unsafe.Pointer(&last[x.size-1])); load8(seen) != byte(round); {
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("round %d has not come: %w", round, err)
			}
			if err := x.q.usable(); err != nil {
				return err
			}
			time.Sleep(50 * time.Microsecond)
		}
		if first == nil {
			first = bytes.Clone(last[:x.size-1])
		}
		if !bytes.Equal(first, last[:x.size-1]) {
			return fmt.Errorf("round %d: what came is not what came before", round)
		}
		if sent < rounds {
			if err := send(); err != nil {
				return err
			}
		}
	}
	return x.guarded()
}

// TestPerftest has perftest's programs as peers, in both roles.
func TestPerftest(t *testing.T) {
	for _, c := range []struct {
		name, addr string
		size       int
		client     bool // this side is
		rounds     int
	}{
		{"ib_write_lat", "10.99.0.1", 8, true, 300},
		{"ib_write_lat", "10.99.0.1", 8, false, 300},
		{"ib_write_lat", "fd99::1", 8192, true, 100},
		{"ib_write_lat", "fd99::1", 8192, false, 100},
		{"ib_write_bw", "10.99.0.1", 65536, true, 100},
		{"ib_write_bw", "10.99.0.1", 65536, false, 100},
		{"ib_write_bw", "fd99::1", 1024, false, 300},
		{"ib_read_bw", "10.99.0.1", 65536, true, 50},
		{"ib_read_bw", "10.99.0.1", 65536, false, 50},
		{"ib_read_bw", "fd99::1", 1024, false, 100},
		{"ib_send_bw", "10.99.0.1", 4096, true, 100},
		{"ib_send_bw", "fd99::1", 4096, false, 100},
	} {
		role := map[bool]string{true: "client", false: "server"}[c.client]
		t.Run(fmt.Sprintf("%s, this side is the %s, %s, %d bytes", c.name, role, c.addr, c.size), func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			x := newTester(t, c.size)
			receives := c.name == "ib_send_bw" && !c.client
			if receives {
				ok(t, x.expect(16))
			}
			peer := x.start(t, c.name, c.addr, c.client, c.rounds)
			var err error
			switch verb := map[string]rdma.Verb{"ib_write_bw": rdma.VerbWrite, "ib_read_bw": rdma.VerbRead}[c.name]; {
			case c.name == "ib_write_lat":
				err = x.pings(ctx, c.rounds, !c.client)
			case receives:
				err = x.hears(ctx, c.rounds)
			case c.name == "ib_send_bw":
				err = x.sends(ctx, c.rounds)
			case c.client:
				err = x.uses(ctx, verb, c.rounds)
			default:
				err = x.isUsed(verb, c.rounds)
			}
			ok(t, err)
			ok(t, peer.Wait())
		})
	}
}

// uses writes or reads its server's memory. That is full of random octets, which stay: to read it twice gives the same.
func (x *tester) uses(ctx context.Context, v rdma.Verb, rounds int) error {
	var before []byte
	for range rounds {
		if err := x.transfer(ctx, v); err != nil {
			return err
		}
		if v != rdma.VerbRead {
			continue
		}
		got := x.mine()[:x.size]
		if before == nil {
			before = bytes.Clone(got)
		}
		if !bytes.Equal(got, before) || bytes.Count(got, []byte{0}) > x.size/64 {
			return errors.New("what was read is not the same each time, or not random")
		}
		clear(got)
	}
	return x.part(rounds)
}

// isUsed lets its client write or read this side's memory, and reports what it has done there.
func (x *tester) isUsed(v rdma.Verb, rounds int) error {
	if err := x.part(rounds); err != nil {
		return err
	}
	if written := bytes.Count(x.mem[:x.size], []byte{0}) < x.size/16; written != (v == rdma.VerbWrite) {
		return fmt.Errorf("%v: of %d octets %d are zero", v, x.size, bytes.Count(x.mem[:x.size], []byte{0}))
	}
	return x.guarded()
}

// expect posts receives.
func (x *tester) expect(n int) error {
	for range n {
		if err := x.q.PostReceive([]rdma.ReceiveRequest{{Buf: rdma.Segment{Ptr: unsafe.Pointer(&x.mem[0]), Len: x.size, Key: x.keys.L}}}); err != nil {
			return err
		}
	}
	return nil
}

// hears receives its client's messages, which are the same random octets each time.
func (x *tester) hears(ctx context.Context, messages int) error {
	var first []byte
	for n := 0; n < messages; {
		var out [1]rdma.Completion
		if x.q.Poll(out[:]) == 0 {
			if err := x.q.Wait(ctx); err != nil {
				return err
			}
			continue
		}
		if n++; out[0].Err != nil || out[0].Verb != rdma.VerbReceive || out[0].Bytes != x.size {
			return fmt.Errorf("message %d is %+v", n, out[0])
		}
		if first == nil {
			first = bytes.Clone(x.mem[:x.size])
		}
		if !bytes.Equal(x.mem[:x.size], first) || bytes.Count(first, []byte{0}) > x.size/16 {
			return fmt.Errorf("message %d is not what came before, or not random", n)
		}
		if err := x.expect(1); err != nil {
			return err
		}
	}
	return errors.Join(x.leave(), x.guarded())
}

// sends sends messages to its server, which counts them.
func (x *tester) sends(ctx context.Context, messages int) error {
	for range messages {
		wr := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1}
		wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&x.mine()[0]), Len: x.size, Key: x.keys.L}
		if err := do(ctx, x.q, wr); err != nil {
			return err
		}
	}
	return x.leave()
}

// load8 is one octet of memory that a device writes, looked at each time that it is called.
//
//go:noinline
func load8(p *byte) byte { return *p }

// TestPerftestKilled kills it in the midst of its exchange, in both roles: what this side does next ends with an error.
func TestPerftestKilled(t *testing.T) {
	for _, client := range []bool{true, false} {
		t.Run(map[bool]string{true: "client", false: "server"}[client], func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			x := newTester(t, 64)
			peer := x.start(t, "ib_write_lat", "10.99.0.1", client, 1<<20)
			short, stop := context.WithTimeout(ctx, 300*time.Millisecond)
			defer stop()
			if err := x.pings(short, 1<<20, !client); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("before it was killed: %v", err)
			}
			ok(t, peer.Process.Kill())
			_ = peer.Wait()
			err := x.transfer(ctx, rdma.VerbWrite)
			if err == nil { // that was the end of the write that the short context left outstanding
				err = x.transfer(ctx, rdma.VerbWrite)
			}
			if err == nil || errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
			t.Log(err)
		})
	}
}
