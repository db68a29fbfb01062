package rdma

import (
	"fmt"
	"math"
	"sync/atomic"
)

// class is on whose behalf an operation is posted.
type class uint8

const (
	forUser    class = iota
	forControl       // messages between the connections
	forCredits       // those that only announce receives
)

// reserves is how many of the peer's receives each class leaves for the next ones.
// Receives are announced whenever announceAfter of them were posted anew, so a peer
// that only answers always has one for its next announcement, and the two never
// wait for each other.
var reserves = [...]uint64{forUser: userReserve, forControl: 4, forCredits: 0}

const userReserve = 16

const announceAfter = 8

// It does not compile where a peer could wait for receives that are not announced: fewer than twice
// announceAfter are not, see [Conn.repost], and the user may use the rest above the reserve.
const _ = uint(minCredits - (2*announceAfter - 1) - userReserve - 1)

// credit counts the receives of both sides, from the beginning of the connection.
// What is plain is guarded by the post lock.
type credit struct {
	allowed   atomic.Uint64 // that the peer posted
	sent      atomic.Uint64 // that we used
	window    uint64        // that the peer keeps posted
	message   int           // bytes that each of them takes
	received  uint64        // that we posted
	announced uint64        // of them, that the peer knows of
	unlimited bool          // the peer does not count
}

// left is how many messages the peer has room for.
func (k *credit) left() uint64 {
	if k.unlimited {
		return math.MaxUint64
	}
	return k.allowed.Load() - k.sent.Load()
}

// check reports whether a message can be sent. The post lock is held.
func (k *credit) check(c *Conn, r *request, by class) error {
	if r.verb == VerbSend && r.bytes > k.message {
		return fmt.Errorf("%w: the peer takes messages of at most %d bytes", ErrTooLong, k.message)
	}
	if k.left() <= reserves[by] {
		c.tally.noCredit++
		return fmt.Errorf("%w: %d messages and notifications wait to be taken there; wait until its program takes them (WaitCredit), or use a greater Credits", ErrNoCredit, k.sent.Load()-(k.allowed.Load()-k.window))
	}
	return nil
}

// grow takes a peer's word for how many receives it posted. What cannot be is an error.
func (k *credit) grow(posted uint64) error {
	have := k.allowed.Load()
	if most := k.sent.Load() + k.window; posted > most {
		return fmt.Errorf("%w: it says that it posted %d receives, and cannot have posted more than %d", ErrProtocol, posted, most)
	}
	if posted > have {
		k.allowed.Store(posted)
	}
	return nil
}

// repost gives a receive back to the device, together with others: the peer counts
// on those that were announced only, and they are announced in as large groups. It
// is announced with the next poll, or now where that has been put off before.
func (c *Conn) repost(slot int) {
	c.mu.Lock()
	c.repostAndUnlock(slot)
}

// repostAndUnlock is repost for who has the post lock, which it gives up.
func (c *Conn) repostAndUnlock(slot int) {
	if c.failed.Load() != nil {
		c.mu.Unlock()
		return
	}
	c.receives = append(c.receives, ReceiveRequest{ID: uint64(slot), Buf: c.pool.receive(slot)})
	if len(c.receives) < announceAfter && !c.plain {
		c.mu.Unlock()
		return
	}
	err := c.q.PostReceive(c.receives)
	c.credit.received += uint64(len(c.receives))
	c.receives = c.receives[:0]
	owed := c.credit.received - c.credit.announced
	c.mu.Unlock()
	switch {
	case err != nil:
		c.fail(noSeq, wrap(err, "posting a receive for %s", c.peer))
	case c.plain:
	case owed >= 2*announceAfter:
		c.ctl.urgent.Store(true)
		c.pump()
	default:
		c.ctl.urgent.Store(true)
	}
}
