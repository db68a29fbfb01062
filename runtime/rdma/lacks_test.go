package rdma

import (
	"errors"
	"strings"
	"testing"
)

// lackingQueue has a peer that does no atomics.
type lackingQueue struct{ stubQueue }

func (q *lackingQueue) Lacks(v Verb) string {
	if v.isAtomic() {
		return "the peer does no atomics"
	}
	return ""
}

// TestLacks has operations that the peer of a plain connection cannot do: they are refused, and the
// connection is as good as before.
func TestLacks(t *testing.T) {
	q := &lackingQueue{}
	c := stubConn(t, q)
	c.lacks = q
	_, err := post(c, &request{verb: VerbFetchAdd, key: 1, bytes: 8}, nil)
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "does no atomics") {
		t.Errorf("got %v, want it said that the peer does none", err)
	}
	if err := c.SendBytes(t.Context(), []byte("and now")); err != nil || c.Err() != nil {
		t.Errorf("after a refusal: %v, %v", err, c.Err())
	}
	q.complete()
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
