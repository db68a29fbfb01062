package shm

import (
	"errors"
	"sync"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// result is what became of a work request.
type result uint8

const (
	over    result = iota // it has completed, well or not
	needKey               // its key has been asked for
	needDry               // the peer has no receive for it, or the ring has no room
)

var (
	errFull    = errors.New("shm: the queue is full")
	errSegment = failure(rdma.StatusLocal, "a segment is not in memory that is registered in this domain")
)

// Post does work requests, in order. What cannot be done yet, because its key is
// not mapped or the peer has no receive, waits, and so does all behind it.
func (q *queue) Post(wrs []rdma.WorkRequest) (int, error) {
	q.mu.Lock()
	defer q.unlock()
	return q.post(wrs)
}

// post is Post for who has mu.
func (q *queue) post(wrs []rdma.WorkRequest) (int, error) {
	if q.closed {
		return 0, errClosed
	}
	room := q.dom.a.limits.Depth - int(q.posted-q.done.head.Load())
	for i := range wrs {
		if i >= room {
			q.ringIfAsleep()
			return i, errFull
		}
		q.posted++
		if q.waiting.len() != 0 {
			q.waiting.put(&wrs[i])
			continue
		}
		if r := q.do(&wrs[i]); r != over {
			q.waiting.put(&wrs[i])
			if r == needDry {
				q.resume() // says that it waits
			}
		}
	}
	q.ringIfAsleep()
	return len(wrs), nil
}

// Now does a request of one segment or none at once, if nothing is outstanding.
func (q *queue) Now(wr *rdma.WorkRequest) (before uint64, done bool) {
	q.mu.Lock()
	before, done = q.atOnce(wr)
	q.mu.Unlock()
	return before, done
}

// PostNow is Now, or Post.
func (q *queue) PostNow(wr *rdma.WorkRequest) (before uint64, done bool, err error) {
	if before, done = q.Now(wr); !done {
		_, err = q.Post(unsafe.Slice(wr, 1))
	}
	return before, done, err
}

// atOnce is Now for who has mu.
func (q *queue) atOnce(wr *rdma.WorkRequest) (before uint64, done bool) {
	if q.cause != nil || q.posted != q.done.head.Load() {
		return 0, false
	}
	n, notify := 8, false
	switch wr.Verb {
	case rdma.VerbWriteNotify:
		if notify = true; !q.mayPublish() {
			return 0, false
		}
		q.fetchEntry() // the checks take as long as it takes from the peer, which looks at it
		fallthrough
	case rdma.VerbWrite, rdma.VerbRead:
		if wr.Segs != 1 || wr.Local[0].Len == 0 || !q.dom.local(&wr.Local[0]) {
			return 0, false
		}
		n = wr.Local[0].Len
	case rdma.VerbCompareSwap, rdma.VerbFetchAdd:
	case rdma.VerbSend:
		return 0, !wr.Solicited && wr.Invalidate == 0 && q.sendNow(wr)
	default:
		return 0, wr.Verb == rdma.VerbFlush
	}
	r := q.imports.use(uint32(wr.Key), wr.Epoch)
	if r == nil || r.allows(wr, n) != nil {
		return 0, false
	}
	before, word := q.reach(r, wr, n)
	if word != r.nonce {
		return 0, false
	}
	if notify {
		q.ringIfAsleep()
	}
	return before, true
}

// Lend lends mu and pollMu.
func (q *queue) Lend() (post, poll *sync.Mutex, h rdma.Held) { return &q.mu, &q.pollMu, (*held)(q) }

// held is a queue for who has its locks.
type held queue

func (h *held) Post(wrs []rdma.WorkRequest) (int, error) {
	q := (*queue)(h)
	n, err := q.post(wrs)
	if q.sleepers.Add(0) != 0 { // not Load: as unlock does it, this is between what was stored and the look
		q.wake()
	}
	return n, err
}

func (h *held) Now(wr *rdma.WorkRequest) (before uint64, done bool) { return (*queue)(h).atOnce(wr) }

func (h *held) PostReceive(rs []rdma.ReceiveRequest) error { return (*queue)(h).postReceive(rs) }

func (h *held) Poll(out []rdma.Completion) int { return (*queue)(h).poll(out) }

// resume goes on with what waits, as far as it can. mu is held.
func (q *queue) resume() {
	for wr := q.waiting.first(); wr != nil; wr = q.waiting.first() {
		switch q.do(wr) {
		case needKey:
			return
		case needDry:
			if !q.drought() {
				return
			}
			continue // it may have come just before
		}
		// A failure has emptied the list already.
		if q.waiting.len() != 0 {
			q.waiting.drop()
		}
		q.rain()
	}
}

// do does one work request, if it can be done now. mu is held.
func (q *queue) do(wr *rdma.WorkRequest) result {
	if q.cause != nil {
		return q.ends(wr, q.flushed)
	}
	switch wr.Verb {
	case rdma.VerbWrite, rdma.VerbWriteNotify, rdma.VerbRead, rdma.VerbCompareSwap, rdma.VerbFetchAdd:
		return q.oneSided(wr)
	case rdma.VerbSend:
		if wr.Solicited || wr.Invalidate != 0 {
			return q.refuse(wr, failure(rdma.StatusLocal, "shm has neither solicited events nor sends that end a key: see Limits"))
		}
		return q.send(wr)
	case rdma.VerbFlush:
		return q.ends(wr, nil)
	}
	return q.refuse(wr, failure(rdma.StatusLocal, "a %v cannot be posted", wr.Verb))
}

// ends completes a work request.
func (q *queue) ends(wr *rdma.WorkRequest, err error) result {
	q.complete(&rdma.Completion{ID: wr.ID, Verb: wr.Verb, Err: err})
	return over
}

// refuse completes a work request with an error, and the queue fails of it.
func (q *queue) refuse(wr *rdma.WorkRequest, err *rdma.StatusError) result {
	id, verb := wr.ID, wr.Verb
	if q.waiting.first() == wr {
		q.waiting.drop() // it is not to be flushed as well
	}
	q.complete(&rdma.Completion{ID: id, Verb: verb, Err: err})
	q.failLocked(failed, err)
	return over
}

// gather checks the local segments and adds up their bytes.
func (q *queue) gather(wr *rdma.WorkRequest) (n int, ok bool) {
	if int(wr.Segs) > len(wr.Local) {
		return 0, false
	}
	for i := range wr.Local[:wr.Segs] {
		s := &wr.Local[i]
		if !q.dom.local(s) {
			return 0, false
		}
		n += s.Len // each is at most a registration, so four cannot overflow
	}
	return n, true
}

// needs is the right that a verb needs.
func needs(v rdma.Verb) region.Rights {
	switch v {
	case rdma.VerbRead:
		return region.Read
	case rdma.VerbWrite, rdma.VerbWriteNotify:
		return region.Write
	}
	return region.Atomic
}

// oneSided does a verb on memory of the peer.
func (q *queue) oneSided(wr *rdma.WorkRequest) result {
	n := 8
	notify := wr.Verb == rdma.VerbWriteNotify
	if wr.Verb != rdma.VerbCompareSwap && wr.Verb != rdma.VerbFetchAdd {
		var ok bool
		switch n, ok = q.gather(wr); {
		case !ok:
			return q.refuse(wr, errSegment)
		case n == 0 && !notify:
			return q.refuse(wr, failure(rdma.StatusLocal, "there is nothing to move"))
		}
	}
	if notify {
		if r := q.room(wr, 0); r != over || q.cause != nil {
			return r
		}
		if n == 0 {
			q.publish(wr, 0, nil)
			return q.ends(wr, nil)
		}
	}
	r := q.imports.use(uint32(wr.Key), wr.Epoch)
	if r == nil {
		return q.ask(wr)
	}
	if err := r.allows(wr, n); err != nil {
		return q.refuse(wr, err)
	}
	before, word := q.reach(r, wr, n)
	switch word {
	case r.nonce:
		q.complete(&rdma.Completion{ID: wr.ID, Verb: wr.Verb, Result: before})
	case wordEnded:
		return q.refuse(wr, failure(rdma.StatusPeerLost, "it ended the connection"))
	default:
		return q.refuse(wr, failure(rdma.StatusRemoteKey, "key %#x was taken back", wr.Key))
	}
	return over
}

// allows checks what a request on n bytes asks for.
func (r *remote) allows(wr *rdma.WorkRequest, n int) *rdma.StatusError {
	off := wr.Addr - r.addr
	switch {
	case r.rights&needs(wr.Verb) == 0:
		return failure(rdma.StatusRemoteRight, "%v on key %#x", wr.Verb, wr.Key)
	case off > r.length || uint64(n) > r.length-off:
		return failure(rdma.StatusRemoteRange, "%d bytes at %d of %d", n, off, r.length)
	case n == 8 && off&7 != 0 && needs(wr.Verb) == region.Atomic:
		return failure(rdma.StatusMisaligned, "offset %d", off)
	}
	return nil
}

// reach does a checked request, and publishes its notification, unless the key's word is not r's nonce any more. It
// returns the word, and an atomic's result.
func (q *queue) reach(r *remote, wr *rdma.WorkRequest, n int) (before, word uint64) {
	q.access++
	q.ownAccess.Store(q.access) // before the look at the word: Deregister does it the other way round
	if word = r.word.Load(); word == r.nonce {
		q.ahead.wrote(r.base, wr.Addr-r.addr)
		before = r.run(wr, wr.Addr-r.addr)
		if wr.Verb == rdma.VerbWriteNotify {
			q.publish(wr, n, nil)
		}
	}
	q.access++
	release.Store(q.ownAccess, q.access)
	return before, word
}

// run does a checked operation on the mapping, at an offset.
func (r *remote) run(wr *rdma.WorkRequest, off uint64) (before uint64) {
	p := unsafe.Add(r.base, int(off))
	at := 0 // how far from p
	switch wr.Verb {
	case rdma.VerbRead:
		for i := range wr.Local[:wr.Segs] {
			s := &wr.Local[i]
			words.Fetch(s.Ptr, unsafe.Add(p, at), s.Len)
			at += s.Len
		}
	case rdma.VerbWrite, rdma.VerbWriteNotify:
		for i := range wr.Local[:wr.Segs] {
			s := &wr.Local[i]
			words.Place(unsafe.Add(p, at), s.Ptr, s.Len)
			at += s.Len
		}
	case rdma.VerbFetchAdd:
		return words.Add((*uint64)(p), wr.Operand)
	case rdma.VerbCompareSwap:
		return words.Swap((*uint64)(p), wr.Compare, wr.Operand)
	}
	return 0
}
