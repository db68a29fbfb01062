package rdma

import (
	"errors"
	"testing"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// way is how a queue does a request as it is posted.
type way string

const (
	direct    way = "direct"    // a Direct
	immediate way = "immediate" // an Immediate
)

// atOnceQueue is a stub of what both ways share: now says what becomes of a request.
type atOnceQueue struct {
	stubQueue
	asked int
	now   func(*WorkRequest) (result uint64, done bool, err error)
}

func doesAll(*WorkRequest) (uint64, bool, error) { return 0, true, nil }

type directQueue struct{ *atOnceQueue }

func (q directQueue) Now(wr *WorkRequest) (result uint64, done bool) {
	q.asked++
	result, done, _ = q.now(wr)
	return result, done
}

type immediateQueue struct{ *atOnceQueue }

func (q immediateQueue) PostNow(wr *WorkRequest) (uint64, bool, error) {
	q.asked++
	result, done, err := q.now(wr)
	if !done && err == nil {
		q.wrs = append(q.wrs, *wr)
	}
	return result, done, err
}

type localLine = barewire.Region[line, barewire.CPU, barewire.Local]

// atOnceScene is a connection over a queue that does everything at once, and a region to write from.
func atOnceScene(t *testing.T, w way) (*atOnceQueue, *Conn, *localLine, *region.Handle) {
	t.Helper()
	q := &atOnceQueue{now: doesAll}
	var c *Conn
	if w == direct {
		c = stubConn(t, directQueue{q})
	} else {
		c = stubConn(t, immediateQueue{q})
	}
	r, h := stubRegion(t, c)
	return q, c, r, h
}

// eachWay runs a test with a queue of either way.
func eachWay(t *testing.T, run func(t *testing.T, q *atOnceQueue, c *Conn, r *localLine, h *region.Handle)) {
	for _, w := range []way{direct, immediate} {
		t.Run(string(w), func(t *testing.T) {
			q, c, r, h := atOnceScene(t, w)
			run(t, q, c, r, h)
		})
	}
}

func nowWrite(c *Conn, h *region.Handle) (Op, error) {
	return post(c, &request{verb: VerbWrite, h: h, gen: h.Gen(), bytes: 8, first: 8, key: 1}, nil)
}

// TestAtOnceEnds has an operation end as it is posted: nobody polls, and its region is free.
func TestAtOnceEnds(t *testing.T) {
	eachWay(t, func(t *testing.T, q *atOnceQueue, c *Conn, r *localLine, h *region.Handle) {
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
	})
}

// TestAtOnceTaken has a request taken, and not done: it ends by polling, and until then nothing ends at once.
func TestAtOnceTaken(t *testing.T) {
	eachWay(t, func(t *testing.T, q *atOnceQueue, c *Conn, r *localLine, h *region.Handle) {
		q.now = func(*WorkRequest) (uint64, bool, error) { return 0, false, nil }
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
	})
}

// TestAtOnceMessages has messages, and notifications that use up what the peer has, end by polling.
func TestAtOnceMessages(t *testing.T) {
	eachWay(t, func(t *testing.T, q *atOnceQueue, c *Conn, r *localLine, _ *region.Handle) {
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
	})
}

// TestNowRefused has a provider that takes nothing.
func TestNowRefused(t *testing.T) {
	q, c, r, h := atOnceScene(t, immediate)
	broken := errors.New("broken")
	q.now = func(*WorkRequest) (uint64, bool, error) { return 0, false, broken }
	if _, err := nowWrite(c, h); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if _, err := nowWrite(c, h); !errors.Is(err, ErrFlushed) || !errors.Is(err, broken) {
		t.Errorf("%v, want it flushed because of %v", err, broken)
	}
	if s := c.Stats(); s.InFlight != 0 {
		t.Errorf("%+v", s)
	}
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}

// TestNowChanged has a region change hands beneath an operation, which is a fault.
func TestNowChanged(t *testing.T) {
	q, c, r, h := atOnceScene(t, immediate)
	q.now = func(wr *WorkRequest) (uint64, bool, error) {
		c.record(wr.ID).gen++
		return 0, true, nil
	}
	if _, err := nowWrite(c, h); err != nil {
		t.Errorf("%v: it was posted", err)
	}
	if s := c.Stats(); s.Violations != 1 || !isProtocol(c.Err()) {
		t.Errorf("%+v, %v", s, c.Err())
	}
	if err := errors.Join(r.Close(), c.Close()); err != nil {
		t.Error(err)
	}
}
