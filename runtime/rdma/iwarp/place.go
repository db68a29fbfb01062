package iwarp

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// placing is where the payload of a segment goes.
type placing struct {
	kind destination
	p    unsafe.Pointer // of a write or a message: where its first byte goes
	off  int            // and how far from there the next; p never points behind the memory, which may be the collector's
	reg  *registration
	e    *entry // of a response
	n    uint64 // which request that is
}

type destination uint8

const (
	nowhere   destination = iota
	toRegion              // a write
	toReceive             // a message
	toRead                // a response
)

// message is a send of which segments are here.
type message struct {
	begun bool
	op    fpdu.Opcode
	imm   uint32 // or what it invalidates
	got   int    // bytes
	buf   rdma.Segment
	reg   *registration
}

// exported remembers the registrations that a peer used last, by the low bits of their keys.
type exported [8]*registration

func (c *exported) find(d *domain, stag uint32) *registration {
	slot := &c[stag>>8%8]
	if r := *slot; r != nil && uint32(r.keys.R) == stag && !r.gone() {
		return r
	}
	*slot = d.byRemote(stag)
	return *slot
}

// next is where the next bytes of the payload go, and how many at most. There are some.
func (t *placing) next() (unsafe.Pointer, int, *registration) {
	if t.kind == toRead {
		return t.e.next(&t.e.at)
	}
	return unsafe.Add(t.p, t.off), 1<<31 - 1, t.reg
}

// enter begins an access to a registration of the place's.
func (t *placing) enter(r *registration) bool {
	if t.kind == toRegion {
		return r.enter()
	}
	return r.enterLocal()
}

// passed notes that n bytes are placed, all of them where next told.
func (t *placing) passed(n int) {
	if t.kind == toRead {
		t.e.at.off += n
		t.e.got += n
		return
	}
	t.off += n
}

// place places bytes of the payload.
func (q *queue) place(b []byte) *fpdu.Fault {
	t := &q.in.to
	for len(b) > 0 {
		p, n, reg := t.next()
		n = min(n, len(b))
		if !t.enter(reg) {
			return t.gone()
		}
		if t.kind == toRegion {
			words.Place(p, unsafe.Pointer(unsafe.SliceData(b)), n)
		} else {
			copy(unsafe.Slice((*byte)(p), n), b)
		}
		reg.leave()
		t.passed(n)
		b = b[n:]
	}
	return nil
}

// gone is the fault of memory that was deregistered while it was placed to.
func (t *placing) gone() *fpdu.Fault {
	if t.kind == toRegion {
		return &fpdu.Fault{Cause: fpdu.TaggedSTag, Detail: "the key ended in the midst of a write", Raced: true}
	}
	return &fpdu.Fault{Cause: fpdu.Catastrophic, Detail: "the memory that it was for is no longer registered"}
}

// placed ends what a payload that is placed was the last of.
func (q *queue) placed() (fault *fpdu.Fault) {
	in := &q.in
	switch in.to.kind {
	case toReceive:
		if in.message.got += in.ulpdu - in.h.Size(); in.h.Last {
			fault = q.messageEnds()
		}
	case toRead:
		if in.h.Last {
			q.answered(in.to.n, in.to.e, 0)
		}
	}
	in.to = placing{}
	return fault
}

// writeArrives looks at a segment of a write.
func (q *queue) writeArrives(n int) *fpdu.Fault {
	in := &q.in
	if n == 0 {
		return nil // of nothing, neither key nor address is looked at: RFC 5041, section 5.4
	}
	reg, off, fault := q.reach(in.h.STag, in.h.TO, n, region.Write)
	if fault != nil {
		return fault
	}
	in.to = placing{kind: toRegion, reg: reg, p: unsafe.Add(reg.base, off)}
	return nil
}

// responseArrives looks at a segment of a read's response: it is of the oldest request that waits, and goes on where
// the one before ended.
func (q *queue) responseArrives(n int) *fpdu.Fault {
	in := &q.in
	if q.asks.n() == 0 {
		return &fpdu.Fault{Cause: fpdu.TaggedSTag, Detail: "a response that nothing was asked for"}
	}
	at := *q.asks.first()
	if at == presumedEntry {
		return q.presumedArrives(n)
	}
	if at == noEntry {
		if n != 0 || !in.h.Last {
			return &fpdu.Fault{Cause: fpdu.TaggedBounds, Detail: "a response to another read"}
		}
		q.asks.drop()
		in.kick = true
		return nil
	}
	e := q.at(at)
	switch {
	case isAtomic(e.wr.Verb) || in.h.STag != e.sink:
		return &fpdu.Fault{Cause: fpdu.TaggedSTag, Detail: "a response to another read"}
	case e.total == 0 && n > 0 && !q.s.ours:
		// A read of nothing that reaches Linux's siw while it sends is answered with octets of what it sent before (6.1 and
		// 6.12: siw_activate_tx_from_irq leaves the old element, siw_qp_sq_proc_tx says that there is one). They go nowhere.
		if in.h.Last {
			q.answered(at, e, 0)
		}
		return nil
	case in.h.TO != uint64(e.got) || n > e.total-e.got || in.h.Last != (n == e.total-e.got):
		return &fpdu.Fault{Cause: fpdu.TaggedBounds, Detail: "a response that does not fit its read"}
	case n == 0 && !in.h.Last:
		return &fpdu.Fault{Cause: fpdu.TaggedBounds, Detail: "an empty part of a response"}
	}
	in.to = placing{kind: toRead, e: e, n: at}
	return nil
}

// atomicArrives is the response of an atomic.
func (q *queue) atomicArrives(payload []byte) *fpdu.Fault {
	var r fpdu.AtomicResponseHeader
	if !q.s.ours {
		return &fpdu.Fault{Cause: fpdu.UnexpectedOpcode, Detail: "an atomic response, and atomics were not agreed on"}
	}
	if !r.Parse(payload) {
		return fpdu.Misfit(len(payload), fpdu.AtomicResponseSize)
	}
	if q.asks.n() == 0 || *q.asks.first() >= presumedEntry {
		return &fpdu.Fault{Cause: fpdu.InvalidMSN, Detail: "a response that nothing was asked for"}
	}
	at := *q.asks.first()
	e := q.at(at)
	if !isAtomic(e.wr.Verb) || r.ID != e.sink {
		return &fpdu.Fault{Cause: fpdu.InvalidMSN, Detail: "a response to another atomic"}
	}
	q.answered(at, e, r.Old)
	return nil
}

// answered completes the oldest request that waits for a response. What was sent before it is in place.
func (q *queue) answered(n uint64, e *entry, result uint64) {
	q.asks.drop()
	q.mu.Lock()
	if q.stuck {
		q.in.kick = true
	}
	if !q.flushed {
		e.result, e.done = result, true
		q.acked = n
		q.advance()
	}
	q.mu.Unlock()
}
