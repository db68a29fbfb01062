package iwarp_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// readBytes is how much the reads of these tests ask for.
const readBytes = 256

// question is what a peer was asked: a read request, as the peer sees it, and where its answer goes.
type question struct {
	sink  uint32
	to    uint64
	size  uint32
	other *question // a second one, asked after it
}

// lie is a wrong answer to a read.
type lie struct {
	name string
	tell func(f *foreign, q question)
	want []int
	part bool // some of the right bytes may have been placed
}

// answer is a segment of a response.
func (q question) answer(flags byte, at int64, n int) []byte {
	return tagged(flags, opReadResponse, q.sink, q.to+uint64(at), bytes.Repeat([]byte{0xbb}, n))
}

var lies = []lie{
	{name: "another key", want: []int{0x1100}, tell: func(f *foreign, q question) { q.sink++; f.put(q.answer(ddpLast, 0, readBytes)) }},
	{name: "no key", want: []int{0x1100}, tell: func(f *foreign, q question) { q.sink = 0; f.put(q.answer(ddpLast, 0, readBytes)) }},
	{name: "one byte too early", want: []int{0x1101}, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, -1, readBytes)) }},
	{name: "one byte too late", want: []int{0x1101}, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, 1, readBytes)) }},
	{name: "one byte too many", want: []int{0x1101}, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, 0, readBytes+1)) }},
	{name: "one byte too many, later", want: []int{0x1101}, part: true, tell: func(f *foreign, q question) {
		f.put(q.answer(0, 0, readBytes), q.answer(ddpLast, readBytes, 1))
	}},
	{name: "far beyond", want: []int{0x1101}, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, 1<<40, 8)) }},
	{name: "around the end of the space", want: []int{0x1101, 0x1103}, tell: func(f *foreign, q question) {
		q.to = math.MaxUint64 - 3
		f.put(q.answer(ddpLast, 0, 8))
	}},
	{name: "too little", want: []int{0x1101, 0x0207, 0x0206}, part: true, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, 0, readBytes-1)) }},
	{name: "nothing", want: []int{0x1101, 0x0207, 0x0206}, tell: func(f *foreign, q question) { f.put(q.answer(ddpLast, 0, 0)) }},
	{name: "with a gap", want: []int{0x1101}, part: true, tell: func(f *foreign, q question) { f.put(q.answer(0, 0, 8), q.answer(ddpLast, 9, readBytes-9)) }},
	{name: "backwards", want: []int{0x1101}, part: true, tell: func(f *foreign, q question) { f.put(q.answer(0, 128, 128), q.answer(ddpLast, 0, 128)) }},
	{name: "overlapping", want: []int{0x1101}, part: true, tell: func(f *foreign, q question) { f.put(q.answer(0, 0, 8), q.answer(ddpLast, 4, readBytes-4)) }},
	{name: "as a write", want: []int{0x1100}, tell: func(f *foreign, q question) {
		f.put(tagged(ddpLast, opWrite, q.sink, q.to, make([]byte, readBytes)))
	}},
	{name: "the second before the first", want: []int{0x1100, 0x1101}, tell: func(f *foreign, q question) { f.put(q.other.answer(ddpLast, 0, readBytes)) }},
	{name: "as an atomic response", want: []int{0x0206, 0x1201, 0x1202, 0x1203, 0x0207}, tell: func(f *foreign, q question) {
		f.put(f.message(opAtomicResponse, 0, 3, make([]byte, 12)))
	}},
	{name: "half of it, and the end", want: []int{-1, 0x2001}, part: true, tell: func(f *foreign, q question) { f.put(q.answer(0, 0, 128)); halfClose(f) }},
	{name: "half a frame, and the end", want: []int{-1, 0x2001, 0x2003}, part: true, tell: func(f *foreign, q question) {
		_, _ = f.conn.Write(f.frame(q.answer(ddpLast, 0, readBytes))[:100])
		halfClose(f)
	}},
	{name: "with a Terminate", want: []int{-1}, tell: func(f *foreign, q question) { f.put(f.message(opTerminate, 0, 2, []byte{1, 2, 0, 0})) }},
	{name: "with a Terminate about another read", want: []int{-1}, tell: func(f *foreign, q question) {
		about := untagged(ddpLast, opReadRequest, [4]uint32{0, 1, 77, 0}, readRequest(5, 6, 7, 8, 9))
		f.put(f.message(opTerminate, 0, 2, append([]byte{1, 1, 0xe0, 0, 0, 46}, about...)))
	}},
}

// TestLyingPeer has a peer answer reads with what was not asked for. The read fails, and nothing beside its own memory
// is touched.
func TestLyingPeer(t *testing.T) {
	for _, listens := range []bool{false, true} {
		for _, crc := range []bool{true, false} {
			t.Run(fmt.Sprintf("listens=%v,crc=%v", listens, crc), func(t *testing.T) {
				s := newScene(t, crc)
				for _, l := range lies {
					t.Run(l.name, func(t *testing.T) { s.believeNot(t, l, listens, crc) })
				}
			})
		}
	}
}

func (s *scene) believeNot(t *testing.T, l lie, listens, crc bool) {
	in := *s
	in.t = t
	f, q := in.meet(listens, true, crc)
	asked := in.ask(f, q, 1)
	second := in.ask(f, q, 2)
	asked.other = &second
	l.tell(f, asked)
	if got := f.cause(t); !slices.Contains(l.want, got) {
		t.Errorf("the Terminate says %#x, want one of %#x", got, l.want)
	}
	failed(t, q, 2)
	inbox := in.slot("inbox")[64:][:readBytes]
	if l.part {
		copy(inbox, in.was[slotOf("inbox")*slotSize+64:])
	}
	in.unchanged()
}

