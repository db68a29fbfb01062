package soft

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/receive"
)

// inbox is the receiving side of a queue: what the owner posted for messages of the peer.
type inbox struct {
	receive.Queue
	hungry bool // the peer's first request waits for a receive; under the lock
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
	in.Lock()
	defer in.Unlock()
	if err := in.Admit(len(rs)); err != nil {
		return false, err
	}
	in.Post(rs)
	hungry = in.hungry && in.Posted() > 0
	in.hungry = in.hungry && !hungry
	return hungry, nil
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
	in.Lock()
	defer in.Unlock()
	switch {
	case in.Over():
		return status(rdma.StatusPeerLost, "the peer's queue has ended")
	case in.Posted() == 0:
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
		serr, peers = q.intoReceive(wr, total, &in.First().Buf)
		c.Err = asError(peers)
	}
	in.Complete(&c)
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
	at := 0
	for i := range wr.Local[:wr.Segs] {
		words.Place(unsafe.Add(buf.Ptr, at), wr.Local[i].Ptr, wr.Local[i].Len)
		at += wr.Local[i].Len
	}
	return nil, nil
}
