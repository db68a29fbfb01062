package rdma

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// directQueue is a stub that is Direct: now says what becomes of a request.
type directQueue struct {
	stubQueue
	asked int
	now   func(*WorkRequest) (result uint64, done bool)
}

func (q *directQueue) Now(wr *WorkRequest) (uint64, bool) {
	q.asked++
	return q.now(wr)
}

// directScene is a connection over a directQueue that does everything, and a region to write from.
func directScene(t *testing.T) (*directQueue, *Conn, *barewire.Region[line, barewire.CPU, barewire.Local], *region.Handle) {
	t.Helper()
	q := &directQueue{now: func(*WorkRequest) (uint64, bool) { return 0, true }}
	c := stubConn(t, q)
	r, h := stubRegion(t, c)
	return q, c, r, h
}

// TestDirectEnds has an operation end as it is posted: nobody polls, and its region is free.
func TestDirectEnds(t *testing.T) {
	q, c, r, h := directScene(t)
	for range 3 {
		op, err := nowWrite(c, h)
		if err != nil || !c.done(op.seq) || op.Wait(t.Context()) != nil {
			t.Fatalf("%v, done: %v", err, c.done(op.seq))
		}
	}
	if s := c.Stats(); q.asked != 3 || s.Completed != 3 || s.InFlight != 0 || s.Doorbells != 3 {
		t.Errorf("asked %d times; %+v", q.asked, s)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

// TestDirectTaken has a request taken, and not done: it ends by polling, and until then nothing ends at once.
func TestDirectTaken(t *testing.T) {
	q, c, r, h := directScene(t)
	q.now = func(*WorkRequest) (uint64, bool) { return 0, false }
	first, err := nowWrite(c, h)
	if err != nil || first.Done() {
		t.Fatalf("%v, or it is done", err)
	}
	second, err := nowWrite(c, h)
	if err != nil || q.asked != 1 {
		t.Fatalf("%v; the queue was asked %d times, want once", err, q.asked)
	}
	if err := r.Close(); !errors.Is(err, barewire.ErrInFlight) {
		t.Errorf("closed with operations in flight: %v", err)
	}
	q.complete()
	if !first.Done() || !second.Done() {
		t.Error("they have not ended")
	}
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// TestDirectQuiet closes a region while an operation with it is being done at once: when Close returns that has ended, and none
// begins.
func TestDirectQuiet(t *testing.T) {
	q, c, r, h := directScene(t)
	var inside atomic.Int32
	began, goOn := make(chan bool), make(chan bool)
	first := true
	q.now = func(*WorkRequest) (uint64, bool) {
		inside.Add(1)
		if first {
			first = false
			began <- true
			<-goOn
		}
		inside.Add(-1)
		return 0, true
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
func post1(c *Conn, h *region.Handle, q *directQueue) error {
	now := q.now
	q.now = func(*WorkRequest) (uint64, bool) { return 0, true }
	_, err := nowWrite(c, h)
	q.now = now
	return err
}

// TestDirectMessages has messages, and notifications that use up what the peer has, end by polling.
func TestDirectMessages(t *testing.T) {
	q, c, r, _ := directScene(t)
	if err := c.SendBytes(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if q.asked != 0 {
		t.Error("a message was to end at once")
	}
	q.complete()
	c.Poll()
	for range 40 {
		if _, err := post(c, &request{verb: VerbWriteNotify}, nil); err != nil {
			t.Fatal(err)
		}
	}
	if q.asked >= 33 || q.asked < 30 {
		t.Errorf("%d notifications ended at once, and half of 64 receives are too few for more than 32", q.asked)
	}
	q.complete()
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}
