package iwarp

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestStalledPeer posts more than the socket takes to a peer that reads nothing, and ends the queue in each way. It must
// end at once, with all that was posted, and leave nothing behind.
func TestStalledPeer(t *testing.T) {
	for _, name := range []string{"tcp, large", "tcp, large, sums", "tcp, polled", "pipe, tiny, sums"} {
		for way, end := range map[string]func(a *end){
			"abort":  func(a *end) { a.q.Abort(errors.New("enough")) },
			"close":  func(a *end) { _ = a.q.Close() },
			"domain": func(a *end) { _ = a.dom.Close() },
		} {
			t.Run(name+"/"+way, func(t *testing.T) {
				r := &relay{harm: damage{kind: "stall", forward: true, after: 100}}
				s := shapes[name]
				s.pipe, s.conns = false, r.between(t)
				a, b := connectEnds(t, s)
				defer r.end()
				for id := range uint64(40) {
					a.post(a.request(rdma.VerbWrite, id, 0, endBytes, b, 0))
				}
				time.Sleep(10 * time.Millisecond)
				start := time.Now()
				end(a)
				if d := time.Since(start); d > 10*time.Second { // the stall would last half a minute
					t.Errorf("it took %v", d)
				}
				if way != "abort" {
					if n := a.q.Poll(make([]rdma.Completion, 50)); n != 0 {
						t.Errorf("%d completions of a queue that is closed", n)
					}
					return
				}
				failed := false
				for id := range uint64(40) {
					c := a.next()
					if c.ID != id || failed && c.Err == nil {
						t.Fatalf("completed %+v, want ID %d", c, id)
					}
					failed = c.Err != nil
				}
				if !failed {
					t.Error("40 MiB were handed over to nobody")
				}
			})
		}
	}
}

// TestDeregisterWhileStalled deregisters what a peer reads, and what is written from, while nothing moves: it must not
// have to wait, and the connection ends.
func TestDeregisterWhileStalled(t *testing.T) {
	for _, name := range []string{"tcp, large", "tcp, large, sums"} {
		t.Run(name, func(t *testing.T) {
			r := &relay{harm: damage{kind: "stall", forward: false, after: 100}}
			s := shapes[name]
			s.conns = r.between(t)
			a, b := connectEnds(t, s)
			defer r.end()
			for id := range uint64(16) {
				a.post(a.request(rdma.VerbRead, id, 0, endBytes, b, 0))
			}
			time.Sleep(10 * time.Millisecond)
			start := time.Now()
			if err := b.dom.Deregister(never, b.keys); err != nil {
				t.Error(err)
			}
			if d := time.Since(start); d > 10*time.Second { // as above
				t.Errorf("it took %v", d)
			}
		})
	}
}

// TestNobodyReceives sends to a side that posts no receive: its reader waits, and then both ends are told why.
func TestNobodyReceives(t *testing.T) {
	a, b := connectEnds(t, shapes["tcp, sums"])
	a.post(a.request(rdma.VerbSend, 1, 0, 100, b, 0), flushOf(2))
	a.done(1)
	var serr *rdma.StatusError
	if c := a.next(); c.ID != 2 || !errors.As(c.Err, &serr) || serr.Status != rdma.StatusNotReady || !serr.Late || serr.ID != 1 {
		t.Errorf("completed %+v", c)
	}
	b.post(flushOf(1))
	if c := b.next(); statusAs(c.Err) != rdma.StatusFlushed {
		t.Errorf("the other side completed %+v", c)
	}
	if !bytes.Equal(b.mem, make([]byte, endBytes)) {
		t.Error("the message is somewhere")
	}
}

// TestBothHungry has both sides send to each other without receives, and a request for the other in flight.
func TestBothHungry(t *testing.T) {
	defer LongWaits(patience)()
	a, b := connectEnds(t, shapes["tcp, sums"])
	for _, d := range []struct{ from, to *end }{{a, b}, {b, a}} {
		d.from.post(d.from.request(rdma.VerbSend, 1, 0, 100, d.to, 0), d.from.request(rdma.VerbRead, 2, 0, 100, d.to, 0))
	}
	time.Sleep(10 * time.Millisecond)
	a.receive(10, 1024, 128)
	b.receive(10, 1024, 128)
	for _, e := range []*end{a, b} {
		got := 0
		for range 3 {
			if c := e.next(); c.Err != nil {
				t.Errorf("%s: completed %+v", e.name, c)
			} else if c.ID == 10 {
				got = c.Bytes
			}
		}
		if got != 100 {
			t.Errorf("%s: received %d bytes", e.name, got)
		}
	}
}
