package rdma

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// controlDepth is how many operations of the connection's own may be outstanding
// beside the user's.
const controlDepth = 8

// Conn is a connection to a peer. Operations on it are carried out in the order in
// which they are posted, as far as docs/ordering.md says, and complete in that
// order. After one has failed the connection has failed: everything later is refused with an error that says
// which it was. It may be used from several goroutines; whoever dialled or accepted it closes it.
type Conn struct {
	dom    *Domain
	q      Queue
	held   Held      // q, for who has mu or pollMu
	direct Direct    // so too, where it does requests at once; else nil
	now    Immediate // the queue, where requests may end as they are posted
	lacks  Lacking   // the queue, where it or its peer cannot do all
	peer   string
	plain  bool
	depth  uint64 // operations of the user's that may be outstanding
	room   uint64 // and with the connection's own
	mtu    int
	most   int // bytes that the device moves in one operation

	spins  int // how often to poll before sleeping; negative: always
	looks  int // of them, those under one lock
	rounds int // of looks, before anything else is looked at

	// The ring of operations: numbers count up, and are the device's work request IDs.
	posted   uint64        // the next number; guarded by mu
	taken    atomic.Uint64 // all from it on never reached the device: it refused them
	retired  atomic.Uint64 // all below have ended; written under pollMu, or by endNow for what it ends
	firstBad atomic.Uint64 // all from it on did not succeed
	failed   atomic.Pointer[failure]
	mask     uint64
	ring     []record
	extras   [][MaxSegments - 1]*region.Handle

	mu      *sync.Mutex  // posting: posted, ring, scratch, sent, recent; the queue's where it lends it
	own     atomic.Int32 // the connection's own operations that are outstanding
	scratch []WorkRequest
	staged  int         // of scratch, not handed over yet
	waiting atomic.Bool // staged > 0
	fence   bool        // the next operation waits for earlier reads and atomics
	credit  credit
	recent  recent
	batch   Batch

	pollMu   *sync.Mutex // polling: completions, broken, notifications, receives, the second half of tally; taken before mu
	comps    []Completion
	broken   error            // how receives failed
	receives []ReceiveRequest // to be given back to the device
	tally    tally
	sleeps   atomic.Uint64

	results results
	pool    *pool
	inbox   inbox
	park    park
	ctl     control
	watch   watchdog
	ctx     context.Context // ends with the connection
	cancel  context.CancelCauseFunc
	workers sync.WaitGroup
	closed  atomic.Bool
	closing sync.Once
	closeFn error
}

// connect makes a connection of a queue whose peer said theirs. It takes the place that was kept for
// it, nil where none was.
func (dom *Domain) connect(q Queue, theirs hello, s *seat) (*Conn, error) {
	c := newConn(dom, q, theirs)
	if err := c.start(); err != nil {
		q.Abort(err)
		return nil, errors.Join(err, q.Close())
	}
	if !dom.add(c, s) {
		return nil, errors.Join(fmt.Errorf("the domain: %w", ErrClosed), c.Close())
	}
	dom.dev.cfg.see(Event{Kind: EventConnected, Peer: c.peer})
	return c, nil
}

// newConn negotiates: the lower value of both sides counts.
func newConn(dom *Domain, q Queue, theirs hello) *Conn {
	cfg, limits := &dom.dev.cfg, &dom.dev.limits
	c := &Conn{dom: dom, q: q, peer: q.Peer(), plain: theirs.plain, mtu: cfg.MTU}
	c.lacks = lacking(q)
	c.most = limits.MaxTransfer
	c.setSpins(cfg.Mode)
	l, lends := q.(Lender)
	if lends {
		c.mu, c.pollMu, c.held = l.Lend()
	} else {
		c.mu, c.pollMu, c.held = new(sync.Mutex), new(sync.Mutex), q
	}
	if c.direct, _ = c.held.(Direct); c.direct == nil && !lends {
		c.now, _ = q.(Immediate)
	}
	room := min(cfg.Depth+controlDepth, limits.Depth)
	c.room = uint64(room)
	c.depth = uint64(min(cfg.Depth, max(room-controlDepth, room/2, 1)))
	ring := 1 << bits.Len(uint(room-1))
	c.mask = uint64(ring - 1)
	c.ring = make([]record, ring)
	c.extras = make([][MaxSegments - 1]*region.Handle, ring)
	c.results.init(min(ring, 256))
	c.scratch = make([]WorkRequest, min(ring, maxBatch))
	c.comps = make([]Completion, min(ring+cfg.Credits, 64))
	for i := range c.ring {
		c.ring[i].seq = noSeq
	}
	c.firstBad.Store(noSeq)
	c.taken.Store(noSeq)
	c.batch.c = c
	c.park.left = make(chan struct{}, 1)
	c.credit.message = min(cfg.MaxMessage, limits.MaxMessage)
	c.credit.unlimited = theirs.plain
	c.credit.group = groupOf(cfg.Credits)
	if !theirs.plain {
		c.mtu = min(c.mtu, theirs.mtu)
		c.credit.window = uint64(theirs.credits)
		c.credit.allowed.Store(c.credit.window)
		c.credit.message = theirs.message
	}
	c.inbox.init(cfg.Credits)
	c.ctl.init(cfg.Credits)
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	return c
}

