package rdma

import (
	"errors"
	"fmt"
	"math"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// record is what the witness knows of an operation: written when it is posted,
// looked at when it ends. It is at its number's place in the connection's ring.
type record struct {
	seq    uint64 // its number
	verb   Verb
	slot   int16 // of the send pool, or -1
	extra  uint8 // more handles in the connection's side table: of a gather
	plain  bool  // one region of the user's, and no result
	by     class // on whose behalf
	key    RKey
	rights barewire.Rights // of the reference to what is at the peer
	grants barewire.Rights // what the user's region grants peers
	gen    uint32
	bytes  int
	h      *region.Handle // nil where no region of the user's takes part
	addr   uint64
	result *result // the place of an atomic's result, or nil
	at     where.Mark
}

// errChanged is what the witness looks for: nothing but a fault of ours or of a provider could be why.
var errChanged = fmt.Errorf("%w: its region changed hands while it was in flight", ErrProtocol)

// noSeq is the number of no operation.
const noSeq = math.MaxUint64

// failure is why a connection is no longer good.
type failure struct {
	seq    uint64 // of the operation that failed first by itself, or noSeq
	err    error
	reason error // of err, without what it is about; only from posting

	violated bool // what must not be: see [Conn.violated]
}

// Op is an operation that was posted: a value, which costs nothing and holds nothing. Wait may
// be called any number of times, from any goroutine.
//
//barewire:type op
type Op struct {
	c   *Conn
	seq uint64
}

// record's place in the ring.
func (c *Conn) record(seq uint64) *record { return &c.ring[seq&c.mask] }

// opError says what an operation was, and why it did not succeed.
func (c *Conn) opError(seq uint64, r *record, err error) *OpError {
	e := &OpError{Op: r.verb.String(), Bytes: r.bytes, At: r.at.String(), Peer: c.peer, Seq: seq, Err: err}
	if r.by != forUser {
		e.Op, e.At = ownMessage, "" // nobody asked for it
	}
	if r.h != nil {
		e.Region = r.h.Name() + " (" + rightsText(r.grants) + ")"
	}
	if r.key != 0 {
		e.Remote = c.ctl.place(r.key, r.addr, r.bytes, r.rights)
	}
	return e
}

// lateError is the error of an operation that had completed when the peer refused it, nil where err
// says nothing of the kind. The post lock is not held.
func (c *Conn) lateError(err error) error {
	var s *StatusError
	if !errors.As(err, &s) || !s.Late {
		return nil
	}
	why := fmt.Errorf("it had completed, and the peer refused it after: %w", &StatusError{Status: s.Status, Detail: s.Detail})
	c.mu.Lock()
	defer c.mu.Unlock()
	if r := c.record(s.ID); r.seq == s.ID {
		return c.opError(s.ID, r, why)
	}
	return c.ended(fmt.Errorf("an operation: %w", why))
}

// postedWith is where the oldest operation in flight with a handle was posted, or empty.
func (c *Conn) postedWith(h *region.Handle) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for seq := c.retired.Load(); seq < c.posted; seq++ {
		r := c.record(seq)
		if r.h == h {
			return r.at.String()
		}
		for _, x := range c.extras[seq&c.mask][:r.extra] {
			if x == h {
				return r.at.String()
			}
		}
	}
	return ""
}

// done reports whether an operation has ended: it completed, or it never
// reached the device because the connection had failed.
func (c *Conn) done(seq uint64) bool {
	return seq < c.retired.Load() || seq >= c.taken.Load()
}

// outcome is how an operation that is done ended.
func (c *Conn) outcome(seq uint64) error {
	if seq < c.firstBad.Load() {
		return nil
	}
	f := c.failed.Load()
	if f == nil {
		return &flushError{ErrClosed}
	}
	if f.seq == seq {
		return f.err
	}
	c.mu.Lock()
	e := c.opError(seq, c.record(seq), &flushError{f.err})
	c.mu.Unlock()
	return e
}

// retire ends the operation with the next number. The poll lock is held.
func (c *Conn) retire(seq uint64, comp *Completion) {
	r := c.record(seq)
	c.tally.completed++
	if comp.Verb != r.verb {
		c.violated(c.opError(seq, r, fmt.Errorf("%w: the provider completed it as a %s", ErrProtocol, comp.Verb)))
	}
	if comp.Err != nil {
		c.failOp(seq, r, comp.Err)
	} else if r.result != nil {
		c.results.end(r.result, seq, comp.Result)
	}
	c.release(seq, r)
}

// release lets go of what an operation held. The witness checks that the region
// is still as it was when it was posted: nothing but a fault of ours or of a
// provider could have changed it.
func (c *Conn) release(seq uint64, r *record) {
	if r.h != nil {
		if r.h.Gen() != r.gen {
			c.violated(c.opError(seq, r, errChanged))
		}
	}
	c.drop(seq)
}

// drop lets go of what an operation held.
func (c *Conn) drop(seq uint64) {
	r := c.record(seq)
	if r.h != nil {
		r.h.Drop()
		if r.extra > 0 {
			for _, h := range c.extras[seq&c.mask][:r.extra] {
				h.Drop()
			}
		}
	}
	if r.slot >= 0 {
		c.pool.free(int(r.slot))
	}
}

// failOp is told how an operation failed. The first that failed by itself is the
// connection's failure; the others are its victims.
func (c *Conn) failOp(seq uint64, r *record, err error) {
	c.lowerBad(seq)
	if c.failed.Load() != nil {
		c.tally.flushed++
		return
	}
	c.tally.failed++
	late := c.lateError(err)
	if late == nil { // a receive may have told it, just before this was posted
		late = c.lateError(c.broken)
	}
	if late != nil {
		c.fail(noSeq, late)
		return
	}
	c.fail(seq, c.opError(seq, r, err))
}
