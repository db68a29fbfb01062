package rdma

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// want is what somebody waits for. Any of it is there when the connection has
// failed, except for the end of an operation, which then comes too.
type want struct {
	kind  wantKind
	seq   uint64 // of wantOp
	reply *asked // of wantReply
}

type wantKind uint8

const (
	wantOp     wantKind = iota + 1 // an operation to end
	wantNote                       // a notification
	wantText                       // a message
	wantCredit                     // room to send a message
	wantReply                      // the answer to an import
)

// ready reports whether it is there.
func (c *Conn) ready(w want) bool {
	if w.kind == wantOp {
		return c.done(w.seq)
	}
	if c.failed.Load() != nil {
		return true
	}
	switch w.kind {
	case wantNote:
		return c.inbox.notes.len() > 0
	case wantText:
		return c.inbox.texts.len() > 0
	case wantReply:
		return w.reply.done.Load()
	default:
		return c.credit.left() > reserves[forUser] && c.pool.some()
	}
}

// Wait returns when the operation has ended: the local memory may be reused, and for reads the
// result is there. For what a write is worth at the peer see [Conn.Flush].
// The error says which operation it was, where it was posted, and why it failed. When
// ctx ends first its error is returned, and the operation goes on: its regions stay busy, and Wait may be called again.
//
//barewire:effect waits=o
func (o Op) Wait(ctx context.Context) error {
	c := o.c
	if c.none() {
		return errNoOp
	}
	if !c.done(o.seq) {
		if c.tryPoll(); !c.done(o.seq) {
			if err := c.await(ctx, want{kind: wantOp, seq: o.seq}); err != nil {
				return err
			}
		}
	}
	if o.seq%pollEvery == 0 {
		c.tryPoll() // an operation that ended at once is no reason not to hear the peer
	}
	if o.seq >= c.firstBad.Load() {
		return c.outcome(o.seq)
	}
	return nil
}

// pollEvery is of how many operations that ended before they were waited for one polls.
const pollEvery = 16

// Done reports whether the operation has ended, without waiting. It looks once.
//
//barewire:effect waits=o on true
func (o Op) Done() bool {
	if o.c == nil {
		return false
	}
	if o.c.done(o.seq) {
		return true
	}
	_ = o.c.handOver()
	o.c.tryPoll()
	return o.c.done(o.seq)
}

// Poll takes what has completed, and reports whether there was anything. In the
// mode Busy it must be called, or something waited for, often: nothing else sees
// what the peer sends.
//
//barewire:effect flushes=c
func (c *Conn) Poll() bool {
	if c.none() {
		return false
	}
	_ = c.handOver()
	return c.tryPoll() > 0
}

// WaitCredit returns when the peer has a receive left for another [Send] or [WriteNotify], after
// one was refused with [ErrNoCredit]. Others may take it first: then wait again.
//
//barewire:effect hears=c
func (c *Conn) WaitCredit(ctx context.Context) error {
	if c.none() {
		return errNoConn
	}
	if err := c.await(ctx, want{kind: wantCredit}); err != nil {
		return err
	}
	if f := c.failed.Load(); f != nil {
		return fmt.Errorf("rdma: wait for credit: %w", &flushError{f.err})
	}
	return nil
}

// WaitRoom returns when another operation can be posted, as far as the queue goes; see
// [Conn.WaitCredit] for messages and notifications.
//
//barewire:effect hears=c
func (c *Conn) WaitRoom(ctx context.Context) error {
	if c.none() {
		return errNoConn
	}
	if f := c.failed.Load(); f != nil {
		return fmt.Errorf("rdma: wait for room: %w", &flushError{f.err})
	}
	if posted := c.count(); posted >= c.depth && !c.done(posted-c.depth) {
		return c.await(ctx, want{kind: wantOp, seq: posted - c.depth})
	}
	return nil
}

// over is the error of a wait whose context ended.
func over(ctx context.Context) error {
	err, cause := ctx.Err(), context.Cause(ctx)
	if cause == err {
		return err
	}
	return fmt.Errorf("%w: %w", err, cause)
}

// tryPoll takes completions, and says how many, unless somebody else does. While
// somebody waits for the device it leaves them alone: who sleeps there would not notice
// that what they wait for was taken.
func (c *Conn) tryPoll() int { return c.tryPollFor(1) }

