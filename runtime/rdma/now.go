package rdma

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
)

// endNow does a request of the user's at once, if nothing is outstanding and the queue can. Then it has ended in the
// critical section in which it was posted: nobody has to poll for it, no record is kept of it, and its region is not counted as
// in flight. That it stays where it is until the post lock is given up, [registration.quiesce] sees to. Where
// it reports false nothing has happened, and the request is to be posted; so is what would be refused. The
// post lock is held.
func (c *Conn) endNow(r *request) (seq uint64, done bool) {
	seq = c.posted
	switch {
	case seq != c.retired.Load() || c.failed.Load() != nil:
		return 0, false
	case r.verb.needsCredit() && c.credit.left() <= c.credit.window/2:
		return 0, false // who waits for the end of what was posted polls, and hears of new ones
	case r.key != 0 && c.ctl.revokes.Load() > 0 && c.ctl.isRevoked(r.key, r.epoch):
		return 0, false
	}
	var reg *registration
	if r.h != nil {
		if reg = c.recent.find(r.h, r.gen); reg == nil {
			return 0, false
		}
	}
	wr := &c.scratch[0]
	wr.Fence = false // for what is outstanding, and there is nothing
	r.fill(wr, seq, reg)
	credits := uint64(0)
	if r.verb.needsCredit() {
		credits = 1
	}
	c.credit.use(credits) // first: the peer may have taken it, and said so, before Now returns
	result, done := c.direct.Now(wr)
	if !done {
		c.credit.use(-credits)
		return 0, false
	}
	c.fence = false
	if r.verb.isAtomic() {
		r.place = c.results.begin(seq)
		c.results.end(r.place, seq, result)
	}
	c.tally.post(r)
	c.tally.doorbells++
	c.tally.atOnce++
	c.posted = seq + 1
	release.Store(&c.retired, seq+1)
	return seq, true
}

// learn puts the registration of a request's region, which is held, among the recent ones. If it was not there, that may
// have been why the request did not end at once, so it is tried again. The post lock is held.
func (c *Conn) learn(r *request, reg *registration) (seq uint64, done bool) {
	at := c.recent.place(r.h)
	if *at == reg {
		return 0, false
	}
	*at = reg
	return c.endNow(r)
}

// recent is the registrations that operations of a connection used last, in its domain. What is in it has not
// ended. The connection's post lock guards it.
type recent [8]*registration

// place is where a handle's registration is, if it is there.
func (t *recent) place(h *region.Handle) **registration {
	return &t[uintptr(unsafe.Pointer(h))>>7%uintptr(len(t))]
}

// find is the registration of a handle, if it is there and the generation is the current one.
func (t *recent) find(h *region.Handle, gen uint32) *registration {
	if reg := *t.place(h); reg != nil && reg.h == h && reg.gen == gen && h.Gen() == gen {
		return reg
	}
	return nil
}

// quiesce returns when no connection is doing an operation with the region that it does not count as in
// flight, and none begins one. The generation has ended.
func (r *registration) quiesce() {
	for _, c := range r.dom.connections() {
		c.mu.Lock()
		if at := c.recent.place(r.h); *at == r {
			*at = nil
		}
		c.mu.Unlock()
	}
}

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
