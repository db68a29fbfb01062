package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// Revoke takes back what a region grants to peers: when it returns, none of them
// reaches the memory, and none will. The region stays registered for operations
// of its own side. Peers that were given the key are told, so that their
// operations are refused before they are posted where the news came first; else
// they fail. After an error the region is still good, and what it grants may be revoked or not.
//
// Where the device can it ends the key alone (a memory window): the registration stays, and so does what is in flight of the own side. Where it cannot
// the memory is registered anew, without remote rights; that waits for what is in flight, and takes as much pinned memory once more for
// a moment. [EventRevoked] says why it was that.
//
// The region may be granted again at once, under another key: with [Grant] to one peer, and with [Also] to all.
//
//barewire:effect uses=mr
func Revoke[T barewire.Fixed[T], R barewire.Registrable, A barewire.RemoteAccess](ctx context.Context, mr *barewire.Region[T, R, A]) error {
	h, gen, err := barewire.Core(friend, mr)
	if err != nil {
		return err
	}
	// Held, so that the region is neither closed nor deregistered meanwhile.
	if err := h.Hold(gen); err != nil {
		return err
	}
	defer h.Drop()
	reg, err := registrationOf(h)
	if err != nil {
		return err
	}
	if err := reg.revoke(ctx); err != nil {
		return fmt.Errorf("rdma: revoke: %s: %w", h.Name(), err)
	}
	return nil
}

// revoke ends the remote key and what peers know of it, and the keys of single connections.
func (r *registration) revoke(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return ErrNotRegistered
	}
	if !r.revoked {
		if err := r.withdraw(ctx); err != nil {
			return err
		}
	}
	if len(r.stale) > 0 {
		// Operations that were posted with the old local key end first.
		if err := r.dom.quiesce(ctx); err != nil {
			return err
		}
		if err := r.endStale(ctx); err != nil {
			return err
		}
	}
	for s := range r.scoped {
		if err := s.end(ctx); err != nil {
			return err
		}
		delete(r.scoped, s)
	}
	r.dom.dev.cfg.see(Event{Kind: EventRevoked, Name: r.h.Name(), Err: r.anew})
	return nil
}

// withdraw ends the remote key, if the provider can do that alone, or registers the memory anew without remote rights: what it was before is
// stale then. The registration's lock is held.
func (r *registration) withdraw(ctx context.Context) error {
	if pd, ok := r.dom.pd.(Revoker); ok {
		keys, err := pd.Revoke(ctx, r.keys)
		if err == nil {
			r.tellLocked()
			r.keys, r.revoked = keys, true
			return nil
		}
		if !errors.Is(err, errors.ErrUnsupported) {
			return r.dom.because(err)
		}
		r.anew = err
	}
	fresh, err := r.dom.pd.Register(memoryOf(r.h), 0, nil)
	if err != nil {
		return fmt.Errorf("registering it without remote rights: %w", r.dom.because(err))
	}
	r.tellLocked()
	r.stale = append(r.stale, r.keys)
	r.lkey.Store(uint32(fresh.L))
	r.keys, r.revoked = fresh, true
	return nil
}

// quiesce waits until all that is posted now on the domain's connections has ended.
func (dom *Domain) quiesce(ctx context.Context) error {
	for _, c := range dom.connections() {
		posted := c.count()
		if posted == 0 || c.retired.Load() >= posted {
			continue
		}
		if err := c.await(ctx, want{kind: wantOp, seq: posted - 1}); err != nil {
			return err
		}
	}
	return nil
}

// tellLocked tells the peers that have the remote key that it is no longer good.
func (r *registration) tellLocked() {
	for c := range r.told {
		c.tell(&ctl.Revoked{Key: uint32(r.keys.R), Epoch: r.keys.Epoch})
	}
	r.told = nil
}

// Scoped is a right on a region that one connection's peer has and nobody else:
// see [Grant]. Its methods may be called from several goroutines.
type Scoped[T barewire.Fixed[T], A barewire.RemoteAccess] struct{ s *scope }

// scope is a key that is good on one connection only.
type scope struct {
	reg    *registration
	conn   *Conn
	keys   Keys
	rights barewire.Rights
	over   bool        // guarded by reg.mu
	given  atomic.Bool // the peer gave the right back: see [SendInvalidate]
}

