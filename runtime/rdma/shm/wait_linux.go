package shm

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/heed"
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

// sleeper is what a wait that sleeps needs; made once, so that sleeping allocates nothing.
type sleeper struct {
	mu     sync.Mutex // one at a time
	ctx    context.Context
	wake   func() // of the queue
	look   func(fd uintptr) bool
	looks  int // in this sleep
	sleeps int
	heeded heed.Contexts
}

func (s *sleeper) init(q *queue) {
	s.wake = q.wake
	s.look = func(fd uintptr) bool {
		s.looks++
		return s.looks > 1 || s.ctx.Err() != nil || q.wakeful()
	}
}

// end waits until nobody sleeps, for a queue that is closed, and heeds no context any more.
func (s *sleeper) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heeded.End()
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
	s := &q.sleeper
	s.mu.Lock()
	defer s.mu.Unlock()
	q.lockPoll()
	if q.closed {
		q.pollMu.Unlock()
		return errClosed
	}
	q.sleepers.Store(1)
	q.ownSleep.Add(1) // odd now; before the last look, as the peer does it the other way round
	q.pollMu.Unlock()
	s.heeded.Heed(ctx, s.wake)
	s.ctx, s.looks = ctx, 0
	q.bell.sleep(s.look)
	s.heeded.Rest()
	s.ctx = nil
	if s.sleeps++; s.sleeps%maxUnread == 0 {
		_ = q.bell.raw.Control(q.bell.read)
	}
	q.lockPoll()
	defer q.pollMu.Unlock()
	q.sleepers.Store(0)
	if q.closed {
		return errClosed
	}
	q.ownSleep.Add(1) // even now
	return ctx.Err()
}

// wakeful reports whether there is a reason not to sleep.
func (q *queue) wakeful() bool {
	q.lockPoll()
	defer q.pollMu.Unlock()
	return q.closed || q.ready()
}

// look spins until there is something, or the time is over. It takes no lock for that, so that who polls meanwhile
// is not kept from it; finish leaves the memory to it until it is through.
func (q *queue) look(budget int64) (found bool, err error) {
	q.looking.Add(1)
	defer q.looking.Add(-1)
	if q.isClosed() {
		return false, errClosed
	}
	var start time.Time // read only if the first looks are in vain: the clock takes as long as some of them
	for i := 0; !q.ready(); i++ {
		switch {
		case i == 31:
			start = time.Now()
		case i&31 == 31 && int64(time.Since(start)) > budget:
			return false, nil
		}
	}
	if q.isClosed() {
		return false, errClosed
	}
	return true, nil
}

func (q *queue) isClosed() bool {
	q.lockPoll()
	defer q.pollMu.Unlock()
	return q.closed
}

// lockPoll locks pollMu beside somebody who has it most of the time, since they spin: who waits for a mutex
// is woken by each Unlock, which takes far longer than a look.
func (q *queue) lockPoll() {
	for i := 0; !q.pollMu.TryLock(); i++ {
		if i < 64 {
			runtime.Gosched()
		} else {
			time.Sleep(20 * time.Microsecond)
		}
	}
}
