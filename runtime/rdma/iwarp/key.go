package iwarp

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// registration is memory that a domain knows. Queues keep pointers to it: enter tells whether it is still one.
type registration struct {
	keys   rdma.Keys
	base   unsafe.Pointer
	len    uint64
	rights barewire.Rights
	scope  *queue // the only queue whose peer may use it, if not nil
	name   string

	state atomic.Int64  // accesses in progress, and the bits below
	idle  chan struct{} // closed when it is ended and no access is in progress
	rest  atomic.Bool   // it was closed
}

// Bits of a registration's state.
const (
	stateEnded   = 1 << 62 // nobody may use it
	stateRevoked = 1 << 61 // no peer may use it
)

// enter begins an access of a peer. It reports false, and has begun nothing, where the key is no longer good.
// An access is to be short: Deregister waits for its leave.
func (r *registration) enter() bool { return r.begin(stateEnded | stateRevoked) }

// enterLocal begins an access of this side's, by its local key.
func (r *registration) enterLocal() bool { return r.begin(stateEnded) }

func (r *registration) begin(unless int64) bool {
	if r.state.Add(1)&unless != 0 {
		r.leave()
		return false
	}
	return true
}

// leave ends an access that enter or enterLocal began.
func (r *registration) leave() {
	if r.state.Add(-1)&^stateRevoked == stateEnded {
		r.settled()
	}
}

// dead reports whether nobody may use it any more.
func (r *registration) dead() bool { return r.state.Load()&stateEnded != 0 }

// gone reports whether no peer may use it any more.
func (r *registration) gone() bool { return r.state.Load()&(stateEnded|stateRevoked) != 0 }

// end makes it unusable. Accesses in progress go on: idle is closed after the last one.
func (r *registration) end() {
	if r.state.Or(stateEnded)&^(stateRevoked|stateEnded) == 0 {
		r.settled()
	}
}

// settled closes idle, once: an enter that fails comes here too.
func (r *registration) settled() {
	if r.rest.CompareAndSwap(false, true) {
		close(r.idle)
	}
}

// reach checks an access of a peer, over q, to n bytes at an address of the key's: that the key is for
// this queue, grants what is needed, and has the bytes. It returns where they begin in the memory. That the key is still
// good is for enter to tell. A registration that is nil is a key that nobody has.
//
// A write's faults are those of DDP, which places it; the others' are those of RDMAP. Source: RFC 5040, section
// 7.2; RFC 5041, section 7.
func (r *registration) reach(q *queue, to uint64, n int, need barewire.Rights) (off int, fault *fpdu.Fault) {
	tagged := need == region.Write
	switch {
	case r == nil || r.gone():
		return 0, choose(tagged, fpdu.TaggedSTag, fpdu.InvalidSTag, "there is no such key")
	case r.scope != nil && r.scope != q:
		return 0, choose(tagged, fpdu.TaggedForeign, fpdu.ForeignSTag, "the key is for another connection")
	case r.rights&need != need:
		return 0, &fpdu.Fault{Cause: fpdu.NoRight, Detail: "the key does not grant it"}
	case n < 0 || to+uint64(n) < to:
		return 0, choose(tagged, fpdu.TaggedWrap, fpdu.WrappedTO, "the address wraps around")
	}
	at := to - r.keys.Addr // wraps below the start, and is out of bounds then
	if at > r.len || uint64(n) > r.len-at {
		return 0, choose(tagged, fpdu.TaggedBounds, fpdu.OutOfBounds, fmt.Sprintf("%d bytes at %#x of a region of %d", n, at, r.len))
	}
	return int(at), nil
}

func choose(tagged bool, ddp, rdmap fpdu.Cause, detail string) *fpdu.Fault {
	if tagged {
		return &fpdu.Fault{Cause: ddp, Detail: detail}
	}
	return &fpdu.Fault{Cause: rdmap, Detail: detail}
}

// covers says whether a segment is in the memory.
func (r *registration) covers(s *rdma.Segment) bool {
	if r == nil || r.dead() {
		return false
	}
	off := uint64(uintptr(s.Ptr) - uintptr(r.base))
	return s.Len >= 0 && off <= r.len && uint64(s.Len) <= r.len-off
}

// anyRight is what makes a remote key necessary.
const anyRight = region.Read | region.Write | region.Atomic

// maxKeys bounds the registrations of a domain, so that a key that was guessed is one in 4096 at most.
const maxKeys = 1 << 20

