package soft

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// BenchmarkWrite is a write and the poll of its completion.
func BenchmarkWrite(b *testing.B) {
	for _, n := range []int{8, 64, 4096, 65536, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			from, to := connect(b, New(Config{}), 1<<20)
			wrs := []rdma.WorkRequest{from.to(to, rdma.VerbWrite, 1, 0, n, 0)}
			var out [4]rdma.Completion
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				if m, err := from.q.Post(wrs); m != 1 || err != nil {
					b.Fatal(m, err)
				}
				if from.q.Poll(out[:]) != 1 || out[0].Err != nil {
					b.Fatal(out[0])
				}
			}
		})
	}
}

// byHand is what a program would write itself: a copy with its bounds checked, and
// a ring that a producer and a consumer share.
type byHand struct {
	mem  []byte
	ring [128]rdma.Completion
	head atomic.Uint64
	tail atomic.Uint64
}

//go:noinline
func (h *byHand) write(id uint64, src []byte, off uint64) bool {
	if off > uint64(len(h.mem)) || uint64(len(src)) > uint64(len(h.mem))-off {
		return false
	}
	copy(h.mem[off:], src)
	tail := h.tail.Load()
	if tail-h.head.Load() == uint64(len(h.ring)) {
		return false
	}
	h.ring[tail%uint64(len(h.ring))] = rdma.Completion{ID: id, Verb: rdma.VerbWrite}
	h.tail.Store(tail + 1)
	return true
}

//go:noinline
func (h *byHand) poll(out []rdma.Completion) (n int) {
	head, tail := h.head.Load(), h.tail.Load()
	for ; head+uint64(n) < tail && n < len(out); n++ {
		out[n] = h.ring[(head+uint64(n))%uint64(len(h.ring))]
	}
	h.head.Store(head + uint64(n))
	return n
}

// BenchmarkByHand is what BenchmarkWrite is held against.
func BenchmarkByHand(b *testing.B) {
	for _, n := range []int{8, 64, 4096, 65536, 1 << 20} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			h := &byHand{mem: make([]byte, 1<<20)}
			src := make([]byte, n)
			var out [4]rdma.Completion
			b.SetBytes(int64(n))
			for b.Loop() {
				if !h.write(1, src, 0) || h.poll(out[:]) != 1 {
					b.Fatal("lost")
				}
			}
		})
	}
}

// BenchmarkVerbs is the others, with the poll of their completions.
func BenchmarkVerbs(b *testing.B) {
	from, to := connect(b, New(Config{}), 4096)
	run := func(name string, wr rdma.WorkRequest, receive bool) {
		b.Run(name, func(b *testing.B) {
			wrs, rs := []rdma.WorkRequest{wr}, []rdma.ReceiveRequest{{ID: 9, Buf: to.seg(0, 64)}}
			var out [4]rdma.Completion
			b.ReportAllocs()
			for b.Loop() {
				if receive {
					if err := to.q.PostReceive(rs); err != nil {
						b.Fatal(err)
					}
				}
				if m, err := from.q.Post(wrs); m != 1 || err != nil {
					b.Fatal(m, err)
				}
				if from.q.Poll(out[:]) != 1 || out[0].Err != nil {
					b.Fatal(out[0])
				}
				if receive && to.q.Poll(out[:]) != 1 {
					b.Fatal("nothing arrived")
				}
			}
		})
	}
	run("read8", from.to(to, rdma.VerbRead, 1, 0, 8, 0), false)
	run("fetchadd", from.to(to, rdma.VerbFetchAdd, 1, 0, 8, 0), false)
	run("flush", rdma.WorkRequest{Verb: rdma.VerbFlush}, false)
	run("send64", from.to(to, rdma.VerbSend, 1, 0, 64, 0), true)
	run("notify64", from.to(to, rdma.VerbWriteNotify, 1, 0, 64, 0), true)
	four := from.to(to, rdma.VerbWrite, 1, 0, 16, 0)
	four.Segs = 4
	for i := range four.Local {
		four.Local[i] = from.seg(i*16, 16)
	}
	run("gather4x16", four, false)
}
