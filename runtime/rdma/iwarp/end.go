package iwarp

import (
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// linger is how long an ended connection stays, for what was sent last to arrive: a socket that is closed with
// bytes unread resets the connection, and the peer may lose what it has not read.
var linger = lasting(time.Second)

// span is a length of time that tests change, while queues of those before them may not be gone yet.
type span struct{ ns atomic.Int64 }

func lasting(d time.Duration) *span {
	s := &span{}
	s.ns.Store(int64(d))
	return s
}

func (s *span) length() time.Duration { return time.Duration(s.ns.Load()) }

// parting is how a queue ends that has something to tell.
type parting struct {
	why       *rdma.StatusError // what is outstanding ends with it
	terminate bool
	about     fpdu.TerminateHeader
}

// end fails the queue: nobody begins to access memory through it, and what is outstanding completes with why, as
// soon as nobody does. The writer tells the peer. mu is held.
func (q *queue) end(why *rdma.StatusError, last *parting) {
	if q.ended != nil {
		return
	}
	q.ended, q.last = why, last
	if q.role == nobody {
		q.role = writer
	}
	poke(q.work)
	poke(q.box.arrived)
	until := time.Now().Add(linger.length())
	_ = q.s.conn.SetWriteDeadline(until) // if it fails, writing does
	q.lastTurn(until)
	if q.gate.shut() {
		q.flush()
	}
}

// flush completes what is outstanding, when the queue has ended and nobody is at work on memory. mu is held.
func (q *queue) flush() {
	for n := q.done; n < q.written.Load() && q.at(n).serr == nil; n++ {
		if e := q.at(n); q.endsByItself(e) { // it is sent; whoever sent it had no time to say so
			e.done = true
		}
	}
	q.advance()
	for ; q.done < q.posted; q.done++ {
		e := q.at(q.done)
		if e.serr == nil {
			e.serr = q.why()
		}
		e.done = true
	}
	if !q.flushed {
		q.flushed = true
		serr := q.ended
		if q.owed != nil {
			serr = q.owed
		}
		q.box.End(serr)
		close(q.quiet)
	}
	q.signal()
}

// why is what the next request completes with, when the queue has ended. mu is held.
func (q *queue) why() *rdma.StatusError {
	serr := q.ended
	if q.owed != nil {
		serr, q.owed = q.owed, nil
	}
	return serr
}

// failed fails the queue after a request of its own did on this side. mu is held.
func (q *queue) failed(n uint64, serr *rdma.StatusError) {
	q.at(n).serr = serr
	why := status(rdma.StatusFlushed, "an earlier request failed: %s", serr.Error())
	q.end(why, &parting{terminate: true, about: fpdu.TerminateHeader{Cause: fpdu.Catastrophic}})
}

// Abort fails the queue and tells the peer.
func (q *queue) Abort(cause error) {
	text := "aborted"
	if cause != nil {
		text = "aborted: " + cause.Error()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(status(rdma.StatusFlushed, "%s", text), &parting{terminate: true, about: fpdu.TerminateHeader{Cause: fpdu.Catastrophic}})
}

// Close ends the queue. It waits for accesses to memory that are in progress, and they are short.
func (q *queue) Close() error {
	q.mu.Lock()
	first := !q.closed
	q.closed = true
	q.end(status(rdma.StatusFlushed, "the queue was closed"), nil)
	q.mu.Unlock()
	<-q.quiet
	if first {
		q.box.Close()
		poke(q.wake)
		q.dom.forget(q)
	}
	return nil
}

// unwritable notes that nothing can be written any more. The reader finds out why: what the peer sent last tells. It is its
// turn for that, since a peer that says nothing is for no sentry to see, and waiters do not read while the writer writes.
func (q *queue) unwritable(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.ended == nil {
		q.broken = err
		q.lastTurn(time.Now().Add(linger.length()))
	}
}

// fault ends the queue because of what the peer sent. What it asked for before is answered first. The reader calls it.
func (q *queue) fault(f *fpdu.Fault) {
	if f.Cause != fpdu.NoBuffer && f.Cause != fpdu.Catastrophic && !f.Raced {
		q.dom.guard.blame(q.s.peer)
		q.dom.log.warn("iwarp: a connection ends because of what the peer sent", "peer", q.s.peer, "reason", f)
	}
	q.kick()
	for end := time.Now().Add(linger.length()); !q.settled() && time.Now().Before(end); {
		time.Sleep(100 * time.Microsecond)
	}
	in := &q.in
	last := parting{terminate: true, about: fpdu.TerminateHeader{Cause: f.Cause}}
	if in.h != (fpdu.Header{}) {
		last.about.HasSegment, last.about.Length, last.about.Segment = true, uint16(in.ulpdu), in.h
		last.about.HasRequest = in.h.Op == fpdu.ReadRequest && f.Cause>>8 == fpdu.Protection>>8 && q.repeat(&last.about.Request)
	}
	why := status(rdma.StatusPeerLost, "the connection was ended because of what the peer sent: %v", f)
	if f.Cause == fpdu.NoBuffer || f.Cause == fpdu.Catastrophic {
		why = status(rdma.StatusFlushed, "%s", f.Detail)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.end(why, &last)
}

// repeat is the read request that a fault is about, which is in the buffer still.
func (q *queue) repeat(r *fpdu.ReadRequestHeader) bool {
	const from = fpdu.LengthSize + fpdu.UntaggedSize
	b := q.in.buf[q.in.r:q.in.w]
	return len(b) >= from+fpdu.ReadRequestSize && r.Parse(b[from:from+fpdu.ReadRequestSize])
}

// settled reports whether all answers were sent, or nothing more will be.
func (q *queue) settled() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ended != nil || q.broken != nil || q.role == nobody && q.answers.n() == 0
}

// part is the last that the writer does: it tells the peer why, where that is to be told and nothing unfinished is
// before it, and that nothing more comes.
func (q *queue) part() {
	o := &q.out
	if len(o.refs) == 0 && o.err == nil {
		q.link.flush()
		if q.last != nil && q.last.terminate && q.in.met.Load() && o.err == nil {
			o.reset()
			payload := q.last.about.Append(nil)
			h := fpdu.Header{Op: fpdu.Terminate, Last: true, Queue: fpdu.QueueTerminate, MSN: 1}
			o.open(&h, len(payload))
			o.buf = append(o.buf, payload...)
			o.seal(&h, len(payload))
			q.link.flush()
		}
	}
	if half, ok := q.s.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		return
	}
	_ = q.s.conn.Close()
}

// exit counts a goroutine that ends. The last one closes the connection.
func (q *queue) exit() {
	q.mu.Lock()
	q.threads--
	last := q.threads == 0
	q.mu.Unlock()
	if last {
		q.link.close()
	}
}
