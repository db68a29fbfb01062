package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/internal/where"
)

// friend is the key to the functions of package barewire that are for its device packages.
var friend = seal.Key()

// Domain is a protection domain: what is registered in it may be used by its
// connections, and by their peers as far as it was granted. It may be used from
// several goroutines; it is closed with its device, or before.
//
//barewire:type domain
type Domain struct {
	dev *Device
	pd  ProtectionDomain

	closing   closing
	mu        sync.Mutex
	closed    bool
	gone      bool // the provider has ended all keys
	conns     map[*Conn]struct{}
	coming    int // peers that have a place, and are no connection yet
	listeners map[*Listener]struct{}
	regions   int
	unclosed  map[*registration]where.Mark // whose regions were to be closed, where, and are not
}

// Device is the domain's device.
func (dom *Domain) Device() *Device {
	if dom.none() {
		return nil
	}
	return dom.dev
}

// connections is the connections there are now.
func (dom *Domain) connections() []*Conn {
	dom.mu.Lock()
	defer dom.mu.Unlock()
	cs := make([]*Conn, 0, len(dom.conns))
	for c := range dom.conns {
		cs = append(cs, c)
	}
	return cs
}

// isClosed reports whether closing the domain has begun.
func (dom *Domain) isClosed() bool {
	dom.mu.Lock()
	defer dom.mu.Unlock()
	return dom.closed
}

// because is an error of something in the domain: where that was being closed meanwhile, it is why.
func (dom *Domain) because(err error) error {
	if err == nil || errors.Is(err, ErrClosed) || !dom.isClosed() {
		return err
	}
	return fmt.Errorf("the domain: %w: %w", ErrClosed, err)
}

// add keeps a new connection, unless the domain was closed.
func (dom *Domain) add(c *Conn, s *seat) bool {
	dom.mu.Lock()
	defer dom.mu.Unlock()
	s.takeLocked()
	if dom.closed {
		return false
	}
	dom.conns[c] = struct{}{}
	return true
}

// remove forgets a connection that is closed.
func (dom *Domain) remove(c *Conn) {
	dom.mu.Lock()
	delete(dom.conns, c)
	dom.mu.Unlock()
}

// Close closes the domain's listeners and connections and ends its
// registrations: operations with its regions fail from then on, and the regions
// still have to be closed; those that were and could not be ([barewire.ErrRegistered]) are here. Closing again
// waits until it is closed, and does nothing; if that failed because a peer is still in the memory of a
// region, it tries again.
//
//barewire:effect flushes=dom
func (dom *Domain) Close() error {
	if dom.none() {
		return errNoDomain
	}
	return dom.closing.do(dom.close)
}

// closing is something that is done once, or again if it came to no end.
type closing struct {
	mu   sync.Mutex
	done bool
	err  error
}

func (c *closing) do(f func() (done bool, err error)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.done {
		c.done, c.err = f()
	}
	return c.err
}

// regionsTimeout bounds how long closing a domain waits for regions that could not be closed before.
const regionsTimeout = 5 * time.Second

func (dom *Domain) close() (done bool, err error) {
	dom.mu.Lock()
	dom.closed = true
	var lns []*Listener
	for ln := range dom.listeners {
		lns = append(lns, ln)
	}
	dom.mu.Unlock()
	var errs []error
	for _, ln := range lns {
		errs = append(errs, ln.Close())
	}
	for _, c := range dom.connections() {
		errs = append(errs, c.Close())
	}
	open := dom.pd.Close()
	if open == nil {
		dom.mu.Lock()
		dom.gone = true
		dom.mu.Unlock()
	}
	ctx, cancel := context.WithTimeout(context.Background(), regionsTimeout)
	defer cancel()
	open = errors.Join(open, dom.closeRegions(ctx))
	if open == nil {
		dom.dev.forget(dom)
	}
	return open == nil, errors.Join(append(errs, open)...)
}

// Listener accepts connections of peers. Whoever called Listen closes it.
type Listener struct {
	dom      *Domain
	acceptor Acceptor
	refusals sparingly
	closed   atomic.Bool
	once     sync.Once
	err      error
}

// Listen accepts connections at an address in the provider's form: a name for
// soft, a path for shm, host:port for those that use a network. An empty address
// is one of the provider's choice, see [Listener.Addr].
//
//barewire:effect within=0 of dom
func (dom *Domain) Listen(ctx context.Context, addr string) (*Listener, error) {
	if dom.none() {
		return nil, errNoDomain
	}
	if dom.isClosed() {
		return nil, wrap(ErrClosed, "listen at %s: the domain", addr)
	}
	acceptor, err := dom.pd.Listen(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("rdma: listen at %s: %w", addr, err)
	}
	ln := &Listener{dom: dom, acceptor: acceptor}
	ln.hears()
	dom.mu.Lock()
	defer dom.mu.Unlock()
	if dom.closed {
		return nil, errors.Join(wrap(ErrClosed, "listen at %s: the domain", addr), acceptor.Close())
	}
	dom.listeners[ln] = struct{}{}
	return ln, nil
}

