package shm

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// queue is a connection. Locks are taken in the order of their fields here:
// pollMu, mu, then those of a registration, then grantMu.
type queue struct {
	dom      *domain
	sock     *socket
	bell     *bell
	own      *outbox
	peer     *outbox
	hello    []byte
	peerName string
	longest  int  // bytes of a message to the peer
	trusted  bool // the peer is of this process's user
	ahead    ahead

	// The words that operations use, so that they need not be looked for.
	ownAccess, ownSleep, ownStarved, ownPosted, ownConsumed      *atomic.Uint64
	peerAccess, peerSleep, peerStarved, peerPosted, peerConsumed *atomic.Uint64

	dead     atomic.Uint32 // alive, failed or lost
	peerGone atomic.Bool   // the peer's socket has ended: it is in nobody's memory
	sleepers atomic.Int32  // 1 while a goroutine sleeps in Wait; changed under pollMu
	spin     spinner
	sleeper  sleeper
	watched  chan struct{} // closed when the watcher has ended

	pollMu sync.Mutex
	recvs  fifo[rdma.ReceiveRequest] // put under mu, taken under pollMu
	taken  atomic.Uint64             // entries of the peer's ring, ever; written under pollMu
	tell   bool                      // the peer must know what was taken, for room in its arena

	looking atomic.Int32 // goroutines that look for something without pollMu

	mu      sync.Mutex
	closed  bool // changed with pollMu and mu held
	cause   *rdma.StatusError
	flushed error                  // how what comes after the cause completes
	posted  uint64                 // work requests, ever
	done    fifo[rdma.Completion]  // put under mu, taken under pollMu
	waiting fifo[rdma.WorkRequest] // those that cannot be done yet, in order
	access  uint64                 // as in ownAccess
	sender  sender
	imports imports
	rungFor uint64        // the sleep of the peer that a bell was rung for
	rungDry atomic.Uint64 // the drought of the peer that a bell was rung for

	grantMu sync.Mutex
	grants  map[*registration]*grant
	slots   []uint32 // free ones
	nonce   uint64
	gone    bool // the outboxes are unmapped
}

var (
	_ rdma.Lender    = (*queue)(nil)
	_ rdma.Immediate = (*queue)(nil)
	_ rdma.Direct    = (*held)(nil)
)

// The states of a queue.
const (
	alive  = iota
	failed // by this side: everything is flushed at once
	lost   // by the peer: what it had sent is still delivered
)

// newQueue makes a queue of what a handshake has given, and owns all of it,
// even if it fails.
func newQueue(d *domain, s *socket, b *bell, own, peer *outbox, hello []byte, name string) (*queue, error) {
	q := &queue{
		dom: d, sock: s, bell: b, own: own, peer: peer, hello: hello,
		peerName: nameOf(s, name),
		longest:  int(min(own.longest, peer.longest)),
		trusted:  d.a.trusts(s.cred),
		watched:  make(chan struct{}),
		grants:   map[*registration]*grant{},
		nonce:    firstNonce,
	}
	q.ownAccess, q.peerAccess = own.word(atAccess), peer.word(atAccess)
	q.ownSleep, q.peerSleep = own.word(atSleep), peer.word(atSleep)
	q.ownStarved, q.peerStarved = own.word(atStarved), peer.word(atStarved)
	q.ownPosted, q.peerPosted = own.word(atPosted), peer.word(atPosted)
	q.ownConsumed, q.peerConsumed = own.word(atConsumed), peer.word(atConsumed)
	q.spin.allowed = d.a.spin
	q.sleeper.init(q)
	q.recvs.init(int(own.entries))
	q.done.init(d.a.limits.Depth)
	q.waiting.init(d.a.limits.Depth)
	q.sender.ends = make([]uint64, own.entries)
	q.imports.init()
	for i := own.slots; i > 0; i-- {
		q.slots = append(q.slots, i-1)
	}
	if err := d.enter(q); err != nil {
		b.close()
		own.close()
		peer.close()
		return nil, errors.Join(err, s.conn.Close())
	}
	go q.watch()
	return q, nil
}

