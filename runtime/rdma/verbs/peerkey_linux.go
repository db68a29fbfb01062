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
	mine   bool // it is for this connection only
	why    string
	ended  bool // for good: the same name is never good again
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

// learn notes what the peer says, and returns what is known then: of a key that has ended an answer may come that was given before.
func (k *keyring) learn(key rdma.RKey, epoch uint32, p peerKey) peerKey {
	name := keyName{key, epoch}
	if old := k.known[name]; old != nil && old.ended {
		return *old
	}
	if k.known == nil || len(k.known) >= maxKnown {
		k.known = map[keyName]*peerKey{}
	}
	k.known[name] = &p
	k.last = nil
	return p
}

// end notes that a key is good no longer.
func (k *keyring) end(key rdma.RKey, epoch uint32) {
	k.learn(key, epoch, peerKey{why: "its registration has ended", ended: true})
}

// unasked is the verdict on a request whose key the peer has not been asked about.
var unasked = &verdict{}

// find is what is known of the key that a request names; nil: the peer has not been asked.
func (k *keyring) find(wr *rdma.WorkRequest, key rdma.RKey) *peerKey {
	name := keyName{key, wr.Epoch}
	if k.last == nil || k.lastName != name {
		p := k.known[name]
		if p == nil {
			return nil
		}
		k.last, k.lastName = p, name
	}
	return k.last
}

// checkEnd reports why a send may not end the key that it names, which it does otherwise.
func (k *keyring) checkEnd(wr *rdma.WorkRequest) *verdict {
	if k.open {
		return nil
	}
	p := k.find(wr, wr.Invalidate)
	switch {
	case p == nil:
		return unasked
	case p.why != "":
		return bad(rdma.StatusRemoteKey, "%s", p.why)
	case !p.mine:
		return bad(rdma.StatusRemoteRight, "the key is not for this connection only")
	}
	k.learn(wr.Invalidate, wr.Epoch, peerKey{why: "this side has ended it by a send", ended: true})
	return nil
}

// check reports what is wrong with the peer's memory that a request names: n bytes, for which it takes a right.
func (k *keyring) check(wr *rdma.WorkRequest, n uint64, right barewire.Rights) *verdict {
	if k.open {
		return nil
	}
	p := k.find(wr, wr.Key)
	if p == nil {
		return unasked
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