// Addr is where the listener listens, as [Domain.Dial] takes it.
func (ln *Listener) Addr() string {
	if ln.none() {
		return ""
	}
	return ln.acceptor.Addr()
}

// Accept waits for a peer. Peers that are refused, by [Config.Authorize] or because
// their version will not do, are told so and logged, and it waits for the next: their Dial fails with [ErrRefused] and the
// reason. Those that end before they have said who they are are logged. After
// [Listener.Close] the error is [ErrClosed].
//
//barewire:effect within=0 of ln
func (ln *Listener) Accept(ctx context.Context) (*Conn, error) {
	if ln.none() {
		return nil, errNoListen
	}
	dom := ln.dom
	place := seat{dom: dom}
	defer place.leave()
	for {
		q, theirs, refused, err := ln.next(ctx, &place)
		if err == nil && refused == nil {
			c, err := dom.connect(q, theirs, &place)
			if err != nil {
				return nil, fmt.Errorf("rdma: accept at %s: %w", ln.Addr(), dom.because(err))
			}
			return c, nil
		}
		if ln.closed.Load() {
			return nil, wrap(ErrClosed, "accept at %s", ln.Addr())
		}
		if refused == nil {
			return nil, fmt.Errorf("rdma: accept at %s: %w", ln.Addr(), dom.because(err))
		}
		if ctx.Err() != nil {
			return nil, fmt.Errorf("rdma: accept at %s: %w", ln.Addr(), over(ctx))
		}
	}
}

// next waits for a peer that is answered. Why the last one was refused is told beside an error of the provider's, which
// may have waited for others by itself, and with neither queue nor error where the queue had to be ended for it.
func (ln *Listener) next(ctx context.Context, place *seat) (q Queue, theirs hello, refused, err error) {
	dom := ln.dom
	x, knows := ln.acceptor.(Introducing)
	answer := func(who Request, b []byte) (ours []byte, err error) {
		if theirs, ours, err = dom.answer(b); err == nil {
			err = place.keep()
		}
		if err == nil && knows {
			err = dom.dev.cfg.authorize(ctx, who)
		}
		if refused = err; err != nil {
			ln.refused(ctx, who.Peer, err)
		}
		return ours, err
	}
	if knows {
		q, err = x.AcceptFrom(ctx, answer)
		return q, theirs, refused, err
	}
	q, err = ln.acceptor.Accept(ctx, func(b []byte) ([]byte, error) { return answer(Request{}, b) })
	if err != nil {
		return nil, theirs, refused, err
	}
	who := requestOf(q)
	if refused = dom.dev.cfg.authorize(ctx, who); refused != nil {
		q.Abort(refused)
		_ = q.Close()
		place.leave()
		ln.refused(ctx, who.Peer, refused)
	}
	return q, theirs, refused, nil
}

// Close stops listening; a waiting Accept returns. Connections that were accepted
// stay. Closing again does nothing.
func (ln *Listener) Close() error {
	if ln.none() {
		return errNoListen
	}
	ln.once.Do(func() {
		ln.closed.Store(true)
		ln.err = ln.acceptor.Close()
		ln.dom.mu.Lock()
		delete(ln.dom.listeners, ln)
		ln.dom.mu.Unlock()
	})
	return ln.err
}

// Dial connects to a peer that listens at an address in the provider's form.
//
//barewire:effect within=0 of dom
func (dom *Domain) Dial(ctx context.Context, addr string) (*Conn, error) {
	if dom.none() {
		return nil, errNoDomain
	}
	if dom.isClosed() {
		return nil, wrap(ErrClosed, "dial %s: the domain", addr)
	}
	patience := dom.dev.cfg.HandshakeTimeout
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("%w: nobody accepted within %v, see Config.HandshakeTimeout", ErrTimeout, patience))
	defer cancel()
	ours, err := dom.greeting()
	if err != nil {
		return nil, fmt.Errorf("rdma: dial %s: %w", addr, err)
	}
	q, err := dom.pd.Dial(ctx, addr, ours)
	if err != nil {
		if over := ctx.Err(); over != nil && errors.Is(err, over) {
			err = context.Cause(ctx)
		} else if over != nil {
			err = fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return nil, fmt.Errorf("rdma: dial %s: %w", addr, dom.because(err))
	}
	theirs, err := dom.heard(q.Hello())
	if err == nil {
		var c *Conn
		if c, err = dom.connect(q, theirs, nil); err == nil {
			return c, nil
		}
		return nil, fmt.Errorf("rdma: dial %s: %w", addr, dom.because(err))
	}
	q.Abort(err)
	return nil, fmt.Errorf("rdma: dial %s: %w", addr, errors.Join(err, q.Close()))
}
