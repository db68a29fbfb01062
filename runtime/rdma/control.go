package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// control is what the connections say to each other.
type control struct {
	urgent atomic.Bool // there is something to send
	sendMu sync.Mutex  // one at a time fills a slot; taken before mu and the post lock
	ask    chan asking // for the control goroutine

	mu       sync.Mutex
	outbox   []ctl.BodyMember
	offers   map[string]*offer
	waiting  map[uint32]*ctl.Import // the peer's imports of what is not offered yet
	imports  map[uint32]*asked      // our imports that are not answered yet
	nextID   uint32
	refusals sparingly                  // of the peer's imports
	revoked  map[RKey]uint32            // keys of the peer that are no longer good, with their epochs
	revokes  atomic.Int32               // len(revoked)
	known    map[RKey]known             // what was imported
	scopes   map[RKey]*scope            // keys that only the peer was granted
	given    map[*registration]struct{} // whose keys the peer was given
	over     bool                       // the connection is closed: it is given no more
}

// asking is something that may take its time, so that it is not done while polling.
type asking struct {
	slot int
	body ctl.BodyMember
}

// asked is an import that is not answered yet. What is plain is set before done.
type asked struct {
	done atomic.Bool
	ref  barewire.Ref
	err  error
}

// maxOutbox is how many answers may wait to be sent: a peer that asks and does not
// receive is cut off.
const maxOutbox = 4096

// maxRevoked is how many keys of the peer are remembered as no longer good.
const maxRevoked = 4096

func (k *control) init(credits int) {
	k.ask = make(chan asking, credits)
	k.offers = map[string]*offer{}
	k.waiting = map[uint32]*ctl.Import{}
	k.imports = map[uint32]*asked{}
	k.revoked = map[RKey]uint32{}
	k.known = map[RKey]known{}
	k.scopes = map[RKey]*scope{}
	k.given = map[*registration]struct{}{}
}

// remember notes that the peer is given a key of a registration, unless the
// connection is closed.
func (k *control) remember(r *registration) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.over {
		k.given[r] = struct{}{}
	}
	return !k.over
}

// forget is for a registration that has ended.
func (k *control) forget(r *registration) {
	k.mu.Lock()
	delete(k.given, r)
	k.mu.Unlock()
}

// leave takes the connection out of the registrations that know it, so that a region that
// stays does not keep what was made for each peer there ever was, and ends the keys that
// were for this one.
func (c *Conn) leave() error {
	k := &c.ctl
	k.mu.Lock()
	k.over = true
	given := k.given
	k.given = nil
	clear(k.offers)
	k.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), drainTimeout)
	defer cancel()
	var errs []error
	for r := range given {
		errs = append(errs, r.left(ctx, c))
	}
	return errors.Join(errs...)
}

// fail tells those who wait for an answer that there will be none.
func (k *control) fail(err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for id, a := range k.imports {
		a.err = &flushError{err}
		a.done.Store(true)
		delete(k.imports, id)
	}
	clear(k.waiting)
	k.outbox = nil
}

// isRevoked reports whether the peer said that a key is no longer good.
func (k *control) isRevoked(key RKey, epoch uint32) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	at, ok := k.revoked[key]
	return ok && at == epoch
}

// noteRevoked remembers that a key of the peer is no longer good.
func (k *control) noteRevoked(key RKey, epoch uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.revoked) < maxRevoked {
		k.revoked[key] = epoch
		k.revokes.Store(int32(len(k.revoked)))
	}
}

// tell sends a message to the peer's connection, when there is room. It does not wait.
func (c *Conn) tell(body ctl.BodyMember) {
	if c.plain || c.failed.Load() != nil {
		return
	}
	k := &c.ctl
	k.mu.Lock()
	full := len(k.outbox) >= maxOutbox
	if !full {
		k.outbox = append(k.outbox, body)
	}
	k.mu.Unlock()
	if full {
		c.fail(noSeq, wrap(ErrProtocol, "%s asks, and does not take the answers: %d of them wait", c.peer, maxOutbox))
		return
	}
	k.urgent.Store(true)
	c.pump()
}