// tryPollFor is tryPoll, and looks so many times if there is nothing: the lock is
// taken once for all of them.
func (c *Conn) tryPollFor(looks int) int {
	if !c.pollMu.TryLock() {
		return 0
	}
	if c.park.role.Load() == roleUser {
		c.pollMu.Unlock()
		return 0
	}
	return c.pollAndWake(looks)
}

// pollAndWake polls, gives the poll lock up, and wakes whose wish came true.
func (c *Conn) pollAndWake(looks int) int {
	n := c.look(looks)
	c.unlockAndWake(n)
	return n
}

// look polls, so many times if there is nothing. The poll lock is held.
func (c *Conn) look(looks int) (n int) {
	for ; n == 0 && looks > 0; looks-- {
		n = c.pollLocked()
	}
	return n
}

// unlockAndWake gives the poll lock up, and wakes whose wish came true if there was anything.
func (c *Conn) unlockAndWake(n int) {
	c.pollMu.Unlock()
	if n > 0 && c.park.n.Load() > 0 {
		c.park.wake(c)
	}
}

// pollLocked takes completions and does what they ask for. The poll lock is held.
func (c *Conn) pollLocked() int {
	c.tally.polls++
	if c.closed.Load() {
		return 0
	}
	n := c.held.Poll(c.comps)
	if n > 0 {
		c.dispatch(c.comps[:min(n, len(c.comps))])
	}
	if c.broken != nil && c.failed.Load() == nil {
		c.queueFailed()
	}
	if n == 0 && c.ctl.urgent.Load() {
		c.repost()
		c.pump()
	}
	return n
}

// dispatch ends operations and hands on what the peer sent.
func (c *Conn) dispatch(comps []Completion) {
	seq, own := c.retired.Load(), int32(0)
	first := seq
	for i := range comps {
		comp := &comps[i]
		if comp.Verb == VerbReceive || comp.Verb == VerbNotify {
			c.received(comp)
			continue
		}
		r := c.record(seq)
		if comp.ID != seq || r.seq != seq {
			c.violated(wrap(ErrProtocol, "the provider completed operation %d with %s, and %d is next", comp.ID, c.peer, seq))
			continue
		}
		seq++
		if r.plain && comp.Err == nil && comp.Verb == r.verb && r.h.Gen() == r.gen {
			// What there is most of, and nothing to say about it.
			c.tally.completed++
			r.h.Drop()
			continue
		}
		if r.by != forUser {
			own++
		}
		c.retire(seq-1, comp)
	}
	if seq != first {
		c.retired.Store(seq)
	}
	if own != 0 {
		c.own.Add(-own)
	}
}

// queueFailed fails the connection because its receives failed. While operations are
// outstanding it leaves that to them: they fail too, and one of them may be why. The poll
// lock is held.
func (c *Conn) queueFailed() {
	c.mu.Lock()
	handed := c.posted - uint64(c.staged)
	c.mu.Unlock()
	if c.retired.Load() >= handed {
		err := c.lateError(c.broken)
		if err == nil {
			err = c.ended(c.broken)
		}
		c.fail(noSeq, err)
	}
}

// spinFor is how often Adaptive polls before it sleeps; ByEvent polls a few times.
// Who spins polls spinAtOnce times before others may, and spinRounds times that before it looks
// at anything else.
const (
	spinFor    = 2000
	spinLess   = 4
	spinAtOnce = 16
	spinRounds = 8
)

// setSpins decides how to wait.
func (c *Conn) setSpins(mode Mode) {
	c.spins, c.looks, c.rounds = spinLess, spinLess, 1
	switch {
	case mode == Busy:
		c.spins, c.looks, c.rounds = -1, spinAtOnce, spinRounds
	case mode == Adaptive && runtime.GOMAXPROCS(0) > 1:
		c.spins, c.looks, c.rounds = spinFor, spinAtOnce, spinRounds
	}
}

// await polls, and then sleeps, until what is wanted is there. Its error is the context's.
func (c *Conn) await(ctx context.Context, w want) error {
	if err := c.handOver(); err != nil && w.kind != wantOp {
		return err
	}
	for i := 0; !c.ready(w); i++ {
		if c.tryPollFor(c.looks) > 0 {
			continue
		}
		if c.spins < 0 || i < c.spins/c.looks {
			if i&3 == 3 {
				if ctx.Err() != nil {
					return c.waited(w, over(ctx))
				}
				runtime.Gosched()
			}
			continue
		}
		if err := c.sleep(ctx, w); err != nil && !c.ready(w) {
			return c.waited(w, err)
		}
	}
	return nil
}

