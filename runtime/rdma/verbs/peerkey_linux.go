//go:build amd64 || arm64

package verbs

import (
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// peerKey is what the peer has said of a key: what it is good for, or why it is not good.
type peerKey struct {
	addr   uint64
	len    uint64
	rights barewire.Rights
	why    string
}

// keyName is a key of one registration: the device gives the number again when it is free.
type keyName struct {
	key   rdma.RKey
	epoch uint32
}

// keyring is what is known of the peer's keys. It is guarded by the post lock.
type keyring struct {
	open      bool // nothing is asked: the peer is no barewire
	flushAddr uint64
	flushKey  uint32
	known     map[keyName]*peerKey
	lastName  keyName // the one that was used last
	last      *peerKey
}

// maxKnown bounds how many keys are remembered: with more, those that are asked about again cost a question.
const maxKnown = 1 << 16

// learn notes what the peer says.
func (k *keyring) learn(key rdma.RKey, epoch uint32, p peerKey) {
	if k.known == nil || len(k.known) >= maxKnown {
		k.known = map[keyName]*peerKey{}
	}
	k.known[keyName{key, epoch}] = &p
	k.last = nil
}

// end notes that a key is good no longer.
func (k *keyring) end(key rdma.RKey, epoch uint32) {
	k.learn(key, epoch, peerKey{why: "its registration has ended"})
}

// check reports what is wrong with the peer's memory that a request names: n bytes, for which it takes a right.
func (k *keyring) check(wr *rdma.WorkRequest, n uint64, right barewire.Rights) *verdict {
	if k.open {
		return nil
	}
	p, name := k.last, keyName{wr.Key, wr.Epoch}
	if p == nil || k.lastName != name {
		if p = k.known[name]; p == nil {
			return unasked
		}
		k.last, k.lastName = p, name
	}
	off := wr.Addr - p.addr
	switch {
	case p.why != "":
		return bad(rdma.StatusRemoteKey, "%s", p.why)
	case off > p.len || n > p.len-off:
		return bad(rdma.StatusRemoteRange, "%d bytes from %d on, counted from its start", n, off)
	case p.rights&right == 0:
		return &verdict{Status: rdma.StatusRemoteRight}
	}
	return nil
}