// pump sends what there is to say, as far as the peer has receives. What is left
// is sent after a later poll.
func (c *Conn) pump() {
	k := &c.ctl
	k.sendMu.Lock()
	defer k.sendMu.Unlock()
	for c.failed.Load() == nil {
		k.urgent.Store(false)
		c.mu.Lock()
		received, owe := c.credit.received, c.credit.received-c.credit.announced >= uint64(c.credit.group)
		c.mu.Unlock()
		k.mu.Lock()
		var body ctl.BodyMember = &justCredits
		by, some := forCredits, len(k.outbox) > 0
		if some {
			body, by = k.outbox[0], forControl
		}
		k.mu.Unlock()
		if !some && !owe {
			return
		}
		// Set while it tries: a poll meanwhile may take just what is lacking here, and
		// must then try again, or nobody does.
		k.urgent.Store(true)
		if !c.say(body, by, received) {
			if !some || !owe || !c.say(&justCredits, forCredits, received) {
				return
			}
			continue
		}
		if some {
			k.mu.Lock()
			if len(k.outbox) > 0 {
				k.outbox[0] = nil
				k.outbox = k.outbox[1:]
			}
			k.mu.Unlock()
		}
	}
}

var justCredits ctl.Credits

// say sends one message and reports whether it could.
func (c *Conn) say(body ctl.BodyMember, by class, received uint64) bool {
	if !c.pool.enter() {
		return false
	}
	defer c.pool.leave()
	slot, ok := c.pool.take()
	if !ok {
		return false
	}
	msg := ctl.Control{Posted: received, Body: ctl.Body{Value: body}}
	b, err := msg.AppendBinary(c.pool.bytes(slot, c.pool.used)[:0])
	if err == nil && len(b) > c.pool.used {
		err = ErrTooLong
	}
	if err != nil {
		c.pool.free(slot)
		c.fail(noSeq, fmt.Errorf("rdma: a message to the connection of %s: %w", c.peer, err))
		return false
	}
	r := request{verb: VerbSend, imm: immControl, bytes: len(b), slot: int16(slot) + 1, ptr: c.pool.at(slot)}
	if _, err := c.enqueue(&r, nil, nil, by, false); err != nil {
		c.pool.free(slot)
		return false
	}
	c.mu.Lock()
	c.credit.announced = max(c.credit.announced, received)
	c.mu.Unlock()
	return true
}

// controlled takes a message of the peer's connection out of a slot. The poll lock is held.
func (c *Conn) controlled(slot, n int) {
	var msg ctl.Control
	err := msg.UnmarshalBinary(c.pool.bytes(slot, n))
	if err == nil {
		err = c.credit.grow(msg.Posted)
	}
	if err != nil {
		c.violated(wrap(ErrProtocol, "a message of %s: %v", c.peer, err))
		return
	}
	k := &c.ctl
	switch body := msg.Body.Value.(type) {
	case *ctl.Import, *ctl.Cancel:
		// The slot is given back when it was dealt with, so there is always room here.
		select {
		case k.ask <- asking{slot, body}:
			return
		default:
			c.violated(wrap(ErrProtocol, "%s used more receives than there are", c.peer))
		}
	case *ctl.Imported:
		k.answer(body.ID, refFrom(&body.Ref), nil)
	case *ctl.Refused:
		k.answer(body.ID, barewire.Ref{}, refusal(body))
	case *ctl.Revoked:
		k.noteRevoked(RKey(body.Key), body.Epoch)
	}
	c.giveBack(slot)
}

// answer ends an import of ours. One that is not waited for any more is ignored:
// the answer and the cancellation crossed.
func (k *control) answer(id uint32, ref barewire.Ref, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if a := k.imports[id]; a != nil {
		delete(k.imports, id)
		a.ref, a.err = ref, err
		a.done.Store(true)
	}
}

// controlLoop answers what the peer asks for: the user's Authorize may take its time.
func (c *Conn) controlLoop() {
	for {
		select {
		case <-c.ctx.Done():
			return
		case m := <-c.ctl.ask:
			switch body := m.body.(type) {
			case *ctl.Import:
				c.serve(body)
			case *ctl.Cancel:
				c.ctl.mu.Lock()
				delete(c.ctl.waiting, body.ID)
				c.ctl.mu.Unlock()
			}
			c.giveBackLater(m.slot)
		}
	}
}
