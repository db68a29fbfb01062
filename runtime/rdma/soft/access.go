package soft

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/words"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// cache remembers the registrations that a queue used last, by the low bits of their keys.
type cache[K ~uint32] [8]struct {
	key K
	r   *registration
}

// keyOfPeer is the registration of a remote key, if this queue may use it.
func (q *queue) keyOfPeer(key rdma.RKey, epoch uint32) (*registration, *rdma.StatusError) {
	slot := &q.theirs[key%8]
	if slot.r == nil || slot.key != key || slot.r.dead.Load() {
		slot.key, slot.r = key, q.peer.dom.byRemote(key)
	}
	r := slot.r
	if q.plain && r != nil {
		epoch = r.keys.Epoch // the other program does not know it
	}
	if r != nil && r.keys.Epoch == epoch && r.scope == nil && !r.dead.Load() {
		return r, nil // key 0 is nobody's
	}
	switch {
	case r == nil || r.dead.Load() || r.given.Load():
		return nil, status(rdma.StatusRemoteKey, "the peer knows no key %#x", uint32(key))
	case r.keys.Epoch != epoch:
		return nil, status(rdma.StatusRemoteKey, "the key %#x is of registration %d at the peer, not %d", uint32(key), r.keys.Epoch, epoch)
	case r.scope != nil && r.scope != q.peer:
		return nil, status(rdma.StatusRemoteKey, "the key %#x is for another connection", uint32(key))
	}
	return r, nil
}

// checkOwn checks the local segments of a request. It returns their bytes.
func (q *queue) checkOwn(wr *rdma.WorkRequest) (total int, serr *rdma.StatusError) {
	if wr.Segs > rdma.MaxSegments {
		return 0, status(rdma.StatusLocal, "%d segments, and there is room for %d", wr.Segs, rdma.MaxSegments)
	}
	for i := range wr.Local[:wr.Segs] {
		s := &wr.Local[i]
		slot := &q.ours[s.Key%8]
		if slot.r == nil || slot.key != s.Key || slot.r.dead.Load() {
			slot.key, slot.r = s.Key, q.dom.byLocal(s.Key)
		}
		if !slot.r.covers(s) {
			return 0, uncovered(slot.r, s)
		}
		if s.Len > maxTransfer-total {
			return 0, status(rdma.StatusLocal, "more than %d bytes in one request", maxTransfer)
		}
		total += s.Len
	}
	return total, nil
}

// covers says whether a segment is in registered memory.
func (r *registration) covers(s *rdma.Segment) bool {
	if r == nil {
		return false
	}
	off := uint64(uintptr(s.Ptr) - uintptr(r.base))
	return !r.dead.Load() && s.Len >= 0 && off <= r.len && uint64(s.Len) <= r.len-off
}

// uncovered is the error of a segment that r does not cover.
func uncovered(r *registration, s *rdma.Segment) *rdma.StatusError {
	if r == nil || r.dead.Load() {
		return status(rdma.StatusLocal, "the key %#x of a segment names no registered memory", uint32(s.Key))
	}
	return status(rdma.StatusLocal, "a segment of %d bytes is not within %s", s.Len, r.name)
}

// target is the peer's memory that a request names, checked at the peer.
func (q *queue) target(wr *rdma.WorkRequest, n int, need barewire.Rights) (unsafe.Pointer, *rdma.StatusError) {
	r, serr := q.keyOfPeer(wr.Key, wr.Epoch)
	if serr != nil {
		return nil, serr
	}
	if r.rights&need != need {
		return nil, status(rdma.StatusRemoteRight, "the key %#x does not grant it", uint32(wr.Key))
	}
	off := wr.Addr - r.keys.Addr // wraps below the start, and is out of range then
	if off > r.len || uint64(n) > r.len-off {
		return nil, status(rdma.StatusRemoteRange, "%d bytes at %#x of a region of %d", n, off, r.len)
	}
	return unsafe.Add(r.base, off), nil
}

var errNothing = status(rdma.StatusLocal, "a request of no bytes")

// write places a write at the peer. mu is held.
func (q *queue) write(wr *rdma.WorkRequest) *rdma.StatusError {
	total, serr := q.checkOwn(wr)
	if serr != nil {
		return serr
	}
	if total == 0 {
		return errNothing
	}
	to, serr := q.target(wr, total, region.Write)
	if serr != nil {
		return serr
	}
	if total >= longCopy {
		q.scatterUnlocked(wr, to, words.Place)
		return nil
	}
	at := 0
	for i := range wr.Local[:wr.Segs] {
		s := &wr.Local[i]
		words.Place(unsafe.Add(to, at), s.Ptr, s.Len)
		at += s.Len
	}
	return nil
}

// writeShort is write for the common case, with nothing to look up, wait for or explain.
// It reports false, and has done nothing, where the request is any other. mu is held.
func (q *queue) writeShort(wr *rdma.WorkRequest) bool {
	s := &wr.Local[0]
	own, far := q.ours[s.Key%8].r, q.theirs[wr.Key%8].r
	if wr.Verb != rdma.VerbWrite || wr.Segs != 1 || own == nil || far == nil ||
		own.keys.L != s.Key || own.dead.Load() || far.dead.Load() ||
		far.keys.R != wr.Key || far.keys.Epoch != wr.Epoch || far.scope != nil || far.rights&region.Write == 0 {
		return false
	}
	n, from, to := uint64(s.Len), uint64(uintptr(s.Ptr)-uintptr(own.base)), wr.Addr-far.keys.Addr
	if n-1 >= longCopy-1 || from > own.len || n > own.len-from || to > far.len || n > far.len-to {
		return false
	}
	words.Place(unsafe.Add(far.base, to), s.Ptr, int(n))
	return true
}

// read fetches from the peer. mu is held.
func (q *queue) read(wr *rdma.WorkRequest) *rdma.StatusError {
	total, serr := q.checkOwn(wr)
	if serr != nil {
		return serr
	}
	if total == 0 {
		return errNothing
	}
	from, serr := q.target(wr, total, region.Read)
	if serr != nil {
		return serr
	}
	if total >= longCopy {
		q.scatterUnlocked(wr, from, func(peers, own unsafe.Pointer, n int) { words.Fetch(own, peers, n) })
		return nil
	}
	at := 0
	for i := range wr.Local[:wr.Segs] {
		s := &wr.Local[i]
		words.Fetch(s.Ptr, unsafe.Add(from, at), s.Len)
		at += s.Len
	}
	return nil
}

// scatterUnlocked copies between the peer's memory at p and the segments, with mu released.
func (q *queue) scatterUnlocked(wr *rdma.WorkRequest, p unsafe.Pointer, move func(peers, own unsafe.Pointer, n int)) {
	local, segs := wr.Local, wr.Segs
	q.unlocked(func() {
		at := 0
		for _, s := range local[:segs] {
			move(unsafe.Add(p, at), s.Ptr, s.Len)
			at += s.Len
		}
	})
}

// atomic changes a word of the peer, atomically for all processors. mu is held.
func (q *queue) atomic(wr *rdma.WorkRequest) (uint64, *rdma.StatusError) {
	at, serr := q.target(wr, 8, region.Atomic)
	if serr != nil {
		return 0, serr
	}
	if uintptr(at)&7 != 0 {
		return 0, status(rdma.StatusMisaligned, "an atomic at %#x, which is no multiple of 8", wr.Addr)
	}
	word := (*uint64)(at)
	if wr.Verb == rdma.VerbFetchAdd {
		return words.Add(word, wr.Operand), nil
	}
	return words.Swap(word, wr.Compare, wr.Operand), nil
}
