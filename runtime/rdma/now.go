package rdma

import "fmt"

// mayEndNow reports whether a request that is handed over alone, while nothing is outstanding, may end at once.
// Messages may not: who waits for a slot of the pool is woken by who polls. Nor may what uses a receive
// of the peer's when half of them are used: who waits for its end polls, and hears of new ones. The post lock is held.
func (c *Conn) mayEndNow(r *request) bool {
	return r.slot == 0 && (!r.verb.needsCredit() || c.credit.left() > c.credit.window/2)
}

// postNow hands over what was staged, the user's one request with the number seq, to a queue that may
// do it at once: then it ends here, in the critical section in which it was posted, and nobody
// has to poll for it. Nothing is outstanding, so nobody else retires operations meanwhile.
// What it returns is as in [Conn.ringLocked]. The post lock is held.
func (c *Conn) postNow(seq uint64) *failure {
	c.staged = 0
	c.tally.doorbells++
	result, done, err := c.now.PostNow(&c.scratch[0])
	if err != nil {
		return c.untaken(seq, true, err)
	}
	if !done {
		return nil
	}
	r := c.record(seq)
	c.tally.atOnce++
	var f *failure
	if r.h != nil && r.h.Gen() != r.gen {
		c.tally.changed++
		f = &failure{seq: noSeq, err: c.opError(seq, r, errChanged), violated: true}
		c.failed.CompareAndSwap(nil, f)
	}
	if r.result != nil {
		c.results.end(r.result, seq, result)
	}
	if r.plain {
		r.h.Drop()
	} else {
		c.drop(seq)
	}
	c.retired.Store(seq + 1)
	return f
}

// errChanged is what the witness looks for: nothing but a fault of ours or of a provider could be why.
var errChanged = fmt.Errorf("%w: its region changed hands while it was in flight", ErrProtocol)
