package soft

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ring"
)

// queue is one end of a connection. What its owner posts is under mu, what its
// peer's messages do to it is under the lock of in. Locks are taken in the order: mu of a queue,
// that of in of its peer or its own, mu of a domain; never the mu of both ends at once. So the
// race detector sees an owner and a peer ordered only where a message orders them.
type queue struct {
	dom     *domain
	peer    *queue
	name    string // Peer()
	hello   []byte
	plain   bool                     // the acceptor answered nothing: one of the two speaks no barewire
	rules   *atomic.Pointer[[]*Rule] // the fabric's
	message int                      // bytes of the longest send

	mu      sync.Mutex
	ended   *rdma.StatusError // not nil: failed or aborted, and what requests complete with
	owed    *rdma.StatusError // what the next request completes with instead
	closed  bool
	out     int             // requests taken and not polled
	sent    ring.Ring[sent] // done and not polled
	copying bool            // mu was released for a long copy
	copies  int             // long copies that ended
	copied  sync.Cond       // one more
	tell    string          // what the peer must be told once mu is released
	kill    bool            // so must be the death of the peer's adapter
	wait    line            // requests that were not done at once

	ours   cache[rdma.LKey] // registrations of own memory, and of the peer's
	theirs cache[rdma.RKey]

	in inbox

	waiters atomic.Int32
	wake    chan struct{} // has room for one
}

var _ rdma.Direct = (*queue)(nil)

// sent is the completion of a request.
type sent struct {
	id     uint64
	result uint64
	serr   *rdma.StatusError
	verb   rdma.Verb
}

// newPair connects two queues: the acceptor's, and the dialer's.
func newPair(a, b *domain, dialer, addr string) (*queue, *queue) {
	p, q := newQueue(a, dialer), newQueue(b, addr)
	p.peer, q.peer = q, p
	return p, q
}

func newQueue(d *domain, name string) *queue {
	a := d.adapter
	q := &queue{
		dom: d, name: name, message: a.message, rules: &d.fabric.rules,
		sent: ring.New[sent](a.depth), wake: make(chan struct{}, 1),
	}
	q.copied.L = &q.mu
	q.in.Init(a.receives)
	q.wait.loose = d.fabric.cfg.Reorder
	q.wait.rnd = d.fabric.random()
	return q
}

func (q *queue) Hello() []byte { return slices.Clone(q.hello) }

func (q *queue) Peer() string { return q.name }

// Prepare finds out early whether a key will do.
func (q *queue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("soft: prepare a key of %s: %w", q.name, err)
	}
	if err := q.dom.fabric.refused(AtPrepare, q, q.name); err != nil {
		return fmt.Errorf("soft: prepare a key of %s: %w", q.name, err)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return fmt.Errorf("soft: prepare a key of %s: the queue: %w", q.name, errClosed)
	}
	if q.ended != nil {
		return fmt.Errorf("soft: prepare a key of %s: %w", q.name, q.ended)
	}
	if _, serr := q.keyOfPeer(key, epoch); serr != nil {
		return fmt.Errorf("soft: prepare a key of %s: %w", q.name, serr)
	}
	return nil
}

// Post does requests at once where nothing holds them. Between requests it lets
// others have the queue only where a copy was long.
func (q *queue) Post(wrs []rdma.WorkRequest) (n int, err error) {
	q.mu.Lock()
	n, err = q.post(wrs)
	q.release()
	return n, err
}

// Now does a request at once, if nothing is outstanding and nothing holds it.
func (q *queue) Now(wr *rdma.WorkRequest) (result uint64, done bool) {
	q.mu.Lock()
	if q.out != 0 || q.closed || !q.direct() {
		q.mu.Unlock()
		return 0, false
	}
	if q.writeShort(wr) {
		q.mu.Unlock()
		return 0, true
	}
	if wr.Verb == rdma.VerbSend || wr.Verb == rdma.VerbWriteNotify {
		done = q.expected(wr) && q.send(wr, new(bool)) == nil
		q.release()
		return 0, done
	}
	result, serr, known := q.oneSided(wr)
	q.release()
	return result, known && serr == nil
}

