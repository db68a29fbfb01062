package iwarp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Bounds of a listener.
const (
	maxGuests       = 256 // peers that have connected and are not accepted yet: each has a goroutine
	maxSourceGuests = 64  // of them from one source
	burst           = 4   // so many times both may be there while nobody has been silent for longer than a moment
	moment          = 250 * time.Millisecond
	firstPause      = 5 * time.Millisecond
	longestPause    = time.Second
)

// listener accepts connections. One goroutine takes them, and each has one of its own until it has asked to be accepted
// and is: a peer that is slow, or says nothing, keeps nobody waiting.
type listener struct {
	d    *domain
	l    net.Listener
	end  chan struct{} // closed by Close
	wait time.Duration // before who is silent is dropped for others: moment, and more in tests
	once sync.Once
	err  error
	work sync.WaitGroup
	log  seldom

	mu      sync.Mutex
	broken  error    // why nobody comes any more
	guests  []*guest // in the order they came, without those that Accept has
	waiting []*guest // those of them that have asked
	bell    chan struct{}
}

// Listen listens at host:port; see the package's description of addresses.
func (d *domain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	fail := func(err error) (rdma.Acceptor, error) { return nil, fmt.Errorf("iwarp: %w", err) }
	if err := d.adapter.canListen(); err != nil {
		return fail(err)
	}
	l, err := d.adapter.listen(ctx, addr)
	if err != nil {
		return fail(err)
	}
	ln := &listener{d: d, l: l, end: make(chan struct{}), wait: moment, bell: make(chan struct{}, 1)}
	ln.log.logger = d.adapter.logger.With("listener", ln.Addr())
	d.mu.Lock()
	ended := d.ended
	if ended == nil {
		d.listeners[ln] = true
	}
	d.mu.Unlock()
	if ended != nil {
		return fail(errors.Join(fmt.Errorf("the domain: %w", ended), l.Close()))
	}
	ln.work.Go(ln.run)
	return ln, nil
}

// Addr is where it listens, with the port that was free.
func (ln *listener) Addr() string { return ln.l.Addr().String() }

// run takes connections until the listener is closed.
func (ln *listener) run() {
	pause := firstPause
	for {
		conn, err := ln.l.Accept()
		if err == nil {
			pause = firstPause
			ln.arrive(conn)
			continue
		}
		select {
		case <-ln.end:
			return
		default:
		}
		if errors.Is(err, net.ErrClosed) {
			ln.fail(err)
			return
		}
		ln.scarce(err)
		select {
		case <-ln.end:
			return
		case <-time.After(pause):
		}
		pause = min(2*pause, longestPause)
	}
}

// fail ends the listener, which somebody else has closed.
func (ln *listener) fail(err error) {
	ln.mu.Lock()
	ln.broken = err
	ln.mu.Unlock()
	ln.ring()
}

// scarce says why no connection could be taken, and makes room: where descriptors have run out, the
// peer that has been silent for longest gives up its own.
func (ln *listener) scarce(err error) {
	hint := "it is tried again"
	if outOfDescriptors(err) {
		hint = "raise the limit of open files (ulimit -n, LimitNOFILE=), or lower Config.MaxConns; peers that say nothing are dropped, and it is tried again"
		ln.mu.Lock()
		ln.evict(func(*guest) bool { return true })
		ln.mu.Unlock()
	}
	ln.log.warn("iwarp: a connection could not be taken", "error", err, "hint", hint)
}

// arrive gives a new connection a place among those in start-up, and a goroutine. Where there is none, those of its
// source that have been silent for longest make room, or, where all places are taken, of any.
func (ln *listener) arrive(conn net.Conn) {
	g := newGuest(ln, conn)
	ln.mu.Lock()
	defer ln.mu.Unlock()
	select {
	case <-ln.end:
		g.drop()
		return
	default:
	}
	same := func(o *guest) bool { return o.source == g.source }
	any := func(*guest) bool { return true }
	if !ln.room(same, maxSourceGuests) || !ln.room(any, maxGuests) {
		g.drop()
		ln.log.warn("iwarp: a peer was turned away: too many wait to be accepted", "peer", g.peer, "waiting", len(ln.guests))
		return
	}
	ln.guests = append(ln.guests, g)
	ln.work.Go(g.run)
}

// room reports whether one more guest may come of those that which is for, of whom there should be fewer than most. Who has
// been silent for a moment is dropped for that. Who has just come has a moment to ask, as many do at once when a program opens
// its connections: for them there may be more, up to a bound. mu is held.
func (ln *listener) room(which func(*guest) bool, most int) bool {
	n := 0
	for _, g := range ln.guests {
		if which(g) {
			n++
		}
	}
	now := time.Now()
	for n >= most && ln.evict(func(g *guest) bool { return which(g) && now.Sub(g.came) >= ln.wait }) {
		n--
	}
	return n < burst*most || ln.evict(which)
}

// evict drops the guest that came first of those that have asked for nothing yet. mu is held.
func (ln *listener) evict(which func(*guest) bool) bool {
	for i, g := range ln.guests {
		if g.stage == hearing && which(g) {
			ln.guests = slices.Delete(ln.guests, i, i+1)
			g.stage = dropped
			g.drop()
			ln.log.warn("iwarp: a peer was dropped for others: it has connected, and asked for nothing", "peer", g.peer)
			return true
		}
	}
	return false
}

