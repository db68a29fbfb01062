package rdma

import (
	"sync"
	"time"
)

// progress polls while nobody else does, so that what the peer asks for is
// answered, and who posts without waiting makes room. It keeps out of the way of
// goroutines that wait for themselves: they are faster.
func (c *Conn) progress() {
	const least, most = 100 * time.Microsecond, 2 * time.Millisecond
	pause := least
	for c.ctx.Err() == nil || !c.settled() {
		if c.closed.Load() {
			return
		}
		if !c.park.role.CompareAndSwap(roleFree, roleProgress) {
			select { // for hours, where somebody waits for a peer that says nothing
			case <-c.park.left:
			case <-c.ctx.Done():
			}
			pause = c.rest(pause, most)
			continue
		}
		busy := false
		if c.tryPoll() == 0 {
			// After the connection failed its context is over, and so is waiting.
			_ = c.q.Wait(c.ctx)
			// Who sleeps until this one polls is faster when it waits for itself: the role is left to it.
			others := c.park.n.Load() > 0
			busy = c.tryPoll() == 0 || others
		}
		c.park.role.Store(roleFree)
		c.park.handOver()
		if busy {
			// Somebody else takes the completions, or there are none yet.
			pause = c.rest(pause, most)
		} else {
			pause = least
		}
	}
}

// settled reports whether nothing is outstanding.
func (c *Conn) settled() bool {
	posted := c.count() // first: what is posted after may end at once
	return c.retired.Load() >= posted
}

// rest sleeps, and says how long to the next time.
func (c *Conn) rest(pause, most time.Duration) time.Duration {
	time.Sleep(pause)
	return min(2*pause, most)
}

// watchdog aborts the connection when an operation takes too long. It looks four
// times within the timeout, so that posting needs no clock: an operation ends
// within the timeout and a quarter of it.
type watchdog struct {
	mu      sync.Mutex
	timer   *time.Timer
	every   time.Duration
	stopped bool
	oldest  uint64 // that was outstanding when it last looked
	looks   int    // for how many looks it has been the oldest
}

const looksPerTimeout = 4

func (w *watchdog) start(c *Conn, timeout time.Duration) {
	w.every = max(timeout/looksPerTimeout, time.Millisecond)
	w.oldest = noSeq
	w.mu.Lock()
	w.timer = time.AfterFunc(w.every, func() { w.look(c, timeout) })
	w.mu.Unlock()
}

func (w *watchdog) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stopped = true
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watchdog) look(c *Conn, timeout time.Duration) {
	c.tryPoll() // in the mode Busy nobody else may
	seq, posted := c.retired.Load(), c.count()
	late := false
	w.mu.Lock()
	switch {
	case posted <= seq:
		w.oldest = noSeq
	case seq != w.oldest:
		w.oldest, w.looks = seq, 0
	default:
		w.looks++
		late = w.looks >= looksPerTimeout
	}
	if !w.stopped && !late {
		w.timer.Reset(w.every)
	}
	w.mu.Unlock()
	if late {
		c.mu.Lock()
		err := c.opError(seq, c.record(seq), wrap(ErrTimeout, "it has taken longer than OpTimeout, %v", timeout))
		c.mu.Unlock()
		c.fail(seq, err)
	}
}
