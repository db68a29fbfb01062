package gpu

import (
	"context"
	"fmt"
	"runtime"
	"time"
)

// Op is an operation that was posted. It may be copied, and waited for by several goroutines. The zero value is none.
//
//barewire:type op
type Op struct {
	q   *Queue
	seq uint64
}

// How who waits looks again: at once, for so long, in which small copies and kernels end; then after short naps of the thread, the longer the later,
// so often; then after sleeps, which let the thread go, and take a millisecond on Linux however short they are. A nap takes 55 us at least
// where Linux's timer slack is as it comes, so a copy of 20 us is worth looking at until it has ended.
const (
	looking  = 60 * time.Microsecond
	naps     = 24
	minNap   = 5 * time.Microsecond
	maxNap   = 80 * time.Microsecond
	maxSleep = 500 * time.Microsecond
)

// pauses are what passes between looks. The zero value begins with the first.
type pauses struct {
	since time.Time
	naps  int
}

// next passes the time before another look.
func (p *pauses) next() {
	if p.naps == 0 {
		if p.since.IsZero() {
			p.since = time.Now()
		}
		if time.Since(p.since) < looking {
			runtime.Gosched()
			return
		}
	}
	if p.naps < naps {
		nap(min(minNap<<min(p.naps, 8), maxNap))
		p.naps++
		return
	}
	time.Sleep(maxSleep)
}

// Wait returns when the operation has ended: its memory may be used and freed, and what it was to write is there. The error says which
// operation it was, where it was posted, and why it failed. When ctx ends first its error is returned, and the operation goes on: its
// regions stay in use, and Wait may be called again. A device that hangs never ends it: then all that a program can do is to wait no more, here by
// ctx and for others by [Queue.Abandon].
//
//barewire:effect waits=o
func (o Op) Wait(ctx context.Context) error {
	if o.q == nil {
		return fmt.Errorf("gpu: wait: %w: the zero Op", ErrOp)
	}
	if err := o.q.await(ctx, o.seq); err != nil {
		return err
	}
	return o.q.outcome(o.seq)
}

// Done reports whether the operation has ended, without waiting.
//
//barewire:effect waits=o on true
func (o Op) Done() bool {
	if o.q == nil {
		return false
	}
	return o.q.ended(o.seq)
}

// Flush returns when all that was posted on the queue before has ended. The error is that of the first operation that failed, or ctx's.
//
//barewire:effect flushes=q, looks=q
func (q *Queue) Flush(ctx context.Context) error {
	if q.none() {
		return errNoQueue
	}
	n := q.posted.Load()
	if n == 0 {
		return nil
	}
	if err := q.await(ctx, n-1); err != nil {
		return err
	}
	if q.bad.Load() < n {
		return q.outcome(q.bad.Load())
	}
	return nil
}

// ended reports whether an operation has, looking once.
func (q *Queue) ended(seq uint64) bool {
	if seq < q.retired.Load() {
		return true
	}
	if q.mu.TryLock() { // else somebody else looks, or posts
		q.poll()
		q.mu.Unlock()
	}
	return seq < q.retired.Load()
}

// await returns when an operation has ended, or with the error of ctx.
func (q *Queue) await(ctx context.Context, seq uint64) error {
	if ctx == nil {
		return fmt.Errorf("gpu: wait: %w: no context", ErrArgs)
	}
	var p pauses
	for !q.ended(seq) {
		if gone := q.gone.Load(); gone != nil {
			return q.late(seq, *gone)
		}
		if err := ctx.Err(); err != nil {
			return q.late(seq, context.Cause(ctx))
		}
		p.next()
	}
	return nil
}

// late is the error of a wait that ended before the operation.
func (q *Queue) late(seq uint64, err error) error {
	if !q.soon() {
		return fmt.Errorf("gpu: wait: an operation of %s has not ended: %w", q, err)
	}
	defer q.mu.Unlock()
	r := q.record(seq)
	if r.seq != seq || seq < q.retired.Load() {
		return err
	}
	return fmt.Errorf("gpu: wait: a %s posted at %s has not ended, on %s: %w", r.name(), r.at, q, err)
}

// outcome is how an operation ended that has.
func (q *Queue) outcome(seq uint64) error {
	bad := q.bad.Load()
	if seq < bad {
		return nil
	}
	if seq == bad {
		return q.why
	}
	return fmt.Errorf("gpu: %w: %w", ErrFlushed, q.why)
}
