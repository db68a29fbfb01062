package rdma

import "testing"

// abortedQueue counts its aborts.
type abortedQueue struct {
	stubQueue
	aborts int
}

// Abort ends what is outstanding.
func (q *abortedQueue) Abort(error) {
	q.aborts++
	q.push(Completion{ID: 0, Verb: VerbSend, Err: &StatusError{Status: StatusFlushed}})
}

// TestOrderlyClose closes a connection whose last message is done, which nobody has looked at: its peer is
// not told of an abort. One with something outstanding is aborted.
func TestOrderlyClose(t *testing.T) {
	for name, want := range map[string]int{"done": 0, "outstanding": 1} {
		q := &abortedQueue{}
		c := stubConn(t, q)
		if err := c.SendBytes(t.Context(), []byte("the last")); err != nil {
			t.Fatal(err)
		}
		if want == 0 {
			q.complete()
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if q.aborts != want {
			t.Errorf("%s: %d aborts, want %d", name, q.aborts, want)
		}
	}
}
