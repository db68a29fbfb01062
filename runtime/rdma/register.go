package rdma

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// registration is what a domain knows of a region's handle: it is the handle's Reg
// as long as the handle is registered.
type registration struct {
	dom    *Domain
	h      *region.Handle
	gen    uint32 // of the typed region
	rights barewire.Rights
	lkey   atomic.Uint32 // of keys.L: changes when the remote key is revoked

	mu      sync.Mutex
	keys    Keys
	revoked bool
	ending  bool // Deregister began
	ended   bool
	stale   []Keys             // revoked, and not yet ended by the provider
	anew    error              // why revoking registered it anew, though the provider can revoke
	told    map[*Conn]struct{} // connections whose peers were given the remote key
	scoped  map[*scope]struct{}
}

// Register makes a region known to the domain's device and grants what g says. It
// moves the region: the one that is given is good no longer ([barewire.ErrMoved]),
// and the one that is returned is the caller's to close. While windows on the region are open
// it is [barewire.ErrBorrowed]. After an error the region is as it was, and still good.
//
//barewire:effect moves=r on ok, fresh=0 on ok, within=0 of dom
func Register[T barewire.Fixed[T], R barewire.Registrable, A barewire.Registered](dom *Domain, r *barewire.Region[T, R, barewire.Unregistered], g barewire.Grant[T, A]) (*barewire.Region[T, R, A], error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return nil, err
	}
	_, rights, err := barewire.GrantParts(friend, g)
	if err != nil {
		return nil, err
	}
	next, err := dom.register(h, gen, rights)
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, A](friend, h, next), nil
}

// register moves a handle into the domain.
func (dom *Domain) register(h *region.Handle, gen uint32, rights barewire.Rights) (uint32, error) {
	if dom.none() {
		return 0, wrap(ErrClosed, "register: %s: %s", h.Name(), noDomain)
	}
	next, err := h.Advance(gen, region.Moved)
	if err != nil {
		return 0, region.Doing("register", err)
	}
	reg, err := dom.enroll(h, next, rights)
	if err != nil {
		h.Undo(gen, next)
		return 0, fmt.Errorf("rdma: register: %s: %w", h.Name(), err)
	}
	h.Reg = reg
	return next, nil
}

// enroll makes the memory of a handle known. Who calls it has the handle to itself.
func (dom *Domain) enroll(h *region.Handle, gen uint32, rights barewire.Rights) (*registration, error) {
	if err := dom.enter(); err != nil {
		return nil, err
	}
	if err := dom.fits(h); err != nil {
		dom.leave(nil)
		return nil, err
	}
	keys, err := dom.pd.Register(memoryOf(h), rights, nil)
	if err == nil && (keys.R != 0) != (rights != 0) {
		err = errors.Join(fmt.Errorf("the provider gave remote key %d for %s", keys.R, rightsText(rights)), dom.pd.Deregister(context.Background(), keys))
	}
	if err != nil {
		dom.leave(nil)
		return nil, dom.because(err)
	}
	reg := &registration{dom: dom, h: h, gen: gen, rights: rights, keys: keys}
	reg.lkey.Store(uint32(keys.L))
	dom.dev.cfg.see(Event{Kind: EventRegistered, Name: h.Name()})
	return reg, nil
}

// fits makes a handle's memory one that the device takes, or says why it cannot.
func (dom *Domain) fits(h *region.Handle) error {
	switch l := &dom.dev.limits; {
	case h.Opaque() && !l.DMABuf:
		return fmt.Errorf("%w: this processor cannot reach the memory, and the device %s takes none by a dma-buf (Limits.DMABuf)",
			errors.ErrUnsupported, dom.dev.info.Name)
	case l.FileMemory:
		return h.Share()
	}
	return nil
}

// memoryOf is a handle's memory as providers take it: its elements, not what fills the last page.
func memoryOf(h *region.Handle) Memory {
	base, _, file := h.Memory()
	return Memory{Base: base, Len: h.Count() * int(h.Type().Size), Opaque: h.Opaque(), DMABuf: h.DMABuf, File: file, Exposed: h.Expose, Name: h.Name()}
}

// enter counts a registration, unless the domain is closed.
func (dom *Domain) enter() error {
	dom.mu.Lock()
	defer dom.mu.Unlock()
	if dom.closed {
		return fmt.Errorf("the domain: %w", ErrClosed)
	}
	dom.regions++
	return nil
}

