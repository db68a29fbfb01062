package iwarp

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// queue is one end of a connection. Requests are in a ring from when they are posted until their completions are
// polled. Whoever has something to send takes the sending role, if nobody has it, see send.go; one goroutine reads,
// see receive.go, and another one writes what cannot be written at once, and ends the connection, see end.go.
//
// Locks are taken in the order: mu, that of box, and then those of the domain.
type queue struct {
	dom           *domain
	s             *session
	link          link
	gate          gate          // who is at work on memory
	number, since uint64        // of the domain's queues, and of keys that had ended when it was made
	work          chan struct{} // has room for one: the writer has something to do
	wake          chan struct{} // has room for one: there may be something to poll

	turn    readTurn      // to read
	writing atomic.Bool   // the writer has the sending role
	sips    bool          // Poll reads, see spin.go
	sipping atomic.Bool   // and does so now: it takes what completes
	waiters atomic.Int32  // who waits for wake
	begun   atomic.Uint64 // requests whose turn has come
	written atomic.Uint64 // requests that TCP has all of

	mu       sync.Mutex
	ring     []entry           // as many as a power of two; nil while nothing was posted
	posted   uint64            // requests ever taken
	done     uint64            // of them, completed, in order
	polled   uint64            // of them, polled
	handed   uint64            // requests that were given to TCP
	acked    uint64            // what was sent before this one is in place at the peer
	presumed uint64            // presumed reads that were answered
	role     role              // who sends
	again    bool              // there may be more to send than whoever sends has seen
	taking   bool              // PostNow takes what completes: nobody is woken for it
	stuck    bool              // the next request waits for responses
	ended    *rdma.StatusError // not nil: what requests complete with from now on
	owed     *rdma.StatusError // what the next request completes with instead
	closed   bool
	flushed  bool          // it has ended, and what was outstanding too
	quiet    chan struct{} // closed then
	last     *parting      // what the peer is told when it has ended, if anything
	broken   error         // why nothing can be written any more
	threads  int           // goroutines of the queue that run

	out     outgoing       // of whoever has the role
	flight  flight         // of the presumed read, see presume.go
	in      incoming       // of the reader
	asks    pipe[uint64]   // requests that wait for a response: from who sends to the reader
	answers pipe[response] // what the peer waits for: from the reader to who sends
	box     inbox
}

var _ rdma.Immediate = (*queue)(nil)

// newQueue takes over the connection of a session. The queue's goroutines run from here on, until it has ended.
func (d *domain) newQueue(s *session) (*queue, error) {
	a := d.adapter
	q := &queue{
		dom: d, s: s,
		work: make(chan struct{}, 1), wake: make(chan struct{}, 1), quiet: make(chan struct{}),
		asks: newPipe[uint64](max(s.ord, 1)), answers: newPipe[response](max(s.ird, 1)),
		threads: 2,
	}
	if err := q.link.open(q); err != nil {
		return nil, fmt.Errorf("iwarp: the connection with %s: %w", s.peer, err)
	}
	q.box.init(a.receives)
	q.sips = a.mode != rdma.ByEvent && q.link.immediate()
	q.turn.init(q, a.mode == rdma.ByEvent && q.link.immediate())
	q.in.init(s, q.link.immediate())
	q.out.init(s, q.link.immediate())
	if err := d.admit(q); err != nil {
		return nil, err
	}
	go q.read()
	go q.write()
	if s.initiator {
		q.kick()
	}
	return q, nil
}

// Hello is what the peer said when it connected.
func (q *queue) Hello() []byte { return slices.Clone(q.s.hello) }

// Peer is the peer's address.
func (q *queue) Peer() string { return q.s.peer }

// Prepare looks at a key as far as this side can tell: that it goes with its epoch. The peer is not asked.
func (q *queue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error {
	fail := func(err error) error { return fmt.Errorf("iwarp: prepare a key of %s: %w", q.s.peer, err) }
	if err := ctx.Err(); err != nil {
		return fail(err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return fail(fmt.Errorf("the queue: %w", errClosed))
	case q.ended != nil:
		return fail(q.ended)
	}
	if serr := q.checkKey(key, epoch); serr != nil {
		return fail(serr)
	}
	return nil
}

// Poll takes completions. Where there are none and the program polls much, it reads by itself.
func (q *queue) Poll(out []rdma.Completion) (n int) {
	if n = q.collect(out); n == 0 && q.sips && q.sip() {
		if n = q.collect(out); n == len(out) {
			if some, _ := q.look(); some {
				q.signal()
			}
		}
	}
	return n
}

// collect takes completions of requests first, then those of receives.
func (q *queue) collect(out []rdma.Completion) (n int) {
	// Looked at first, and no more is taken: a failure ends the receives after the request that failed, and must
	// not be seen there first.
	ready := q.box.Ready()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return 0
	}
	for n < len(out) && q.polled < q.done {
		e := q.at(q.polled)
		q.polled++
		out[n] = rdma.Completion{ID: e.wr.ID, Verb: e.wr.Verb, Result: e.result, Err: asError(e.serr)}
		e.forget()
		n++
	}
	q.mu.Unlock()
	if ready > 0 && n < len(out) {
		n += q.box.Poll(out[n:min(len(out), n+ready)])
	}
	return n
}

// Wait returns nil when there is something to poll.
func (q *queue) Wait(ctx context.Context) error {
	q.waiters.Add(1) // before looking: whoever makes a completion looks at it after
	some, closed := q.look()
	for !some && !closed && ctx.Err() == nil && !q.lead(ctx) {
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
		if !q.turn.free() {
			break
		}
		some, closed = q.look()
	}
	if q.waiters.Add(-1) > 0 {
		poke(q.wake) // the others wait for the same
	}
	switch some, closed = q.look(); {
	case closed:
		return fmt.Errorf("iwarp: wait for %s: the queue: %w", q.s.peer, errClosed)
	case !some && ctx.Err() != nil:
		return ctx.Err()
	}
	return nil
}

// look says whether Poll has something.
func (q *queue) look() (some, closed bool) {
	q.mu.Lock()
	some, closed = q.polled < q.done, q.closed
	q.mu.Unlock()
	return some || q.box.Ready() != 0, closed
}

// signal wakes a waiter, which wakes the next.
func (q *queue) signal() {
	if q.waiters.Load() > 0 && !q.sipping.Load() {
		poke(q.wake)
		q.interrupt()
	}
}

// poke puts a token where there is room for one.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// enter begins work on memory of this side's, for a short time. Where it reports false the queue has ended.
// Either way leave follows.
func (q *queue) enter() bool { return q.gate.enter() }

// leave ends it. Who leaves last ends what is outstanding, if the queue has ended.
func (q *queue) leave() {
	if q.gate.leave() {
		q.mu.Lock()
		q.flush()
		q.mu.Unlock()
	}
}

// Lacks says why the queue cannot do a verb; empty: it can.
func (q *queue) Lacks(v rdma.Verb) string {
	switch {
	case !q.s.ours && (v == rdma.VerbWriteNotify || isAtomic(v)):
		return "the peer does not do RFC 7306: it has neither atomics nor notifications of writes"
	case q.s.ord == 0 && (v == rdma.VerbRead || v == rdma.VerbFlush || isAtomic(v)):
		return "the peer answers no reads"
	}
	return ""
}
