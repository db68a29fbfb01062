package rdmatest

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var queueChecks = []check{
	{"depth", checkDepth},
	{"nothing-posted", checkNothing},
	{"abort", checkAbort},
	{"close", checkClose},
	{"peer-ends", checkPeerEnds},
	{"domain-ends", checkDomainEnds},
	{"ends-in-traffic", checkEndsInTraffic},
}

// checkDepth fills a queue, alone and in batches, and wants no more taken than there is room for.
func checkDepth(t *testing.T, f *Factory) {
	for _, depth := range []int{1, 2, 64} {
		cfg := config()
		cfg.Depth = depth
		a, b := connectWith(t, f, cfg)
		room := a.ad.Limits().Depth
		wrs := make([]rdma.WorkRequest, room+5)
		for i := range wrs {
			wrs[i] = op(rdma.VerbWrite, uint64(i), &a.memory, 0, 8, &b.memory, i*8)
		}
		for round := range 3 {
			n, err := a.q.Post(wrs)
			if n != room || err == nil {
				t.Fatalf("depth %d, round %d: took %d of %d, %v", room, round, n, len(wrs), err)
			}
			if n, err := a.q.Post(wrs[:1]); n != 0 || err == nil {
				t.Fatalf("depth %d: a full queue took one more: %v", room, err)
			}
			a.done(0)
			if n, err := a.q.Post(wrs[room : room+3]); n != 1 || err == nil {
				t.Fatalf("depth %d: with room for one, took %d: %v", room, n, err)
			}
			for i := 1; i <= room; i++ {
				a.done(uint64(i))
			}
		}
		if c, err := take(a.q, 5*time.Millisecond); err == nil && a.q.Poll([]rdma.Completion{c}) != 0 {
			t.Errorf("depth %d: one completion too many: %s", room, text(c))
		}
	}
}

// checkNothing posts, and polls for, nothing.
func checkNothing(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	if n, err := a.q.Post(nil); n != 0 || err != nil {
		t.Errorf("posting nothing: %d, %v", n, err)
	}
	if err := a.q.PostReceive(nil); err != nil {
		t.Errorf("posting no receives: %v", err)
	}
	if n := a.q.Poll(nil); n != 0 {
		t.Errorf("polling into nothing gave %d", n)
	}
	a.post(good(a, b))
	if n := a.q.Poll(nil); n != 0 {
		t.Errorf("polling into nothing gave %d", n)
	}
	a.done(0)
	if n := a.q.Poll(make([]rdma.Completion, 4)); n != 0 {
		t.Errorf("polling an empty queue gave %d", n)
	}
}

// outstanding gives a side requests and receives that cannot complete by themselves, but for the
// requests that may be early: the last is none. It returns how many.
func (s *side) outstanding(peer *side) (requests, receives int) {
	s.t.Helper()
	s.receive(100, 0, 64)
	s.receive(101, 64, 64)
	s.post(op(rdma.VerbSend, 1, &s.memory, 0, 8, &peer.memory, 0), // no receive is posted for it
		op(rdma.VerbWrite, 2, &s.memory, 0, 8, &peer.memory, 0), flush(3))
	return 3, 2
}

// mustFlush wants all that is outstanding to end with an error, once each and in order. Early requests before the
// first that fails may have been done.
func (s *side) mustFlush(requests, receives int) {
	s.t.Helper()
	nextRequest, nextReceive, failed := uint64(1), uint64(100), false
	for range requests + receives {
		c := s.next()
		next := &nextRequest
		if c.ID >= 100 {
			next = &nextReceive
		}
		if c.Err == nil && c.ID == *next && !failed && s.f.early(c.Verb) {
			*next++
			continue
		}
		failed = failed || c.ID < 100
		if c.ID != *next || !ended(c.Err) || c.Err.Error() == "" {
			s.t.Fatalf("%s: completed %s, want ID %d flushed", s.name, text(c), *next)
		}
		*next++
	}
	if nextRequest != uint64(1+requests) {
		s.t.Errorf("%s: the request %d did not complete", s.name, nextRequest)
	}
	// What is posted later ends too.
	s.receive(200, 0, 64)
	s.post(flush(201))
	for range 2 {
		if c := s.next(); !ended(c.Err) {
			s.t.Errorf("%s: completed %s after the end, want it flushed", s.name, text(c))
		}
	}
	if n := s.q.Poll(make([]rdma.Completion, 4)); n != 0 {
		s.t.Errorf("%s: %d completions too many", s.name, n)
	}
}

