package iwarp

import (
	"cmp"
	"context"
	"log/slog"
	"net"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// end is one end of a pair of queues that no handshake made, with memory of its own.
type end struct {
	t    testing.TB
	name string
	dom  *domain
	q    *queue
	buf  []uint64
	mem  []byte
	keys rdma.Keys
}

const endBytes = 1 << 20

// shape is what a pair has agreed on.
type shape struct {
	pipe   bool // else TCP
	crc    bool
	plain  bool
	mulpdu int
	ird    int                                      // of both; 0: 16
	ord    int                                      // of both; 0: ird
	depth  int                                      // 0: 64
	ready  fpdu.RTR                                 // 0: a write
	mode   rdma.Mode                                // of both
	conns  func(a, b net.Conn) (net.Conn, net.Conn) // changes the connections
}

var shapes = map[string]shape{
	"tcp":                {mulpdu: 1440},
	"tcp, sums":          {crc: true, mulpdu: 1440},
	"tcp, large":         {mulpdu: 60000},
	"tcp, large, sums":   {crc: true, mulpdu: 60000},
	"tcp, tiny, sums":    {crc: true, mulpdu: 128},
	"tcp, tiny":          {mulpdu: 128},
	"pipe, tiny, sums":   {pipe: true, crc: true, mulpdu: 128},
	"pipe":               {pipe: true, mulpdu: 60000},
	"tcp, polled":        {mulpdu: 60000, mode: rdma.Busy},
	"tcp, polled, sums":  {crc: true, mulpdu: 1440, mode: rdma.Adaptive},
	"tcp, one at a time": {crc: true, mulpdu: 1440, ird: 1},
}

// connectEnds makes a pair. It is closed with the test.
func connectEnds(t testing.TB, s shape) (a, b *end) {
	t.Helper()
	ca, cb := tcpPair(t)
	if s.pipe {
		ca, cb = net.Pipe()
	}
	if s.conns != nil {
		ca, cb = s.conns(ca, cb)
	}
	ird := max(s.ird, 1)
	if s.ird == 0 {
		ird = 16
	}
	ord := s.ord
	if ord == 0 {
		ord = ird
	}
	depth := s.depth
	if depth == 0 {
		depth = 64
	}
	make := func(name string, conn net.Conn, initiator bool) *end {
		ad, err := newAdapter(Options{}, &rdma.Config{Depth: depth, MaxMessage: 64 << 10, Credits: 64, Mode: s.mode, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		tcp, _ := conn.(*net.TCPConn)
		e := &end{t: t, name: name, dom: newDomain(ad)}
		e.q, err = e.dom.newQueue(&session{conn: conn, tcp: tcp, initiator: initiator, ready: cmp.Or(s.ready, fpdu.RTRWrite),
			crc: s.crc, ours: !s.plain, tells: !s.plain, ird: ird, ord: ord, mulpdu: s.mulpdu, fixed: true, peer: name + "'s peer"})
		if err != nil {
			t.Fatal(err)
		}
		e.buf, e.mem, e.keys = e.register(endBytes)
		t.Cleanup(func() { _ = e.q.Close() })
		return e
	}
	return make("a", ca, true), make("b", cb, false)
}

func tcpPair(t testing.TB) (net.Conn, net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	a, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return a, b
}

func (e *end) register(n int) (words []uint64, mem []byte, keys rdma.Keys) {
	e.t.Helper()
	words = make([]uint64, n/8)
	mem = unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), n)
	keys, err := e.dom.Register(rdma.Memory{Base: unsafe.Pointer(&words[0]), Len: n, Name: e.name}, anyRight, nil)
	if err != nil {
		e.t.Fatal(err)
	}
	return words, mem, keys
}

func (e *end) segment(off, n int) rdma.Segment {
	return rdma.Segment{Ptr: unsafe.Pointer(&e.mem[off]), Len: n, Key: e.keys.L}
}

// request is one of n bytes between own memory and the peer's.
func (e *end) request(verb rdma.Verb, id uint64, off, n int, peer *end, at int) rdma.WorkRequest {
	wr := rdma.WorkRequest{ID: id, Verb: verb, Segs: 1, Key: peer.keys.R, Epoch: peer.keys.Epoch, Addr: peer.keys.Addr + uint64(at)}
	wr.Local[0] = e.segment(off, n)
	return wr
}

func flushOf(id uint64) rdma.WorkRequest { return rdma.WorkRequest{ID: id, Verb: rdma.VerbFlush} }

func (e *end) post(wrs ...rdma.WorkRequest) {
	e.t.Helper()
	if n, err := e.q.Post(wrs); n != len(wrs) {
		e.t.Fatalf("%s: posted %d of %d: %v", e.name, n, len(wrs), err)
	}
}

func (e *end) receive(id uint64, off, n int) {
	e.t.Helper()
	if err := e.q.PostReceive([]rdma.ReceiveRequest{{ID: id, Buf: e.segment(off, n)}}); err != nil {
		e.t.Fatalf("%s: %v", e.name, err)
	}
}

// next is the next completion.
func (e *end) next() rdma.Completion {
	e.t.Helper()
	c, err := await(e.q)
	if err != nil {
		e.t.Fatalf("%s: no completion: %v", e.name, err)
	}
	return c
}

var never = context.Background()

func await(q *queue) (rdma.Completion, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(ctx); err != nil {
			return out[0], err
		}
	}
	return out[0], nil
}

func (e *end) done(id uint64) rdma.Completion {
	e.t.Helper()
	c := e.next()
	if c.ID != id || c.Err != nil {
		e.t.Fatalf("%s: completed %v with ID %d: %v, want %d done", e.name, c.Verb, c.ID, c.Err, id)
	}
	return c
}
