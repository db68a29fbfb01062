package shm

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/prefetch"
	"github.com/fidelityframework/barewire-gen/runtime/internal/release"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// PostReceive hands over buffers, and says in the outbox how long they are. The memory of one is checked when a message arrives.
func (q *queue) PostReceive(rs []rdma.ReceiveRequest) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.postReceive(rs)
}

// postReceive is PostReceive for who has mu.
func (q *queue) postReceive(rs []rdma.ReceiveRequest) error {
	if q.closed {
		return errClosed
	}
	if room := int(q.own.entries) - q.recvs.len(); len(rs) > room {
		return fmt.Errorf("shm: %d receives are posted, %d more do not fit: %w", q.recvs.len(), len(rs), errFull)
	}
	for i := range rs {
		size := uint32(min(max(rs[i].Buf.Len, 0), math.MaxInt32))
		*q.own.posted(q.recvs.tail.Load()) = size
		q.recvs.put(&rs[i])
	}
	q.sayTaken() // first: the peer takes nothing for posted that it does not know to be taken
	q.ownPosted.Store(q.recvs.tail.Load())
	q.tellStarved()
	if q.dead.Load() != alive {
		q.wake() // they complete at once
	}
	return nil
}

// Poll takes completions.
func (q *queue) Poll(out []rdma.Completion) int {
	q.pollMu.Lock()
	defer q.pollMu.Unlock()
	return q.poll(out)
}

// poll is Poll for who has pollMu.
func (q *queue) poll(out []rdma.Completion) (n int) {
	if q.waiting.len() != 0 {
		q.mu.Lock()
		if !q.closed {
			q.resume()
			q.ringIfAsleep()
		}
		q.unlock()
	}
	if q.closed {
		return 0
	}
	for ; n < len(out); n++ {
		c := q.done.first()
		if c == nil {
			break
		}
		out[n] = *c
		c.Err = nil // keep nothing alive
		q.done.drop()
	}
	for n < len(out) && q.take(&out[n]) {
		n++
	}
	if q.tell || q.taken.Load()-q.ownConsumed.Load() >= uint64(q.peer.entries)/4 {
		q.mu.Lock()
		q.sayTaken()
		q.tellStarved()
		q.mu.Unlock()
	}
	return n
}

// sayTaken tells the peer what was taken. It waits for that only where its arena or its ring is full: for the
// arena it is told at once, for the ring when a quarter of it was taken, and when receives are posted. mu is held.
func (q *queue) sayTaken() {
	q.tell = false
	if t := q.taken.Load(); t != q.ownConsumed.Load() {
		q.ownConsumed.Store(t) // before the look at whether it is starved, as the peer does it the other way round
	}
}

// take completes a receive, if something has come for it or never will. pollMu is held.
func (q *queue) take(c *rdma.Completion) bool {
	r := q.recvs.first()
	if r == nil {
		return false
	}
	dead := q.dead.Load() // before the look into the ring: what was sent before the end is there
	if dead == failed {
		return q.flush(r, c)
	}
	taken := q.taken.Load()
	e := q.peer.entry(taken)
	if atomic.LoadUint64(&e[entryNumber]) != taken+1 {
		if dead == lost {
			return q.flush(r, c)
		}
		return false
	}
	kind, imm, at := atomic.LoadUint64(&e[entryKind]), atomic.LoadUint64(&e[entryImm]), atomic.LoadUint64(&e[entryAt])
	*c = rdma.Completion{ID: r.ID, Verb: rdma.VerbNotify, Imm: uint32(imm)}
	n := kind >> kindBits
	switch kind & (1<<kindBits - 1) {
	case entryNotify:
		if n > maxTransfer {
			c.Err = q.broken("a notification of %d bytes", n)
			break
		}
		q.dom.willRead(uint32(atomic.LoadUint64(&e[entryInline])), at)
		q.ahead.fetch()
		c.Bytes = int(n)
	case entrySend:
		c.Verb = rdma.VerbReceive
		c.Err = q.place(r, c, e, n, at)
	default:
		c.Err = q.broken("an entry of kind %d", kind&(1<<kindBits-1))
	}
	q.recvs.drop()
	release.Store(&q.taken, taken+1)
	return true
}

// willRead has the first line of what a peer says that it wrote fetched: the program will look at it
// when it is told. What is said may be wrong, and the memory gone: it is not accessed.
func (d *domain) willRead(key uint32, addr uint64) {
	if r := d.at(key); r != nil && addr-r.addr < uint64(r.length) {
		prefetch.Read(unsafe.Add(r.base, addr-r.addr))
	}
}

// place copies a message from the ring to the buffer of a receive. Everything
// that comes from the ring was read once and is checked here.
func (q *queue) place(r *rdma.ReceiveRequest, c *rdma.Completion, e *[entryWords]uint64, n, at uint64) error {
	if n > uint64(q.own.longest) {
		return q.broken("a message of %d bytes, where it may send %d", n, q.own.longest)
	}
	from := (*[inlineMax]byte)(unsafe.Pointer(&e[entryInline]))[:]
	if n > inlineMax {
		from = q.peer.bytes(at, int(n))
		q.tell = true
	}
	if uint64(len(from)) < n {
		return q.broken("a message of %d bytes at %d, which is not in its memory", n, at)
	}
	if n > uint64(max(r.Buf.Len, 0)) {
		err := failure(rdma.StatusTooLong, "%d bytes for a receive of %d", n, r.Buf.Len)
		q.fail(failed, err)
		return err
	}
	if n > 0 {
		if !q.dom.local(&r.Buf) {
			err := failure(rdma.StatusLocal, "the receive's buffer is not in memory that is registered in this domain")
			q.fail(failed, err)
			return err
		}
		copy(unsafe.Slice((*byte)(r.Buf.Ptr), r.Buf.Len), from[:n])
	}
	c.Bytes = int(n)
	return nil
}

// broken ends a queue whose peer does not keep to the protocol.
func (q *queue) broken(format string, args ...any) error {
	err := failure(rdma.StatusProvider, "the peer breaks the protocol: %s", fmt.Sprintf(format, args...))
	q.fail(failed, err)
	return err
}

// flush completes a receive that gets nothing any more.
func (q *queue) flush(r *rdma.ReceiveRequest, c *rdma.Completion) bool {
	q.mu.Lock()
	err := q.flushed
	q.mu.Unlock()
	*c = rdma.Completion{ID: r.ID, Verb: rdma.VerbReceive, Err: err}
	q.recvs.drop()
	return true
}

// ready reports whether Poll has something. pollMu is held.
func (q *queue) ready() bool {
	if q.done.first() != nil {
		return true
	}
	if q.recvs.first() == nil {
		return false
	}
	taken := q.taken.Load()
	return q.dead.Load() != alive || atomic.LoadUint64(&q.peer.entry(taken)[entryNumber]) == taken+1
}