// Grant gives the peer of one connection, and nobody else, some of the rights of
// a region: the key is good on that connection only, until [Scoped.Revoke], and as
// long as mr is registered. The error is [ErrNoScope] where the device cannot
// do it ([Limits].ConnGrants), and [ErrRights] where g grants more than mr does. A region whose grants were
// taken back ([Revoke]) can be granted so again.
//
//barewire:effect uses=mr, meets=mr of c
func Grant[T barewire.Fixed[T], R barewire.Registrable, A, B barewire.RemoteAccess](c *Conn, mr *barewire.Region[T, R, A], g barewire.Grant[T, B]) (*Scoped[T, B], error) {
	_, rights, err := barewire.GrantParts(friend, g)
	if err != nil {
		return nil, err
	}
	h, gen, err := barewire.Core(friend, mr)
	if err != nil {
		return nil, err
	}
	if c.none() {
		return nil, errNoConn
	}
	if err := h.Hold(gen); err != nil {
		return nil, err
	}
	defer h.Drop()
	reg, err := registrationOf(h)
	if err != nil {
		return nil, err
	}
	s, err := reg.scope(c, rights)
	if err != nil {
		return nil, fmt.Errorf("rdma: grant: %s: %w", h.Name(), err)
	}
	return &Scoped[T, B]{s}, nil
}

func (r *registration) scope(c *Conn, rights barewire.Rights) (*scope, error) {
	switch {
	case c.dom != r.dom:
		return nil, fmt.Errorf("%w: the connection is in another domain than the region", ErrDomain)
	case !r.dom.dev.limits.ConnGrants:
		return nil, fmt.Errorf("%w: %s", ErrNoScope, r.dom.dev.info.Name)
	case rights&^r.rights != 0:
		return nil, fmt.Errorf("%w: the region grants %s, and %s is to be granted", ErrRights, rightsText(r.rights), rightsText(rights))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended || r.ending {
		return nil, ErrRevoked
	}
	if !c.ctl.remember(r) {
		return nil, wrap(ErrClosed, "the connection with %s", c.peer)
	}
	keys, err := r.dom.pd.Register(memoryOf(r.h), rights, c.q)
	if err != nil {
		return nil, r.dom.because(err)
	}
	s := &scope{reg: r, conn: c, keys: keys, rights: rights}
	if r.scoped == nil {
		r.scoped = map[*scope]struct{}{}
	}
	r.scoped[s] = struct{}{}
	c.ctl.mu.Lock()
	c.ctl.scopes[keys.R] = s
	c.ctl.mu.Unlock()
	return s, nil
}

// end ends the key. The registration's lock is held.
func (s *scope) end(ctx context.Context) error {
	if s.over {
		return nil
	}
	if !s.given.Load() {
		s.conn.tell(&ctl.Revoked{Key: uint32(s.keys.R), Epoch: s.keys.Epoch})
	}
	if err := s.reg.dom.endKeys(ctx, s.keys); err != nil {
		return err
	}
	s.over = true
	s.conn.ctl.mu.Lock()
	delete(s.conn.ctl.scopes, s.keys.R)
	s.conn.ctl.mu.Unlock()
	return nil
}

// Remote is the reference, to put into messages to the connection's peer.
func (g *Scoped[T, A]) Remote() (barewire.Remote[T, A], error) {
	if g == nil || g.s == nil {
		return barewire.Remote[T, A]{}, errNoScoped
	}
	ref, err := g.s.give()
	if err != nil {
		return barewire.Remote[T, A]{}, fmt.Errorf("rdma: a grant on %s: %w", g.s.reg.h.Name(), err)
	}
	return barewire.MakeRemote[T, A](friend, g.s.reg.h.Type(), ref), nil
}

// Revoke takes the right back: when it returns, the peer does not reach the
// memory by it any more. Revoking again does nothing.
func (g *Scoped[T, A]) Revoke(ctx context.Context) error {
	if g == nil || g.s == nil {
		return errNoScoped
	}
	s := g.s
	s.reg.mu.Lock()
	defer s.reg.mu.Unlock()
	if err := s.end(ctx); err != nil {
		return fmt.Errorf("rdma: revoke: a grant on %s: %w", s.reg.h.Name(), err)
	}
	delete(s.reg.scoped, s)
	return nil
}