// leave ends what enter began; r is nil where that came to nothing.
func (dom *Domain) leave(r *registration) {
	dom.mu.Lock()
	dom.regions--
	delete(dom.unclosed, r)
	dom.mu.Unlock()
}

// Unclosed notes that the region was to be closed and is not, because Deregister failed. It
// is closed with the domain, if it was not before.
func (r *registration) Unclosed(at where.Mark) {
	r.dom.mu.Lock()
	defer r.dom.mu.Unlock()
	if r.dom.unclosed == nil {
		r.dom.unclosed = map[*registration]where.Mark{}
	}
	r.dom.unclosed[r] = at
}

// closeRegions closes those regions that were to be closed before and could not be. Those that are in
// use again are left alone.
func (dom *Domain) closeRegions(ctx context.Context) error {
	dom.mu.Lock()
	regs := maps.Clone(dom.unclosed)
	dom.mu.Unlock()
	var errs []error
	for r, at := range regs {
		if err := r.h.CloseWithin(ctx, r.gen, at); errors.Is(err, barewire.ErrRegistered) {
			errs = append(errs, region.Doing("close", err))
		}
	}
	return errors.Join(errs...)
}

// Also registers the memory of a registered region once more: in another domain,
// or with other rights. The memory goes when all its regions are closed.
//
//barewire:effect uses=mr, fresh=0 on ok, within=0 of dom
func Also[T barewire.Fixed[T], R barewire.Registrable, A, B barewire.Registered](dom *Domain, mr *barewire.Region[T, R, A], g barewire.Grant[T, B]) (*barewire.Region[T, R, B], error) {
	h, gen, err := barewire.Core(friend, mr)
	if err != nil {
		return nil, err
	}
	_, rights, err := barewire.GrantParts(friend, g)
	if err != nil {
		return nil, err
	}
	sib, err := dom.also(h, gen, rights)
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, B](friend, sib, sib.Gen()), nil
}

func (dom *Domain) also(h *region.Handle, gen uint32, rights barewire.Rights) (*region.Handle, error) {
	if dom.none() {
		return nil, wrap(ErrClosed, "register again: %s: %s", h.Name(), noDomain)
	}
	if err := h.Hold(gen); err != nil {
		return nil, region.Doing("register again", err)
	}
	defer h.Drop()
	sib, err := h.Sibling()
	if err != nil {
		return nil, region.Doing("register again", err)
	}
	reg, err := dom.enroll(sib, sib.Gen(), rights)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("rdma: register again: %s: %w", h.Name(), err), sib.Close(sib.Gen()))
	}
	sib.Reg = reg
	return sib, nil
}

// Deregister ends a registration and gives the unregistered region back; mr is good
// no longer. When it returns, no peer reaches the memory. It fails while windows
// on mr are open or operations with it have not ended. Where a peer that is not
// trusted could keep a mapping of the memory (see package shm), the elements move to other
// memory: that takes as much once more for a moment, and it fails with
// [barewire.ErrSiblings] while the memory has other regions ([Also]).
// After an error mr is still good and its registration may or may not be; then
// call again, or close it.
//
//barewire:effect moves=mr on ok, fresh=0 on ok
func Deregister[T barewire.Fixed[T], R barewire.Registrable, A barewire.Registered](ctx context.Context, mr *barewire.Region[T, R, A]) (*barewire.Region[T, R, barewire.Unregistered], error) {
	h, gen, err := barewire.Core(friend, mr)
	if err != nil {
		return nil, err
	}
	next, err := h.Advance(gen, region.Moved)
	if err != nil {
		return nil, region.Doing("deregister", err)
	}
	reg, err := registrationOf(h)
	if err == nil {
		err = reg.Deregister(ctx)
	}
	if err != nil {
		h.Undo(gen, next)
		return nil, fmt.Errorf("rdma: deregister: %s: %w", h.Name(), err)
	}
	if err := h.Renew(); err != nil {
		h.Undo(gen, next)
		return nil, region.Doing("deregister", err)
	}
	h.Reg = nil
	return barewire.Mint[T, R, barewire.Unregistered](friend, h, next), nil
}

// registrationOf is the registration of a handle that the caller holds.
func registrationOf(h *region.Handle) (*registration, error) {
	if reg, ok := h.Reg.(*registration); ok {
		return reg, nil
	}
	return nil, ErrNotRegistered
}

