package iwarp

import (
	"bytes"
	"errors"
	"net/netip"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestRevokedMeanwhile has a peer use a key that its owner has ended: after the connection was made, before it, and one that was
// made up or is another connection's. It is refused each time, and nothing is moved; who could not know has not broken a rule.
func TestRevokedMeanwhile(t *testing.T) {
	host := netip.MustParseAddr("192.0.2.7")
	for name, use := range map[string]func(a, b *end, k rdma.Keys) rdma.WorkRequest{
		"write":  func(a, b *end, k rdma.Keys) rdma.WorkRequest { return a.use(rdma.VerbWrite, k) },
		"read":   func(a, b *end, k rdma.Keys) rdma.WorkRequest { return a.use(rdma.VerbRead, k) },
		"atomic": func(a, b *end, k rdma.Keys) rdma.WorkRequest { return a.use(rdma.VerbFetchAdd, k) },
		"invalidate": func(a, b *end, k rdma.Keys) rdma.WorkRequest {
			b.receive(9, 0, 64)
			wr := a.use(rdma.VerbSend, k)
			wr.Invalidate = k.R
			return wr
		},
	} {
		for _, c := range []struct {
			name   string
			key    func(t *testing.T, a, b *end, memory []uint64) rdma.Keys
			struck bool
		}{
			{"meanwhile", func(t *testing.T, a, b *end, m []uint64) rdma.Keys { return b.ended(t, m, nil) }, false},
			{"meanwhile, of this connection", func(t *testing.T, a, b *end, m []uint64) rdma.Keys { return b.ended(t, m, b.q) }, false},
			{"before", func(t *testing.T, a, b *end, m []uint64) rdma.Keys {
				k := b.ended(t, m, nil)
				b.q.since = b.dom.endings.count
				return k
			}, true},
			{"meanwhile, of another connection", func(t *testing.T, a, b *end, m []uint64) rdma.Keys {
				b.q.number += 100
				k := b.ended(t, m, b.q)
				b.q.number -= 100
				return k
			}, true},
			{"long ago", func(t *testing.T, a, b *end, m []uint64) rdma.Keys {
				k := b.ended(t, m, nil)
				for range mostEnded {
					b.ended(t, m, nil)
				}
				return k
			}, true},
			{"made up", func(t *testing.T, a, b *end, m []uint64) rdma.Keys {
				k := b.ended(t, m, nil)
				k.R ^= 0x5500
				return k
			}, true},
		} {
			t.Run(name+", "+c.name, func(t *testing.T) {
				a, b := connectEnds(t, shapes["tcp, sums"])
				b.q.s.peer = host.String() + ":4711" // before anything is sent; who is on this host is let off all
				memory := make([]uint64, 8)
				k := c.key(t, a, b, memory)
				wr := use(a, b, k)
				a.post(wr, flushOf(2))
				got := a.next()
				if got.Err == nil { // a write ends when it is sent
					got = a.next()
				}
				var serr *rdma.StatusError
				if !errors.As(got.Err, &serr) || serr.Status != rdma.StatusRemoteKey {
					t.Errorf("completed %+v, want it to say that the key is none", got)
				}
				_ = b.q.Close()
				if struck := b.dom.guard.delay(host) > 0; struck != c.struck {
					t.Errorf("the peer has to wait: %v, want %v", struck, c.struck)
				}
				mem := unsafe.Slice((*byte)(unsafe.Pointer(&memory[0])), 64)
				if !bytes.Equal(mem, make([]byte, 64)) {
					t.Errorf("the memory was written to: %x", mem)
				}
			})
		}
	}
}

// use is a request that uses a key, from memory that is not zero.
func (e *end) use(verb rdma.Verb, k rdma.Keys) rdma.WorkRequest {
	copy(e.mem, "not zero, and of eight bytes at least")
	wr := rdma.WorkRequest{ID: 1, Verb: verb, Key: k.R, Epoch: k.Epoch, Addr: k.Addr, Operand: 7}
	if verb != rdma.VerbFetchAdd {
		wr.Segs = 1
		wr.Local[0] = e.segment(0, 16)
	}
	return wr
}

// ended registers memory, for one queue or all, and deregisters it.
func (e *end) ended(t *testing.T, memory []uint64, q *queue) rdma.Keys {
	t.Helper()
	m := rdma.Memory{Base: unsafe.Pointer(&memory[0]), Len: 8 * len(memory), Name: "memory"}
	var conn rdma.Queue
	if q != nil {
		conn = q
	}
	k, err := e.dom.Register(m, anyRight, conn)
	if err == nil {
		err = e.dom.Deregister(never, k)
	}
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestEndedKeys has more keys end than are remembered.
func TestEndedKeys(t *testing.T) {
	a, _ := connectEnds(t, shapes["tcp"])
	memory := make([]uint64, 8)
	first := a.ended(t, memory, nil)
	if !a.dom.raced(a.q, uint32(first.R)) {
		t.Error("a key that has just ended is not remembered")
	}
	for range 3 * mostEnded {
		a.ended(t, memory, nil)
	}
	e := &a.dom.endings
	if len(e.keys) != mostEnded || len(e.order) != mostEnded || a.dom.raced(a.q, uint32(first.R)) {
		t.Errorf("%d keys are remembered, %d in order, want %d", len(e.keys), len(e.order), mostEnded)
	}
}
