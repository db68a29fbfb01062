package rdma

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

// immControl marks a message as one between the connections.
const immControl = 0x42575201 // "BWR" and the version

// arrival is a receive that was used and not looked at yet.
type arrival struct {
	slot  int32
	bytes int32
	imm   uint32
}

// arrivals are in order. There are never more than receives. Whoever has the poll lock adds; whoever
// has a lock takes: that one too where they are notifications, and the inbox's where they are messages.
type arrivals struct {
	put   atomic.Uint64 // ever
	taken atomic.Uint64 // ever
	most  uint64        // that there can be
	ring  []arrival     // a power of two
}

// inbox is what the peer's program sent and ours has not taken.
type inbox struct {
	mu    sync.Mutex // who takes from texts
	notes arrivals
	texts arrivals
}

func (b *inbox) init(credits int) {
	for _, q := range []*arrivals{&b.notes, &b.texts} {
		q.most, q.ring = uint64(credits), make([]arrival, 1<<bits.Len(uint(credits-1)))
	}
}

// len is how many there are.
func (q *arrivals) len() uint64 { return q.put.Load() - q.taken.Load() }

// push adds an arrival; it reports false where there were more than receives. The poll lock is held.
func (q *arrivals) push(a arrival) bool {
	n := q.put.Load()
	if n-q.taken.Load() == q.most {
		return false
	}
	q.ring[n&uint64(len(q.ring)-1)] = a
	release.Store(&q.put, n+1)
	return true
}

// first is the first arrival, if there is one. The lock of who takes is held.
func (q *arrivals) first() (a arrival, ok bool) {
	n := q.taken.Load()
	if n == q.put.Load() {
		return arrival{}, false
	}
	return q.ring[n&uint64(len(q.ring)-1)], true
}

// drop takes the first arrival away, which exists. The lock of who takes is held.
func (q *arrivals) drop() { release.Store(&q.taken, q.taken.Load()+1) }