// Register takes any memory that this process may write, aligned to 8 bytes.
func (d *domain) Register(m rdma.Memory, rights barewire.Rights, conn rdma.Queue) (rdma.Keys, error) {
	fail := func(format string, args ...any) (rdma.Keys, error) {
		return rdma.Keys{}, fmt.Errorf("iwarp: register %s: %w", m.Name, fmt.Errorf(format, args...))
	}
	switch {
	case m.Base == nil:
		return fail("it has no address in this process")
	case m.Len <= 0:
		return fail("it has a length of %d bytes", m.Len)
	case uintptr(m.Base)&7 != 0:
		return fail("it begins at an address that is no multiple of 8")
	case rights&^anyRight != 0:
		return fail("there are no rights %#x", rights&^anyRight)
	}
	r := &registration{base: m.Base, len: uint64(m.Len), rights: rights, name: m.Name, idle: make(chan struct{})}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return fail("the domain: %w", d.ended)
	}
	if conn != nil {
		q, ok := conn.(*queue)
		if _, own := d.queues[q]; !ok || !own {
			return fail("the queue that its key is for is closed, or of another domain")
		}
		r.scope = q
	}
	if len(d.local) >= maxKeys {
		return fail("the domain has %d registrations already, which is the most", len(d.local))
	}
	r.keys = d.newKeys(r.len, rights != 0)
	d.local[r.keys.L] = r
	if r.keys.R != 0 {
		d.remote[uint32(r.keys.R)] = r
	}
	return r.keys, nil
}

// newKeys draws keys that are not in use. The low 8 bits of a remote key are those of its epoch, as the key of an
// STag is to change from one use to the next (RFC 5040, section 1.1, "STag Key"). d.mu is held.
func (d *domain) newKeys(size uint64, remote bool) (k rdma.Keys) {
	if d.epoch++; d.epoch == 0 {
		d.epoch = 1
	}
	k.Epoch = d.epoch
	for k.L == 0 || d.local[k.L] != nil {
		k.L = rdma.LKey(random())
	}
	for remote && (k.R == 0 || d.remote[uint32(k.R)] != nil || d.endings.has(uint32(k.R))) {
		k.R = rdma.RKey(uint32(random())&^0xff | k.Epoch&0xff)
	}
	k.Addr = randomBase(size)
	return k
}

// randomBase is an address for a region of that many bytes: at a page, and never a pointer. At both ends of the
// space are pages that no region has, so that an address that is a little off does not wrap around.
func randomBase(size uint64) uint64 {
	const pageBits, margin = 12, 1 << 16
	pages := uint64(1)<<(64-pageBits) - 2*margin - (size>>pageBits + 1)
	return (margin + random()%pages) << pageBits
}

// random is a number that nobody can foretell.
func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.LittleEndian.Uint64(b[:])
}

// byRemote is the registration of a remote key, or nil. One that a queue keeps is good until gone reports true.
func (d *domain) byRemote(stag uint32) *registration {
	d.mu.RLock()
	defer d.mu.RUnlock()
	return d.remote[stag]
}

// byLocal is the registration of a local key, or nil. One that a queue keeps is good until dead reports true.
func (d *domain) byLocal(k rdma.LKey) *registration {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if r := d.local[k]; r != nil && !r.dead() {
		return r
	}
	return nil
}

// invalidate ends the remote key for a peer, over q, that sent a message to that end. Only a key for that queue may be
// ended so: it stays registered, and its owner deregisters it.
func (d *domain) invalidate(q *queue, stag uint32) *fpdu.Fault {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.remote[stag]
	switch {
	case r == nil || r.scope != nil && r.scope != q:
		return &fpdu.Fault{Cause: fpdu.InvalidSTag, Detail: "there is no such key to invalidate"}
	case r.scope == nil:
		return &fpdu.Fault{Cause: fpdu.NotInvalidated, Detail: "the key is not for this connection alone"}
	}
	r.state.Or(stateRevoked)
	delete(d.remote, stag)
	return nil
}

// Deregister waits for accesses in progress. If ctx ends before, the keys are invalid, the memory is still in use, and
// Deregister may be called again.
func (d *domain) Deregister(ctx context.Context, k rdma.Keys) error {
	d.mu.Lock()
	r := d.local[k.L]
	if r == nil || r.keys != k {
		d.mu.Unlock()
		return fmt.Errorf("iwarp: deregister: the keys %#x/%#x of epoch %d are not, or no longer, registered", uint32(k.L), uint32(k.R), k.Epoch)
	}
	d.drop(r)
	d.mu.Unlock()
	select {
	case <-r.idle:
	default:
		select {
		case <-r.idle:
		case <-ctx.Done():
			return fmt.Errorf("iwarp: deregister %s: %d accesses are in progress: %w", r.name, r.state.Load()&^(stateEnded|stateRevoked), context.Cause(ctx))
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.local[k.L] != r {
		return fmt.Errorf("iwarp: deregister %s: it was deregistered meanwhile: %w", r.name, os.ErrClosed)
	}
	delete(d.local, k.L)
	return nil
}

// drop makes a registration's keys invalid. It can be deregistered still. d.mu is held.
func (d *domain) drop(r *registration) {
	r.end()
	if d.remote[uint32(r.keys.R)] == r {
		delete(d.remote, uint32(r.keys.R))
		d.endings.note(r)
	}
}
