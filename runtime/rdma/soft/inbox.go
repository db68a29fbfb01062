package soft

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// inbox is the receiving side of a queue: what the owner posted for messages of the peer.
type inbox struct {
	ready atomic.Int32 // completions that can be polled, to look at without the lock

	mu     sync.Mutex
	ended  *rdma.StatusError
	closed bool
	out    int // receives taken and not polled
	posted ring[rdma.ReceiveRequest]
	done   ring[rdma.Completion]
	hungry bool // the peer's first request waits for a receive
}

// PostReceive takes all of rs or, with an error, none.
func (q *queue) PostReceive(rs []rdma.ReceiveRequest) error {
	hungry, err := q.in.post(rs)
	if err != nil {
		return fmt.Errorf("soft: post %d receives for %s: %w", len(rs), q.name, err)
	}
	q.signal()
	if hungry {
		q.peer.unblock(onReceive)
	}
	return nil
}

func (in *inbox) post(rs []rdma.ReceiveRequest) (hungry bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch room := len(in.posted.buf) - in.out; {
	case in.closed:
		return false, errClosed
	case len(rs) > room:
		return false, fmt.Errorf("there is room for %d: poll completions before posting more", room)
	}
	in.out += len(rs)
	for i := range rs {
		*in.posted.push() = rs[i]
	}
	if in.ended != nil {
		in.flush()
		return false, nil
	}
	hungry = in.hungry && in.posted.n > 0
	in.hungry = in.hungry && !hungry
	return hungry, nil
}

// complete ends the first posted receive. mu is held.
func (in *inbox) complete(c rdma.Completion) {
	c.ID = in.posted.pop().ID
	*in.done.push() = c
	in.ready.Add(1)
}

// flush ends all posted receives. mu is held.
func (in *inbox) flush() {
	for in.posted.n > 0 {
		in.complete(rdma.Completion{Verb: rdma.VerbReceive, Err: in.ended})
	}
}

// end fails what is posted and what will be.
func (in *inbox) end(serr *rdma.StatusError) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.ended == nil {
		in.ended = serr
	}
	in.flush()
}

func (in *inbox) close() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.closed = true
	in.posted.n, in.done.n = 0, 0
	in.ready.Store(0)
}

func (in *inbox) poll(out []rdma.Completion) (n int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for n < len(out) && in.done.n > 0 {
		out[n] = *in.done.pop()
		n++
	}
	in.out -= n
	in.ready.Add(int32(-n))
	return n
}

// errHungry says that no receive is posted. It never leaves the package.
var errHungry = errors.New("no receive is posted")

// send gives a Send or a WriteNotify to the peer. The error is errHungry, or a status for the
// request. placed says, from one try to the next, that the data are placed. mu is held.
func (q *queue) send(wr *rdma.WorkRequest, placed *bool) error {
	total, serr := q.checkOwn(wr)
	switch {
	case serr != nil:
	case wr.Verb == rdma.VerbSend && total > q.message:
		serr = status(rdma.StatusLocal, "a message of %d bytes, and the device sends %d at most", total, q.message)
	case wr.Verb == rdma.VerbWriteNotify && total > 0 && !*placed:
		serr = q.write(wr)
		*placed = serr == nil
	}
	if serr != nil {
		return serr
	}
	return q.deliver(wr, total)
}

// deliver uses a receive of the peer. mu is held.
func (q *queue) deliver(wr *rdma.WorkRequest, total int) error {
	in := &q.peer.in
	in.mu.Lock()
	defer in.mu.Unlock()
	switch {
	case in.closed || in.ended != nil:
		return status(rdma.StatusPeerLost, "the peer's queue has ended")
	case in.posted.n == 0:
		in.hungry = true
		return errHungry
	}
	var serr, peers *rdma.StatusError
	c := rdma.Completion{Verb: rdma.VerbNotify, Bytes: total, Imm: wr.Imm}
	if wr.Verb == rdma.VerbSend {
		if serr := q.invalidate(wr); serr != nil {
			return serr
		}
		c.Verb, c.Solicited, c.Invalidated = rdma.VerbReceive, wr.Solicited, wr.Invalidate
		serr, peers = q.intoReceive(wr, total, &in.posted.buf[in.posted.head].Buf)
		c.Err = asError(peers)
	}
	in.complete(c)
	q.peer.signal()
	return asError(serr)
}

// intoReceive copies a message into a receive's buffer. The errors are the sender's and the receiver's.
func (q *queue) intoReceive(wr *rdma.WorkRequest, total int, buf *rdma.Segment) (own, peers *rdma.StatusError) {
	if total > buf.Len {
		serr := status(rdma.StatusTooLong, "a message of %d bytes for a receive of %d", total, buf.Len)
		return serr, serr
	}
	if total == 0 {
		return nil, nil
	}
	if r := q.peer.dom.byLocal(buf.Key); !r.covers(buf) {
		return status(rdma.StatusProvider, "the peer posted a receive that is not registered memory"), uncovered(r, buf)
	}
	at := buf.Ptr
	for i := range wr.Local[:wr.Segs] {
		words.Place(at, wr.Local[i].Ptr, wr.Local[i].Len)
		at = unsafe.Add(at, wr.Local[i].Len)
	}
	return nil, nil
}