// Deregister ends the registration: closing the region calls it. Who calls it has
// made sure that no operation is in flight.
func (r *registration) Deregister(ctx context.Context) error {
	r.quiesce()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ended {
		return nil
	}
	r.tellLocked()
	for s := range r.scoped {
		if err := s.end(ctx); err != nil {
			return err
		}
		delete(r.scoped, s)
	}
	if !r.ending {
		r.ending, r.revoked = true, true
		r.stale = append(r.stale, r.keys)
	}
	if err := r.endStale(ctx); err != nil {
		return err
	}
	r.ended = true
	for _, c := range r.dom.connections() {
		c.ctl.forget(r)
	}
	r.dom.leave(r)
	r.dom.dev.cfg.see(Event{Kind: EventDeregistered, Name: r.h.Name()})
	return nil
}

// left forgets a connection that is closed, and ends the keys that were for it.
func (r *registration) left(ctx context.Context, c *Conn) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.told, c)
	for s := range r.scoped {
		if s.conn != c {
			continue
		}
		if err := s.end(ctx); err != nil {
			return err
		}
		delete(r.scoped, s)
	}
	return nil
}

// endStale ends keys that are no longer good. The registration's lock is held.
func (r *registration) endStale(ctx context.Context) error {
	for len(r.stale) > 0 {
		if err := r.dom.endKeys(ctx, r.stale[0]); err != nil {
			return err
		}
		r.stale = r.stale[1:]
	}
	return nil
}

// endKeys ends a registration with the provider, which a closed domain did already.
func (dom *Domain) endKeys(ctx context.Context, k Keys) error {
	dom.mu.Lock()
	gone := dom.gone
	dom.mu.Unlock()
	if gone {
		return nil
	}
	return dom.pd.Deregister(ctx, k)
}

// Domain is for package barewire: see barewire.MintGlobalAtomics.
func (r *registration) Domain() any { return r.dom }

// InFlight is where the oldest operation in flight with the handle was posted, for errors.
func (r *registration) InFlight(h *region.Handle) string {
	for _, c := range r.dom.connections() {
		if at := c.postedWith(h); at != "" {
			return at
		}
	}
	return ""
}

// ref is the reference to the registered memory under some of its rights.
func (r *registration) ref(k Keys, rights barewire.Rights) barewire.Ref {
	t := r.h.Type()
	return barewire.Ref{
		Addr: k.Addr, Count: uint64(r.h.Count()), Size: uint32(t.Size), Key: uint32(k.R),
		Hash: [16]byte(t.Hash[:16]), Epoch: k.Epoch, Rights: rights, Version: barewire.RefVersion,
	}
}

// RemoteOf is the reference to a region of one's own, to put into messages: a
// peer of the domain that has it may do what the region grants. The error is
// [ErrRevoked] after [Revoke].
//
//barewire:effect uses=mr, refers=0 of mr at all on ok
func RemoteOf[T barewire.Fixed[T], R barewire.Registrable, A barewire.RemoteAccess](mr *barewire.Region[T, R, A]) (barewire.Remote[T, A], error) {
	reg, err := current(mr)
	if err != nil {
		return barewire.Remote[T, A]{}, err
	}
	ref, err := reg.give(nil)
	if err != nil {
		return barewire.Remote[T, A]{}, err
	}
	return barewire.MakeRemote[T, A](friend, reg.h.Type(), ref), nil
}

// current is the registration of a region that is good now.
func current[T barewire.Fixed[T], R barewire.Registrable, A barewire.Registered](mr *barewire.Region[T, R, A]) (*registration, error) {
	h, gen, err := barewire.Core(friend, mr)
	if err != nil {
		return nil, err
	}
	if err := h.Hold(gen); err != nil {
		return nil, err
	}
	defer h.Drop()
	return registrationOf(h)
}

// lapsed reports whether what it grants was taken back.
func (r *registration) lapsed() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.revoked || r.ended
}

// give is the reference to the region, remembering whom it goes to.
func (r *registration) give(c *Conn) (barewire.Ref, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.revoked || r.ended {
		return barewire.Ref{}, fmt.Errorf("rdma: the remote key of %s: %w", r.h.Name(), ErrRevoked)
	}
	if c != nil {
		if !c.ctl.remember(r) {
			return barewire.Ref{}, wrap(ErrClosed, "the connection with %s", c.peer)
		}
		if r.told == nil {
			r.told = map[*Conn]struct{}{}
		}
		r.told[c] = struct{}{}
	}
	return r.ref(r.keys, r.rights), nil
}
