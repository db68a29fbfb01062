package soft

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

// invalidate ends the key of the peer that a message is to end, if it names one. Nothing is in progress with the
// key: only this queue may use it, and does one thing after the other. It stays registered: its owner deregisters it.
// mu is held.
func (q *queue) invalidate(wr *rdma.WorkRequest) *rdma.StatusError {
	if wr.Invalidate == 0 {
		return nil
	}
	r, serr := q.keyOfPeer(wr.Invalidate, wr.Epoch)
	if serr != nil {
		return serr
	}
	if r.scope == nil {
		return status(rdma.StatusRemoteRight, "the key %#x is for all connections of the peer's domain, so none of them may end it", uint32(wr.Invalidate))
	}
	r.given.Store(true)
	return nil
}