// lacking is the queue, if there are verbs that it cannot do.
func lacking(q Queue) Lacking {
	l, _ := q.(Lacking)
	for v := VerbWrite; l != nil && v <= VerbFlush; v++ {
		if l.Lacks(v) != "" {
			return l
		}
	}
	return nil
}

// start posts the receives and starts what works beside the user.
func (c *Conn) start() (err error) {
	cfg := &c.dom.dev.cfg
	if c.pool, err = newPool(c.dom, cfg.Credits, min(cfg.MaxMessage, c.dom.dev.limits.MaxMessage), c.peer); err != nil {
		return fmt.Errorf("its buffers for messages: %w", err)
	}
	for slot := range cfg.Credits {
		c.receives = append(c.receives, ReceiveRequest{ID: uint64(slot), Buf: c.pool.receive(slot)})
	}
	c.mu.Lock()
	err = c.held.PostReceive(c.receives)
	c.mu.Unlock()
	if err != nil {
		return errors.Join(fmt.Errorf("posting receives: %w", err), c.pool.close())
	}
	c.credit.received += uint64(len(c.receives))
	c.receives = c.receives[:0]
	c.credit.announced = c.credit.received
	if !c.plain {
		c.workers.Go(c.controlLoop)
	}
	if cfg.Mode != Busy {
		c.workers.Go(c.progress)
	}
	if cfg.OpTimeout > 0 {
		c.watch.start(c, cfg.OpTimeout)
	}
	return nil
}

// count is how many operations were posted.
func (c *Conn) count() uint64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.posted
}

// Domain is the connection's domain.
//
//barewire:effect within=0 of c
func (c *Conn) Domain() *Domain {
	if c.none() {
		return nil
	}
	return c.dom
}

// Peer is the peer's address, in the provider's form.
func (c *Conn) Peer() string {
	if c.none() {
		return ""
	}
	return c.peer
}

// Plain reports whether the peer speaks no barewire: then there are no names, no
// credits, and messages are whatever the peer makes of them.
func (c *Conn) Plain() bool {
	if c.none() {
		return false
	}
	return c.plain
}

// Depth is how many operations may be outstanding.
func (c *Conn) Depth() int {
	if c.none() {
		return 0
	}
	return int(c.depth)
}

// MaxMessage is the bytes of the longest message that the peer takes.
func (c *Conn) MaxMessage() int {
	if c.none() {
		return 0
	}
	return c.credit.message
}

// MTU is the packet size that both sides agreed on (Config.MTU). Where another layer makes the packets, as TCP does under
// iwarp, it says nothing of theirs.
func (c *Conn) MTU() int {
	if c.none() {
		return 0
	}
	return c.mtu
}

// Err is why the connection is no longer good, nil while it is.
func (c *Conn) Err() error {
	if c.none() {
		return errNoConn
	}
	if f := c.failed.Load(); f != nil {
		return f.err
	}
	return nil
}

// Abort ends the connection because of cause: all that is outstanding ends with an
// error, and all that is posted after is refused. It does not wait; [Conn.Drain] does. The
// connection still has to be closed.
//
//barewire:effect flushes=c
func (c *Conn) Abort(cause error) {
	if c.none() {
		return
	}
	why := ErrAborted
	if cause != nil {
		why = fmt.Errorf("%w: %w", ErrAborted, cause)
	}
	c.fail(noSeq, c.ended(why))
}

