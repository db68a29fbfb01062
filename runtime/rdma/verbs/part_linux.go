//go:build amd64 || arm64

package verbs

import (
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// heardFailed is for the peer's word that its queue pair has failed.
func (q *queue) heardFailed(m *exchange.Failed) {
	c := q.lost("the peer: %s", m.Text)
	if id, found := q.sentAs(m.TooLong); found {
		c.late.Store(&rdma.StatusError{Status: rdma.StatusTooLong, Detail: "the peer's receive is shorter", ID: id})
	}
	if !q.framed {
		q.fail(c, "")
		return
	}
	q.parting.word.CompareAndSwap(nil, c)
	if q.parting.gone.Load() {
		q.part()
		return
	}
	time.AfterFunc(partPatience, q.part) // what comes before the end is not lost
}

// parting is how a connection of iWARP ends: on one connection of TCP, and by the peer's word, which says why, on another. Each waits
// a little for the other.
type parting struct {
	gone   atomic.Bool           // the connection has ended
	word   atomic.Pointer[cause] // what the peer said
	placed atomic.Uint64         // requests below it are done at the peer
}

// partPatience is how long that is.
const partPatience = 500 * time.Millisecond

// parted is for a connection of iWARP that has ended.
func (q *queue) parted(why error) {
	q.parting.gone.Store(true)
	q.examine()
	if q.parting.word.Load() != nil {
		q.part()
		return
	}
	time.AfterFunc(partPatience, func() {
		q.parting.word.CompareAndSwap(nil, q.lost("%v", why))
		q.part()
	})
}

// examine looks among what has completed for a message that was longer than its receive: no event says so, and the peer is to hear it.
func (q *queue) examine() {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	if q.closed.Load() || q.hw.gone.Load() || q.failed.Load() != nil {
		return
	}
	q.in.stash(q)
	for i := q.in.from; i < q.in.to; i++ {
		at := i * abi.WCSize
		if id := q.in.block.U64(at + abi.WCID); id&isReceive != 0 && q.in.block.U32(at+abi.WCStatus) == abi.WCLocLen {
			q.tooLong.Store(id&^isReceive + 1)
			q.fail(newCause(rdma.StatusFlushed, "the peer sent a message that is longer than its receive"), "its receive is shorter than the message")
			return
		}
	}
}

// part fails the queue because of what the peer said.
func (q *queue) part() {
	c := q.parting.word.Load()
	if q.failed.Load() != nil {
		return
	}
	if c.late.Load() == nil {
		c.late.Store(q.blame())
	}
	q.fail(c, "its connection has ended")
}

// blame is the error for a request that used a key which the peer has ended, nil if there is none: the peer's device has refused it then, and
// says so by the end of the connection alone.
func (q *queue) blame() *rdma.StatusError {
	q.postMu.Lock()
	defer q.postMu.Unlock()
	tail := q.tail.Load()
	for seq := max(q.parting.placed.Load(), tail-min(tail, uint64(len(q.sends)))); seq < tail; seq++ {
		r := &q.sends[seq&q.mask]
		if s := r.state.Load(); s != withDevice && s != early || r.at.key == 0 || r.verb == rdma.VerbSend || r.verb == rdma.VerbFlush {
			continue
		}
		if k := q.keys.known[keyName{r.at.key, r.at.epoch}]; k != nil && k.why != "" {
			return &rdma.StatusError{Status: rdma.StatusRemoteKey, Detail: k.why + ", and the connection with it", ID: r.id}
		}
	}
	return nil
}

// say has the first completion with an error say what the peer's word means for a request, of which the device says nothing. The poll lock is held.
func (q *queue) say(out []rdma.Completion) {
	c := q.failed.Load()
	if c == nil || c.late.Load() == nil {
		return
	}
	for i := range out {
		s, ok := out[i].Err.(*rdma.StatusError)
		if !ok || s.Status != rdma.StatusFlushed && s.Status != rdma.StatusPeerLost {
			continue
		}
		if e := c.late.Swap(nil); e != nil {
			e.Late = e.ID != out[i].ID || out[i].Verb == rdma.VerbReceive
			out[i].Err = e
		}
		return
	}
}

// hear waits a little for the peer's word on why the device flushes, unless this side is why, and fails the queue with it.
func (q *queue) hear() {
	for end := time.Now().Add(partPatience); q.failed.Load() == nil && time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		if e := q.blame(); e != nil {
			c := q.lost("the connection has ended")
			c.late.Store(e)
			q.parting.word.CompareAndSwap(nil, c)
		}
		if q.parting.word.Load() != nil {
			q.part()
			return
		}
	}
}
