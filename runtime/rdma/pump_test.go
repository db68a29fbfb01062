package rdma

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// watchedQueue calls a function in each Post.
type watchedQueue struct {
	stubQueue
	post func()
}

func (q *watchedQueue) Post(wrs []WorkRequest) (int, error) {
	q.post()
	return q.stubQueue.Post(wrs)
}

// TestSayingIsUrgent: as long as a message of the connection's own is not sent, polling
// tries to send it. What is lacking may come at any time, also while somebody tries.
func TestSayingIsUrgent(t *testing.T) {
	q := &watchedQueue{post: func() {}}
	c := stubConn(t, q)
	posts := 0
	q.post = func() {
		posts++
		if !c.ctl.urgent.Load() {
			t.Error("while a message is being sent, polling does not look for one")
		}
	}
	c.tell(&ctl.Cancel{ID: 1})
	if posts != 1 || c.ctl.urgent.Load() {
		t.Errorf("%d messages are sent, more to send: %v", posts, c.ctl.urgent.Load())
	}

	// No credit: it stays urgent, until a poll after the peer gave some.
	allowed := c.credit.allowed.Load()
	c.credit.allowed.Store(c.credit.sent.Load())
	c.tell(&ctl.Cancel{ID: 2})
	if posts != 1 || !c.ctl.urgent.Load() {
		t.Errorf("without credit %d messages are sent, more to send: %v", posts, c.ctl.urgent.Load())
	}
	c.credit.allowed.Store(allowed)
	c.Poll()
	if posts != 2 || c.ctl.urgent.Load() {
		t.Errorf("after credit came %d messages are sent, more to send: %v", posts, c.ctl.urgent.Load())
	}
	for seq := range uint64(2) {
		q.push(Completion{ID: seq, Verb: VerbSend})
	}
	c.Poll()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
