package iwarp

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// inbox is what was posted for messages of the peer.
type inbox struct {
	ready   atomic.Int32  // completions that can be polled, to look at without the lock
	arrived chan struct{} // has room for one: a receive was posted, or the queue has ended

	mu     sync.Mutex
	ended  *rdma.StatusError
	closed bool
	out    int // receives taken and not polled
	posted ring[rdma.ReceiveRequest]
	done   ring[rdma.Completion]
	ours   cache
}

func (in *inbox) init(room int) {
	in.arrived = make(chan struct{}, 1)
	in.posted, in.done = newRing[rdma.ReceiveRequest](room), newRing[rdma.Completion](room)
}

// PostReceive takes all of rs or, with an error, none.
func (q *queue) PostReceive(rs []rdma.ReceiveRequest) error {
	hungry, err := q.box.post(q.dom, rs)
	if err != nil {
		return fmt.Errorf("iwarp: post %d receives for %s: %w", len(rs), q.s.peer, err)
	}
	if hungry {
		poke(q.box.arrived)
	}
	if q.box.ready.Load() != 0 {
		q.signal() // it has ended, and they with it
	}
	return nil
}

func (in *inbox) post(d *domain, rs []rdma.ReceiveRequest) (first bool, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	switch room := len(in.posted.buf) - in.out; {
	case in.closed:
		return false, errClosed
	case len(rs) > room:
		return false, fmt.Errorf("there is room for %d: poll completions before posting more", room)
	}
	for i := range rs {
		if r := in.ours.find(d, rs[i].Buf.Key); in.ended == nil && !r.covers(&rs[i].Buf) {
			return false, uncovered(r, &rs[i].Buf)
		}
	}
	first = in.posted.n == 0 && len(rs) > 0
	in.out += len(rs)
	for i := range rs {
		*in.posted.push() = rs[i]
	}
	if in.ended != nil {
		in.flush()
	}
	return first, nil
}

// first is the receive for the next message. It stays posted until complete.
func (in *inbox) first() (r rdma.ReceiveRequest, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.posted.n == 0 {
		return r, false
	}
	return *in.posted.first(), true
}

// complete ends the first posted receive.
func (in *inbox) complete(c *rdma.Completion) {
	in.mu.Lock()
	in.completeLocked(c)
	in.mu.Unlock()
}

func (in *inbox) completeLocked(c *rdma.Completion) {
	from, to := in.posted.pop(), in.done.push()
	*to = *c
	to.ID = from.ID
	*from = rdma.ReceiveRequest{} // no pointer is kept to what is its owner's again
	in.ready.Add(1)
}

// flush ends all posted receives. mu is held.
func (in *inbox) flush() {
	c := rdma.Completion{Verb: rdma.VerbReceive, Err: in.ended}
	for in.posted.n > 0 {
		in.completeLocked(&c)
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
