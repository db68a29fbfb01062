package rdma

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// TestDirectQuiet closes a region while an operation with it is being done at once: when Close returns that has ended, and none
// begins.
func TestDirectQuiet(t *testing.T) {
	q, c, r, h := atOnceScene(t, direct)
	var inside atomic.Int32
	began, goOn := make(chan bool), make(chan bool)
	first := true
	q.now = func(*WorkRequest) (uint64, bool, error) {
		inside.Add(1)
		if first {
			first = false
			began <- true
			<-goOn
		}
		inside.Add(-1)
		return 0, true, nil
	}
	gen := h.Gen()
	write := func() error {
		_, err := post(c, &request{verb: VerbWrite, h: h, gen: gen, bytes: 8, first: 8, key: 1}, nil)
		return err
	}
	if err := post1(c, h, q); err != nil { // so that the region is known
		t.Fatal(err)
	}
	posted := make(chan error)
	go func() { posted <- write() }()
	<-began
	closed := make(chan error)
	go func() {
		err := r.Close()
		if inside.Load() != 0 {
			t.Error("closed while an operation was being done")
		}
		closed <- err
	}()
	for h.Gen() == gen {
		time.Sleep(time.Millisecond)
	}
	select {
	case err := <-closed:
		t.Errorf("closed before the operation had ended: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(goOn)
	if err := errors.Join(<-posted, <-closed); err != nil {
		t.Error(err)
	}
	asked := q.asked
	if err := write(); !errors.Is(err, barewire.ErrReleased) || q.asked != asked {
		t.Errorf("a write from a region that was closed: %v; the queue was asked %d times", err, q.asked-asked)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// post1 is a write that ends at once, whatever the queue does else.
func post1(c *Conn, h *region.Handle, q *atOnceQueue) error {
	now := q.now
	q.now = doesAll
	_, err := nowWrite(c, h)
	q.now = now
	return err
}
