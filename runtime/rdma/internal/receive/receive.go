// Package receive has the receive queue of providers in software: what one end of a connection posted for
// the peer's messages, and the completions of it until they are polled.
package receive

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ring"
)

// Queue is a receive queue. Who posts and who completes hold its lock around what belongs together; End, Close,
// Poll and Ready take what they need themselves.
type Queue struct {
	ready atomic.Int32 // completions that can be polled, to look at without the lock

	sync.Mutex
	ended  *rdma.StatusError
	closed bool
	out    int // receives taken and not polled
	posted ring.Ring[rdma.ReceiveRequest]
	done   ring.Ring[rdma.Completion]
}

var errClosed = errors.New("it is closed")

// Init gives it room for that many receives that were posted and not polled.
func (q *Queue) Init(room int) {
	q.posted, q.done = ring.New[rdma.ReceiveRequest](room), ring.New[rdma.Completion](room)
}

// Ready is how many completions can be polled.
func (q *Queue) Ready() int { return int(q.ready.Load()) }

// Admit says why n more receives cannot be posted, or nothing. The lock is held.
func (q *Queue) Admit(n int) error {
	switch room := q.posted.Size() - q.out; {
	case q.closed:
		return errClosed
	case n > room:
		return fmt.Errorf("there is room for %d: poll completions before posting more", room)
	}
	return nil
}

// Post adds receives that were admitted. After End they complete at once. The lock is held.
func (q *Queue) Post(rs []rdma.ReceiveRequest) {
	q.out += len(rs)
	for i := range rs {
		*q.posted.Push() = rs[i]
	}
	if q.ended != nil {
		q.flush()
	}
}

// Over reports whether it has ended or is closed. The lock is held.
func (q *Queue) Over() bool { return q.closed || q.ended != nil }

// Posted is how many receives wait for messages: none once it is over. The lock is held.
func (q *Queue) Posted() int { return q.posted.Len() }

// First is the receive for the next message, which exists. It stays posted until Complete. The lock is held.
func (q *Queue) First() *rdma.ReceiveRequest { return q.posted.First() }

// Complete ends the first receive, which exists, with c and its own ID. The lock is held.
func (q *Queue) Complete(c *rdma.Completion) {
	from, to := q.posted.Pop(), q.done.Push()
	*to = *c
	to.ID = from.ID
	*from = rdma.ReceiveRequest{} // no pointer is kept to what is its owner's again
	q.ready.Add(1)
}

// flush ends all posted receives. The lock is held.
func (q *Queue) flush() {
	c := rdma.Completion{Verb: rdma.VerbReceive, Err: q.ended}
	for q.posted.Len() > 0 {
		q.Complete(&c)
	}
}

// End fails what is posted and what will be. Only the first reason counts.
func (q *Queue) End(serr *rdma.StatusError) {
	q.Lock()
	defer q.Unlock()
	if q.ended == nil {
		q.ended = serr
	}
	q.flush()
}

// Close takes everything away, unpolled completions too, and lets nothing more in.
func (q *Queue) Close() {
	q.Lock()
	defer q.Unlock()
	q.closed = true
	q.posted.Clear()
	q.done.Clear()
	q.ready.Store(0)
}

// Poll takes as many completions as fit in out, and returns how many.
func (q *Queue) Poll(out []rdma.Completion) (n int) {
	q.Lock()
	defer q.Unlock()
	for n < len(out) && q.done.Len() > 0 {
		out[n] = *q.done.Pop()
		n++
	}
	q.out -= n
	q.ready.Add(int32(-n))
	return n
}