// text takes the first message, unless it is longer than room.
func (b *inbox) text(room int) (a arrival, ok, fits bool) {
	if b.texts.len() == 0 {
		return arrival{}, false, false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if a, ok = b.texts.first(); ok && int(a.bytes) <= room {
		b.texts.drop()
		fits = true
	}
	return a, ok, fits
}

// received is a receive that was used. The poll lock is held.
func (c *Conn) received(comp *Completion) {
	switch {
	case comp.Err != nil:
		// Receives fail only when the whole queue does: see [Conn.queueFailed].
		if c.broken == nil {
			c.broken = receiveError(comp.Err)
		}
		return
	case comp.ID >= uint64(c.pool.in) || comp.Verb == VerbReceive && (comp.Bytes < 0 || comp.Bytes > c.pool.used):
		c.violated(wrap(ErrProtocol, "the provider completed receive %d with %d bytes; there are %d of %d bytes", comp.ID, comp.Bytes, c.pool.in, c.pool.used))
		return
	}
	a := arrival{slot: int32(comp.ID), bytes: int32(comp.Bytes), imm: comp.Imm}
	ok := true
	switch {
	case comp.Verb == VerbNotify:
		c.tally.notifications++
		ok = c.inbox.notes.push(a)
	case comp.Imm == immControl && !c.plain:
		c.tally.control++
		c.controlled(int(comp.ID), comp.Bytes)
	default:
		c.tally.messages++
		if comp.Invalidated != 0 {
			c.givenBack(comp.Invalidated)
		}
		ok = c.inbox.texts.push(a)
	}
	if !ok {
		c.violated(wrap(ErrProtocol, "the provider completed more receives of %s than there are", c.peer))
	}
}

// receiveError is why receives failed. That the peer sends more than it was told there is room for is not the
// ErrTooLong of a caller whose buffer is too short: a longer one would not help.
func receiveError(err error) error {
	if s := (*StatusError)(nil); errors.As(err, &s) && s.Status == StatusTooLong && !s.Late {
		return fmt.Errorf("%w: it sent a message that is longer than the receives here (%s)", ErrProtocol, s.Detail)
	}
	return err
}

// Notification is a peer's [WriteNotify] that arrived: what it wrote, and all of
// its earlier writes on the connection, are in place. What the number says is for the two programs to agree on.
type Notification struct {
	Imm   uint32
	Bytes int // that the write had; 0 where the device does not tell
	from  *Conn
}

// NextNotification waits for the peer's next [WriteNotify]. When ctx ends first its
// error is returned and nothing is lost. After the connection failed it gives
// what had arrived before, and then the reason.
//
//barewire:effect hears=c, within=0 of c
func (c *Conn) NextNotification(ctx context.Context) (Notification, error) {
	if c.none() {
		return Notification{}, errNoConn
	}
	for {
		for range c.rounds {
			if n, ok := c.takeNote(c.looks); ok {
				return n, nil
			}
		}
		if err := c.arrive(ctx, wantNote); err != nil {
			return Notification{}, err
		}
	}
}

// TryNotification is [Conn.NextNotification] without waiting: ok reports whether there was one.
//
//barewire:effect hears=c, within=0 of c
func (c *Conn) TryNotification() (n Notification, ok bool, err error) {
	if c.none() {
		return n, false, errNoConn
	}
	_ = c.handOver()
	if n, ok = c.takeNote(1); ok {
		return n, true, nil
	}
	return n, false, c.nothing(wantNote)
}

// takeNote takes the notification that arrived first, if there is one. If not it polls, so many times: then
// one lock is taken for what arrives and for taking it.
func (c *Conn) takeNote(looks int) (Notification, bool) {
	q := &c.inbox.notes
	if q.len() != 0 {
		c.pollMu.Lock()
	} else if !c.pollMu.TryLock() {
		return Notification{}, false
	}
	n := 0
	if q.len() == 0 && c.park.role.Load() != roleUser { // as in tryPollFor
		n = c.look(looks)
	}
	a, ok := q.first()
	if ok {
		q.drop()
		c.giveBack(int(a.slot))
	}
	c.unlockAndWake(n)
	if !ok {
		return Notification{}, false
	}
	return Notification{Imm: a.imm, Bytes: int(a.bytes), from: c}, true
}

// Notifications gives the peer's notifications one after the other, until ctx ends or
// the connection fails: the last pair has the error.
//
//barewire:effect hears=c
func (c *Conn) Notifications(ctx context.Context) iter.Seq2[Notification, error] {
	return func(yield func(Notification, error) bool) {
		for {
			n, err := c.NextNotification(ctx)
			if !yield(n, err) || err != nil {
				return
			}
		}
	}
}

// arrive waits for something of the peer's.
func (c *Conn) arrive(ctx context.Context, kind wantKind) error {
	c.tryPoll()
	w := want{kind: kind}
	if err := c.await(ctx, w); err != nil {
		return err
	}
	return c.nothing(kind)
}

// nothing is why nothing more will come of the peer's, nil where something may, or has.
func (c *Conn) nothing(kind wantKind) error {
	q, what := &c.inbox.notes, "notification"
	if kind == wantText {
		q, what = &c.inbox.texts, "receive"
	}
	if f := c.failed.Load(); f != nil && q.len() == 0 {
		return fmt.Errorf("rdma: %s: %w", what, &flushError{f.err})
	}
	return nil
}

// Received gives the count elements from i on of a window as a slice without a copy, after a
// notification said that the peer is done writing them. That the peer leaves
// them alone until it is told that they were read is for the two programs to
// agree on. It must not be used after the window is closed. The error is
// [barewire.ErrRange], [barewire.ErrWindowClosed], or [ErrDomain] where the region is not
// in the domain of the connection that the notification came by: nothing was written there.
//
//barewire:effect views=0 of w at i count count on ok, meets=w of n
func Received[T barewire.Castable[T], A barewire.CanRemoteWrite](n Notification, w barewire.Window[T, A], i, count int) ([]T, error) {
	if n.from == nil {
		return nil, wrap(ErrOp, "received: a zero Notification; NextNotification gives others")
	}
	h, err := barewire.Opened(friend, w, "received")
	if err != nil {
		return nil, err
	}
	// An open window keeps the region where it is registered.
	if reg, ok := h.Reg.(*registration); !ok || reg.dom != n.from.dom {
		return nil, wrap(n.from.foreign(h), "received from %s: %s", n.from.peer, h.Name())
	}
	base, have := barewire.Elements(w)
	if i < 0 || count < 0 || i > have || count > have-i {
		return nil, region.Doing("received", h.Range(i, count))
	}
	if !wire.LittleEndian {
		return nil, wire.ErrBigEndian
	}
	return unsafe.Slice((*T)(base), have)[i : i+count : i+count], nil
}

// SendBytes sends a message, waiting while the peer has too many unread. The
// bytes are copied, so they are the caller's again when it returns; if the message
// is lost later, the connection has failed, and the next operation says so.
func (c *Conn) SendBytes(ctx context.Context, b []byte) error {
	r := request{verb: VerbSend, bytes: len(b)}
	switch {
	case c.none():
		return errNoConn
	case len(b) == 0:
		return refuse(c, &r, ErrEmpty)
	}
	return c.send(ctx, &r, b)
}

// send sends a copy of a message as a request says, waiting while it cannot.
func (c *Conn) send(ctx context.Context, r *request, b []byte) error {
	if most := min(c.credit.message, c.pool.used); len(b) > most {
		return refuse(c, r, fmt.Errorf("%w: messages on this connection have at most %d bytes; see MaxMessage", ErrTooLong, most))
	}
	for {
		err := c.sendCopy(r, b)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, ErrQueueFull):
			err = c.WaitRoom(ctx)
		case errors.Is(err, ErrNoCredit):
			err = c.await(ctx, want{kind: wantCredit})
		}
		if err != nil {
			return refuse(c, r, err)
		}
	}
}