// ready puts a guest among those that wait to be accepted. It reports false where it was dropped meanwhile.
func (ln *listener) ready(g *guest) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if g.stage != hearing {
		return false
	}
	g.stage = waiting
	ln.waiting = append(ln.waiting, g)
	ln.ring()
	return true
}

// leave takes out a guest whose goroutine ends it. It reports false where Accept has taken it.
func (ln *listener) leave(g *guest) bool {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if g.stage == claimed {
		return false
	}
	g.stage = dropped
	ln.remove(g)
	return true
}

func (ln *listener) remove(g *guest) {
	is := func(o *guest) bool { return o == g }
	ln.guests = slices.DeleteFunc(ln.guests, is)
	ln.waiting = slices.DeleteFunc(ln.waiting, is)
}

// ring wakes an Accept.
func (ln *listener) ring() {
	select {
	case ln.bell <- struct{}{}:
	default:
	}
}

// claim takes the guest that waits for longest, or nil.
func (ln *listener) claim() (*guest, error) {
	ln.mu.Lock()
	defer ln.mu.Unlock()
	if len(ln.waiting) == 0 {
		if ln.broken != nil {
			ln.ring() // for the next, too
		}
		return nil, ln.broken
	}
	g := ln.waiting[0]
	g.stage = claimed
	ln.remove(g)
	if len(ln.waiting) > 0 || ln.broken != nil {
		ln.ring()
	}
	return g, nil
}

// next waits for a guest that has asked.
func (ln *listener) next(ctx context.Context) (*guest, error) {
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ln.end:
			return nil, fmt.Errorf("the listener: %w", errClosed)
		default:
		}
		select {
		case <-ctx.Done():
		case <-ln.end:
		case <-ln.bell:
			if g, err := ln.claim(); g != nil || err != nil {
				return g, err
			}
		}
	}
}

// Accept takes the next peer that has asked and that answer does not refuse. Several may wait at once.
func (ln *listener) Accept(ctx context.Context, answer func(hello []byte) ([]byte, error)) (rdma.Queue, error) {
	return ln.AcceptFrom(ctx, func(_ rdma.Request, hello []byte) ([]byte, error) { return answer(hello) })
}

// AcceptFrom is Accept, and answer is told who the peer is.
func (ln *listener) AcceptFrom(ctx context.Context, answer func(who rdma.Request, hello []byte) ([]byte, error)) (rdma.Queue, error) {
	for {
		g, err := ln.next(ctx)
		if err != nil {
			return nil, fmt.Errorf("iwarp: %w", err)
		}
		q, err := ln.meet(g, answer)
		if err != nil {
			return nil, fmt.Errorf("iwarp: %w", err)
		}
		if q != nil {
			return q, nil
		}
	}
}

// meet answers a guest. It returns nothing where that was refused or has gone.
func (ln *listener) meet(g *guest, answer func(rdma.Request, []byte) ([]byte, error)) (*queue, error) {
	if !g.stopWatch() {
		g.verdict <- errGone
		return nil, nil
	}
	d := ln.d
	if err := d.guard.enter(g.host); err != nil {
		ln.log.warn("iwarp: a peer was refused", "peer", g.peer, "reason", err)
		g.verdict <- err
		return nil, nil
	}
	hello, err := answer(rdma.Request{Peer: g.peer, TLS: tlsState(g.conn)}, slices.Clone(g.asked.hello))
	if err != nil {
		d.guard.leave(g.host)
		g.verdict <- err
		return nil, nil
	}
	q, err := g.accept(hello)
	if err != nil {
		d.guard.leave(g.host)
		g.verdict <- err
		if errors.Is(err, errPeer) {
			return nil, nil
		}
		return nil, err
	}
	g.verdict <- nil
	if !d.came(q, g.host) {
		d.guard.leave(g.host)
	}
	return q, nil
}

// Close stops listening, and ends the connections of peers that were not accepted. Accepted queues stay.
func (ln *listener) Close() error {
	ln.once.Do(func() {
		close(ln.end)
		ln.err = ln.l.Close()
		if errors.Is(ln.err, net.ErrClosed) {
			ln.err = nil // what broke it did so before
		}
		ln.mu.Lock()
		for _, g := range ln.guests {
			g.drop()
		}
		ln.mu.Unlock()
		ln.work.Wait()
		ln.d.mu.Lock()
		delete(ln.d.listeners, ln)
		ln.d.mu.Unlock()
	})
	return ln.err
}

// seldom logs what peers can cause as often as they like: once a second, with how many there were since.
type seldom struct {
	logger *slog.Logger
	mu     sync.Mutex
	last   time.Time
	more   int
}

func (s *seldom) warn(text string, args ...any) {
	s.mu.Lock()
	now := time.Now()
	if now.Sub(s.last) < time.Second {
		s.more++
		s.mu.Unlock()
		return
	}
	if s.more > 0 {
		args = append(args, "more", s.more)
	}
	s.last, s.more = now, 0
	s.mu.Unlock()
	s.logger.Warn(text, args...)
}
