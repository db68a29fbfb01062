package shm

import (
	"bytes"
	"encoding/binary"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// FuzzEntries lets a peer write what it likes into its ring and its counters. Whatever it is, receives
// complete at most once, nothing beside their buffers changes, and nothing crashes.
func FuzzEntries(f *testing.F) {
	entry := func(kind, imm, at uint64) []byte {
		var b []byte
		for _, v := range []uint64{kind, imm, at} {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		return b
	}
	f.Add(entry(entrySend|64<<kindBits, 1, 0), uint64(4), uint64(0))
	f.Add(append(entry(entryNotify|64<<kindBits, 1, 0), entry(entrySend|4096<<kindBits, 2, 1<<20-1)...), uint64(1), uint64(1))
	f.Add(entry(255, 1, 1<<63), uint64(1)<<63, uint64(1)<<62)
	f.Fuzz(func(t *testing.T, b []byte, posted, consumed uint64) {
		a, _, own, _ := rogueQueue(t)
		const receives, size = 4, 1024
		for i := range uint64(receives) {
			fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: i, Buf: a.seg(4096+int(i)*2*size, size)}}))
		}
		own.word(atPosted).Store(posted)
		own.word(atConsumed).Store(consumed)
		for n := uint64(0); len(b) >= 24 && n < receives; n++ {
			e := own.entry(n)
			for i := range 3 {
				e[entryKind+i] = binary.LittleEndian.Uint64(b[i*8:])
			}
			atomic.StoreUint64(&e[entryNumber], n+1)
			b = b[24:]
		}
		wr := rdma.WorkRequest{ID: 100, Verb: rdma.VerbSend, Segs: 1}
		wr.Local[0] = a.seg(0, 64)
		a.post(t, wr)
		seen := map[uint64]bool{}
		var out [16]rdma.Completion
		for range 3 {
			for _, c := range out[:a.q.Poll(out[:])] {
				if seen[c.ID] || c.ID != 100 && c.ID >= receives {
					t.Errorf("completed %+v", c)
				}
				if c.Verb == rdma.VerbReceive && c.Bytes > size {
					t.Errorf("received %d bytes in %d", c.Bytes, size)
				}
				seen[c.ID] = true
			}
		}
		mem := bytesOf(a.mem)
		for i := range receives {
			if beside := mem[4096+(2*i+1)*size:][:size]; !bytes.Equal(beside, make([]byte, size)) {
				t.Errorf("beside the receive %d memory has changed", i)
			}
		}
	})
}

// FuzzSocket sends packets to a queue that has asked for a key. Nothing crashes or hangs, and the descriptors
// that came with them are closed.
func FuzzSocket(f *testing.F) {
	for _, m := range samples() {
		f.Add(m.append(nil), m.kind.passes() > 0)
	}
	f.Fuzz(func(t *testing.T, b []byte, pass bool) {
		if len(b) == 0 {
			return // the kernel takes it for the end
		}
		a, s, _, _ := rogueQueue(t)
		go func() { _ = a.q.Prepare(within(t, patience), 0x1234, 1) }()
		if _, _, err := s.receive(); err != nil { // the question
			t.Fatal(err)
		}
		var oob []byte
		if pass {
			oob = unix.UnixRights(memfd(t, 1<<16, sealed))
		}
		if _, _, err := s.conn.WriteMsgUnix(b, oob, nil); err != nil {
			return // larger than a packet can be
		}
		fatal(t, s.conn.CloseWrite())
		<-a.q.watched
		fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1}}))
		if c := a.next(t); c.Err == nil {
			t.Errorf("after the end: %+v", c)
		}
		fatal(t, a.q.Close())
	})
}
