package iwarp

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// fill makes the next batch: answers and own requests, a turn of each. To a peer that is not ours a message is sent
// whole before the next one begins, since some can do no other. Only whoever has the role calls it.
func (q *queue) fill() {
	o := &q.out
	o.reset()
	o.more, o.waiting = false, false
	if !q.in.met.Load() || o.refused != nil {
		return
	}
	if q.enter() {
		q.fillTurns()
		begun := o.next
		if o.begun {
			begun++
		}
		q.begun.Store(begun)
		o.more = o.refused == nil && (q.answers.n() > 0 || o.next < o.posted && !o.waiting && o.doom == nil)
	}
	q.leave()
}

func (q *queue) fillTurns() {
	o := &q.out
	if o.rtr != 0 {
		q.sayReady()
	}
	if o.begun && !q.s.ours {
		q.fillNext(o.limit(q.answers.n() == 0)) // and then it is the turn of answers
		if o.begun {
			return
		}
	}
	limit := o.limit(o.next == o.posted)
	for q.answers.n() > 0 && o.refused == nil && o.size < limit {
		r := q.answers.first()
		if len(o.refs) > 0 && r.sent == 0 && (r.word != nil || r.about.Request.Size > 0) {
			// What the read before it finds is taken when the batch is written: what comes after may not be older.
			return
		}
		q.answer(r, limit)
	}
	if o.refused == nil && (q.s.ours || q.answers.n() == 0 || q.answers.first().sent == 0) {
		before := o.next
		if q.fillOwn(o.size + o.limit(q.answers.n() == 0 && o.size == 0)); o.next != before {
			q.presume()
		}
	}
}

// limit is how many bytes are sent before the other side has its turn: more where there is nothing for it to do, if
// they need not be copied.
func (o *outgoing) limit(alone bool) int {
	if alone && o.lend {
		return turnAlone
	}
	return turn
}

// sayReady sends what an acceptor waits for before it sends. Source: RFC 6581, section 4.
func (q *queue) sayReady() {
	o := &q.out
	switch {
	case o.rtr&fpdu.RTRWrite != 0:
		h := fpdu.Header{Op: fpdu.Write, Tagged: true, Last: true}
		o.open(&h, 0)
		o.seal(&h, 0)
	case o.rtr&fpdu.RTRRead != 0:
		q.asks.add(noEntry)
		q.askRead(&fpdu.ReadRequestHeader{SinkSTag: o.newSink()})
	default:
		o.msn[fpdu.QueueSend]++
		h := fpdu.Header{Op: fpdu.Send, Last: true, MSN: o.msn[fpdu.QueueSend]}
		o.open(&h, 0)
		o.seal(&h, 0)
	}
	o.rtr = 0
}

// newSink is a key for a response that was not used lately, and is not zero.
func (o *outgoing) newSink() uint32 {
	if o.sink++; o.sink == 0 {
		o.sink = 1
	}
	return o.sink
}

// fillOwn appends own requests until the batch has that many bytes, or one must wait.
func (q *queue) fillOwn(limit int) {
	o := &q.out
	for o.next < o.posted && o.doom == nil && o.size < limit && q.fillNext(limit) {
	}
}

// fillNext appends of the own request whose turn it is what fits. It reports false where that must wait, or fails.
func (q *queue) fillNext(limit int) bool {
	o := &q.out
	e := q.at(o.next)
	if !o.begun && !q.begin(e) {
		return false
	}
	whole, serr := q.message(e, limit)
	if serr != nil {
		o.doom = serr
		return false
	}
	if o.begun = !whole; whole {
		o.next++
	}
	return true
}

// begin gives a request its turn. It reports false where the request must wait, or fails.
func (q *queue) begin(e *entry) bool {
	o := &q.out
	o.asked = q.asks.n()
	if e.wr.Fence && o.asked > 0 {
		o.waiting = true
		return false
	}
	if o.doom = q.check(e); o.doom != nil {
		return false
	}
	if asks := e.wr.Verb == rdma.VerbFlush && o.dirty || e.wr.Verb == rdma.VerbRead || isAtomic(e.wr.Verb); asks {
		if o.asked >= q.s.ord {
			o.waiting = true
			return false
		}
	}
	o.off, o.from = 0, spot{}
	o.presuming.sees(e.wr.Verb, o.size == 0)
	q.measure(e.total)
	if e.wr.Verb == rdma.VerbSend || e.wr.Verb == rdma.VerbWriteNotify {
		o.msn[fpdu.QueueSend]++
		e.msn = o.msn[fpdu.QueueSend]
	}
	return true
}

