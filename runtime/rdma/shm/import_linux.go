package shm

import (
	"context"
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// imports are the keys of the peer that this side has mapped. mu of the queue guards them.
type imports struct {
	keys map[uint32]*remote
	last *remote // the one that was used last
	asks map[uint32]*ask
	next uint32
	head *ask // for the first of the work requests that wait
}

// remote is memory of the peer that is mapped here.
type remote struct {
	key, epoch uint32
	rights     barewire.Rights
	addr       uint64 // where it begins in the key's space
	length     uint64
	mem        []byte // the mapping: page-rounded
	base       unsafe.Pointer
	word       *atomic.Uint64 // in the peer's outbox
	slot       uint32
	nonce      uint64 // what the word is while the key is good
}

// ask is a question for a key's memory.
type ask struct {
	key, epoch uint32
	answer     chan error // nil: of the work request that waits
}

const maxAsks = 256

func (im *imports) init() {
	im.keys, im.asks = map[uint32]*remote{}, map[uint32]*ask{}
}

// find is the mapping of a key, nil if there is none.
func (im *imports) find(key, epoch uint32) *remote {
	if r := im.keys[key]; r != nil && r.epoch == epoch {
		return r
	}
	return nil
}

// use is find, for the key that is used next: it is most often the one that was used last.
func (im *imports) use(key, epoch uint32) *remote {
	r := im.last
	if r == nil || r.key != key || r.epoch != epoch {
		if r = im.find(key, epoch); r != nil {
			im.last = r
		}
	}
	return r
}

// ask asks for the memory of a work request's key, if that has not been done: the result is not over, or the request
// has failed.
func (q *queue) ask(wr *rdma.WorkRequest) result {
	im := &q.imports
	if im.head == nil {
		head := &ask{key: uint32(wr.Key), epoch: wr.Epoch}
		if err := q.askFor(head); err != nil {
			return q.refuse(wr, err)
		}
		im.head = head
	}
	return needKey
}

// askFor sends a question. mu is held.
func (q *queue) askFor(a *ask) *rdma.StatusError {
	im := &q.imports
	if len(im.asks) >= maxAsks {
		return failure(rdma.StatusPeerLost, "%s has left %d questions for keys unanswered", q.peerName, len(im.asks))
	}
	im.next++
	im.asks[im.next] = a
	if err := q.sock.post(message{kind: kindAsk, id: im.next, key: a.key, epoch: a.epoch}); err != nil {
		delete(im.asks, im.next)
		return failure(rdma.StatusPeerLost, "asking %s for key %#x: %v", q.peerName, a.key, err)
	}
	return nil
}

// Prepare maps a key of the peer.
func (q *queue) Prepare(ctx context.Context, key rdma.RKey, epoch uint32) error {
	a := &ask{key: uint32(key), epoch: epoch, answer: make(chan error, 1)}
	q.mu.Lock()
	if q.cause != nil {
		defer q.mu.Unlock()
		return q.flushed
	}
	if r := q.imports.find(a.key, a.epoch); r != nil && r.word.Load() == r.nonce {
		q.mu.Unlock()
		return nil
	}
	err := q.askFor(a)
	q.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err := <-a.answer:
		return err
	case <-ctx.Done():
		return ctx.Err() // the answer is taken when it comes
	}
}

// answered takes the peer's answer to a question. fd is -1 for a refusal, and for a grant whose
// descriptor this process had no room for; else it is closed here.
func (q *queue) answered(m message, fd int) error {
	if fd >= 0 {
		defer unix.Close(fd)
	}
	q.mu.Lock()
	defer q.unlock()
	im := &q.imports
	a := im.asks[m.id]
	if a == nil {
		if q.cause != nil {
			return nil // of a queue that failed meanwhile
		}
		return fmt.Errorf("%w: an answer to question %d, which nobody asked", errMessage, m.id)
	}
	delete(im.asks, m.id)
	var bad *rdma.StatusError
	if m.kind == kindDeny {
		bad = failure(clampStatus(m.status), "%s", said(m.body))
	} else if fd < 0 {
		bad = failure(rdma.StatusProvider, "this process has as many files open as it may (RLIMIT_NOFILE), and the memory of key %#x needs one more for a moment", a.key)
	} else if r, err := q.mapGrant(a, m, fd); err != nil {
		bad = failure(rdma.StatusProvider, "the memory of key %#x: %v", a.key, err)
	} else {
		im.put(r)
	}
	if a == im.head {
		im.head = nil
		if wr := q.waiting.first(); wr != nil && bad != nil {
			q.refuse(wr, bad)
		}
	} else if a.answer != nil {
		if bad == nil {
			a.answer <- nil
		} else {
			a.answer <- bad
		}
	}
	q.resume()
	q.ringIfAsleep()
	return nil
}

// clampStatus is a status of the peer's, if it is one.
func clampStatus(s rdma.Status) rdma.Status {
	if s == 0 || s > rdma.StatusProvider {
		return rdma.StatusProvider
	}
	return s
}

// mapGrant checks what the peer grants, and maps it. mu is held.
func (q *queue) mapGrant(a *ask, m message, fd int) (*remote, error) {
	rights := barewire.Rights(m.rights)
	switch {
	case q.closed:
		return nil, errClosed
	case rights == 0 || rights&^(region.Read|region.Write|region.Atomic) != 0:
		return nil, fmt.Errorf("shm: rights %#x", m.rights)
	case m.slot >= q.peer.slots || m.nonce < firstNonce:
		return nil, fmt.Errorf("shm: slot %d of %d, nonce %d", m.slot, q.peer.slots, m.nonce)
	case m.length == 0 || m.length > maxTransfer || m.offset > maxTransfer || m.addr+m.length < m.addr:
		return nil, fmt.Errorf("shm: %d bytes at %#x, at %d in a file", m.length, m.addr, m.offset)
	case m.offset%entrySize != 0 || m.addr%entrySize != 0:
		return nil, fmt.Errorf("shm: memory that begins at %#x, %d in a file, is not aligned", m.addr, m.offset)
	}
	if err := checkFile(fd, m.offset+m.length, writable(rights)); err != nil {
		return nil, err
	}
	mem, base, err := mapRange(fd, m.offset, m.length, writable(rights))
	if err != nil {
		return nil, err
	}
	return &remote{key: a.key, epoch: a.epoch, rights: rights, addr: m.addr, length: m.length,
		mem: mem, base: base, word: q.peer.slot(m.slot), slot: m.slot, nonce: m.nonce}, nil
}

// put keeps a mapping, in place of one for the same key.
func (im *imports) put(r *remote) {
	im.drop(im.keys[r.key])
	im.keys[r.key] = r
}

// drop unmaps; nil is fine.
func (im *imports) drop(r *remote) {
	if r == nil {
		return
	}
	if im.last == r {
		im.last = nil
	}
	delete(im.keys, r.key)
	_ = unix.Munmap(r.mem) // fails for wrong arguments only
}

// revoked unmaps what the peer has taken back.
func (q *queue) revoked(m message) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, r := range q.imports.keys {
		if r.slot == m.slot && r.nonce == m.nonce {
			q.imports.drop(r)
			return
		}
	}
}

// fail answers all questions with an error.
func (im *imports) fail(err error) {
	for id, a := range im.asks {
		if a.answer != nil {
			a.answer <- err
		}
		delete(im.asks, id)
	}
	im.head = nil
}

// close unmaps everything.
func (im *imports) close() {
	for _, r := range im.keys {
		im.drop(r)
	}
}
