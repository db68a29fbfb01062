package iwarp

import (
	"fmt"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// entry is a request, from Post until its completion was polled, and a while longer: a Terminate may be about it.
type entry struct {
	wr       rdma.WorkRequest
	total    int                             // bytes of its segments
	regs     [rdma.MaxSegments]*registration // and what they are in
	eager    bool                            // it completes when it is handed to TCP
	done     bool                            // it may complete when those before it have
	presumed uint64                          // of a flush that sent nothing: it ends when that many presumed reads were answered
	msn      uint32                          // of its message, if that is untagged; the number is of the verb's queue
	sink     uint32                          // of a read: the key that its response goes by
	got      int                             // bytes of the response that are placed
	at       spot                            // where the next of them goes
	result   uint64
	serr     *rdma.StatusError
}

// spot is a place in the segments of a request.
type spot struct {
	seg int
	off int
}

// at is the entry of a request.
func (q *queue) at(n uint64) *entry { return &q.ring[n&uint64(len(q.ring)-1)] }

// Post takes requests, and sends what can be sent at once.
func (q *queue) Post(wrs []rdma.WorkRequest) (n int, err error) {
	q.mu.Lock()
	n, err = q.take(wrs)
	q.unlockAndSend(turnsOfPost)
	return n, err
}

// PostNow is Post of one, which takes the completion with it if the request was the only one.
func (q *queue) PostNow(wr *rdma.WorkRequest) (result uint64, done bool, err error) {
	q.mu.Lock()
	alone := q.polled == q.posted
	if _, err = q.take(unsafe.Slice(wr, 1)); err != nil || !alone {
		q.unlockAndSend(turnsOfPost)
		return 0, false, err
	}
	q.taking = true
	q.unlockAndSend(turnsOfPost)
	q.mu.Lock()
	q.taking = false
	if e := q.at(q.polled); !q.closed && q.done == q.posted && q.polled+1 == q.posted && e.serr == nil {
		q.polled++
		result, done = e.result, true
		e.forget()
	} else if q.polled < q.done {
		q.signal()
	}
	q.mu.Unlock()
	return result, done, nil
}

// take puts requests in the ring. mu is held.
func (q *queue) take(wrs []rdma.WorkRequest) (n int, err error) {
	if q.closed {
		return 0, fmt.Errorf("iwarp: post to %s: the queue: %w", q.s.peer, errClosed)
	}
	depth := uint64(q.dom.adapter.depth)
	if q.ring == nil && len(wrs) > 0 {
		q.ring = make([]entry, powerOfTwo(2*int(depth))) // what has completed stays a while: a Terminate may be about it
	}
	for n < len(wrs) && q.posted-q.polled < depth {
		e := q.at(q.posted)
		e.wr = wrs[n]
		e.eager, e.done, e.total, e.presumed, e.msn, e.got, e.at, e.result, e.serr = false, false, 0, 0, 0, 0, spot{}, 0, nil
		q.posted++
		n++
	}
	if n < len(wrs) {
		err = errFull
	}
	if q.flushed {
		q.flush()
	}
	return n, err
}

// check looks at a request whose turn has come, and finds its memory. Only whoever sends may call it.
func (q *queue) check(e *entry) *rdma.StatusError {
	wr := &e.wr
	switch wr.Verb {
	case rdma.VerbWrite, rdma.VerbRead, rdma.VerbSend, rdma.VerbWriteNotify:
		if serr := q.checkOwn(e); serr != nil {
			return serr
		}
	case rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		if wr.Addr&7 != 0 {
			return status(rdma.StatusMisaligned, "an atomic at %#x, which is no multiple of 8", wr.Addr)
		}
	case rdma.VerbFlush:
	default:
		return status(rdma.StatusLocal, "there is no verb %d to post", wr.Verb)
	}
	if why := q.Lacks(wr.Verb); why != "" {
		return status(rdma.StatusLocal, "%s", why)
	}
	switch wr.Verb {
	case rdma.VerbWrite, rdma.VerbRead:
		if e.total == 0 {
			return status(rdma.StatusLocal, "a request of no bytes")
		}
	case rdma.VerbSend:
		return q.checkSend(e)
	case rdma.VerbFlush:
		return nil
	case rdma.VerbWriteNotify:
		if e.total == 0 {
			return nil
		}
	}
	return q.checkKey(wr.Key, wr.Epoch)
}

func (q *queue) checkSend(e *entry) *rdma.StatusError {
	if limit := q.dom.adapter.message; e.total > limit {
		return status(rdma.StatusLocal, "a message of %d bytes, and the device sends %d at most", e.total, limit)
	}
	if e.wr.Invalidate != 0 {
		return q.checkKey(e.wr.Invalidate, e.wr.Epoch)
	}
	return nil
}

// checkKey refuses a remote key that does not go with its epoch: the peer could not tell, since the wire has the
// key only. Keys of peers that are not this package have no such bits.
func (q *queue) checkKey(key rdma.RKey, epoch uint32) *rdma.StatusError {
	if q.s.ours && uint32(key)&0xff != epoch&0xff {
		return status(rdma.StatusRemoteKey, "the key %#x is not of registration %d of the peer", uint32(key), epoch)
	}
	return nil
}

// checkOwn finds the local segments of a request, and their bytes.
func (q *queue) checkOwn(e *entry) *rdma.StatusError {
	wr := &e.wr
	e.total = 0
	if wr.Segs > rdma.MaxSegments {
		return status(rdma.StatusLocal, "%d segments, and there is room for %d", wr.Segs, rdma.MaxSegments)
	}
	for i := range wr.Local[:wr.Segs] {
		s := &wr.Local[i]
		r := q.out.ours.find(q.dom, s.Key)
		if !r.covers(s) {
			return uncovered(r, s)
		}
		if s.Len > maxTransfer-e.total {
			return status(rdma.StatusLocal, "more than %d bytes in one request", maxTransfer)
		}
		e.regs[i] = r
		e.total += s.Len
	}
	return nil
}

// uncovered is the error of a segment that r does not cover.
func uncovered(r *registration, s *rdma.Segment) *rdma.StatusError {
	if r == nil || r.dead() {
		return status(rdma.StatusLocal, "the key %#x of a segment names no registered memory", uint32(s.Key))
	}
	return status(rdma.StatusLocal, "a segment of %d bytes is not within %s", s.Len, r.name)
}

// cache remembers the registrations that were used last, by the low bits of their local keys.
type cache [8]*registration

func (c *cache) find(d *domain, k rdma.LKey) *registration {
	slot := &c[k%8]
	if r := *slot; r != nil && r.keys.L == k && !r.dead() {
		return r
	}
	*slot = d.byLocal(k)
	return *slot
}

// next is the longest piece of the segments at a spot, and its registration. There is one: the caller counts bytes.
func (e *entry) next(at *spot) (unsafe.Pointer, int, *registration) {
	for at.off == e.wr.Local[at.seg].Len {
		at.seg, at.off = at.seg+1, 0
	}
	s := &e.wr.Local[at.seg]
	return unsafe.Add(s.Ptr, at.off), s.Len - at.off, e.regs[at.seg]
}

// forget drops the pointers to memory that is its owner's again: it may be unmapped, and its addresses used anew.
func (e *entry) forget() {
	for i := range min(int(e.wr.Segs), rdma.MaxSegments) {
		e.wr.Local[i].Ptr = nil
	}
}
