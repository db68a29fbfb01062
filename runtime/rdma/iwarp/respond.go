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
	about fpdu.TerminateHeader // the request
	reg   *registration        // what it is to
	off   int                  // of a read: where its bytes are
	sent  int                  // of them

	word   *uint64 // of an atomic; nil: it is a read
	atomic fpdu.AtomicRequestHeader
}

// readRequested notes what a peer wants to read. The reader calls it, when all that came before is placed.
func (q *queue) readRequested(h *fpdu.Header, payload []byte) *fpdu.Fault {
	r := response{about: fpdu.TerminateHeader{HasSegment: true, Length: uint16(h.Size() + len(payload)), Segment: *h, HasRequest: true}}
	req := &r.about.Request
	if !req.Parse(payload) {
		return fpdu.Misfit(len(payload), fpdu.ReadRequestSize)
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
		if r.reg, r.off, fault = q.reach(req.SourceSTag, req.SourceTO, int(req.Size), region.Read); fault != nil {
			return fault
		}
	}
	q.answers.add(r)
	q.in.kick = true
	return nil
}

// mayAsk counts what a peer asks for: it knows how much that may be at a time. Source: RFC 5040, section 6.1.
func (q *queue) mayAsk() *fpdu.Fault {
	if q.s.ird == 0 && q.in.met.Load() || q.answers.full() { // a handshake may end with a read of nothing
		return &fpdu.Fault{Cause: fpdu.NoBuffer, Detail: "more reads and atomics at a time than were agreed on"}
	}
	return nil
}

// atomicRequested notes what word a peer wants to change. The reader calls it, when all that came before is placed.
func (q *queue) atomicRequested(h *fpdu.Header, payload []byte) *fpdu.Fault {
	var req fpdu.AtomicRequestHeader
	if !q.s.ours {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "an atomic, and they were not agreed on"}
	}
	if fault := fpdu.Misfit(len(payload), fpdu.AtomicRequestSize); fault != nil {
		return fault
	}
	if !req.Parse(payload) {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "an atomic operation that there is not"}
	}
	if fault := q.mayAsk(); fault != nil {
		return fault
	}
	reg, off, fault := q.reach(req.STag, req.TO, 8, region.Atomic)
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
	q.answers.add(response{word: (*uint64)(p), reg: reg, atomic: req, about: fpdu.TerminateHeader{
		HasSegment: true, Length: uint16(h.Size() + len(payload)), Segment: *h,
	}})
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
	if r.word != nil {
		q.answerAtomic(r)
		return
	}
	size := int(r.about.Request.Size)
	if r.sent == 0 {
		q.measure(size)
	}
	for {
		n := tagged(q.s.mulpdu, uint64(r.off+r.sent), size-r.sent)
		h := fpdu.Header{Op: fpdu.ReadResponse, Tagged: true, Last: r.sent+n == size,
			STag: r.about.Request.SinkSTag, TO: r.about.Request.SinkTO + uint64(r.sent)}
		h.More = o.following(q.s.mulpdu, uint64(r.off+r.sent), n, size-r.sent, limit)
		start := o.open(&h, n)
		if n > 0 && !o.add(unsafe.Add(r.reg.base, r.off+r.sent), n, r.reg, false) {
			o.drop(start)
			q.revoked(r)
			return
		}
		o.close(&h, n)
		if r.sent += n; h.Last {
			q.answers.drop()
			return
		}
		if o.size >= limit {
			return
		}
	}
}

// answerAtomic changes the word of the first response, and appends what it was: when the reads before it were
// answered, so that they find what was there before.
func (q *queue) answerAtomic(r *response) {
	if !r.reg.enter() {
		q.revoked(r)
		return
	}
	a := fpdu.AtomicResponseHeader{ID: r.atomic.ID}
	if r.atomic.Op == fpdu.FetchAdd {
		a.Old = words.Add(r.word, r.atomic.Data)
	} else {
		a.Old = words.Swap(r.word, r.atomic.Compare, r.atomic.Data)
	}
	r.reg.leave()
	o := &q.out
	o.msn[fpdu.QueueAtomic]++
	h := fpdu.Header{Op: fpdu.AtomicResponse, Last: true, Queue: fpdu.QueueAtomic, MSN: o.msn[fpdu.QueueAtomic]}
	o.open(&h, fpdu.AtomicResponseSize)
	o.buf = a.Append(o.buf)
	o.seal(&h, fpdu.AtomicResponseSize)
	r.word = nil
	q.answers.drop()
}

// revoked fails the connection because a key ended while its memory was read.
func (q *queue) revoked(r *response) {
	r.about.Cause = fpdu.InvalidSTag
	q.out.refused = &parting{
		why:       status(rdma.StatusPeerLost, "what the peer asked for was refused: the key ended meanwhile"),
		terminate: true, about: r.about,
	}
}
