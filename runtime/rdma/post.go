package rdma

import (
	"errors"
	"fmt"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// Poster is where operations are posted: a [*Conn], which hands each to the device at
// once, or its [*Batch], which collects them.
type Poster interface {
	poster() (c *Conn, collect bool)
}

func (c *Conn) poster() (*Conn, bool) {
	if c.none() {
		return nil, false
	}
	return c, false
}

// request is an operation as the typed functions ask for it.
type request struct {
	verb    Verb
	slot    int16 // of the send pool, plus one; 0: the local memory is a region's
	imm     uint32
	key     RKey
	gen     uint32
	epoch   uint32          // not beside the key: both were read at once then, before they are there
	rights  barewire.Rights // of the reference
	bytes   int
	first   int            // of them, in h: the rest is in pieces
	h       *region.Handle // nil where no local memory takes part
	off     int            // into it, in bytes
	ptr     unsafe.Pointer // into the connection's pool: a slot, or a line of words
	addr    uint64
	compare uint64
	operand uint64
	ends    RKey    // a key of the peer that a send ends; epoch is its epoch
	wakes   bool    // a send asks for the receiver's event
	place   *result // where an atomic's result will be: set when it is posted
}

// piece is more local memory of a request.
type piece struct {
	h     *region.Handle
	gen   uint32
	off   int
	bytes int
	reg   *registration
}

// needsCredit reports whether a verb uses one of the peer's receives.
func (v Verb) needsCredit() bool { return v == VerbSend || v == VerbWriteNotify }

// isAtomic reports whether a verb has a result.
func (v Verb) isAtomic() bool { return v == VerbCompareSwap || v == VerbFetchAdd }

// post checks a request of the user's and posts it. more is held, and stays the
// caller's after an error. It is no part of the request, so that neither is allocated.
func post(p Poster, r *request, more []piece) (Op, error) {
	var c *Conn
	collect := false
	if p != nil {
		c, collect = p.poster()
	}
	if c.none() {
		return Op{}, refuse(nil, r, errNoConn)
	}
	if r.bytes > c.most {
		return Op{}, refuse(c, r, fmt.Errorf("%w: the device moves at most %d bytes in one operation; split it", ErrTooLong, c.most))
	}
	short := c.direct != nil && !collect && len(more) == 0 && r.ptr == nil
	if short {
		c.mu.Lock()
		seq, done := c.endNow(r)
		c.mu.Unlock()
		if done {
			return Op{c, seq}, nil
		}
	}
	var reg *registration
	if r.h != nil {
		if err := r.h.Hold(r.gen); err != nil {
			return Op{}, refuse(c, r, err)
		}
		var ok bool
		if reg, ok = r.h.Reg.(*registration); !ok || reg.dom != c.dom {
			r.h.Drop()
			return Op{}, refuse(c, r, c.foreign(r.h))
		}
		if short {
			c.mu.Lock()
			seq, done := c.learn(r, reg)
			c.mu.Unlock()
			if done {
				r.h.Drop()
				return Op{c, seq}, nil
			}
		}
	}
	seq, err := c.enqueue(r, more, reg, forUser, collect)
	if err != nil {
		if r.h != nil {
			r.h.Drop()
		}
		return Op{}, refuse(c, r, err)
	}
	return Op{c, seq}, nil
}

// foreign is the error of a region that is not registered in the connection's domain.
func (c *Conn) foreign(h *region.Handle) error {
	if reg, ok := h.Reg.(*registration); ok && reg.dom.dev != c.dom.dev {
		return fmt.Errorf("%w: the region is registered with the device %s, the connection is on %s; see Also", ErrDomain, reg.dom.dev.info.Name, c.dom.dev.info.Name)
	} else if ok {
		return fmt.Errorf("%w: the region is registered in another domain of the device %s than the connection's; see Also", ErrDomain, c.dom.dev.info.Name)
	}
	return ErrNotRegistered
}

// refuse is the error of an operation that is not posted.
func refuse(c *Conn, r *request, err error) error {
	e := &OpError{Op: r.verb.String(), Bytes: r.bytes, At: where.Here().String(), Seq: noSeq, Err: err}
	if c != nil {
		e.Peer = c.peer
	}
	if r.h != nil {
		e.Region = r.h.Name()
	}
	if c != nil && r.key != 0 {
		e.Remote = c.ctl.place(r.key, r.addr, r.bytes, r.rights)
	}
	return e
}

// enqueue gives a request the next number and a place in the ring, and hands it
// over unless it is collected. reg is its region's registration, nil where it has none.
func (c *Conn) enqueue(r *request, more []piece, reg *registration, by class, collect bool) (uint64, error) {
	c.mu.Lock()
	if err := c.admit(r, by); err != nil {
		c.mu.Unlock()
		if by != forUser || !errors.Is(err, ErrQueueFull) {
			return 0, err
		}
		// Completions may be there that nobody has taken yet.
		c.tryPoll()
		c.mu.Lock()
		if err := c.admit(r, by); err != nil {
			c.mu.Unlock()
			return 0, err
		}
	}
	seq := c.stage(r, more, reg, by)
	if collect && c.staged < len(c.scratch) {
		c.waiting.Store(true)
		c.mu.Unlock()
		return seq, nil
	}
	var f *failure
	if c.now != nil && c.staged == 1 && c.retired.Load() == seq && by == forUser && c.mayEndNow(r) {
		f = c.postNow(seq)
	} else {
		f = c.ringLocked(true)
	}
	c.mu.Unlock()
	if f == nil {
		return seq, nil
	}
	c.announce(f)
	switch {
	case seq < f.seq || f.seq == noSeq:
		return seq, nil // it was taken: its completion says how it ended
	case seq == f.seq:
		return seq, f.reason
	}
	return seq, &flushError{f.err}
}

// admit reports why a request cannot be posted now. The post lock is held.
func (c *Conn) admit(r *request, by class) error {
	if f := c.failed.Load(); f != nil {
		return &flushError{f.err}
	}
	if r.verb.needsCredit() {
		if err := c.credit.check(c, r, by); err != nil {
			return err
		}
	}
	if r.key != 0 && c.ctl.revokes.Load() > 0 && c.ctl.isRevoked(r.key, r.epoch) {
		return fmt.Errorf("%w by the peer, or given back to it; import it again", ErrRevoked)
	}
	if c.lacks != nil {
		if why := c.lacks.Lacks(r.verb); why != "" {
			return fmt.Errorf("%w: %s", errors.ErrUnsupported, why)
		}
	}
	out := c.posted - c.retired.Load()
	if out >= c.room || by == forUser && out >= c.depth+uint64(c.own.Load()) {
		return c.full()
	}
	return nil
}

// full is the error of a queue that takes no more: it names the oldest operation of
// the user's, since of the connection's own nobody knows. The post lock is held.
func (c *Conn) full() error {
	c.tally.queueFull++
	var oldest *record
	n := 0
	for seq := c.retired.Load(); seq < c.posted; seq++ {
		if r := c.record(seq); r.by == forUser {
			if oldest == nil {
				oldest = r
			}
			n++
		}
	}
	if oldest == nil {
		return fmt.Errorf("%w: the connection's own messages take all of it; try again", ErrQueueFull)
	}
	are := "operations are"
	if n == 1 {
		are = "operation is"
	}
	return fmt.Errorf("%w: %d %s outstanding, the oldest a %s posted at %s; wait for it, or open the device with a greater Depth", ErrQueueFull, n, are, oldest.verb, oldest.at)
}

// stage writes the record and the work request of a request that was admitted. The
// post lock is held.
func (c *Conn) stage(r *request, more []piece, reg *registration, by class) uint64 {
	seq := c.posted
	wr := &c.scratch[c.staged]
	c.staged++
	wr.Fence = c.fence
	r.fill(wr, seq, reg)
	c.fence = false
	if r.ends != 0 {
		wr.Fence = true // reads that use the key come before its end
	}

	rec := &c.ring[seq&c.mask]
	rec.seq = seq
	rec.verb, rec.slot, rec.extra, rec.by = r.verb, r.slot-1, 0, by
	rec.key, rec.addr, rec.bytes, rec.rights = r.key, r.addr, r.bytes, r.rights
	rec.h, rec.gen, rec.result = r.h, r.gen, nil
	rec.plain = reg != nil && len(more) == 0
	rec.at.Fill()
	switch {
	case reg != nil:
		rec.grants = reg.rights
		for i, g := range more {
			wr.Local[i+1] = Segment{Ptr: unsafe.Add(g.h.Base(), g.off), Len: g.bytes, Key: LKey(g.reg.lkey.Load())}
			c.extras[seq&c.mask][i] = g.h
		}
		wr.Segs += uint8(len(more))
		rec.extra = uint8(len(more))
	case r.ptr != nil:
		wr.Segs = 1
		wr.Local[0] = Segment{Ptr: r.ptr, Len: r.bytes, Key: c.pool.lkey()}
	case r.verb.isAtomic():
		r.place = c.results.begin(seq)
		rec.result = r.place
	}
	c.tally.post(r)
	if by != forUser {
		c.own.Add(1)
	}
	if r.verb.needsCredit() {
		c.credit.use(1)
	}
	c.posted = seq + 1
	return seq
}

// fill makes a work request of a request, whose region has the registration reg, if it has one. Fence is the caller's.
func (r *request) fill(wr *WorkRequest, seq uint64, reg *registration) {
	wr.ID, wr.Verb, wr.Segs = seq, r.verb, 0
	wr.Epoch, wr.Key, wr.Addr, wr.Imm = r.epoch, r.key, r.addr, r.imm
	wr.Compare, wr.Operand = r.compare, r.operand
	wr.Invalidate, wr.Solicited = r.ends, r.wakes
	if reg != nil {
		wr.Segs = 1
		wr.Local[0] = Segment{Ptr: unsafe.Add(r.h.Base(), r.off), Len: r.first, Key: LKey(reg.lkey.Load())}
	}
}

// ringLocked hands over what is staged. Where the provider does not take all, the
// rest is let go of, the last excepted if it is the caller's. With an error of the provider's the
// connection has failed, which the caller announces when it has given the post lock up. The post lock is held.
func (c *Conn) ringLocked(keepLast bool) *failure {
	n := c.staged
	c.staged = 0
	if n > 1 || !keepLast {
		c.waiting.Store(false)
	}
	c.tally.doorbells++
	took, err := c.held.Post(c.scratch[:n])
	if err == nil && took == n {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("%w: the provider took %d of %d operations and gave no reason", ErrProtocol, took, n)
	}
	took = min(max(took, 0), n)
	if took == n {
		f := &failure{seq: noSeq, err: c.ended(err), reason: err}
		c.failed.CompareAndSwap(nil, f)
		return f
	}
	return c.untaken(c.posted-uint64(n-took), keepLast, err)
}

// untaken lets go of what the provider did not take, from an operation on, the last excepted if it is the
// caller's. The connection has failed by it. The post lock is held.
func (c *Conn) untaken(first uint64, keepLast bool, err error) *failure {
	last := c.posted
	for seq := first; seq < last; seq++ {
		if !keepLast || seq < last-1 {
			c.drop(seq)
		}
	}
	f := &failure{seq: first, err: c.opError(first, c.record(first), err), reason: err}
	// Now, not when it is announced: nobody else may get these numbers.
	c.failed.CompareAndSwap(nil, f)
	c.lowerBad(first)
	c.posted = first
	c.taken.Store(first)
	return f
}

// lowerBad notes that nothing from an operation on succeeded.
func (c *Conn) lowerBad(seq uint64) {
	for {
		old := c.firstBad.Load()
		if seq >= old || c.firstBad.CompareAndSwap(old, seq) {
			return
		}
	}
}

// ring hands over what a batch collected.
func (c *Conn) handOver() error {
	if !c.waiting.Load() {
		return nil
	}
	c.mu.Lock()
	if c.staged == 0 {
		c.mu.Unlock()
		return nil
	}
	f := c.ringLocked(false)
	c.mu.Unlock()
	if f == nil {
		return nil
	}
	c.announce(f)
	return f.err
}
