package rdma

import (
	"context"
	"errors"
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
)

// SendSolicited is [Conn.SendBytes] of a message that asks for the receiver's event. Receivers of this
// package are woken by every message; other programs may sleep through those that do not ask
// (ibv_req_notify_cq(3), solicited_only). The error is [errors.ErrUnsupported] where the device cannot
// ([Limits].Solicited).
func (c *Conn) SendSolicited(ctx context.Context, b []byte) error {
	r := request{verb: VerbSend, bytes: len(b), wakes: true}
	switch {
	case c.none():
		return errNoConn
	case len(b) == 0:
		return refuse(c, &r, ErrEmpty)
	case !c.dom.dev.limits.Solicited:
		return refuse(c, &r, fmt.Errorf("%w: the device %s sends no solicited events; see SendBytes", errors.ErrUnsupported, c.dom.dev.info.Name))
	}
	return c.send(ctx, &r, b)
}

// SendInvalidate is [Conn.SendBytes] of a message that gives the right to rem back: when the peer has the message, its
// key is good no longer, and the peer knows. A server reads or writes a client's memory so, and
// answers: the client needs no [Revoke] then. It is the key that ends, with all of rem that it was sliced from.
// What uses it and was posted before is done before; what is posted after is refused with [ErrRevoked]. rem must be of a
// right for this connection alone ([Grant]) that came by it: others share the keys of regions,
// so that peers refuse to end them, and the connection with it ([ErrRights]).
//
// At the peer [Scoped.Err] and whatever else the [Scoped] is asked for then say [ErrRevoked]. Its region stays registered; the
// right takes a place in the device until [Scoped.Revoke], or the end of the region or the connection.
//
// The error is [errors.ErrUnsupported] where the device cannot ([Limits].Invalidate).
// Source: RFC 5040, section 5.3; RFC 5042 has why shared keys are not to be ended by a peer.
func SendInvalidate[T barewire.Fixed[T], A barewire.RemoteAccess](ctx context.Context, c *Conn, b []byte, rem barewire.Remote[T, A]) error {
	r := request{verb: VerbSend, bytes: len(b)}
	if c.none() {
		return errNoConn
	}
	ref, err := barewire.RemoteParts(friend, rem)
	if err != nil {
		return refuse(c, &r, err)
	}
	r.ends, r.epoch = RKey(ref.Key), ref.Epoch
	return c.sendInvalidate(ctx, &r, b)
}

func (c *Conn) sendInvalidate(ctx context.Context, r *request, b []byte) error {
	switch {
	case len(b) == 0:
		return refuse(c, r, ErrEmpty)
	case !c.dom.dev.limits.Invalidate:
		return refuse(c, r, fmt.Errorf("%w: the device %s cannot end a key at the peer; ask it to revoke", errors.ErrUnsupported, c.dom.dev.info.Name))
	case c.ctl.revokes.Load() > 0 && c.ctl.isRevoked(r.ends, r.epoch):
		return refuse(c, r, fmt.Errorf("%w already", ErrRevoked))
	}
	err := c.send(ctx, r, b)
	if err == nil {
		c.ctl.noteRevoked(r.ends, r.epoch)
	}
	return err
}

// givenBack notes that the peer ended a key that it alone was granted. The poll lock is held.
func (c *Conn) givenBack(key RKey) {
	k := &c.ctl
	k.mu.Lock()
	s := k.scopes[key]
	k.mu.Unlock()
	if s == nil {
		return // it was revoked meanwhile
	}
	s.given.Store(true)
	c.dom.dev.cfg.see(Event{Kind: EventRevoked, Peer: c.peer, Name: s.reg.h.Name()})
}

// reinstate is for a key that the peer of a plain connection told anew: it has no epochs to tell it from the one that ended.
func (k *control) reinstate(key RKey) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.revoked, key)
	k.revokes.Store(int32(len(k.revoked)))
}

// Err is nil while the right is good, and then why it is not: it was revoked, its region is
// not registered any more, or the peer gave it back ([SendInvalidate]).
func (g *Scoped[T, A]) Err() error {
	if g == nil || g.s == nil {
		return errNoScoped
	}
	if _, err := g.s.give(); err != nil {
		return fmt.Errorf("rdma: a grant on %s: %w", g.s.reg.h.Name(), err)
	}
	return nil
}