// oneSided does a request in which the peer's program takes no part. It reports whether it is one. mu is held.
func (q *queue) oneSided(wr *rdma.WorkRequest) (result uint64, serr *rdma.StatusError, known bool) {
	switch wr.Verb {
	case rdma.VerbWrite:
		serr = q.write(wr)
	case rdma.VerbRead:
		serr = q.read(wr)
	case rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		result, serr = q.atomic(wr)
	case rdma.VerbFlush:
	default:
		return 0, nil, false
	}
	return result, serr, true
}

// expected reports whether the peer has a receive for a message or a notification. Nobody else uses it. mu is held.
func (q *queue) expected(wr *rdma.WorkRequest) bool {
	in := &q.peer.in
	in.Lock()
	defer in.Unlock()
	if in.Posted() == 0 {
		return false
	}
	n := 0
	if wr.Verb == rdma.VerbSend {
		for i := range wr.Local[:min(wr.Segs, rdma.MaxSegments)] {
			n += wr.Local[i].Len
		}
	}
	buf := &in.First().Buf
	return n == 0 || n <= buf.Len && q.peer.dom.byLocal(buf.Key).covers(buf)
}

// direct reports whether nothing holds requests back. mu is held.
func (q *queue) direct() bool {
	return q.ended == nil && len(q.wait.todo) == 0 && !q.wait.loose && q.rules.Load() == nil
}

// post takes requests. mu is held.
func (q *queue) post(wrs []rdma.WorkRequest) (n int, err error) {
	direct := q.direct()
	for n < len(wrs) {
		if q.out == q.sent.Size() || q.closed {
			err = errFull
			break
		}
		q.out++
		wr := &wrs[n]
		n++
		switch {
		case direct && q.ended == nil && q.writeShort(wr):
			*q.sent.Push() = sent{id: wr.ID, verb: rdma.VerbWrite}
		case direct && q.ended == nil && q.perform(wr):
		default:
			q.take(wr)
			direct = false
		}
	}
	q.signal()
	if q.closed {
		err = fmt.Errorf("soft: post to %s: the queue: %w", q.name, errClosed)
	}
	return n, err
}

// perform does a request now, if it needs to wait for nothing.
func (q *queue) perform(wr *rdma.WorkRequest) bool {
	result, serr, known := q.oneSided(wr)
	if !known {
		if wr.Verb != rdma.VerbSend && wr.Verb != rdma.VerbWriteNotify {
			return false
		}
		var placed bool
		err := q.send(wr, &placed)
		if err == errHungry {
			return false
		}
		serr, _ = err.(*rdma.StatusError)
	}
	if q.ended != nil || serr != nil { // it failed, or the queue did while a long copy ran
		q.wait.add(wr).finish(result, serr)
		if serr != nil {
			q.fail(serr)
		}
		q.flush()
		return true
	}
	*q.sent.Push() = sent{id: wr.ID, result: result, verb: wr.Verb}
	q.signal()
	return true
}

// asError keeps a nil a nil.
func asError(serr *rdma.StatusError) error {
	if serr == nil {
		return nil
	}
	return serr
}

// release unlocks mu, and then tells the peer what it must know.
func (q *queue) release() {
	if q.tell == "" && !q.kill {
		q.mu.Unlock()
		return
	}
	q.releaseAndTell()
}

func (q *queue) releaseAndTell() {
	tell, kill := q.tell, q.kill
	q.tell, q.kill = "", false
	q.mu.Unlock()
	if kill {
		q.peer.dom.adapter.kill()
	}
	if tell != "" {
		q.peer.lost(tell)
	}
}

// Poll takes completions of requests first, then those of receives.
func (q *queue) Poll(out []rdma.Completion) (n int) {
	// Looked at first, and no more is taken: a failure flushes the receives after
	// the request that failed, and must not be seen there first.
	ready := q.in.Ready()
	q.mu.Lock()
	if q.sent.Len() == 0 && len(q.wait.todo)+len(q.wait.late) > 0 {
		q.nudge()
	}
	for n < len(out) && q.sent.Len() > 0 {
		s := q.sent.Pop()
		out[n] = rdma.Completion{ID: s.id, Verb: s.verb, Result: s.result, Err: asError(s.serr)}
		n++
	}
	q.out -= n
	q.release()
	if ready > 0 && n < len(out) {
		n += q.in.Poll(out[n:min(len(out), n+ready)])
	}
	return n
}