// ask posts a read of readBytes, and returns what of it arrives at the peer.
func (s *scene) ask(f *foreign, q rdma.Queue, id uint64) question {
	t := s.t
	t.Helper()
	wr := rdma.WorkRequest{ID: id, Verb: rdma.VerbRead, Segs: 2, Key: 0x55667788, Epoch: 0x88, Addr: 0x1000}
	wr.Local[0], wr.Local[1] = s.local("inbox", 64, 100), s.local("inbox", 164, readBytes-100)
	if n, err := q.Post([]rdma.WorkRequest{wr}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	got := must(f.next())(t)
	be := binary.BigEndian
	p := got.payload
	if got.op != opReadRequest || !got.last || got.queue != 1 || got.msn != uint32(id) || got.mo != 0 || len(p) != 28 {
		t.Fatalf("asked with %+v", got)
	}
	if be.Uint32(p[16:]) != 0x55667788 || be.Uint64(p[20:]) != 0x1000 || be.Uint32(p[12:]) != readBytes {
		t.Fatalf("asked for %x", p)
	}
	return question{sink: be.Uint32(p), to: be.Uint64(p[4:]), size: be.Uint32(p[12:])}
}

func slotOf(name string) int { return slices.Index(slots, name) }

// TestAnswerTwice has a peer answer a read, and then again: the key of the answer was for one answer.
func TestAnswerTwice(t *testing.T) {
	for _, crc := range []bool{true, false} {
		s := newScene(t, crc)
		f, q := s.meet(true, false, crc)
		asked := s.ask(f, q, 1)
		f.put(asked.answer(0, 0, 100), asked.answer(ddpLast, 100, readBytes-100))
		if c := next(t, q); c.ID != 1 || c.Err != nil {
			t.Fatalf("the read: %+v", c)
		}
		if got := s.slot("inbox")[64:][:readBytes]; !bytes.Equal(got, bytes.Repeat([]byte{0xbb}, readBytes)) {
			t.Errorf("read %x", got)
		}
		s.unchanged("inbox")
		f.put(asked.answer(ddpLast, 0, readBytes))
		if got := f.cause(t); got != 0x1100 {
			t.Errorf("the second answer: Terminate says %#x", got)
		}
		failed(t, q, 0)
		s.unchanged()
	}
}

// TestAtomicLies has a peer answer atomics wrongly.
func TestAtomicLies(t *testing.T) {
	for _, l := range []struct {
		name string
		tell func(f *foreign, id uint32)
		want []int
	}{
		{"another number", func(f *foreign, id uint32) { f.put(f.message(opAtomicResponse, 0, 3, atomicResponse(id+1))) }, []int{0x0206, 0x0207, 0x1203}},
		{"out of sequence", func(f *foreign, id uint32) { f.sent[3]++; f.put(f.message(opAtomicResponse, 0, 3, atomicResponse(id))) }, []int{0x1203}},
		{"in two segments", func(f *foreign, id uint32) {
			f.put(untagged(0, opAtomicResponse, [4]uint32{0, 3, 1, 0}, atomicResponse(id)[:8]))
		}, []int{0x0207, 0x0206, 0x1000, 0x1205, 0x1204}},
		{"short", func(f *foreign, id uint32) { f.put(f.message(opAtomicResponse, 0, 3, atomicResponse(id)[:11])) }, tooShort},
		{"long", func(f *foreign, id uint32) { f.put(f.message(opAtomicResponse, 0, 3, append(atomicResponse(id), 0))) }, tooLong},
		{"as a read's", func(f *foreign, id uint32) { f.put(tagged(ddpLast, opReadResponse, id, 0, make([]byte, 8))) }, []int{0x1100}},
		{"twice", func(f *foreign, id uint32) {
			f.put(f.message(opAtomicResponse, 0, 3, atomicResponse(id)), f.message(opAtomicResponse, 0, 3, atomicResponse(id)))
		}, []int{0x1202, 0x1203, 0x0206, 0x0207}},
	} {
		t.Run(l.name, func(t *testing.T) {
			s := newScene(t, true)
			f, q := s.meet(true, true, true)
			wr := rdma.WorkRequest{ID: 5, Verb: rdma.VerbFetchAdd, Key: 0x100, Epoch: 0, Addr: 0x2000, Operand: 3}
			must(q.Post([]rdma.WorkRequest{wr}))(t)
			got := must(f.next())(t)
			if got.op != opAtomicRequest || got.queue != 1 || len(got.payload) != 52 {
				t.Fatalf("asked with %+v", got)
			}
			want := atomicRequest(0, binary.BigEndian.Uint32(got.payload[4:]), 0x100, 0x2000, 3, 0, 0, math.MaxUint64)
			if !bytes.Equal(got.payload, want) {
				t.Errorf("asked with\n%x, not\n%x", got.payload, want)
			}
			l.tell(f, binary.BigEndian.Uint32(got.payload[4:]))
			if got := f.cause(t); !slices.Contains(l.want, got) {
				t.Errorf("the Terminate says %#x, want one of %#x", got, l.want)
			}
			if l.name == "twice" {
				if c := next(t, q); c.Err != nil || c.Result != 42 {
					t.Errorf("the first answer: %+v", c)
				}
				failed(t, q, 0)
			} else {
				failed(t, q, 1)
			}
			s.unchanged()
		})
	}
}

// atomicResponse is the payload of one. Source: RFC 7306, section 5.2.2.
func atomicResponse(id uint32) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32(nil, id), 42)
}
