package rdmatest

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var nowChecks = []check{
	{"now/verbs", checkNowVerbs},
	{"now/in-order", checkNowInOrder},
	{"now/fails", checkNowFails},
	{"now/no-receive", checkNowNoReceive},
	{"now/full-and-closed", checkNowFull},
	{"now/polled-beside", checkNowPolled},
}

// direct is an [rdma.Direct] as an [rdma.Immediate].
type direct struct {
	rdma.Queue
	d rdma.Direct
}

func (q direct) PostNow(wr *rdma.WorkRequest) (result uint64, done bool, err error) {
	if result, done = q.d.Now(wr); !done {
		_, err = q.Post([]rdma.WorkRequest{*wr})
	}
	return result, done, err
}

// posting is a queue that ends nothing as it is posted, as a device's, as an [rdma.Immediate]: what must hold for who posts one
// request at a time holds then too.
type posting struct{ rdma.Queue }

func (q posting) PostNow(wr *rdma.WorkRequest) (result uint64, done bool, err error) {
	_, err = q.Post([]rdma.WorkRequest{*wr})
	return 0, false, err
}

// immediate is a side's queue as an [rdma.Immediate].
func (s *side) immediate() rdma.Immediate {
	s.t.Helper()
	if d, ok := s.q.(rdma.Direct); ok {
		return direct{s.q, d}
	}
	q, ok := s.q.(rdma.Immediate)
	if !ok && s.f.AtOnce {
		s.t.Fatal("the factory promises AtOnce, and the queue is no Immediate")
	}
	if !ok {
		return posting{s.q}
	}
	return q
}

// now posts a request that must be done well, and returns its result. It reports whether it was done at once.
func (s *side) now(wr rdma.WorkRequest) (result uint64, done bool) {
	s.t.Helper()
	result, done, err := s.immediate().PostNow(&wr)
	must(s.t, err)
	if !done {
		c := s.done(wr.ID)
		if c.Verb != wr.Verb {
			s.t.Fatalf("completed %s, want %v", text(c), wr.Verb)
		}
		return c.Result, false
	}
	var out [4]rdma.Completion
	if n := s.q.Poll(out[:]); n != 0 {
		s.t.Fatalf("%v was done at once, and there is %s", wr.Verb, text(out[0]))
	}
	return result, true
}

// checkNowVerbs does each verb at once, and looks at what it did.
func checkNowVerbs(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	a.do(good(a, b), flush(1)) // the key is known from now on
	fill(a.mem[:256], 3)
	add := word(rdma.VerbFetchAdd, 5, &b.memory, 512, 0, 5)
	for round := range 3 {
		b.receive(7, 4096, 64)
		b.receive(8, 4160, 64)
		for _, wr := range []rdma.WorkRequest{
			op(rdma.VerbWrite, 2, &a.memory, 0, 200, &b.memory, 0),
			op(rdma.VerbWrite, 3, &a.memory, 200, 8, &b.memory, 200),
			op(rdma.VerbRead, 4, &a.memory, 1024, 208, &b.memory, 0),
			flush(6),
			op(rdma.VerbWriteNotify, 7, &a.memory, 208, 48, &b.memory, 208),
			op(rdma.VerbSend, 8, &a.memory, 0, 40, &b.memory, 0),
		} {
			if _, done := a.now(wr); !done && f.AtOnce {
				t.Errorf("round %d: %v was not done at once", round, wr.Verb)
			}
		}
		if f.NoAtomics == "" {
			before, done := a.now(add)
			if want := uint64(5 * round); before != want || !done && f.AtOnce {
				t.Errorf("round %d: the word was %d, want %d; at once: %v", round, before, want, done)
			}
		}
		if c := b.done(7); c.Verb != rdma.VerbNotify || c.Bytes != 48 {
			t.Errorf("the peer got %s", text(c))
		}
		if c := b.done(8); c.Verb != rdma.VerbReceive || c.Bytes != 40 {
			t.Errorf("the peer got %s", text(c))
		}
		a.do(flush(9))
		if got, want := string(b.mem[:256]), string(a.mem[:256]); got != want {
			t.Error("what was written is not there")
		}
		if f.AtOnce && string(a.mem[1024:1232]) != string(a.mem[:208]) {
			t.Error("what was read is not there")
		}
	}
}