// fail makes the connection fail, once, and tells everybody. Seq is the operation
// that failed, or noSeq. The poll lock or none is held, never the post lock.
func (c *Conn) fail(seq uint64, err error) {
	f := &failure{seq: seq, err: err}
	if c.failed.CompareAndSwap(nil, f) {
		c.announce(f)
	}
}

// announce tells everybody that the connection failed, if it is by f that it did. The same
// locks may be held as in fail.
func (c *Conn) announce(f *failure) {
	if c.failed.Load() != f {
		return
	}
	err := f.err
	if f.violated {
		c.reportViolation(err)
	}
	idle := c.settled()
	closing := errors.Is(err, ErrClosed) && !errors.Is(err, ErrAborted) // and no closed thing was why
	if !closing || !idle {
		c.q.Abort(forPeer(err))
	}
	c.cancel(err)
	c.ctl.fail(err)
	c.park.wakeAll()
	if closing {
		return
	}
	cfg := &c.dom.dev.cfg
	level, what := slog.LevelWarn, "rdma: a connection failed"
	if idle && errors.Is(err, ErrPeerLost) {
		level, what = slog.LevelInfo, "rdma: a peer has gone" // and nothing was going on
	}
	cfg.Logger.Log(context.Background(), level, what, "peer", c.peer, "reason", err)
	cfg.see(Event{Kind: EventFailed, Peer: c.peer, Err: err})
}

// violated reports what must not happen, and fails the connection for it. The poll lock is held.
func (c *Conn) violated(err error) {
	c.tally.violations++
	c.reportViolation(err)
	c.fail(noSeq, err)
}

func (c *Conn) reportViolation(err error) {
	cfg := &c.dom.dev.cfg
	cfg.Logger.Error("rdma: violation", "peer", c.peer, "reason", err)
	cfg.see(Event{Kind: EventViolated, Peer: c.peer, Err: err})
}

// Drain waits until everything that was posted has ended, which after [Conn.Abort] is soon.
// Unlike [Conn.Flush] it says nothing about how.
//
//barewire:effect flushes=c
func (c *Conn) Drain(ctx context.Context) error {
	if c.none() {
		return errNoConn
	}
	posted := c.count()
	if posted == 0 || c.done(posted-1) {
		return nil
	}
	return c.await(ctx, want{kind: wantOp, seq: posted - 1})
}

// drainTimeout bounds how long closing waits for a provider that does not complete
// what it aborted.
const drainTimeout = 5 * time.Second

// Close ends the connection. What is outstanding ends with an error: Flush first
// where that matters. Regions stay registered. When it returns, no operation is
// in flight and nothing of it runs any more. Closing again does nothing.
//
//barewire:effect flushes=c
func (c *Conn) Close() error {
	if c.none() {
		return errNoConn
	}
	c.closing.Do(func() { c.closeFn = c.close() })
	return c.closeFn
}

func (c *Conn) close() error {
	c.tryPoll() // what is done and was not looked at makes no end in the midst of it
	c.fail(noSeq, c.ended(ErrClosed))
	c.watch.stop()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	drained := c.Drain(ctx)
	cancel()
	c.closed.Store(true)
	err := c.q.Close()
	// Nothing completes after it: what the provider owes is let go of.
	c.pollMu.Lock()
	end := c.count() // first: then nobody posts any more
	for seq := c.retired.Load(); seq < end; seq++ {
		c.failOp(seq, c.record(seq), ErrClosed)
		c.release(seq, c.record(seq))
		c.retired.Store(seq + 1)
	}
	c.pollMu.Unlock()
	c.park.wakeAll()
	c.workers.Wait()
	if drained != nil {
		drained = fmt.Errorf("rdma: close: the provider did not end what was outstanding with %s: %w", c.peer, drained)
	}
	c.dom.dev.keep(c.Stats())
	c.dom.remove(c)
	c.dom.dev.cfg.see(Event{Kind: EventDisconnected, Peer: c.peer})
	return errors.Join(err, drained, c.leave(), c.pool.close())
}
