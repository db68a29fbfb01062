//go:build lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

// The tests of this file are on siw0, the kernel's iWARP in software.

const iwarpAddr = "10.99.0.1:0"

// iwarpEnds is two connected queues on the iWARP device, and memory of each, which the peer may read and write.
type iwarpEnds struct {
	da, db   *domain
	a, b     *queue // a has dialed
	ma, mb   []byte
	ka, kb   rdma.Keys
	accepted time.Time
}

func overIWARP(t *testing.T, p *Provider) *iwarpEnds {
	t.Helper()
	acceptAnyway, speakAnyway = time.Minute, time.Minute // a guest may stand still
	e := &iwarpEnds{ma: mapped(t, 64<<10), mb: mapped(t, 64<<10)}
	for _, s := range []struct {
		d **domain
		m []byte
		k *rdma.Keys
	}{{&e.da, e.ma, &e.ka}, {&e.db, e.mb, &e.kb}} {
		a := must(p.Open(t.Context(), device(t), &rdma.Config{Plain: true, Depth: 64, Credits: 32, HandshakeTimeout: 20 * time.Second}))(t)
		t.Cleanup(func() {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		})
		*s.d = must(a.NewDomain())(t).(*domain)
		*s.k = must((*s.d).Register(memoryOf(s.m, "memory"), iregion.Read|iregion.Write, nil))(t)
	}
	l := must(e.db.Listen(t.Context(), iwarpAddr))(t)
	defer l.Close()
	came := make(chan rdma.Queue, 1)
	go func() {
		q, err := l.Accept(t.Context(), func(hello []byte) ([]byte, error) {
			if string(hello) != "from a" {
				return nil, fmt.Errorf("the greeting is %q", hello)
			}
			return []byte("from b"), nil
		})
		if err != nil {
			t.Error(err)
			close(came)
			return
		}
		time.Sleep(20 * time.Millisecond) // the dialing side waits: nothing is accepted before there are receives
		e.accepted = time.Now()
		if err := q.PostReceive([]rdma.ReceiveRequest{e.receive(0, e.mb, e.kb), e.receive(1, e.mb, e.kb)}); err != nil {
			t.Error(err)
		}
		came <- q
	}()
	e.a = must(e.da.Dial(t.Context(), l.Addr(), []byte("from a")))(t).(*queue)
	if time.Now().Before(e.accepted) || string(e.a.Hello()) != "from b" {
		t.Errorf("connected before there were receives, or greeted with %q", e.a.Hello())
	}
	b, there := <-came
	if !there {
		t.FailNow()
	}
	e.b = b.(*queue)
	return e
}

func (e *iwarpEnds) receive(id uint64, mem []byte, k rdma.Keys) rdma.ReceiveRequest {
	return rdma.ReceiveRequest{ID: id, Buf: rdma.Segment{Ptr: unsafe.Pointer(&mem[32<<10+int(id)*1024]), Len: 1024, Key: k.L}}
}

// next polls the next completion.
func next(t testing.TB, q *queue) rdma.Completion {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	return out[0]
}

func give(t testing.TB, q *queue, wrs ...rdma.WorkRequest) {
	t.Helper()
	if n, err := q.Post(wrs); n != len(wrs) {
		t.Fatal(err)
	}
}

func send(mem []byte, off, n int, k rdma.Keys) rdma.WorkRequest {
	wr := rdma.WorkRequest{Verb: rdma.VerbSend, Segs: 1}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&mem[off]), Len: n, Key: k.L}
	return wr
}

// move is a write or a read of n bytes, from 0 on here and from 16 KiB on there.
func (e *iwarpEnds) move(verb rdma.Verb, n int) rdma.WorkRequest {
	wr := rdma.WorkRequest{Verb: verb, Segs: 1, Key: e.kb.R, Epoch: e.kb.Epoch, Addr: e.kb.Addr + 16<<10}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&e.ma[0]), Len: n, Key: e.ka.L}
	return wr
}

