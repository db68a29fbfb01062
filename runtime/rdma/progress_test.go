package rdma

import (
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestProgressRests: while somebody waits for themselves the connection's own goroutine does nothing at all, and
// takes over some time after they have left.
func TestProgressRests(t *testing.T) {
	c := stubConn(t, &stubQueue{})
	c.park.role.Store(roleUser)
	c.workers.Go(c.progress)
	for end := time.Now().Add(10 * time.Second); !progressRests(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it does not rest")
		}
	}
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

// progressRests reports whether a connection's goroutine sleeps until it is told that the role is free.
func progressRests() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	for stack := range strings.SplitSeq(string(stacks), "\n\n") {
		head, frames, _ := strings.Cut(stack, "\n")
		if strings.Contains(head, "[select") && strings.Contains(strings.SplitN(frames, "\n", 2)[0], ".(*Conn).progress(") {
			return true
		}
	}
	return false
}
