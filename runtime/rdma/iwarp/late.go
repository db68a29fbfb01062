package iwarp

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// terminated ends the queue because the peer says so, and finds out which request it is about: that may have
// completed long ago, when it was handed to TCP.
func (q *queue) terminated(payload []byte) {
	var t fpdu.TerminateHeader
	t.Parse(payload) // as much of it as can be read
	q.mu.Lock()
	defer q.mu.Unlock()
	lost := status(rdma.StatusPeerLost, "the peer ended the connection: %v", t.Cause)
	n, found := q.blamed(&t)
	if !found {
		q.end(lost, nil)
		return
	}
	for m := q.done; m < n; m++ {
		if e := q.at(m); q.endsByItself(e) { // it is sent, and was not refused; whoever sent it had no time to say so
			e.done = true
		}
	}
	q.advance()
	serr := status(statusOf(t.Cause), "the peer refused it: %v", t.Cause)
	if t.Cause == fpdu.NoBuffer && t.Segment.Queue == fpdu.QueueRequest {
		serr.Status = rdma.StatusProvider // it is not about a receive
	}
	switch {
	case q.ended != nil:
	case n >= q.polled:
		q.at(n).serr = serr
		for m := n + 1; m < q.done; m++ {
			q.at(m).serr = lost
		}
	default:
		serr.Late, serr.ID = true, q.at(n).wr.ID
		q.owed = serr
	}
	q.end(lost, nil)
}

// blamed is the request that a Terminate is about. mu is held.
func (q *queue) blamed(t *fpdu.TerminateHeader) (n uint64, found bool) {
	if !t.HasSegment {
		return 0, false
	}
	first := q.acked
	if kept := uint64(len(q.ring)); q.posted-first > kept {
		first = q.posted - kept
	}
	for n = first; n < q.begun.Load(); n++ {
		if q.at(n).isAbout(&t.Segment) {
			return n, true
		}
	}
	return 0, false
}

// isAbout reports whether a segment was of the request.
func (e *entry) isAbout(h *fpdu.Header) bool {
	v := e.wr.Verb
	switch {
	case h.Tagged:
		return (v == rdma.VerbWrite || v == rdma.VerbWriteNotify) && uint32(e.wr.Key) == h.STag && h.TO-e.wr.Addr < uint64(e.length())
	case h.Queue == fpdu.QueueSend:
		return (v == rdma.VerbSend || v == rdma.VerbWriteNotify) && e.msn == h.MSN
	case h.Queue == fpdu.QueueRequest:
		return (v == rdma.VerbRead || v == rdma.VerbFlush || isAtomic(v)) && e.msn == h.MSN
	}
	return false
}

// length is the bytes of the request's segments, whether it had its turn or not.
func (e *entry) length() (n int) {
	for i := range min(int(e.wr.Segs), rdma.MaxSegments) {
		n += max(e.wr.Local[i].Len, 0)
	}
	return n
}