// checkAbort aborts a queue with work outstanding on both sides.
func checkAbort(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	a.do(good(a, b))
	reqs, recs := a.outstanding(b)
	a.q.Abort(errors.New("enough of this"))
	a.q.Abort(errors.New("again"))
	a.mustFlush(reqs, recs)
	b.mustEnd()
	a.post(flush(300))
	if c := a.next(); c.Err == nil || !strings.Contains(c.Err.Error(), "enough of this") {
		t.Errorf("what is posted after an abort completes with %v, want its cause", c.Err)
	}
}

// checkClose closes queues in each state, twice, and uses them afterwards.
func checkClose(t *testing.T, f *Factory) {
	for name, prepare := range map[string]func(a, b *side){
		"idle":        func(a, b *side) {},
		"used":        func(a, b *side) { a.do(good(a, b)) },
		"unpolled":    func(a, b *side) { a.post(good(a, b), flush(1)) },
		"outstanding": func(a, b *side) { a.outstanding(b) },
		"aborted":     func(a, b *side) { a.outstanding(b); a.q.Abort(nil) },
		"failed": func(a, b *side) {
			a.post(f.or(word(rdma.VerbFetchAdd, 1, &b.memory, 1, 0, 0), rdma.WorkRequest{ID: 1}))
		},
		"peer-closed": func(a, b *side) { a.outstanding(b); must(b.t, b.q.Close()) },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := connect(t, f)
			prepare(a, b)
			must(t, a.q.Close())
			must(t, a.q.Close())
			if n := a.q.Poll(make([]rdma.Completion, 10)); n != 0 {
				t.Errorf("a closed queue gave %d completions", n)
			}
			if n, err := a.q.Post([]rdma.WorkRequest{good(a, b)}); n != 0 || err == nil {
				t.Errorf("a closed queue took %d requests: %v", n, err)
			}
			if err := a.q.PostReceive([]rdma.ReceiveRequest{{Buf: a.seg(0, 8)}}); err == nil {
				t.Error("a closed queue took a receive")
			}
			if err := a.q.Wait(ctx(t)); err == nil {
				t.Error("waiting for a closed queue succeeded")
			}
			a.q.Abort(errors.New("too late"))
			if name != "peer-closed" {
				b.mustEnd()
			}
		})
	}
}

// checkPeerEnds closes a queue, and wants the peer's work to end. What had arrived before must not be lost.
func checkPeerEnds(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	reqs, recs := a.outstanding(b)
	must(t, b.q.Close())
	a.mustFlush(reqs, recs)

	a, b = connect(t, f)
	a.receive(100, 0, 64)
	a.receive(101, 64, 64)
	b.do(op(rdma.VerbSend, 1, &b.memory, 0, 8, &a.memory, 0))
	must(t, b.q.Close())
	if c := a.done(100); c.Bytes != 8 {
		t.Errorf("received %s", text(c))
	}
	if c := a.next(); c.ID != 101 || !ended(c.Err) {
		t.Errorf("received %s, want it flushed", text(c))
	}
}

