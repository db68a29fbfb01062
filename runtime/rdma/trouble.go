package rdma

import "context"

// Telling is an [Acceptor] that can tell of peers that never came as far as to Accept: what they said was no
// greeting, or they went away, or there is no room to take them in. It is optional.
type Telling interface {
	// Tell says whom to tell. F does not block, and may be called from several goroutines. Peer is the
	// peer's address, empty where it is not known.
	Tell(f func(peer string, err error))
}

// hears makes the listener hear of its acceptor's troubles.
func (ln *Listener) hears() {
	x, ok := ln.acceptor.(Telling)
	if !ok {
		return
	}
	x.Tell(func(peer string, err error) {
		if ln.closed.Load() {
			return
		}
		cfg := &ln.dom.dev.cfg
		ln.refusals.warn(cfg, "rdma: a peer could not connect", "listener", ln.Addr(), "peer", peer, "reason", err)
		cfg.see(Event{Kind: EventNotConnected, Peer: peer, Err: err})
	})
}

// refused logs that a peer was refused, and tells the observer, unless it was because nobody waits for peers any more.
func (ln *Listener) refused(ctx context.Context, peer string, why error) {
	if ctx.Err() != nil || ln.closed.Load() {
		return
	}
	cfg := &ln.dom.dev.cfg
	ln.refusals.warn(cfg, "rdma: a peer was refused", "listener", ln.Addr(), "peer", peer, "reason", why)
	cfg.see(Event{Kind: EventRefused, Peer: peer, Err: why})
}
