package rdma

import (
	"fmt"
	"math"
	"sync/atomic"

	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
)

// class is on whose behalf an operation is posted.
type class uint8

const (
	forUser    class = iota
	forControl       // messages between the connections
	forCredits       // those that only announce receives
)

// reserves is how many of the peer's receives each class leaves for the next ones.
// Receives are announced whenever a group of them was posted anew, so a peer
// that only answers always has one for its next announcement, and the two never
// wait for each other.
var reserves = [...]uint64{forUser: userReserve, forControl: 4, forCredits: 0}

const userReserve = 16

// groupOf is how many of a connection's receives are given back and announced together.
func groupOf(credits int) int { return credits / 4 }

// It does not compile where a peer could wait for receives that are not announced: fewer than two groups
// are not, see [Conn.giveBack], and the user may use the rest above the reserve.
const _ = uint(minCredits - (2*(minCredits/4) - 1) - userReserve - 1)

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
	group     int           // see groupOf
}

// left is how many messages the peer has room for.
func (k *credit) left() uint64 {
	if k.unlimited {
		return math.MaxUint64
	}
	return k.allowed.Load() - k.sent.Load()
}

// use counts receives that we use. The post lock is held, so nobody else writes.
func (k *credit) use(n uint64) { release.Store(&k.sent, k.sent.Load()+n) }

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

// giveBack is for a receive that is done with. Receives are given back to the device, and announced to the peer, in groups: with the
// next poll that finds nothing, or now where that has been put off before. The poll lock is held.
func (c *Conn) giveBack(slot int) {
	if c.failed.Load() != nil {
		return
	}
	c.receives = append(c.receives, ReceiveRequest{ID: uint64(slot), Buf: c.pool.receive(slot)})
	n := len(c.receives)
	switch {
	case c.plain:
		c.repost()
	case n == c.credit.group && !c.ctl.urgent.Load():
		c.ctl.urgent.Store(true)
	case n == c.credit.group, n >= 2*c.credit.group:
		c.repost()
		c.ctl.urgent.Store(true)
		c.pump()
	}
}

// giveBackLater is giveBack for who does not have the poll lock.
func (c *Conn) giveBackLater(slot int) {
	c.pollMu.Lock()
	c.giveBack(slot)
	c.pollMu.Unlock()
}

// repost gives the device back what is collected. The peer counts on those only that are announced. The
// poll lock is held.
func (c *Conn) repost() {
	if len(c.receives) == 0 || c.failed.Load() != nil {
		return
	}
	c.mu.Lock()
	err := c.held.PostReceive(c.receives)
	c.credit.received += uint64(len(c.receives))
	c.mu.Unlock()
	c.receives = c.receives[:0]
	if err != nil {
		c.fail(noSeq, wrap(err, "posting a receive for %s", c.peer))
	}
}
