package rdma_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

// scene is a pair with a region on either side.
type scene struct {
	*pair
	target *barewire.Region[sample.Tick, barewire.CPU, barewire.RemoteReadWriteAtomic]
	local  *barewire.Region[sample.Tick, barewire.CPU, barewire.Local]
	rem    barewire.Remote[sample.Tick, barewire.RemoteReadWriteAtomic]
}

func newScene(t testing.TB, cfg rdma.Config) *scene {
	t.Helper()
	s := &scene{pair: connect(t, cfg, soft.Config{})}
	s.target = ticks(t, s.a.dom, 64, sample.TickRemoteReadWriteAtomic())
	s.local = ticks(t, s.b.dom, 64, sample.TickLocal())
	s.rem = share(t, &s.a, &s.b, "ticks", s.target, sample.TickRemoteReadWriteAtomic())
	return s
}

// write posts a write of one element.
func (s *scene) write(t testing.TB) rdma.Op {
	t.Helper()
	return must(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1)))(t)
}

// stall holds the next writes until the rule is released.
func (s *scene) stall() *soft.Rule {
	return s.fabric.Inject(soft.Fault{When: soft.When{At: soft.AtRequest, Verb: rdma.VerbWrite}, Do: soft.Stall()})
}

func TestQueueFull(t *testing.T) {
	s := newScene(t, rdma.Config{Depth: 4})
	ctx := limit(t)
	rule := s.stall()
	var ops []rdma.Op
	for range 4 {
		ops = append(ops, s.write(t))
	}
	_, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
	refused(t, err, rdma.ErrQueueFull, "4 operations are outstanding", "the oldest a write posted at rdma/fail_test.go:", "Depth")
	if err := s.local.Close(); !errors.Is(err, barewire.ErrInFlight) {
		t.Errorf("closing a region with operations in flight: %v", err)
	} else if !strings.Contains(err.Error(), "fail_test.go:") {
		t.Errorf("it does not say where they were posted: %v", err)
	}
	rule.Remove()
	for _, op := range ops {
		ok(t, op.Wait(ctx))
	}
	ok(t, s.b.conn.WaitRoom(ctx))
	ok(t, s.write(t).Wait(ctx))
	ok(t, s.local.Close())
}

// TestFailure is what everything says after an operation has failed.
func TestFailure(t *testing.T) {
	s := newScene(t, rdma.Config{})
	ctx := limit(t)
	rule := s.fabric.Inject(soft.Fault{When: soft.When{Verb: rdma.VerbRead}, Do: soft.Fail(rdma.StatusRemoteKey)})
	defer rule.Remove()
	first := s.write(t)
	bad := must(rdma.Read(s.b.conn, s.local.Span(1, 2), s.rem.Slice(3, 2)))(t)
	failed := bad.Wait(ctx)
	ok(t, first.Wait(ctx))

	var oe *rdma.OpError
	if !errors.As(failed, &oe) || oe.Op != "read" || oe.Bytes != 128 || oe.Seq == 0 {
		t.Fatalf("%#v", oe)
	}
	var se *rdma.StatusError
	if !errors.As(failed, &se) || se.Status != rdma.StatusRemoteKey {
		t.Errorf("the status is not in %v", failed)
	}
	for what, err := range map[string]error{
		"wait again": bad.Wait(ctx), "flush": s.b.conn.Flush(ctx), "fence": s.b.conn.Fence(), "room": s.b.conn.WaitRoom(ctx),
		"post": second(rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))),
		"send": s.b.conn.SendBytes(ctx, []byte("x")), "receive": second(s.b.conn.Receive(ctx, make([]byte, 10))),
		"notification": second(s.b.conn.NextNotification(ctx)), "err": s.b.conn.Err(),
		"offer": rdma.Offer(ctx, s.b.conn, "x", s.target), "import": second(rdma.Import(ctx, s.b.conn, "x", sample.TickRemoteRead())),
	} {
		if what == "offer" {
			is(t, err, rdma.ErrDomain)
			continue
		}
		var cause *rdma.OpError
		for e := err; e != nil; e = errors.Unwrap(e) {
			if x, ok := e.(*rdma.OpError); ok {
				cause = x
			}
		}
		if cause == nil || cause.Op != "read" || !strings.Contains(err.Error(), "fail_test.go:") {
			t.Errorf("%s does not name the read that failed: %v", what, err)
		}
		if what != "wait again" && what != "err" && !errors.Is(err, rdma.ErrFlushed) {
			t.Errorf("%s is not ErrFlushed: %v", what, err)
		}
	}
	ok(t, s.local.Close()) // nothing is in flight
	// The peer learns of it.
	_, err := s.a.conn.Receive(ctx, make([]byte, 10))
	is(t, err, rdma.ErrPeerLost)
}

func second[V any](_ V, err error) error { return err }

func TestWaitEndsEarly(t *testing.T) {
	s := newScene(t, rdma.Config{})
	rule := s.stall()
	op := s.write(t)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	err := op.Wait(ctx)
	is(t, err, context.DeadlineExceeded)
	says(t, err, "a write of ", "posted at rdma/fail_test.go:", "has not ended at "+s.b.conn.Peer())
	is(t, s.local.Close(), barewire.ErrInFlight) // still the device's
	if op.Done() {
		t.Error("it is stalled, and says that it is done")
	}
	rule.Remove()
	ok(t, op.Wait(limit(t)))
	ok(t, s.local.Close())
}

