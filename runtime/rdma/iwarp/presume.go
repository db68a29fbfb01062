package iwarp

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// A program that wants to know that what it wrote is in place calls Write, and then Flush. That is two packets, and the
// peer is woken by each. So where flushes have come right after such writes, the next write is sent at once, as
// ever, and in the same packet the read that the flush would send: the flush that is presumed to follow. When it
// comes it sends nothing, and ends when that read is answered, which may be before it was called.
//
// Nothing waits for this, so a write that no flush follows is not held up. It costs a frame there and back then, and
// presuming stops until more flushes have followed writes than before. Other programs than ours are sent what was asked for
// and no more.
//
// One read is presumed at a time, and it is in asks as presumedEntry. Whoever sends sets flight before it puts that there,
// and not again until the reader has taken it out.

// presumedEntry stands for a flush that has not come among the requests that wait for a response.
const presumedEntry = noEntry - 1

const (
	pairsToPresume = 2  // so many flushes must have come right after writes
	pairsAfterMiss = 16 // and that many more, when none followed
)

// presuming is what whoever sends knows of writes and flushes.
type presuming struct {
	pairs int    // flushes that came right after a write that had been sent without them, since another thing was done
	alone bool   // the last request begun is a write
	open  bool   // a read was presumed, and its flush has not come
	sent  uint64 // reads presumed, ever
}

// flight is the presumed read that is under way.
type flight struct {
	sink uint32 // the key that its response goes by
	upTo uint64 // requests before this one are in place when that comes
}

// sees notes which request has its turn, and whether nothing is to be sent before it in the same batch.
func (p *presuming) sees(v rdma.Verb, first bool) {
	switch {
	case v == rdma.VerbFlush:
		if p.alone && first {
			p.pairs++
		}
		p.open = false
	case p.open:
		p.pairs, p.open = -pairsAfterMiss, false
	case p.alone || v != rdma.VerbWrite:
		p.pairs = min(p.pairs, 0)
	}
	p.alone = v == rdma.VerbWrite
}

// presume appends the read of the flush that is likely to follow, if a write that nothing follows ends the batch.
func (q *queue) presume() {
	o := &q.out
	p := &o.presuming
	if !p.alone || p.open || p.pairs < pairsToPresume || o.begun || o.next != o.posted || o.doom != nil ||
		!q.s.ours || q.s.ord < 2 || q.asks.n() > 0 {
		return
	}
	p.open = true
	p.sent++
	q.flight = flight{sink: o.newSink(), upTo: o.next}
	q.asks.add(presumedEntry)
	o.dirty = false
	q.askRead(&fpdu.ReadRequestHeader{SinkSTag: q.flight.sink})
}

// presumedArrives is the response of a presumed read: the flush that it is for ends, if it has come.
func (q *queue) presumedArrives(n int) *fpdu.Fault {
	h := &q.in.h
	switch {
	case h.STag != q.flight.sink:
		return &fpdu.Fault{Cause: fpdu.TaggedSTag, Detail: "a response to another read"}
	case n != 0 || !h.Last || h.TO != 0:
		return &fpdu.Fault{Cause: fpdu.TaggedBounds, Detail: "a response that does not fit its read"}
	}
	upTo := q.flight.upTo
	q.asks.drop()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.stuck {
		q.in.kick = true
	}
	if q.flushed {
		return nil
	}
	q.presumed++
	q.acked = upTo
	for n := q.done; n < q.handed; n++ {
		if e := q.at(n); q.endsByItself(e) {
			e.done = true
		}
	}
	q.advance()
	return nil
}

// endsByItself reports whether a request that was handed to TCP has ended by that. mu is held.
func (q *queue) endsByItself(e *entry) bool { return e.eager && e.presumed <= q.presumed }