// checkDomainEnds closes a domain, and an adapter, under a connection.
func checkDomainEnds(t *testing.T, f *Factory) {
	for name, end := range map[string]func(s *side) error{
		"domain":  func(s *side) error { return s.dom.Close() },
		"adapter": func(s *side) error { return s.ad.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := connect(t, f)
			extra := b.register(4096, every)
			reqs, recs := a.outstanding(b)
			must(t, end(b))
			a.mustFlush(reqs, recs)
			must(t, end(b)) // a second time
			if n := b.q.Poll(make([]rdma.Completion, 10)); n != 0 {
				t.Errorf("the queue of a closed %s gave %d completions", name, n)
			}
			if _, err := b.dom.Register(b.m, every, nil); err == nil {
				t.Errorf("a closed %s registered memory", name)
			}
			if _, err := b.dom.Listen(ctx(t), f.address(t)); err == nil {
				t.Errorf("a closed %s listens", name)
			}
			if _, err := b.dom.Dial(ctx(t), "somewhere", nil); err == nil {
				t.Errorf("a closed %s dials", name)
			}
			must(t, b.dom.Deregister(ctx(t), extra.keys)) // the owner of memory may come later
		})
	}
}

// checkEndsInTraffic ends a connection from another goroutine while it is used, in each way there
// is, and counts: each request that was taken completes once, unless its queue was closed.
func checkEndsInTraffic(t *testing.T, f *Factory) {
	ways := map[string]func(a, b *side){
		"abort":       func(a, b *side) { a.q.Abort(errors.New("enough")) },
		"peer-abort":  func(a, b *side) { b.q.Abort(errors.New("enough")) },
		"peer-close":  func(a, b *side) { must(t, b.q.Close()) },
		"peer-domain": func(a, b *side) { must(t, b.dom.Close()) },
		"close":       func(a, b *side) { must(t, a.q.Close()) },
	}
	for name, end := range ways {
		t.Run(name, func(t *testing.T) {
			for round := range 8 {
				a, b := connect(t, f)
				var wg sync.WaitGroup
				wg.Add(1)
				go func() {
					defer wg.Done()
					hammer(t, a, b, name == "close")
				}()
				time.Sleep(time.Duration(round*round) * 50 * time.Microsecond)
				end(a, b)
				wg.Wait()
			}
		})
	}
}

// hammer posts and polls until the queue has failed or, if it may be, is closed. It counts completions.
func hammer(t *testing.T, a, b *side, closes bool) {
	posted, polled := uint64(0), uint64(0)
	failed := false
	out := make([]rdma.Completion, 7)
	deadline := time.Now().Add(patience)
	for !failed || polled < posted {
		if !failed && posted-polled < 32 {
			batch := []rdma.WorkRequest{
				op(rdma.VerbWrite, posted, &a.memory, 0, 100, &b.memory, 0),
				op(rdma.VerbRead, posted+1, &a.memory, 8192, 100, &b.memory, 16384),
				a.f.or(word(rdma.VerbFetchAdd, posted+2, &b.memory, 32768, 0, 1), flush(posted+2)),
				flush(posted + 3),
			}
			n, err := a.q.Post(batch)
			posted += uint64(n)
			if n < len(batch) {
				if !closes {
					t.Errorf("took %d of %d: %v", n, len(batch), err)
				}
				return
			}
		}
		n := a.q.Poll(out)
		for _, c := range out[:n] {
			if c.ID != polled {
				t.Errorf("completed %s, want ID %d", text(c), polled)
				return
			}
			if failed && c.Err == nil {
				t.Errorf("completed %s after one had failed", text(c))
			}
			failed = failed || c.Err != nil
			polled++
		}
		if n == 0 && closes && a.q.PostReceive(nil) != nil {
			return // it was closed with all requests outstanding: none of them completes any more
		}
		if n == 0 && time.Now().After(deadline) {
			t.Errorf("%d of %d requests completed, then nothing", polled, posted)
			return
		}
	}
	if n := a.q.Poll(out); n != 0 {
		t.Errorf("%d completions too many, the first is %s", n, text(out[0]))
	}
}