// Wait returns nil when there is something to poll.
func (q *queue) Wait(ctx context.Context) error {
	q.waiters.Add(1) // before looking: whoever makes a completion looks at it after
	some, closed := q.look()
	if !some && !closed {
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	if q.waiters.Add(-1) > 0 {
		q.poke() // the others wait for the same
	}
	switch some, closed = q.look(); {
	case some && !closed:
		return nil
	case closed:
		return fmt.Errorf("soft: wait for %s: the queue: %w", q.name, errClosed)
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return nil
}

// look says whether Poll has something, having brought forward what can be done.
func (q *queue) look() (some, closed bool) {
	q.mu.Lock()
	if q.sent.Len() == 0 && len(q.wait.todo)+len(q.wait.late) > 0 {
		q.nudge()
	}
	some, closed = q.sent.Len() > 0, q.closed
	q.release()
	return some || q.in.Ready() != 0, closed
}

// signal wakes a waiter, which wakes the next.
func (q *queue) signal() {
	if q.waiters.Load() > 0 {
		q.poke()
	}
}

func (q *queue) poke() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Abort fails the queue and tells the peer's.
func (q *queue) Abort(cause error) {
	text := "aborted"
	if cause != nil {
		text = "aborted: " + cause.Error()
	}
	q.mu.Lock()
	if q.ended == nil && !q.closed {
		q.end(status(rdma.StatusFlushed, "%s", text), "the peer "+text)
	}
	q.release()
}

// lost fails the queue because the other side ended.
func (q *queue) lost(why string) {
	q.mu.Lock()
	if q.ended == nil && !q.closed {
		q.end(status(rdma.StatusPeerLost, "%s", why), "")
	}
	q.release()
}

// fail fails the queue after a request of its own did. mu is held.
func (q *queue) fail(cause *rdma.StatusError) {
	if q.ended == nil {
		q.end(status(rdma.StatusFlushed, "an earlier request failed: %s", cause.Error()),
			"the peer's queue failed: "+cause.Error())
	}
}

// end completes all that is outstanding with serr. A request in the midst of a long
// copy is left to whoever copies. mu is held.
func (q *queue) end(serr *rdma.StatusError, tell string) {
	q.ended, q.tell = serr, tell
	if !q.copying {
		q.flush()
	}
	if q.owed != nil { // there may be no request any more that could say it
		serr = q.owed
	}
	q.in.End(serr)
	q.signal()
}

// Close ends the queue. It waits for a copy that is being made, in either direction.
func (q *queue) Close() error {
	q.mu.Lock()
	first := !q.closed
	q.closed = true
	q.waitCopied()
	q.wait.clear()
	q.sent.Clear()
	q.mu.Unlock()
	q.in.Close()
	q.poke()
	if first {
		q.peer.lost("the peer closed the connection")
	}
	q.peer.settle()
	q.dom.forget(q) // not before: Deregister looks there for accesses in progress
	return nil
}

// settle waits until what the queue accessed when it was called is not accessed any more.
func (q *queue) settle() {
	q.mu.Lock()
	q.waitCopied()
	q.mu.Unlock()
}

// waitCopied waits for the long copy that is being made, if any. mu is held.
func (q *queue) waitCopied() {
	for n := q.copies; q.copying && q.copies == n; {
		q.copied.Wait()
	}
}

// longCopy is how many bytes are copied with mu released.
const longCopy = 64 << 10

// unlocked runs a long copy with mu released. Registrations that it uses
// were found alive under mu, so Deregister waits for it.
func (q *queue) unlocked(run func()) {
	q.copying = true
	q.mu.Unlock()
	run()
	q.mu.Lock()
	q.copying = false
	q.copies++
	q.copied.Broadcast()
}

// after runs f with mu held in a while, unless the queue ends before.
func (q *queue) after(d time.Duration, f func()) *time.Timer {
	return time.AfterFunc(d, func() {
		q.mu.Lock()
		if q.ended == nil && !q.closed {
			f()
		}
		q.release()
	})
}