// sendCopy copies a message into a slot and posts it, if there is one.
func (c *Conn) sendCopy(r *request, b []byte) error {
	if !c.pool.enter() {
		return ErrClosed
	}
	defer c.pool.leave()
	slot, ok := c.pool.take()
	if !ok {
		return ErrNoCredit
	}
	copy(c.pool.bytes(slot, len(b)), b)
	r.slot, r.ptr = int16(slot)+1, c.pool.at(slot)
	_, err := c.enqueue(r, nil, nil, forUser, false)
	if err != nil {
		c.pool.free(slot)
	}
	return err
}

// Receive waits for the peer's next message and copies it into b. Where b is too
// short for it the error is [ErrTooLong], n what it needs, and the message stays.
//
//barewire:effect hears=c
func (c *Conn) Receive(ctx context.Context, b []byte) (n int, err error) {
	if c.none() {
		return 0, errNoConn
	}
	if !c.pool.enter() {
		return 0, wrap(ErrClosed, "receive: the connection with %s", c.peer)
	}
	defer c.pool.leave()
	for {
		if n, ok, err := c.takeText(b); ok {
			return n, err
		}
		if err := c.arrive(ctx, wantText); err != nil {
			return 0, err
		}
	}
}

// TryReceive is [Conn.Receive] without waiting: ok reports whether there is a message.
//
//barewire:effect hears=c
func (c *Conn) TryReceive(b []byte) (n int, ok bool, err error) {
	if c.none() {
		return 0, false, errNoConn
	}
	if !c.pool.enter() {
		return 0, false, wrap(ErrClosed, "receive: the connection with %s", c.peer)
	}
	defer c.pool.leave()
	if n, ok, err = c.takeText(b); ok {
		return n, true, err
	}
	c.Poll()
	if n, ok, err = c.takeText(b); ok {
		return n, true, err
	}
	return 0, false, c.nothing(wantText)
}

// takeText takes the message that arrived first, if there is one and it fits. The pool is held.
func (c *Conn) takeText(b []byte) (n int, ok bool, err error) {
	a, ok, fits := c.inbox.text(len(b))
	if !ok {
		return 0, false, nil
	}
	if !fits {
		return int(a.bytes), true, wrap(ErrTooLong, "receive: a message of %d bytes for %d", a.bytes, len(b))
	}
	n = copy(b, c.pool.bytes(int(a.slot), int(a.bytes)))
	c.giveBackLater(int(a.slot))
	return n, true, nil
}
