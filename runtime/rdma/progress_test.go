package rdma

import (
	"testing"
	"time"
)

// TestProgressRests: while somebody waits for themselves the connection's own goroutine does nothing at all, and
// takes over some time after they have left.
func TestProgressRests(t *testing.T) {
	c := stubConn(t, &stubQueue{})
	c.park.role.Store(roleUser)
	c.workers.Go(c.progress)
	time.Sleep(10 * time.Millisecond)
	c.park.role.Store(roleFree) // and not handed over: it must not find out by itself
	time.Sleep(20 * time.Millisecond)
	if got := c.park.role.Load(); got != roleFree {
		t.Errorf("it looks, nobody has told it to: role %d", got)
	}
	c.park.handOver()
	for end := time.Now().Add(10 * time.Second); c.park.role.Load() != roleProgress; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not take over")
		}
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
