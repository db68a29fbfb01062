package iwarp

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp/internal/fpdu"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// A peer may use a key after its owner has ended it, and before it can know that. It is refused, and loses the
// connection, since the protocol has no other answer; but it has broken no rule, and is not made to wait for that. It
// has if its connection was made after the end of the key, if it has ended the key itself, or if nobody had the key lately.

// mostEnded bounds the keys that a domain remembers after they have ended.
const mostEnded = 4096

// endedKeys are the remote keys of a domain that ended last. The domain's lock guards them.
type endedKeys struct {
	count uint64              // keys ended, ever
	order []uint32            // the last of them, the key that was the n-th at n%mostEnded
	keys  map[uint32]endedKey // of those
}

// endedKey is what there is to know of one.
type endedKey struct {
	when  uint64 // it was the when-th to end
	scope uint64 // the number of the queue that it was for; 0: any
}

// note remembers a key that ends, in the place of one that ended long ago.
func (e *endedKeys) note(r *registration) {
	stag := uint32(r.keys.R)
	at := e.count % mostEnded
	e.count++
	if e.keys == nil {
		e.keys = map[uint32]endedKey{}
	}
	if at == uint64(len(e.order)) {
		e.order = append(e.order, stag)
	} else {
		delete(e.keys, e.order[at])
		e.order[at] = stag
	}
	k := endedKey{when: e.count}
	if r.scope != nil {
		k.scope = r.scope.number
	}
	e.keys[stag] = k
}

// has reports whether a key is remembered. None is given to another registration meanwhile.
func (e *endedKeys) has(stag uint32) bool {
	_, ok := e.keys[stag]
	return ok
}

// raced reports whether a peer, over q, may have had a key when its connection was made that has ended since.
func (d *domain) raced(q *queue, stag uint32) bool {
	d.mu.RLock()
	defer d.mu.RUnlock()
	k, ok := d.endings.keys[stag]
	return ok && k.when > q.since && (k.scope == 0 || k.scope == q.number)
}

// reach finds the registration of a key that a peer uses, and checks the access as registration.reach does.
func (q *queue) reach(stag uint32, to uint64, n int, need barewire.Rights) (r *registration, off int, fault *fpdu.Fault) {
	r = q.in.theirs.find(q.dom, stag)
	off, fault = r.reach(q, to, n, need)
	return r, off, q.excuse(fault, stag)
}

// excuse notes at a fault that it may be about a key that ended while the peer used it.
func (q *queue) excuse(fault *fpdu.Fault, stag uint32) *fpdu.Fault {
	if fault != nil && (fault.Cause == fpdu.TaggedSTag || fault.Cause == fpdu.InvalidSTag) && q.dom.raced(q, stag) {
		fault.Raced = true
		fault.Detail = fmt.Sprintf("the key %#x was revoked meanwhile", stag)
	}
	return fault
}
