package receive

import (
	"sync"
	"testing"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// post posts receives with these IDs.
func post(q *Queue, ids ...uint64) error {
	q.Lock()
	defer q.Unlock()
	if err := q.Admit(len(ids)); err != nil {
		return err
	}
	var rs []rdma.ReceiveRequest
	for _, id := range ids {
		rs = append(rs, rdma.ReceiveRequest{ID: id})
	}
	q.Post(rs)
	return nil
}

// complete has a message of n bytes for the first receive, if there is one.
func complete(q *Queue, n int) bool {
	q.Lock()
	defer q.Unlock()
	if q.Posted() == 0 {
		return false
	}
	q.Complete(&rdma.Completion{Verb: rdma.VerbReceive, Bytes: n})
	return true
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// polled holds what Poll gives to IDs, which all failed with err or, with nil, did not.
func polled(t *testing.T, q *Queue, err error, ids ...uint64) {
	t.Helper()
	if q.Ready() != len(ids) {
		t.Errorf("%d are ready, want %d", q.Ready(), len(ids))
	}
	out := make([]rdma.Completion, len(ids)+1)
	if n := q.Poll(out); n != len(ids) {
		t.Fatalf("polled %d, want %d", n, len(ids))
	}
	for i, id := range ids {
		if out[i].ID != id || out[i].Err != err {
			t.Errorf("completion %d is %+v, want ID %d and error %v", i, out[i], id, err)
		}
	}
	if q.Ready() != 0 {
		t.Errorf("%d are ready, and all were polled", q.Ready())
	}
}

// TestRoom: what is posted takes room until it is polled, not until it completes.
func TestRoom(t *testing.T) {
	var q Queue
	q.Init(3)
	ok(t, post(&q, 1, 2))
	if post(&q, 3, 4) == nil {
		t.Fatal("four receives in a queue for three")
	}
	ok(t, post(&q, 3))
	if !complete(&q, 10) {
		t.Fatal("no receive for a message")
	}
	if post(&q, 4) == nil {
		t.Fatal("a receive in the place of one that was not polled")
	}
	polled(t, &q, nil, 1)
	ok(t, post(&q, 4))
	for complete(&q, 10) {
	}
	polled(t, &q, nil, 2, 3, 4)
}

// TestEnd: receives fail with the first reason, those too that are posted after it.
func TestEnd(t *testing.T) {
	var q Queue
	q.Init(4)
	first, second := &rdma.StatusError{Status: rdma.StatusFlushed}, &rdma.StatusError{Status: rdma.StatusPeerLost}
	ok(t, post(&q, 1, 2))
	complete(&q, 10)
	q.End(first)
	q.End(second)
	out := make([]rdma.Completion, 1)
	if q.Poll(out) != 1 || out[0].ID != 1 || out[0].Err != nil {
		t.Errorf("what was there before the end is %+v", out[0])
	}
	polled(t, &q, first, 2)
	ok(t, post(&q, 3))
	polled(t, &q, first, 3)
	if q.Lock(); !q.Over() {
		t.Error("it is not over")
	}
	q.Unlock()
}

// TestClose: a closed queue has nothing, takes nothing, and keeps no memory of its owner alive.
func TestClose(t *testing.T) {
	var q Queue
	q.Init(4)
	ok(t, post(&q, 1, 2))
	complete(&q, 10)
	q.Close()
	polled(t, &q, nil)
	if post(&q, 3) == nil {
		t.Error("a closed queue takes a receive")
	}
	if complete(&q, 10) {
		t.Error("a closed queue has a receive for a message")
	}
}

// TestForgets: a completed receive does not keep its buffer.
func TestForgets(t *testing.T) {
	var q Queue
	q.Init(1)
	q.Lock()
	defer q.Unlock()
	q.Post([]rdma.ReceiveRequest{{ID: 1, Buf: rdma.Segment{Ptr: unsafe.Pointer(new(int)), Len: 8}}})
	slot := q.First()
	q.Complete(&rdma.Completion{})
	if slot.Buf.Ptr != nil {
		t.Error("the buffer of a completed receive is held")
	}
}

// TestTwoSides posts and polls on one side and completes on the other. The race detector looks on.
func TestTwoSides(t *testing.T) {
	const n = 2000
	var q Queue
	q.Init(8)
	var peer sync.WaitGroup
	peer.Go(func() {
		for i := 0; i < n; {
			if complete(&q, i) {
				i++
			}
		}
	})
	defer peer.Wait()
	out := make([]rdma.Completion, 3)
	posted, got := uint64(0), uint64(0)
	for got < n {
		for posted < n && post(&q, posted) == nil {
			posted++
		}
		for _, c := range out[:q.Poll(out)] {
			if c.ID != got || c.Bytes != int(got) {
				t.Fatalf("completion %d is %+v", got, c)
			}
			got++
		}
	}
}
