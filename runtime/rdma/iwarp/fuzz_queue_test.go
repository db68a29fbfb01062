package iwarp

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"testing"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// target is a queue that a hostile peer sends to, and memory around what it exports.
type target struct {
	q      *queue
	conn   net.Conn // the peer's end
	sink   uint32   // the key before that of the first request
	mem    []byte
	keys   map[barewire.Rights]rdma.Keys
	places map[barewire.Rights]int
}

const (
	targetRegion = 256 // bytes of each region; there is as much between them
	targetBytes  = 8 * targetRegion
)

// newTarget makes a queue with a region for each right, requests under way, and receives posted.
func newTarget(t testing.TB, initiator bool) *target {
	ad, err := newAdapter(Options{}, &rdma.Config{Depth: 16, Credits: 32})
	if err != nil {
		t.Fatal(err)
	}
	dom := newDomain(ad)
	words := make([]uint64, targetBytes/8)
	p := &target{mem: unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), targetBytes),
		keys: map[barewire.Rights]rdma.Keys{}, places: map[barewire.Rights]int{}}
	for i, rights := range []barewire.Rights{0, region.Read, region.Write, region.Atomic} {
		p.places[rights] = (2*i + 1) * targetRegion
		m := rdma.Memory{Base: unsafe.Pointer(&p.mem[p.places[rights]]), Len: targetRegion, Name: "target"}
		if p.keys[rights], err = dom.Register(m, rights, nil); err != nil {
			t.Fatal(err)
		}
	}
	own, peer := net.Pipe()
	p.conn = peer
	p.q, err = dom.newQueue(&session{conn: own, initiator: initiator, ready: fpdu.RTRWrite, ours: true, tells: true,
		ird: 4, ord: 4, mulpdu: 256, fixed: true, peer: "fuzz"})
	if err != nil {
		t.Fatal(err)
	}
	p.sink = p.q.out.sink
	seg := func(off, n int) rdma.Segment {
		return rdma.Segment{Ptr: unsafe.Pointer(&p.mem[p.places[0]+off]), Len: n, Key: p.keys[0].L}
	}
	_ = p.q.PostReceive([]rdma.ReceiveRequest{{Buf: seg(0, 64)}, {Buf: seg(64, 64)}})
	wr := rdma.WorkRequest{Verb: rdma.VerbRead, Segs: 1}
	wr.Local[0] = seg(128, 100)
	_, _ = p.q.Post([]rdma.WorkRequest{wr, {Verb: rdma.VerbFetchAdd}})
	return p
}

// kinds are the messages that a peer sends; what they name is taken from the input.
var kinds = []fpdu.Opcode{fpdu.Write, fpdu.ReadRequest, fpdu.ReadResponse, fpdu.Send, fpdu.SendInvalidate, fpdu.SendSolicited,
	fpdu.Immediate, fpdu.AtomicRequest, fpdu.AtomicResponse, fpdu.Terminate, fpdu.ImmediateSolicited, 15}

// frames makes what a peer sends of an input: eight bytes to a frame.
func (p *target) frames(input []byte) (b []byte) {
	rights := []barewire.Rights{0, region.Read, region.Write, region.Atomic}
	msn := [4]uint32{}
	for ; len(input) >= 8; input = input[8:] {
		c := input[:8]
		op := kinds[int(c[0]&15)%len(kinds)]
		k := p.keys[rights[c[1]&3]]
		stag, to := uint32(k.R), k.Addr+uint64(int64(int8(c[2])))*4
		if c[1]&4 != 0 {
			stag = p.sink + uint32(c[1]>>6) // what the response to a request under way goes by, or nearly
		}
		h := fpdu.Header{Op: op, Tagged: op.Tagged(), Last: c[3]&1 == 0, STag: stag, TO: to, Queue: uint32(c[3] >> 6 & 3), MO: uint32(c[4])}
		if h.Tagged && c[1]&8 != 0 {
			h.TO = uint64(c[4])
		}
		payload := bytes.Repeat([]byte{0xa5}, int(c[5]))
		switch op {
		case fpdu.ReadRequest:
			h.Queue, payload = fpdu.QueueRequest, (&fpdu.ReadRequestHeader{SinkSTag: 1, Size: uint32(c[5]), SourceSTag: stag, SourceTO: to}).Append(nil)
		case fpdu.AtomicRequest:
			h.Queue, payload = fpdu.QueueRequest, (&fpdu.AtomicRequestHeader{Op: fpdu.AtomicOp(c[6] & 2), STag: stag, TO: to, Data: 1}).Append(nil)
		case fpdu.AtomicResponse:
			h.Queue, payload = fpdu.QueueAtomic, (&fpdu.AtomicResponseHeader{ID: stag}).Append(nil)
		case fpdu.Immediate:
			payload = make([]byte, fpdu.ImmediateSize)
		case fpdu.Terminate:
			h.Queue = fpdu.QueueTerminate
		}
		if !h.Tagged {
			if h.MO == 0 || c[7]&1 == 0 {
				msn[h.Queue]++
				h.MO = 0
			}
			h.MSN = msn[h.Queue]
		}
		b = h.Append(b, len(payload))
		b = append(b, payload...)
		b = fpdu.AppendTail(b, h.Size()+len(payload), 0, false)
		if c[7]&0x80 != 0 {
			b[len(b)-1-int(c[6])%len(b)] ^= c[6] | 1
		}
	}
	return append(b, input...)
}

// FuzzPeer has a peer send what it likes, to either role. Nothing beside what was granted may change, nor what may
// only be read, and all that was posted must end.
func FuzzPeer(f *testing.F) {
	for i := range kinds {
		f.Add(i%2 == 0, []byte{byte(i), 2, 0, 0, 0, 8, 0, 0, byte(i), 1, 0, 0, 0, 8, 0, 0, 0, 0})
	}
	f.Add(true, binary.BigEndian.AppendUint64(nil, 1<<63))
	f.Fuzz(func(t *testing.T, initiator bool, input []byte) {
		p := newTarget(t, initiator)
		b := p.frames(input[:min(len(input), 512)])
		go func() { _, _ = io.Copy(io.Discard, p.conn) }()
		_ = p.conn.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)) // it may wait for a receive
		_, _ = p.conn.Write(b)
		_ = p.conn.Close()
		if err := p.q.Close(); err != nil {
			t.Error(err)
		}
		may := func(i int) bool {
			for rights, at := range p.places {
				if rights != region.Read && i >= at && i < at+targetRegion {
					return true
				}
			}
			return false
		}
		for i, v := range p.mem {
			if v != 0 && !may(i) {
				t.Fatalf("the byte %d changed", i)
			}
		}
	})
}
