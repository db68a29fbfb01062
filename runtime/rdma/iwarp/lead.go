package iwarp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/heed"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"
)

// Who sleeps in Wait reads from TCP, in place of the queue's reader: what comes is done by the goroutine that wants it,
// without a hop from one to the other. It is the waiter then. At any time it is the turn of one of three to read, and
// turns change so:
//
//	reader  -> neither  the reader does so, when somebody waited each time something came of late
//	neither -> waiter   who begins to wait
//	waiter  -> neither  who has waited, with nothing left to do
//	waiter  -> reader   the same, where what is left to do may take long, or the queue has ended, or cannot write
//	neither -> reader   the sentry, when something comes, or the end of the queue, or of writing
//
// So that nothing is lost:
//   - The sentry is told to look after the turn is neither's, and what is there then counts. Only the waiter tells it not
//     to. A report of the sentry's that finds the turn another's is dropped.
//   - The waiter says that it reads before it looks the last time whether there is something to poll, and whoever
//     completes something does so before asking whether a waiter reads. If so it interrupts it, by a deadline that is past.
//   - Deadlines for reading are set here only, under mu, so that none in the past is left over.
//
// In the modes in which Poll reads (spin.go) waiters do not.

// readTurn says whose turn it is to read.
type readTurn struct {
	leads  bool          // waiters read at all
	reads  atomic.Bool   // a waiter does
	resume chan struct{} // has room for one: it is the reader's turn again
	beside int           // so many times in a row something came while somebody waited; the reader's

	mu          sync.Mutex // the innermost of the queue's
	whose       whose
	over        bool      // the queue has ended, or writes no more: it is the reader's turn for good
	interrupted bool      // the waiter's deadline is past
	until       time.Time // what the deadline is else

	// The waiter's.
	ctx      context.Context
	contexts heed.Contexts
	wake     func() // when one of them ends
	told     bool   // the sentry does not look
	back     bool   // the reader is next
}

type whose uint8

const (
	ofReader whose = iota
	ofNeither
	ofWaiter
)

// unfinished is what a waiter leaves to the reader. The reader's lock guards it.
type unfinished struct {
	v     verdict
	fault *fpdu.Fault
	err   error // of the connection
}

const (
	besideToYield = 4    // so many times something came while somebody waited: then the reader yields
	rareYields    = 1000 // and that often when it could not
	readsBeyond   = 16   // a waiter reads so often at most when it has what it waits for, and there is more
)

func (t *readTurn) init(q *queue, leads bool) {
	t.leads = leads
	t.resume = make(chan struct{}, 1)
	t.wake = q.interrupt
}

// lead reads until there is something to poll, ctx ends, or the queue. It reports false where that is another's turn. While
// the writer is at work it does not begin: each request that ends then would interrupt it.
func (q *queue) lead(ctx context.Context) bool {
	t := &q.turn
	if q.writing.Load() || !t.take() {
		return false
	}
	t.ctx, t.told, t.back = ctx, false, false
	t.contexts.Heed(ctx, t.wake)
	t.reads.Store(true)
	for {
		err := q.link.lead()
		if err == nil {
			return true
		}
		if !q.wasInterrupted() {
			q.in.mu.Lock()
			q.in.rest.err = err
			q.in.mu.Unlock()
			t.back = true
		} else if !q.served() {
			continue
		}
		q.link.giveUp()
		return true
	}
}

// take makes neither's turn the waiter's.
func (t *readTurn) take() bool {
	if !t.leads {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whose != ofNeither || t.over {
		return false
	}
	t.whose = ofWaiter
	return true
}

// free reports whether it is neither's turn.
func (t *readTurn) free() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.whose == ofNeither
}

// served reports whether the waiter has what it waits for, or does not wait any more.
func (q *queue) served() bool {
	some, closed := q.look()
	if some || closed || q.turn.ctx.Err() != nil {
		return true
	}
	q.turn.mu.Lock()
	defer q.turn.mu.Unlock()
	return q.turn.over
}

// giveUp ends the waiter's turn. The descriptor is open, unless the reader is next.
func (q *queue) giveUp(fd uintptr) {
	t := &q.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ctx = nil
	t.contexts.Rest()
	t.reads.Store(false)
	if t.interrupted {
		t.interrupted = false
		q.setReadDeadline(t.until)
	}
	if t.over {
		t.contexts.End()
	}
	if t.back || t.over || !q.makeNeithers(fd) {
		t.whose = ofReader
		poke(t.resume)
	}
}

// yields makes the reader's turn neither's, where that is of use. It is called when something came, and is done.
func (q *queue) yields(fd uintptr) bool {
	t := &q.turn
	if !t.leads {
		return false
	}
	if q.waiters.Load() == 0 || q.writing.Load() {
		t.beside = 0
		return false
	}
	if t.beside++; t.beside < besideToYield {
		return false
	}
	t.beside = 0
	if !q.link.enlist(fd) {
		t.beside = -rareYields
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.over {
		return false
	}
	if !q.makeNeithers(fd) {
		return false
	}
	poke(q.wake) // for somebody who waits to take it
	return true
}

// makeNeithers makes the turn neither's. Where the sentry cannot look it is the reader's. mu is held.
func (q *queue) makeNeithers(fd uintptr) bool {
	t := &q.turn
	t.whose = ofNeither
	if !q.link.watch(fd) {
		t.whose = ofReader
		return false
	}
	return true
}

// called is the sentry's report that something came.
func (t *readTurn) called() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.whose == ofNeither {
		t.whose = ofReader
		poke(t.resume)
	}
}

// doForWaiter does what came. The reader's lock is held.
func (q *queue) doForWaiter() {
	q.sipping.Store(true) // it looks itself what completes
	v, fault := q.digest()
	q.sipping.Store(false)
	if v == hungry || fault != nil {
		q.in.rest.v, q.in.rest.fault = v, fault
		q.turn.back = true
		return
	}
	q.conclude(v, nil)
}

// resumed waits until it is the reader's turn again, and does what a waiter has left. It reports whether there is more to
// read.
func (q *queue) resumed() bool {
	<-q.turn.resume
	in := &q.in
	in.mu.Lock()
	defer in.mu.Unlock()
	left := in.rest
	in.rest = unfinished{}
	if left.err != nil {
		q.fails(left.err)
		return false
	}
	return q.conclude(left.v, left.fault)
}

// interrupt has a waiter that reads look whether it has what it waits for.
func (q *queue) interrupt() {
	t := &q.turn
	if !t.reads.Load() {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	q.interruptLocked()
}

func (q *queue) interruptLocked() {
	if t := &q.turn; t.whose == ofWaiter && !t.interrupted {
		t.interrupted = true
		q.setReadDeadline(past)
	}
}

// wasInterrupted reports whether the waiter was, and lets it read again.
func (q *queue) wasInterrupted() bool {
	t := &q.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.interrupted {
		return false
	}
	t.interrupted = false
	q.setReadDeadline(t.until)
	return true
}

// lastTurn makes it the reader's turn for good, until a time. The queue has ended, or writes no more.
func (q *queue) lastTurn(until time.Time) {
	t := &q.turn
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over, t.until = true, until
	if t.whose == ofWaiter {
		q.interruptLocked()
		return
	}
	t.contexts.End()
	q.setReadDeadline(until)
	if t.whose == ofNeither {
		t.whose = ofReader
		poke(t.resume)
	}
}

func (q *queue) setReadDeadline(t time.Time) {
	_ = q.s.conn.SetReadDeadline(t) // if it fails, reading does
}
