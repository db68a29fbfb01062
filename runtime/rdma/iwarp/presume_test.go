package iwarp_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// flusher writes and flushes to a foreign peer, and wants to see what of it is on the wire.
type flusher struct {
	t  testing.TB
	s  *scene
	f  *foreign
	q  rdma.Queue
	id uint64
}

func newFlusher(t testing.TB, alike bool) *flusher {
	s := newScene(t, true)
	f, q := s.meet(true, alike, true)
	return &flusher{t: t, s: s, f: f, q: q}
}

func (w *flusher) post(wr rdma.WorkRequest) {
	w.t.Helper()
	w.id++
	wr.ID = w.id
	if n, err := w.q.Post([]rdma.WorkRequest{wr}); n != 1 {
		w.t.Fatal(err)
	}
}

func (w *flusher) write() {
	w.t.Helper()
	wr := rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: 0x55667788, Epoch: 0x88, Addr: 0x1000}
	wr.Local[0] = w.s.local("inbox", 0, 64)
	w.post(wr)
}

func (w *flusher) flush() {
	w.t.Helper()
	w.post(rdma.WorkRequest{Verb: rdma.VerbFlush})
}

// sees wants the peer to be sent a message, and returns what a read is to be answered with.
func (w *flusher) sees(op byte) []byte {
	w.t.Helper()
	got := must(w.f.next())(w.t)
	if got.op != op {
		w.t.Fatalf("%+v was sent, want opcode %d", got, op)
	}
	if op != opReadRequest {
		return nil
	}
	be := binary.BigEndian
	if be.Uint32(got.payload[12:]) != 0 {
		w.t.Fatalf("a read of some bytes: %x", got.payload)
	}
	return tagged(ddpLast, opReadResponse, be.Uint32(got.payload), be.Uint64(got.payload[4:]), nil)
}

// done wants the oldest request that was not seen to end to do so.
func (w *flusher) done(id uint64) {
	w.t.Helper()
	if c := next(w.t, w.q); c.ID != id || c.Err != nil {
		w.t.Fatalf("completed %+v, want %d", c, id)
	}
}

// pair writes and flushes, as two messages.
func (w *flusher) pair() {
	w.t.Helper()
	w.write()
	w.sees(opWrite)
	w.done(w.id)
	w.flush()
	w.f.put(w.sees(opReadRequest))
	w.done(w.id)
}

// pending wants nothing to have completed.
func (w *flusher) pending(what string) {
	w.t.Helper()
	var c [1]rdma.Completion
	if w.q.Poll(c[:]) != 0 {
		w.t.Fatalf("%s: completed %+v", what, c[0])
	}
}

// presumed writes, and wants to see the read of the flush with that. It returns its answer.
func (w *flusher) presumed() []byte {
	w.t.Helper()
	w.write()
	w.sees(opWrite)
	answer := w.sees(opReadRequest)
	w.done(w.id)
	return answer
}

// TestPresumedFlush has writes go with the read of the flush that came after them before; the flush sends nothing then, and ends
// when that is answered, early or late. When no flush follows that stops.
func TestPresumedFlush(t *testing.T) {
	w := newFlusher(t, true)
	w.pair()
	w.pair()
	for range 3 {
		answer := w.presumed() // answered after the flush
		w.flush()
		w.pending("a flush whose read is not answered")
		w.f.put(answer)
		w.done(w.id)

		answer = w.presumed() // answered before
		w.f.put(answer)
		w.flush()
		w.done(w.id)
	}
	answer := w.presumed()
	w.write() // and no flush
	w.sees(opWrite)
	w.done(w.id)
	w.flush() // of both
	w.sees(opReadRequest)
	w.f.put(answer)
	w.pending("a flush after an answer to a read before its write")
}

// TestPresumedWrongly has no flush follow: so many pairs are two messages again.
func TestPresumedWrongly(t *testing.T) {
	w := newFlusher(t, true)
	w.pair()
	w.pair()
	w.f.put(w.presumed())
	w.write()
	w.sees(opWrite)
	w.done(w.id)
	for range 18 {
		w.pair()
	}
	w.f.put(w.presumed())
	w.flush()
	w.done(w.id)
}

// TestPresumedBeside has other requests between, and two that are posted together.
func TestPresumedBeside(t *testing.T) {
	w := newFlusher(t, true)
	w.pair()
	w.pair()
	wr := rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: 0x55667788, Epoch: 0x88, Addr: 0x1000}
	wr.Local[0] = w.s.local("inbox", 0, 64)
	both := []rdma.WorkRequest{wr, {ID: 1000, Verb: rdma.VerbFlush}}
	if n, err := w.q.Post(both); n != 2 {
		t.Fatal(err)
	}
	w.sees(opWrite)
	w.f.put(w.sees(opReadRequest))
	w.done(0)
	w.done(1000)

	answer := w.presumed()
	atomic := rdma.WorkRequest{Verb: rdma.VerbFetchAdd, Key: 0x100, Addr: 0x2000, Operand: 3, Fence: true}
	w.post(atomic) // waits for the read that was presumed
	w.pending("a request behind a fence")
	w.f.put(answer)
	got := must(w.f.next())(t)
	if got.op != opAtomicRequest {
		t.Fatalf("%+v was sent, want the atomic", got)
	}
	w.flush()
	w.pending("a flush behind an atomic")
	w.f.put(w.f.message(opAtomicResponse, 0, 3, atomicResponse(binary.BigEndian.Uint32(got.payload[4:]))))
	w.done(w.id - 1)
	w.done(w.id)
}

// TestPresumesNotToOthers has a peer that is not ours: it is asked for what was posted, and no more.
func TestPresumesNotToOthers(t *testing.T) {
	w := newFlusher(t, false)
	for range 10 {
		w.pair()
	}
}

// TestPresumedLies answers a read that was presumed wrongly, or refuses the write before it: the flush fails.
func TestPresumedLies(t *testing.T) {
	for _, lie := range []struct {
		name  string
		tell  func(f *foreign, answer []byte)
		cause int
	}{
		{"another key", func(f *foreign, a []byte) { a[5]++; f.put(a) }, 0x1100},
		{"at another place", func(f *foreign, a []byte) { a[13]++; f.put(a) }, 0x1101},
		{"with bytes", func(f *foreign, a []byte) { f.put(append(a, 1, 2, 3, 4)) }, 0x1101},
		{"not the last", func(f *foreign, a []byte) { a[0] &^= ddpLast; f.put(a) }, 0x1101},
		{"twice", func(f *foreign, a []byte) { f.put(a, a) }, 0x1100},
		{"refused", func(f *foreign, a []byte) {
			about := tagged(ddpLast, opWrite, 0x55667788, 0x1000, nil)
			f.put(f.message(opTerminate, 0, 2, append([]byte{0x11, 0, 0xc0, 0, 0, 78}, about...)))
		}, -1},
		{"the end", func(f *foreign, a []byte) { halfClose(f) }, -1},
	} {
		for _, early := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s,early=%v", lie.name, early), func(t *testing.T) {
				w := newFlusher(t, true)
				w.pair()
				w.pair()
				answer := w.presumed()
				if !early {
					w.flush()
				}
				lie.tell(w.f, answer)
				if got := w.f.cause(t); got != lie.cause {
					t.Errorf("the Terminate says %#x, want %#x", got, lie.cause)
				}
				if lie.name == "twice" && !early { // the first answer was right
					w.done(w.id)
					early = true
				}
				outstanding := 0
				if !early {
					outstanding = 1
				}
				failed(t, w.q, outstanding)
				w.s.unchanged()
			})
		}
	}
}