// checkNowInOrder has something outstanding: then nothing is done at once.
func checkNowInOrder(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	q := a.immediate()
	a.do(good(a, b))
	for id := uint64(0); id < 60; id += 3 {
		a.post(op(rdma.VerbWrite, id, &a.memory, 0, 8, &b.memory, 0))
		for i := range uint64(2) {
			wr := op(rdma.VerbWrite, id+1+i, &a.memory, 8, 8, &b.memory, 8)
			if _, done, err := q.PostNow(&wr); done || err != nil {
				t.Fatalf("at once although another completion is to come: %v, %v", done, err)
			}
		}
		for i := range uint64(3) {
			a.done(id + i)
		}
	}
}

// checkNowFails has a request fail: it completes, as if it had been posted.
func checkNowFails(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	q := a.immediate()
	a.do(good(a, b), flush(1))
	bad := op(rdma.VerbRead, 2, &a.memory, 0, 64, &b.memory, sideBytes-8)
	if _, done, err := q.PostNow(&bad); done || err != nil {
		t.Fatalf("a read beyond the end: done %v, %v", done, err)
	}
	c := a.next()
	if c.ID != 2 || !errors.Is(c.Err, &rdma.StatusError{Status: rdma.StatusRemoteRange}) {
		t.Fatalf("completed %s, want the range refused", text(c))
	}
	after := good(a, b)
	after.ID = 3
	if _, done, err := q.PostNow(&after); done || err != nil {
		t.Fatalf("after a failure: done %v, %v", done, err)
	}
	if c := a.next(); c.ID != 3 || c.Err == nil {
		t.Fatalf("completed %s, want it flushed", text(c))
	}
}

// checkNowNoReceive notifies a peer that has no receive yet.
func checkNowNoReceive(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	q := a.immediate()
	a.do(good(a, b))
	note := op(rdma.VerbWriteNotify, 1, &a.memory, 0, 8, &b.memory, 0)
	_, noted, err := q.PostNow(&note)
	if noted && !f.Eager || err != nil {
		t.Fatalf("a notification without a receive: done %v, %v", noted, err)
	}
	later := op(rdma.VerbWrite, 2, &a.memory, 0, 8, &b.memory, 0)
	_, written, err := q.PostNow(&later)
	if written && !noted || err != nil {
		t.Fatalf("a write behind one that waits: done %v, %v", written, err)
	}
	b.receive(9, 4096, 64)
	if !noted {
		a.done(1)
	}
	if !written {
		a.done(2)
	}
	a.do(flush(3))
	if c := b.done(9); c.Verb != rdma.VerbNotify {
		t.Errorf("the peer got %s", text(c))
	}
}

// checkNowFull posts into a full queue, and into a closed one.
func checkNowFull(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	q := a.immediate()
	room := a.ad.Limits().Depth
	for i := range room {
		a.post(op(rdma.VerbWrite, uint64(i), &a.memory, 0, 8, &b.memory, 0))
	}
	wr := good(a, b)
	if _, done, err := q.PostNow(&wr); done || err == nil {
		t.Errorf("a full queue took one more: done %v, %v", done, err)
	}
	for i := range room {
		a.done(uint64(i))
	}
	must(t, a.q.Close())
	if _, done, err := q.PostNow(&wr); done || err == nil {
		t.Errorf("a closed queue took one: done %v, %v", done, err)
	}
}

// checkNowPolled posts both ways while somebody polls: each request ends once, in order.
func checkNowPolled(t *testing.T, f *Factory) {
	a, b := connect(t, f)
	q := a.immediate()
	a.do(good(a, b))
	const n = 5000
	var polled atomic.Int64
	stop, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		last, out := int64(-1), make([]rdma.Completion, 4)
		for {
			k := a.q.Poll(out)
			for _, c := range out[:k] {
				if int64(c.ID) <= last || c.Err != nil {
					t.Errorf("after %d: %s", last, text(c))
				}
				last = int64(c.ID)
			}
			polled.Add(int64(k))
			select {
			case <-stop:
				return
			default:
			}
		}
	}()
	atOnce, limit := int64(0), time.Now().Add(patience)
	for id := int64(0); id < n && time.Now().Before(limit); {
		wr := op(rdma.VerbWrite, uint64(id), &a.memory, 0, 8, &b.memory, 0)
		if id%3 == 0 {
			if k, _ := a.q.Post([]rdma.WorkRequest{wr}); k == 1 {
				id++
			}
			continue
		}
		if _, done, err := q.PostNow(&wr); err == nil {
			id++
			if done {
				atOnce++
			}
		}
	}
	for polled.Load() < n-atOnce && time.Now().Before(limit) {
		time.Sleep(time.Millisecond)
	}
	close(stop)
	<-ended
	if got := polled.Load() + atOnce; got != n {
		t.Errorf("%d of %d ended: %d at once", got, n, atOnce)
	}
}