func TestOpTimeout(t *testing.T) {
	s := newScene(t, rdma.Config{OpTimeout: 200 * time.Millisecond})
	defer s.fabric.Inject(soft.Fault{When: soft.When{Verb: rdma.VerbWrite}, Do: soft.Drop()}).Remove()
	op := s.write(t)
	later := s.write(t)
	err := op.Wait(limit(t))
	is(t, err, rdma.ErrTimeout)
	if !strings.Contains(err.Error(), "fail_test.go:") {
		t.Errorf("it does not say where it was posted: %v", err)
	}
	is(t, later.Wait(limit(t)), rdma.ErrFlushed)
	ok(t, s.b.conn.Drain(limit(t)))
	ok(t, s.local.Close())
}

func TestAbort(t *testing.T) {
	s := newScene(t, rdma.Config{})
	s.stall()
	op := s.write(t)
	why := errors.New("enough")
	s.b.conn.Abort(why)
	err := op.Wait(limit(t))
	is(t, err, rdma.ErrAborted)
	is(t, err, why)
	is(t, err, rdma.ErrFlushed)
	ok(t, s.b.conn.Drain(limit(t)))
	ok(t, s.local.Close())
	_, err = s.a.conn.NextNotification(limit(t))
	is(t, err, rdma.ErrPeerLost)
}

// TestPeerKilled has a peer that ends in the midst of operations.
func TestPeerKilled(t *testing.T) {
	for _, verb := range []rdma.Verb{rdma.VerbWrite, rdma.VerbRead, rdma.VerbFetchAdd, rdma.VerbFlush} {
		s := newScene(t, rdma.Config{})
		ctx := limit(t)
		s.fabric.Inject(soft.Fault{When: soft.When{Verb: verb, Queue: nil, Times: 1}, Do: soft.Kill()})
		var errs []error
		w := s.write(t)
		errs = append(errs, w.Wait(ctx))
		if r, err := rdma.Read(s.b.conn, s.local.Span(0, 1), s.rem.Slice(0, 1)); err != nil {
			errs = append(errs, err)
		} else {
			errs = append(errs, r.Wait(ctx))
		}
		if a, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 0), 1); err != nil {
			errs = append(errs, err)
		} else {
			errs = append(errs, second(a.Wait(ctx)))
		}
		errs = append(errs, s.b.conn.Flush(ctx))
		is(t, errors.Join(errs...), rdma.ErrPeerLost)
		is(t, errs[len(errs)-1], rdma.ErrPeerLost)
		ok(t, s.local.Close())
	}
}

// TestWhichElements has errors that say which of the peer's elements an operation was for, as the
// program knows them.
func TestWhichElements(t *testing.T) {
	s := newScene(t, rdma.Config{Logger: quiet})
	ctx := limit(t)
	part := s.rem.Slice(4, 8)
	rule := s.fabric.Inject(soft.Fault{When: soft.When{Verb: rdma.VerbRead}, Do: soft.Fail(rdma.StatusRemoteKey)})
	defer rule.Remove()
	bad := must(rdma.Read(s.b.conn, s.local.Span(0, 2), part.Slice(2, 2)))(t)
	says(t, bad.Wait(ctx), `read of 128 bytes`, `and elements 6 to 7 of "ticks" (sample.Tick, remote_read|remote_write|remote_atomic) at `)
	_, err := rdma.FetchAdd(s.b.conn, sample.TickSeqOf(s.rem, 9), 1)
	says(t, err, `fetch-and-add of 8 bytes on bytes 0 to 7 of element 9 of "ticks" (sample.Tick, `, "not done: an earlier operation failed: read of 128 bytes", "elements 6 to 7")
	if n := strings.Count(err.Error(), " at "+s.b.conn.Peer()); n != 1 {
		t.Errorf("the peer is named %d times: %v", n, err)
	}
	_, err = rdma.Write(s.b.conn, part.Slice(1, 1), s.local.Span(0, 1))
	says(t, err, `and element 5 of "ticks" (sample.Tick, `)
}

// says fails the test unless an error's text has all parts.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("it does not say %q: %v", part, err)
		}
	}
}

// TestFlushWaitsForRoom flushes a queue that is full: that is one more operation, and waits as the rest of Flush does.
func TestFlushWaitsForRoom(t *testing.T) {
	s := newScene(t, rdma.Config{Depth: 4})
	rule := s.stall()
	for range 4 {
		s.write(t)
	}
	short, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if err := s.b.conn.Flush(short); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, rdma.ErrQueueFull) {
		t.Errorf("flushed while nothing goes on: %v", err)
	} else {
		says(t, err, "flush at ", "fail_test.go:")
	}
	rule.Remove()
	ok(t, s.b.conn.Flush(limit(t)))
}

// TestQueueFullOfOne: one is no plural.
func TestQueueFullOfOne(t *testing.T) {
	s := newScene(t, rdma.Config{Depth: 1})
	rule := s.stall()
	defer rule.Remove()
	s.write(t)
	_, err := rdma.Write(s.b.conn, s.rem.Slice(0, 1), s.local.Span(0, 1))
	refused(t, err, rdma.ErrQueueFull, "1 operation is outstanding")
}
