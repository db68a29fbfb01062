package shm

import (
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/prefetch"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// sender is the sending side of a ring: what of it is free. mu of the queue guards it.
type sender struct {
	sent     uint64   // entries published, ever
	told     uint64   // of these, those that the peer was woken for if it slept
	credit   uint64   // entries that may be published, ever, as last seen
	consumed uint64   // entries that the peer has taken, as last seen
	ends     []uint64 // where the arena is used up to with an entry, by its number
	arena    uint64   // bytes of the arena used, ever
	dry      *time.Timer
	droughts uint64
	rung     bool // the peer has rung since the drought was announced, perhaps for it
}

// An entry is eight words: its number from 1 on, which is written last; what it
// is and how long; the immediate; where in the arena a message is that does
// not fit in the rest. A notification says there what was written, as a hint: its address, and then its key.
const (
	entryNumber = iota
	entryKind
	entryImm
	entryAt
	entryInline

	entrySend   = 1
	entryNotify = 2
	kindBits    = 8
)

// room reports whether an entry can be published, with n bytes in the arena.
func (q *queue) room(wr *rdma.WorkRequest, n int) result {
	s := &q.sender
	if s.sent < s.credit && (n <= inlineMax || s.fits(n, q.own.arena)) {
		return over
	}
	if err := q.refresh(); err != nil {
		return q.refuse(wr, err)
	}
	if s.sent < s.credit && (n <= inlineMax || s.fits(n, q.own.arena)) {
		return over
	}
	return needDry
}

// mayPublish is room for an entry without anything in the arena.
func (q *queue) mayPublish() bool {
	s := &q.sender
	return s.sent < s.credit || q.refresh() == nil && s.sent < s.credit
}

// fetchEntry has the line of the next entry fetched for writing, which comes soon.
func (q *queue) fetchEntry() { prefetch.Write(uintptr(unsafe.Pointer(q.own.entry(q.sender.sent)))) }

// refresh looks at what the peer says that it has taken and posted.
func (q *queue) refresh() *rdma.StatusError {
	s := &q.sender
	consumed := q.peerConsumed.Load() // first: it is never more than what is posted later
	posted := q.peerPosted.Load()
	if consumed < s.consumed || consumed > s.sent || posted < consumed {
		return failure(rdma.StatusProvider, "the peer counts %d receives and %d messages taken of %d", posted, consumed, s.sent)
	}
	s.consumed = consumed
	s.credit = min(posted, consumed+uint64(len(s.ends)))
	return nil
}

// start is where in the arena the next n bytes go: they are in one piece.
func (s *sender) start(n int, size uint32) uint64 {
	if left := uint64(size) - s.arena&uint64(size-1); left < uint64(n) {
		return s.arena + left
	}
	return s.arena
}

// fits reports whether the arena has n bytes free.
func (s *sender) fits(n int, size uint32) bool {
	free := uint64(0) // where what is free begins, ever
	if s.consumed > 0 {
		free = s.ends[(s.consumed-1)&uint64(len(s.ends)-1)]
	}
	if s.consumed == s.sent {
		free = s.arena
	}
	return s.start(n, size)+uint64(n)-free <= uint64(size)
}

// send puts a message into the ring.
func (q *queue) send(wr *rdma.WorkRequest) result {
	n, ok := q.gather(wr)
	if !ok {
		return q.refuse(wr, errSegment)
	}
	if limit := q.dom.a.limits.MaxMessage; n > limit {
		return q.refuse(wr, failure(rdma.StatusLocal, "a message of %d bytes, the limit is %d", n, limit))
	}
	if n > q.longest {
		return q.refuse(wr, failure(rdma.StatusTooLong, "%d bytes, the peer takes %d", n, q.longest))
	}
	if r := q.room(wr, n); r != over || q.cause != nil {
		return r
	}
	if size := atomic.LoadUint32(q.peer.posted(q.sender.sent)); n > int(size) {
		return q.refuse(wr, failure(rdma.StatusTooLong, "%d bytes for a receive of %d", n, size))
	}
	q.put(wr, n)
	return q.ends(wr, nil)
}

// sendNow sends a message if nothing keeps it from being sent and received.
func (q *queue) sendNow(wr *rdma.WorkRequest) bool {
	n, ok := q.gather(wr)
	if !ok || n > q.dom.a.limits.MaxMessage || n > q.longest || !q.mayPublish() ||
		n > inlineMax && !q.sender.fits(n, q.own.arena) ||
		n > int(atomic.LoadUint32(q.peer.posted(q.sender.sent))) {
		return false
	}
	q.put(wr, n)
	q.ringIfAsleep()
	return true
}

// put copies a message to where the peer takes it from. There is room.
func (q *queue) put(wr *rdma.WorkRequest, n int) {
	var inline [inlineMax]byte
	at := inline[:]
	if n > inlineMax {
		s := &q.sender
		from := s.start(n, q.own.arena)
		at = q.own.bytes(from, n)
		s.arena = from + uint64(n)
	}
	for i := range wr.Local[:wr.Segs] {
		g := &wr.Local[i]
		at = at[copy(at, unsafe.Slice((*byte)(g.Ptr), g.Len)):]
	}
	q.publish(wr, n, &inline)
}

// publish puts an entry into the ring: there is room. Whatever was stored before
// is seen by the peer when it sees the entry.
func (q *queue) publish(wr *rdma.WorkRequest, n int, inline *[inlineMax]byte) {
	s := &q.sender
	e := q.own.entry(s.sent)
	e[entryImm] = uint64(wr.Imm)
	if inline == nil {
		e[entryKind] = entryNotify | uint64(n)<<kindBits
		e[entryAt] = wr.Addr
		e[entryInline] = uint64(wr.Key)
	} else {
		e[entryKind] = entrySend | uint64(n)<<kindBits
		if n <= inlineMax {
			*(*[inlineMax]byte)(unsafe.Pointer(&e[entryInline])) = *inline
		} else {
			e[entryAt] = s.arena - uint64(n)
		}
	}
	s.ends[s.sent&uint64(len(s.ends)-1)] = s.arena
	s.sent++
	atomic.StoreUint64(&e[entryNumber], s.sent)
}

// ringIfAsleep wakes the peer if there is something new for it, it sleeps and
// was not woken from this sleep.
func (q *queue) ringIfAsleep() {
	if q.sender.told == q.sender.sent {
		return
	}
	q.sender.told = q.sender.sent
	if w := q.peerSleep.Load(); w&1 == 1 && w != q.rungFor {
		q.rungFor = w
		q.bell.ring()
	}
}

// drought says in the outbox that a message waits for a receive, so that the peer rings once when
// something changes: again after each bell, which may have been for less than
// is needed. It reports whether it has said so now.
func (q *queue) drought() bool {
	s := &q.sender
	if s.dry != nil {
		if s.rung {
			q.ownStarved.Add(2) // odd still, but another one
		}
		rung := s.rung
		s.rung = false
		return rung
	}
	s.rung = false
	q.ownStarved.Add(1) // odd now
	s.droughts++
	which := s.droughts
	s.dry = time.AfterFunc(q.dom.a.notReady, func() { q.starve(which) })
	return true
}

// rain ends a drought.
func (q *queue) rain() {
	if q.sender.dry != nil {
		q.sender.stop()
		if !q.closed {
			q.ownStarved.Add(1) // even now
		}
	}
}

func (s *sender) stop() {
	if s.dry != nil {
		s.dry.Stop()
		s.dry = nil
	}
}

// starve fails the message that waits, if it is still the same.
func (q *queue) starve(which uint64) {
	q.mu.Lock()
	defer q.unlock()
	if q.sender.dry == nil || q.sender.droughts != which {
		return
	}
	if wr := q.waiting.first(); wr != nil && q.cause == nil {
		q.refuse(wr, failure(rdma.StatusNotReady, "it has posted no receive for %v", q.dom.a.notReady))
	}
}

// tellStarved wakes the peer if it waits for what has just happened: a receive
// was posted, or an entry taken.
func (q *queue) tellStarved() {
	if w := q.peerStarved.Load(); w&1 == 1 && q.rungDry.Swap(w) != w {
		q.sock.ring()
	}
}
