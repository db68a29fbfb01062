package shm

import (
	"context"
	"runtime"
	"sync/atomic"
	"time"
)

// spinner says how long a wait looks before it sleeps: longer when that was of
// use, hardly when it was not, and not at all without a processor to spare.
type spinner struct {
	allowed bool
	budget  atomic.Int64 // nanoseconds
}

const (
	minSpin = int64(1 * time.Microsecond)
	maxSpin = int64(50 * time.Microsecond)
)

// next is how long to spin now.
func (s *spinner) next() int64 {
	if !s.allowed || runtime.GOMAXPROCS(0) < 2 {
		return 0
	}
	if b := s.budget.Load(); b != 0 {
		return b
	}
	return maxSpin / 2
}

// learn takes note of whether spinning was of use.
func (s *spinner) learn(was int64, useful bool) {
	if was == 0 {
		return
	}
	if useful {
		s.budget.Store(min(was*2, maxSpin))
	} else {
		s.budget.Store(max(was/2, minSpin))
	}
}

// Wait looks for a while, if the connection is adaptive, and then sleeps
// until the peer or a goroutine of this process rings.
func (q *queue) Wait(ctx context.Context) error {
	if budget := q.spin.next(); budget != 0 {
		found, err := q.look(budget)
		q.spin.learn(budget, found)
		if found || err != nil {
			return err
		}
	}
	q.pollMu.Lock()
	if q.closed {
		q.pollMu.Unlock()
		return errClosed
	}
	if q.sleepers.Add(1) == 1 {
		q.ownSleep.Add(1) // odd now; before the last look, as the peer does it the other way round
	}
	ready := q.ready()
	q.pollMu.Unlock()
	var err error
	if !ready {
		select {
		case <-q.bells:
		case <-q.end:
			err = errClosed
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	if q.sleepers.Add(-1) != 0 {
		q.wake() // one bell is for all
	} else if !q.closed {
		q.ownSleep.Add(1) // even now
	}
	return err
}

// look spins until there is something, or the time is over.
func (q *queue) look(budget int64) (found bool, err error) {
	var start time.Time // read only if the first looks are in vain: the clock takes as long as some of them
	for i := 0; ; i++ {
		q.pollMu.Lock()
		closed := q.closed
		found = !closed && q.ready()
		q.pollMu.Unlock()
		switch {
		case closed:
			return false, errClosed
		case found:
			return true, nil
		case i == 31:
			start = time.Now()
		case i&31 == 31 && int64(time.Since(start)) > budget:
			return false, nil
		}
	}
}
