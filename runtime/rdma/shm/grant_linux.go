package shm

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// What the word of a key in the outbox is: its grant's nonce while the key is
// good, else one of these.
const (
	wordRevoked = iota // the key is no longer good
	wordEnded          // nor is any: the connection has ended
	firstNonce
)

// grant is a key that a peer has been given the memory of. grantMu of its queue guards it.
type grant struct {
	q     *queue
	r     *registration
	slot  uint32
	nonce uint64
	taken bool   // the peer was told in the outbox that it is not good
	stamp uint64 // the peer's access word after that
	over  bool   // the peer is not in the memory, and cannot come back
}

// give answers a peer that asks for a key's memory.
func (q *queue) give(m message) error {
	r := q.dom.at(m.key)
	deny := func(status rdma.Status, format string, args ...any) error {
		text := fmt.Appendf(nil, format, args...)
		return q.sock.send(message{kind: kindDeny, id: m.id, status: status, body: text}, -1, q.dom.a.handshake)
	}
	switch {
	case r == nil || r.rkey != m.key || r.rkey == 0:
		return deny(rdma.StatusRemoteKey, "there is no key %#x", m.key)
	case r.epoch != m.epoch:
		return deny(rdma.StatusRemoteKey, "key %#x belongs to a registration that has ended", m.key)
	case r.scope != nil && r.scope != q:
		return deny(rdma.StatusRemoteKey, "key %#x is for another connection", m.key)
	}
	g, fd, err := q.grant(r)
	if why, ok := lacksRoom(err); ok {
		return deny(rdma.StatusProvider, "the process that has the memory of key %#x %s", m.key, why)
	}
	if err != nil {
		return deny(rdma.StatusRemoteKey, "%v", err)
	}
	defer unix.Close(fd)
	err = q.sock.send(message{kind: kindGrant, id: m.id, slot: g.slot, nonce: g.nonce, rights: uint16(r.rights),
		addr: r.addr, length: uint64(r.length), offset: r.offset}, fd, q.dom.a.handshake)
	if why, ok := lacksRoom(err); ok {
		return deny(rdma.StatusProvider, "the process that has the memory of key %#x %s", m.key, why)
	}
	return err
}

// unknownUser is how all users look that have no number here: user_namespaces(7).
const unknownUser = 65534

// sameUser reports whether a peer runs as this process's user. It could then reach this
// process's memory by other means too, ptrace(2), so that it lets go of mappings is believed.
func sameUser(peer unix.Ucred) bool {
	return peer.Uid == uint32(os.Geteuid()) && peer.Uid != unknownUser
}

// grant finds or makes the grant of a registration to this queue, and duplicates the
// descriptor to pass.
func (q *queue) grant(r *registration) (*grant, int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended.Load() || r.fd < 0 {
		return nil, -1, errNoKey
	}
	q.grantMu.Lock()
	defer q.grantMu.Unlock()
	if q.gone || q.dead.Load() != alive {
		return nil, -1, errClosed
	}
	g := q.grants[r]
	if g == nil && len(q.slots) == 0 {
		return nil, -1, fmt.Errorf("shm: the connection has %d keys, no more fit", len(q.grants))
	}
	fd, err := unix.FcntlInt(uintptr(r.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, -1, err
	}
	if !q.trusted && r.exposed != nil {
		r.exposed() // before Deregister can be through: it takes r.mu
	}
	if g == nil {
		g = &grant{q: q, r: r, slot: q.slots[len(q.slots)-1], nonce: q.nonce}
		q.slots = q.slots[:len(q.slots)-1]
		q.nonce++
		q.grants[r] = g
		r.grants = append(r.grants, g)
		q.own.slot(g.slot).Store(g.nonce)
	}
	return g, fd, nil
}

// withdraw says in the outbox that the key is no longer good.
func (g *grant) withdraw() {
	g.q.grantMu.Lock()
	defer g.q.grantMu.Unlock()
	g.withdrawLocked(wordRevoked)
}

func (g *grant) withdrawLocked(word uint64) {
	if g.taken || g.q.gone {
		return
	}
	g.taken = true
	g.q.own.slot(g.slot).Store(word)
	g.stamp = g.q.peerAccess.Load() // after the store: a later access sees it
}

// left reports whether the peer is out of the memory: it was in none when the
// key was withdrawn, or has left that one since, or has ended. grantMu is held.
func (g *grant) left() bool {
	return g.over || g.q.gone || g.stamp&1 == 0 || g.q.peerAccess.Load() != g.stamp || g.q.peerGone.Load()
}

// wait waits until the peer of a withdrawn grant is out of the memory, and
// tells it to unmap. At the end of the time the connection fails.
func (g *grant) wait(ctx context.Context, end time.Time) error {
	q := g.q
	pause := 10 * time.Microsecond
	for {
		q.grantMu.Lock()
		left := g.left()
		if left && !g.over {
			g.drop()
		}
		q.grantMu.Unlock()
		if left {
			return nil
		}
		if ctx.Err() != nil || time.Now().After(end) {
			err := failure(rdma.StatusTimeout, "%s stopped in the middle of an access, perhaps to %s", q.peerName, g.r.name)
			q.fail(failed, err)
			return fmt.Errorf("%w; the memory must stay until that process has gone on or ended", err)
		}
		time.Sleep(pause)
		pause = min(2*pause, time.Millisecond)
	}
}

// drop gives the slot of a grant free, and tells the peer. grantMu is held.
func (g *grant) drop() {
	q := g.q
	g.over = true
	delete(q.grants, g.r)
	if q.gone {
		return
	}
	q.slots = append(q.slots, g.slot)
	if q.dead.Load() == alive {
		_ = q.sock.post(message{kind: kindRevoke, slot: g.slot, nonce: g.nonce})
	}
}

// withdrawAll withdraws every grant of the queue, since it has failed.
func (q *queue) withdrawAll() {
	q.grantMu.Lock()
	defer q.grantMu.Unlock()
	for _, g := range q.grants {
		g.withdrawLocked(wordEnded)
	}
}

// outside waits until the peer is in no memory of this side, for a while.
func (q *queue) outside(long time.Duration) bool {
	end := time.Now().Add(long)
	for pause := 10 * time.Microsecond; ; pause = min(2*pause, 10*time.Millisecond) {
		q.grantMu.Lock()
		out := true
		for _, g := range q.grants {
			out = out && g.left()
		}
		q.grantMu.Unlock()
		if out || time.Now().After(end) {
			return out
		}
		time.Sleep(pause)
	}
}

// dropGrants forgets the grants of a queue that has ended.
func (q *queue) dropGrants() {
	q.grantMu.Lock()
	q.gone = true
	var all []*grant
	for _, g := range q.grants {
		g.drop()
		all = append(all, g)
	}
	q.grantMu.Unlock()
	for _, g := range all {
		g.r.mu.Lock()
		g.r.grants = slices.DeleteFunc(g.r.grants, func(o *grant) bool { return o == g })
		g.r.mu.Unlock()
	}
}
