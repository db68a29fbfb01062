package iwarp

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/receive"
)

// inbox is what was posted for messages of the peer.
type inbox struct {
	receive.Queue
	arrived chan struct{} // has room for one: a receive was posted, or the queue has ended
	ours    cache         // under the lock
}

func (in *inbox) init(room int) {
	in.Init(room)
	in.arrived = make(chan struct{}, 1)
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
	if q.box.Ready() != 0 {
		q.signal() // it has ended, and they with it
	}
	return nil
}

func (in *inbox) post(d *domain, rs []rdma.ReceiveRequest) (first bool, err error) {
	in.Lock()
	defer in.Unlock()
	if err := in.Admit(len(rs)); err != nil {
		return false, err
	}
	for i := range rs {
		if r := in.ours.find(d, rs[i].Buf.Key); !in.Over() && !r.covers(&rs[i].Buf) {
			return false, uncovered(r, &rs[i].Buf)
		}
	}
	first = in.Posted() == 0 && len(rs) > 0
	in.Post(rs)
	return first, nil
}

// first is the receive for the next message. It stays posted until complete.
func (in *inbox) first() (r rdma.ReceiveRequest, ok bool) {
	in.Lock()
	defer in.Unlock()
	if in.Posted() == 0 {
		return r, false
	}
	return *in.First(), true
}

// complete ends the first posted receive.
func (in *inbox) complete(c *rdma.Completion) {
	in.Lock()
	in.Complete(c)
	in.Unlock()
}