// measure asks now and then how long a segment may be, before a message of n bytes is sent: TCP learns it while it
// sends, and the path may change.
func (q *queue) measure(n int) {
	const long, often = 16 << 10, 1 << 20
	if n < long || q.s.fixed {
		return
	}
	if q.out.long -= n; q.out.long < 0 {
		q.out.long = often
		q.link.measure()
	}
}

func isAtomic(v rdma.Verb) bool { return v == rdma.VerbCompareSwap || v == rdma.VerbFetchAdd }

// message appends of a request what fits. It reports whether that was the rest.
func (q *queue) message(e *entry, limit int) (whole bool, serr *rdma.StatusError) {
	switch e.wr.Verb {
	case rdma.VerbWrite:
		return q.sendWrite(e, limit)
	case rdma.VerbWriteNotify:
		if whole, serr = q.sendWrite(e, limit); whole {
			q.sendImmediate(e)
		}
		return whole, serr
	case rdma.VerbSend:
		return q.sendMessage(e, limit)
	case rdma.VerbFlush:
		return true, q.sendFlush(e)
	case rdma.VerbRead:
		q.sendRead(e)
	default:
		q.sendAtomic(e)
	}
	return true, nil
}

// sendWrite appends segments of a write.
func (q *queue) sendWrite(e *entry, limit int) (whole bool, serr *rdma.StatusError) {
	o := &q.out
	for o.off < e.total && o.size < limit {
		n := tagged(q.s.mulpdu, e.wr.Addr+uint64(o.off), e.total-o.off)
		h := fpdu.Header{Op: fpdu.Write, Tagged: true, Last: o.off+n == e.total, STag: uint32(e.wr.Key), TO: e.wr.Addr + uint64(o.off)}
		if e.wr.Segs == 1 {
			h.More = o.following(q.s.mulpdu, h.TO, n, e.total-o.off, limit)
		}
		if serr = q.segment(e, &h, n); serr != nil {
			return false, serr
		}
	}
	e.eager, o.dirty = true, true
	return o.off == e.total, nil
}

// tagged is how many of the bytes at an address go into the next segment. It ends where a word does, so that a word
// is not placed in parts.
func tagged(mulpdu int, to uint64, left int) int {
	most := mulpdu - fpdu.TaggedSize
	if left <= most {
		return left
	}
	unit := uint64(8)
	if most >= 4<<10 {
		unit = 64 // a line: what is aligned is copied faster
	}
	if past := int((to + uint64(most)) & (unit - 1)); past < most {
		most -= past
	}
	return most
}

// segment appends one with the next n bytes of a request.
func (q *queue) segment(e *entry, h *fpdu.Header, n int) *rdma.StatusError {
	o := &q.out
	start := o.open(h, n)
	for left := n; left > 0; {
		p, most, reg := e.next(&o.from)
		most = min(most, left)
		if !o.add(p, most, reg, true) {
			o.drop(start)
			return status(rdma.StatusLocal, "%s was deregistered while it was sent", reg.name)
		}
		o.from.off += most
		left -= most
	}
	o.close(h, n)
	o.off += n
	return nil
}

// sendMessage appends segments of a send. Between ourselves its number is where a send with invalidate has its key,
// which RFC 5040 reserves in the others.
func (q *queue) sendMessage(e *entry, limit int) (whole bool, serr *rdma.StatusError) {
	o := &q.out
	h := fpdu.Header{Op: fpdu.Send, Queue: fpdu.QueueSend, MSN: e.msn}
	switch {
	case e.wr.Invalidate != 0 && e.wr.Solicited:
		h.Op, h.Invalidate = fpdu.SendSolicitedInvalidate, uint32(e.wr.Invalidate)
	case e.wr.Invalidate != 0:
		h.Op, h.Invalidate = fpdu.SendInvalidate, uint32(e.wr.Invalidate)
	case q.s.ours:
		h.Invalidate = e.wr.Imm
	}
	if e.wr.Solicited && h.Op == fpdu.Send {
		h.Op = fpdu.SendSolicited
	}
	for {
		n := min(e.total-o.off, q.s.mulpdu-fpdu.UntaggedSize)
		h.MO, h.Last = uint32(o.off), o.off+n == e.total
		if serr = q.segment(e, &h, n); serr != nil {
			return false, serr
		}
		if h.Last || o.size >= limit {
			break
		}
	}
	e.eager, o.dirty = true, true
	return h.Last, nil
}

// sendImmediate appends the notification of a write: how many bytes it had, and its number.
func (q *queue) sendImmediate(e *entry) {
	o := &q.out
	h := fpdu.Header{Op: fpdu.Immediate, Last: true, Queue: fpdu.QueueSend, MSN: e.msn}
	o.open(&h, fpdu.ImmediateSize)
	o.buf = appendNotice(o.buf, e.total, e.wr.Imm)
	o.seal(&h, fpdu.ImmediateSize)
	o.dirty, e.eager = true, true
}