// waited is the error of a wait that its context ended: what has not come, and from whom.
func (c *Conn) waited(w want, err error) error {
	switch w.kind {
	case wantReply:
		return err // who imports tells what
	case wantNote:
		return fmt.Errorf("rdma: no notification has come from %s: %w", c.peer, err)
	case wantText:
		return fmt.Errorf("rdma: no message has come from %s: %w", c.peer, err)
	case wantCredit:
		return fmt.Errorf("rdma: %s has no room for another message: %w", c.peer, err)
	}
	what := "what was posted"
	c.mu.Lock()
	if r := c.record(w.seq); r.seq == w.seq && r.by == forUser {
		what = fmt.Sprintf("a %s of %d bytes, posted at %s,", r.verb, r.bytes, r.at)
	}
	c.mu.Unlock()
	return fmt.Errorf("rdma: %s has not ended at %s: %w", what, c.peer, err)
}

// sleep waits until something may have changed. One goroutine at a time waits for the
// device and polls for all; the others are woken by it.
func (c *Conn) sleep(ctx context.Context, w want) error {
	c.sleeps.Add(1)
	if c.park.role.CompareAndSwap(roleFree, roleUser) {
		defer func() {
			c.park.role.Store(roleFree)
			c.park.handOver()
		}()
		// What completed before the role was ours may have been taken already. With the
		// lock nobody is in the midst of that, and after it nobody else begins.
		c.pollMu.Lock()
		if c.pollAndWake(1) > 0 || c.ready(w) {
			return nil
		}
		return c.doze(ctx)
	}
	p := c.park.add(w)
	if !c.ready(w) && c.park.role.Load() != roleFree {
		select {
		case <-p.wake:
		case <-ctx.Done():
		}
	}
	c.park.remove(p)
	if c.park.role.Load() == roleFree {
		c.park.handOver() // in case it was for us, and we do not need it
	}
	if ctx.Err() != nil {
		return over(ctx)
	}
	return nil
}

// doze waits for the device. An error of the queue's is no reason to stop: what
// is outstanding completes nevertheless, so it is only not hurried after.
func (c *Conn) doze(ctx context.Context) error {
	err := c.q.Wait(ctx)
	if ctx.Err() != nil {
		return over(ctx)
	}
	if err != nil {
		if c.failed.Load() == nil {
			c.fail(noSeq, c.ended(err))
		}
		time.Sleep(50 * time.Microsecond)
	}
	return nil
}

// The roles of whoever waits for the device.
const (
	roleFree     = iota
	roleUser     // somebody who wants something: only they poll
	roleProgress // the connection's own goroutine: others may poll beside it
)

// park is where goroutines sleep that another one polls for.
type park struct {
	role atomic.Int32
	left chan struct{} // has one when the role was given up: for progress
	n    atomic.Int32  // len(list)
	mu   sync.Mutex
	list []*parked
	free []*parked
}

type parked struct {
	want want
	wake chan struct{} // holds one
}

func (k *park) add(w want) *parked {
	k.mu.Lock()
	defer k.mu.Unlock()
	var p *parked
	if n := len(k.free); n > 0 {
		p, k.free = k.free[n-1], k.free[:n-1]
	} else {
		p = &parked{wake: make(chan struct{}, 1)}
	}
	p.want = w
	k.list = append(k.list, p)
	k.n.Store(int32(len(k.list)))
	return p
}

func (k *park) remove(p *parked) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for i, q := range k.list {
		if q == p {
			last := len(k.list) - 1
			k.list[i] = k.list[last]
			k.list[last] = nil
			k.list = k.list[:last]
			break
		}
	}
	k.n.Store(int32(len(k.list)))
	select {
	case <-p.wake:
	default:
	}
	k.free = append(k.free, p)
}

// wake wakes those whose wish came true.
func (k *park) wake(c *Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.list {
		if c.ready(p.want) {
			p.rouse()
		}
	}
}

// handOver wakes one who sleeps, to wait for the device, and the connection's own goroutine, which looks some time later
// whether nobody does.
func (k *park) handOver() {
	select {
	case k.left <- struct{}{}:
	default:
	}
	if k.n.Load() == 0 {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.list) > 0 {
		k.list[0].rouse()
	}
}

func (k *park) wakeAll() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.list {
		p.rouse()
	}
}

func (p *parked) rouse() {
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