// Hello is a copy of what the peer said when it connected.
func (q *queue) Hello() []byte { return slices.Clone(q.hello) }

// nameOf is a peer's process, user and address.
func nameOf(s *socket, addr string) string { return who(s) + " at " + addr }

// Peer is the peer's process, user and address.
func (q *queue) Peer() string { return q.peerName }

// failure makes the error of a completion.
func failure(s rdma.Status, format string, args ...any) *rdma.StatusError {
	return &rdma.StatusError{Status: s, Detail: fmt.Sprintf(format, args...)}
}

// Abort moves the queue to its error state and tells the peer.
func (q *queue) Abort(cause error) {
	text := "aborted"
	if cause != nil {
		text = cause.Error()
	}
	q.fail(failed, failure(rdma.StatusFlushed, "%s", text))
}

// fail ends the queue's work: what waits completes with an error, and so does
// what comes. Only the first reason counts.
func (q *queue) fail(how uint32, cause *rdma.StatusError) {
	q.mu.Lock()
	q.failLocked(how, cause)
	q.mu.Unlock()
	q.wake() // for receives too
}

func (q *queue) failLocked(how uint32, cause *rdma.StatusError) {
	if q.cause != nil {
		return
	}
	q.cause, q.flushed = cause, cause
	if cause.Status != rdma.StatusPeerLost && cause.Status != rdma.StatusFlushed {
		q.flushed = failure(rdma.StatusFlushed, "after: %v", cause)
	}
	q.dead.Store(how)
	q.sender.stop()
	for wr := q.waiting.first(); wr != nil; wr = q.waiting.first() {
		q.complete(&rdma.Completion{ID: wr.ID, Verb: wr.Verb, Err: q.flushed})
		q.waiting.drop()
	}
	q.imports.fail(q.flushed)
	q.withdrawAll()
	if how == failed && !q.closed {
		text := cause.Error()
		if cause.Status == rdma.StatusFlushed && cause.Detail != "" { // of Abort, which says enough
			text = cause.Detail
		}
		_ = q.sock.post(message{kind: kindAbort, status: cause.Status, body: []byte(text)})
	}
}

// complete hands a completion over. There is room: never more than Depth are
// outstanding. unlock then sees to those who sleep.
func (q *queue) complete(c *rdma.Completion) {
	q.done.put(c)
}

// unlock gives mu back, and wakes a sleeper of this process: there may be completions.
// Unlocking is between what was stored and the look at the sleepers, as Wait does it the other way round.
func (q *queue) unlock() {
	q.mu.Unlock()
	q.wake()
}

// wake wakes a sleeper of this process, if there is one: what it is to see was stored before.
func (q *queue) wake() {
	if q.sleepers.Load() != 0 {
		q.bell.nudge()
	}
}

// settle waits until no copy is in progress that began before.
func (q *queue) settle() {
	q.pollMu.Lock()
	q.mu.Lock()
	//lint:ignore SA2001 having had them is the point
	q.mu.Unlock()
	q.pollMu.Unlock()
}

// Close ends the queue. It waits a moment for a peer that is in this side's
// memory; if it stays there, what is left of the queue ends when the peer does.
func (q *queue) Close() error {
	q.pollMu.Lock()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		q.pollMu.Unlock()
		return nil
	}
	q.closed = true
	q.failLocked(failed, failure(rdma.StatusFlushed, "the connection was closed"))
	q.imports.close()
	q.mu.Unlock()
	q.pollMu.Unlock()
	q.wake()
	q.sleeper.end()
	_ = q.sock.post(message{kind: kindBye})
	if q.outside(q.dom.a.letGo) {
		q.finish()
		return nil
	}
	go func() {
		for !q.outside(time.Second) {
		}
		q.finish()
	}()
	return nil
}

// finish gives back what a closed queue has. The peer is in no memory of ours.
func (q *queue) finish() {
	_ = q.sock.conn.Close()
	q.bell.close()
	<-q.watched
	q.dropGrants()
	for q.looking.Load() != 0 { // they see that it has ended
		time.Sleep(10 * time.Microsecond)
	}
	q.own.close()
	q.peer.close()
	q.dom.leave(q)
}