// TestIWARP connects two ends as iWARP wants it: who accepts has receives before it is connected, and does not speak first. Then it
// writes, reads and sends, with checks of all contents.
func TestIWARP(t *testing.T) {
	e := overIWARP(t, standard)
	// The side that accepted may speak only when the other one has: what it says waits.
	copy(e.mb, "an answer")
	give(t, e.a) // nothing
	if err := e.a.PostReceive([]rdma.ReceiveRequest{e.receive(0, e.ma, e.ka), e.receive(1, e.ma, e.ka)}); err != nil {
		t.Fatal(err)
	}
	give(t, e.b, send(e.mb, 0, 9, e.kb))
	time.Sleep(100 * time.Millisecond)
	var out [1]rdma.Completion
	if e.a.Poll(out[:]) != 0 {
		t.Error("the side that accepted has spoken first")
	}
	copy(e.ma, "a message")
	give(t, e.a, send(e.ma, 0, 9, e.ka))
	// Who accepted hears it, speaks then, and has spoken.
	for _, c := range []rdma.Completion{next(t, e.b), next(t, e.b), next(t, e.a), next(t, e.a)} {
		if c.Err != nil || c.Verb == rdma.VerbReceive && c.Bytes != 9 {
			t.Fatalf("%+v", c)
		}
	}
	if string(e.ma[32<<10:][:9]) != "an answer" || string(e.mb[32<<10:][:9]) != "a message" {
		t.Error("the messages are not what was sent")
	}
	// A flush needs something that it may read; siw has sent something by now, and would answer a read of nothing with that.
	give(t, e.a, e.move(rdma.VerbRead, 1))
	if c := next(t, e.a); c.Err != nil {
		t.Fatalf("%+v", c)
	}
	for _, n := range []int{1, 7, 64, 80, 81, 1000, 4096, 16 << 10} {
		for i := range n {
			e.ma[i] = byte(i*5 + n)
		}
		give(t, e.a, e.move(rdma.VerbWrite, n), rdma.WorkRequest{Verb: rdma.VerbFlush})
		for range 2 {
			if c := next(t, e.a); c.Err != nil {
				t.Fatalf("%d bytes: %+v", n, c)
			}
		}
		if !bytes.Equal(e.mb[16<<10:][:n], e.ma[:n]) {
			t.Errorf("%d bytes that were written are not there", n)
		}
		want := bytes.Clone(e.ma[:n])
		clear(e.ma[:n])
		give(t, e.a, e.move(rdma.VerbRead, n))
		if c := next(t, e.a); c.Err != nil || !bytes.Equal(e.ma[:n], want) {
			t.Fatalf("a read of %d bytes: %+v", n, c)
		}
	}
	for i := range 20 { // many outstanding
		give(t, e.a, e.move(rdma.VerbWrite, 256+i), e.move(rdma.VerbRead, 256+i), rdma.WorkRequest{Verb: rdma.VerbFlush})
	}
	for range 60 {
		if c := next(t, e.a); c.Err != nil {
			t.Fatalf("%+v", c)
		}
	}
}

// oursOverIWARP connects two ends of ours and closes them.
func oursOverIWARP(t *testing.T, p *Provider) {
	t.Helper()
	var doms [2]*domain
	for i := range doms {
		a := must(p.Open(t.Context(), device(t), nil))(t)
		defer a.Close()
		doms[i] = must(a.NewDomain())(t).(*domain)
	}
	meetOverIWARP(t, doms)
}

// meetOverIWARP connects the first domain with the second.
func meetOverIWARP(t *testing.T, doms [2]*domain) {
	t.Helper()
	l := must(doms[1].Listen(t.Context(), ""))(t)
	came := make(chan error, 1)
	go func() {
		_, err := l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("b"), nil })
		came <- err
	}()
	must(doms[0].Dial(t.Context(), l.Addr(), []byte("a")))(t)
	if err := <-came; err != nil {
		t.Fatal(err)
	}
}

// TestIWARPConformance runs the suite of all providers. Reads land in any memory of the tests', so sinks are open.
func TestIWARPConformance(t *testing.T) {
	p := New(Options{OpenSinks: true})
	a := must(p.Open(t.Context(), device(t), nil))(t)
	t.Logf("%+v, %+v", a.Info(), a.Limits())
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	oursOverIWARP(t, p) // what the libraries open and map stays, and is no leak
	rdmatest.Run(t, rdmatest.Factory{Provider: p, Device: device(t), Unheard: true, Eager: true, NotReady: 2 * notReady, NoAtomics: iwarpLacks})
}

