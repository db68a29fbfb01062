package iwarp

import (
	"math"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// response is what a peer that asked is to be sent: what a read found, or an atomic.
type response struct {
	atomic bool
	id     uint32 // of an atomic request
	old    uint64 // what it found

	about fpdu.TerminateHeader // of a read: its request, and where its bytes are
	reg   *registration
	off   int
	sent  int // of its bytes
}

// readRequested notes what a peer wants to read. The reader calls it, when all that came before is placed.
func (q *queue) readRequested(h *fpdu.Header, payload []byte) *fpdu.Fault {
	r := response{about: fpdu.TerminateHeader{HasSegment: true, Length: uint16(h.Size() + len(payload)), Segment: *h, HasRequest: true}}
	req := &r.about.Request
	if !req.Parse(payload) {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "a read request of another length"}
	}
	if fault := q.mayAsk(); fault != nil {
		return fault
	}
	// Of a read of nothing neither key nor address is looked at. Source: RFC 5040, section 5.5.
	if req.Size > 0 {
		if uint64(req.Size) > math.MaxInt {
			return &fpdu.Fault{Cause: fpdu.OutOfBounds, Detail: "a read of more than any region has"}
		}
		var fault *fpdu.Fault
		r.reg = q.in.theirs.find(q.dom, req.SourceSTag)
		if r.off, fault = r.reg.reach(q, req.SourceTO, int(req.Size), region.Read); fault != nil {
			return fault
		}
	}
	q.answers.add(r)
	q.in.kick = true
	return nil
}

// mayAsk counts what a peer asks for: it knows how much that may be at a time. Source: RFC 5040, section 6.1.
func (q *queue) mayAsk() *fpdu.Fault {
	if q.s.ird == 0 || q.answers.full() {
		return &fpdu.Fault{Cause: fpdu.NoBuffer, Detail: "more reads and atomics at a time than were agreed on"}
	}
	return nil
}

// atomicRequested changes a word for a peer. The reader calls it, when all that came before is placed.
func (q *queue) atomicRequested(payload []byte) *fpdu.Fault {
	var req fpdu.AtomicRequestHeader
	if !q.s.ours || !req.Parse(payload) {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "an atomic that was not agreed on"}
	}
	if fault := q.mayAsk(); fault != nil {
		return fault
	}
	reg := q.in.theirs.find(q.dom, req.STag)
	off, fault := reg.reach(q, req.TO, 8, region.Atomic)
	if fault != nil {
		return fault
	}
	p := unsafe.Add(reg.base, off)
	if uintptr(p)&7 != 0 {
		return &fpdu.Fault{Cause: fpdu.StreamCatastrophe, Detail: "an atomic on a word that is not aligned"}
	}
	if !plain(&req) {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "an atomic with a mask, which is not supported"}
	}
	if !reg.enter() {
		return &fpdu.Fault{Cause: fpdu.InvalidSTag, Detail: "there is no such key"}
	}
	r := response{atomic: true, id: req.ID}
	if req.Op == fpdu.FetchAdd {
		r.old = words.Add((*uint64)(p), req.Data)
	} else {
		r.old = words.Swap((*uint64)(p), req.Compare, req.Data)
	}
	reg.leave()
	q.answers.add(r)
	q.in.kick = true
	return nil
}

// plain reports whether an atomic is of a whole word.
func plain(r *fpdu.AtomicRequestHeader) bool {
	if r.Op == fpdu.FetchAdd {
		return r.Mask&^(1<<63) == 0
	}
	return r.Mask == math.MaxUint64 && r.CompareMask == math.MaxUint64
}

// answer appends of the first response what fits a batch of that many bytes.
func (q *queue) answer(r *response, limit int) {
	o := &q.out
	if r.atomic {
		o.msn[fpdu.QueueAtomic]++
		h := fpdu.Header{Op: fpdu.AtomicResponse, Last: true, Queue: fpdu.QueueAtomic, MSN: o.msn[fpdu.QueueAtomic]}
		a := fpdu.AtomicResponseHeader{ID: r.id, Old: r.old}
		var payload [fpdu.AtomicResponseSize]byte
		o.control(&h, a.Append(payload[:0]))
		q.answers.drop()
		return
	}
	size := int(r.about.Request.Size)
	for {
		n := tagged(q.s.mulpdu, uint64(r.off+r.sent), size-r.sent)
		h := fpdu.Header{Op: fpdu.ReadResponse, Tagged: true, Last: r.sent+n == size,
			STag: r.about.Request.SinkSTag, TO: r.about.Request.SinkTO + uint64(r.sent)}
		start := o.open(&h, n)
		if n > 0 && !o.add(unsafe.Add(r.reg.base, r.off+r.sent), n, r.reg, false) {
			o.drop(start)
			q.revoked(r)
			return
		}
		o.close(start, &h, n)
		if r.sent += n; h.Last {
			q.answers.drop()
			return
		}
		if o.size >= limit {
			return
		}
	}
}

// revoked fails the connection because a key ended while its memory was read.
func (q *queue) revoked(r *response) {
	r.about.Cause = fpdu.InvalidSTag
	q.out.refused = &parting{
		why:       status(rdma.StatusPeerLost, "the peer's read was refused: its key ended meanwhile"),
		terminate: true, about: r.about,
	}
}