// TestIWARPRefuses: what iWARP devices cannot is refused before it is posted, and says why; what the peer refuses ends both sides.
func TestIWARPRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		status rdma.Status
		says   string
		make   func(e *iwarpEnds) rdma.WorkRequest
	}{
		"immediate data": {rdma.StatusLocal, "no immediate data", func(e *iwarpEnds) rdma.WorkRequest { return e.move(rdma.VerbWriteNotify, 8) }},
		"an atomic operation": {rdma.StatusLocal, "no atomic", func(e *iwarpEnds) rdma.WorkRequest {
			return rdma.WorkRequest{Verb: rdma.VerbFetchAdd, Key: e.kb.R, Addr: e.kb.Addr}
		}},
		"a sink that is not open": {rdma.StatusLocal, "Options.OpenSinks", func(e *iwarpEnds) rdma.WorkRequest {
			m := mapped(t, 4096)
			k := must(e.da.Register(memoryOf(m, "local memory"), iregion.Read, nil))(t)
			wr := e.move(rdma.VerbRead, 8)
			wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&m[0]), Len: 8, Key: k.L}
			return wr
		}},
		"a key that is none": {0, "", func(e *iwarpEnds) rdma.WorkRequest {
			wr := e.move(rdma.VerbRead, 8)
			wr.Key ^= 0x5a5a00
			return wr
		}},
		"beyond the end": {0, "", func(e *iwarpEnds) rdma.WorkRequest {
			wr := e.move(rdma.VerbRead, 8)
			wr.Addr = e.kb.Addr + 64<<10 - 4
			return wr
		}},
	} {
		t.Run(name, func(t *testing.T) {
			e := overIWARP(t, standard)
			give(t, e.a, c.make(e))
			got := next(t, e.a)
			if got.Err == nil || c.status != 0 && !errors.Is(got.Err, &rdma.StatusError{Status: c.status}) || !strings.Contains(got.Err.Error(), c.says) {
				t.Errorf("ended with %v, want %q", got.Err, c.says)
			}
			t.Log(got.Err)
			for range 2 { // the peer's receives end
				if c := next(t, e.b); c.Err == nil {
					t.Errorf("the peer has %+v", c)
				}
			}
		})
	}
	if why := (&queue{iwarp: true}).Lacks(rdma.VerbCompareSwap); why == "" {
		t.Error("it lacks nothing")
	}
	// With open sinks the same read is done.
	e := overIWARP(t, New(Options{OpenSinks: true}))
	m := mapped(t, 4096)
	k := must(e.da.Register(memoryOf(m, "local memory"), 0, nil))(t)
	copy(e.mb[16<<10:], "what is read")
	wr := e.move(rdma.VerbRead, 12)
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&m[0]), Len: 12, Key: k.L}
	give(t, e.a, wr)
	if c := next(t, e.a); c.Err != nil || string(m[:12]) != "what is read" {
		t.Errorf("with open sinks: %+v", c)
	}
}

// TestIWARPEnds aborts and closes either end, with requests under way: the other one's end.
func TestIWARPEnds(t *testing.T) {
	for name, harm := range map[string]func(q *queue){
		"abort": func(q *queue) { q.Abort(errors.New("enough")) },
		"close": func(q *queue) { _ = q.Close() },
	} {
		for i, side := range []string{"dialed", "accepted"} {
			t.Run(name+"-"+side, func(t *testing.T) {
				e := overIWARP(t, standard)
				if err := e.a.PostReceive([]rdma.ReceiveRequest{e.receive(0, e.ma, e.ka), e.receive(1, e.ma, e.ka)}); err != nil {
					t.Fatal(err)
				}
				ends := []*queue{e.a, e.b}
				harm(ends[i])
				for range 2 {
					if c := next(t, ends[1-i]); c.Err == nil {
						t.Errorf("the other end has %+v", c)
					} else {
						t.Log(c.Err)
					}
				}
			})
		}
	}
}

// TestIWARPClass looks at the packets of a connection for which a class of service was asked: siw sends them without, which doc.go says. Source: packet(7).
func TestIWARPClass(t *testing.T) {
	all := uint16(unix.ETH_P_IP>>8 | unix.ETH_P_IP&0xff<<8) // in network order
	fd := must(unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(all)))(t)
	defer unix.Close(fd)
	p := New(Options{OpenSinks: true})
	var doms [2]*domain
	for i := range doms {
		a := must(p.Open(t.Context(), device(t), &rdma.Config{DSCP: 46}))(t)
		defer a.Close()
		if got := a.(*adapter).class; got != 46<<2 {
			t.Errorf("rdma_cm is asked for the class %#x", got)
		}
		doms[i] = must(a.NewDomain())(t).(*domain)
	}
	meetOverIWARP(t, doms)
	seen := map[byte]int{}
	b := make([]byte, 128)
	for {
		n, _, err := unix.Recvfrom(fd, b, unix.MSG_DONTWAIT)
		if err != nil {
			break
		}
		if n >= 20 && b[0]>>4 == 4 && b[9] == unix.IPPROTO_TCP && [4]byte(b[16:20]) == [4]byte{10, 99, 0, 1} {
			seen[b[1]&^3]++
		}
	}
	if len(seen) != 1 || seen[0] == 0 {
		t.Errorf("packets by their class: %v; siw was known to send them all without one", seen)
	}
	t.Logf("packets by their class: %v", seen)
}
