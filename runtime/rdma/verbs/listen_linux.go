//go:build amd64 || arm64

package verbs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/exchange"
)

// maxStrangers bounds how many peers are heard out at a time.
const maxStrangers = 64

// listener takes peers in. Each is heard in a goroutine of its own, so that one that says nothing holds nobody up.
type listener struct {
	dom  *domain
	ln   net.Listener
	came chan *stranger
	life context.Context // ends when Close begins
	die  context.CancelFunc
	once sync.Once
	err  error
	work sync.WaitGroup
	tell atomic.Pointer[func(peer string, err error)]

	mu    sync.Mutex
	conns map[net.Conn]bool // those that are heard out; false: those that wait for Accept, or are its already
}

// stranger is a peer that has said what it is.
type stranger struct {
	conn  net.Conn
	setup *exchange.Setup
}

// Listen listens at host:port of TCP or, for plain peers, of rdma_cm.
func (d *domain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	listen := d.listenTCP
	if d.adapter.byCM {
		listen = d.listenCM
	}
	l, err := listen(ctx, cmp.Or(addr, "127.0.0.1:0"))
	if err != nil {
		return nil, fmt.Errorf("verbs: listen at %s: %w", addr, err)
	}
	d.mu.Lock()
	ended := d.ended
	if ended == nil {
		d.listeners[l] = true
	}
	d.mu.Unlock()
	if ended != nil {
		return nil, errors.Join(fmt.Errorf("verbs: listen at %s: the domain: %w", addr, ended), l.Close())
	}
	return l, nil
}

// listenTCP listens for programs with this package.
func (d *domain) listenTCP(ctx context.Context, addr string) (rdma.Acceptor, error) {
	var lc net.ListenConfig
	ln, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &listener{dom: d, ln: ln, came: make(chan *stranger), conns: map[net.Conn]bool{}}
	l.life, l.die = context.WithCancel(context.Background())
	l.work.Add(1)
	go l.run()
	return l, nil
}

// run takes connections until the listener is closed.
func (l *listener) run() {
	defer l.work.Done()
	for {
		conn, err := l.ln.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) {
				return
			}
			l.trouble("", err)
			select { // as when there are no descriptors left
			case <-time.After(10 * time.Millisecond):
				continue
			case <-l.life.Done():
				return
			}
		}
		if !l.begin(conn) {
			l.trouble(conn.RemoteAddr().String(), fmt.Errorf("%w: %d peers are heard out already", rdma.ErrTooMany, maxStrangers))
			_ = conn.Close()
			continue
		}
		go l.hear(conn)
	}
}

// begin counts a peer that is heard out.
func (l *listener) begin(conn net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.life.Err() != nil {
		return false
	}
	if len(l.conns) >= maxStrangers {
		return false
	}
	l.conns[conn] = true
	l.work.Add(1)
	return true
}

func (l *listener) end(conn net.Conn) {
	l.mu.Lock()
	delete(l.conns, conn)
	l.mu.Unlock()
}

// hear hears what a peer is and hands it to Accept, until its time is up.
func (l *listener) hear(conn net.Conn) {
	defer l.work.Done()
	defer l.end(conn)
	limit := l.dom.adapter.handshake
	_ = conn.SetDeadline(time.Now().Add(limit))
	m, err := readFrame(conn)
	setup, ok := m.(*exchange.Setup)
	if err == nil && !ok {
		err = fmt.Errorf("%w: it began with %T", rdma.ErrProtocol, m)
	}
	if err == nil {
		err = l.dom.adapter.agrees(setup)
	}
	if err != nil {
		l.refuse(conn, err)
		return
	}
	l.mu.Lock()
	l.conns[conn] = false
	l.mu.Unlock()
	late := time.NewTimer(limit)
	defer late.Stop()
	select {
	case l.came <- &stranger{conn, setup}:
	case <-late.C:
		l.refuse(conn, fmt.Errorf("%w: nobody accepted it within %v", rdma.ErrTimeout, limit))
	case <-l.life.Done():
		_ = conn.Close()
	}
}

// refuse tells a peer why, and the listener's program.
func (l *listener) refuse(conn net.Conn, why error) {
	_ = say(conn, &exchange.Refusal{Text: cut(why.Error())})
	l.trouble(conn.RemoteAddr().String(), why)
	_ = conn.Close()
}

func (l *listener) trouble(peer string, err error) {
	if f := l.tell.Load(); f != nil {
		(*f)(peer, err)
	}
}

// Tell says whom to tell of peers that never came as far as to Accept.
func (l *listener) Tell(f func(peer string, err error)) { l.tell.Store(&f) }

// Addr is where it listens.
func (l *listener) Addr() string { return l.ln.Addr().String() }

// Accept takes the next peer that is not refused.
func (l *listener) Accept(ctx context.Context, answer func([]byte) ([]byte, error)) (rdma.Queue, error) {
	return l.AcceptFrom(ctx, func(_ rdma.Request, hello []byte) ([]byte, error) { return answer(hello) })
}

// AcceptFrom is Accept that tells who the peer is.
func (l *listener) AcceptFrom(ctx context.Context, answer func(rdma.Request, []byte) ([]byte, error)) (rdma.Queue, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.life, cancel)()
	for {
		select {
		case <-ctx.Done():
			if l.life.Err() != nil {
				return nil, fmt.Errorf("verbs: accept at %s: the listener: %w", l.Addr(), errClosed)
			}
			return nil, fmt.Errorf("verbs: accept at %s: %w", l.Addr(), ctx.Err())
		case s := <-l.came:
			ours, err := answer(rdma.Request{Peer: s.conn.RemoteAddr().String()}, s.setup.Hello)
			if err == nil && len(ours) > maxHello {
				err = fmt.Errorf("a greeting of %d bytes, and there is room for %d", len(ours), maxHello)
			}
			if err != nil {
				_ = say(s.conn, &exchange.Refusal{Text: cut(err.Error())})
				_ = s.conn.Close()
				continue
			}
			q, err := l.take(ctx, s, ours)
			if err == nil {
				return q, nil
			}
			l.refuse(s.conn, err)
		}
	}
}

// take connects a peer, and waits until its queue pair is ready: an honest one takes a round trip.
func (l *listener) take(ctx context.Context, s *stranger, ours []byte) (*queue, error) {
	d := l.dom
	if err := d.begin(); err != nil {
		return nil, fmt.Errorf("the domain: %w", err)
	}
	defer d.making.Done()
	_ = s.conn.SetDeadline(time.Now().Add(d.adapter.handshake / 2))
	defer context.AfterFunc(ctx, func() { _ = s.conn.SetDeadline(past) })()
	if d.adapter.iwarp() {
		return l.takeGate(ctx, s, ours)
	}
	theirs := netip.AddrFrom16(s.setup.GID).Unmap()
	own, err := choose(d.adapter.port.gids, d.adapter.port.kind, d.adapter.index, addrOf(s.conn.LocalAddr()), &theirs)
	if err != nil {
		return nil, err
	}
	q, err := newQueue(d, s.conn.RemoteAddr().String())
	if err != nil {
		return nil, err
	}
	if err = q.join(s.setup, own); err == nil {
		err = q.welcome(s.conn, &own, ours)
	}
	if err != nil {
		return nil, errors.Join(err, q.release())
	}
	q.met(s.conn, s.setup, len(ours) == 0)
	if err := d.admit(q); err != nil {
		return nil, errors.Join(err, q.Close())
	}
	q.ctl.start()
	return q, nil
}

// welcome tells the peer of this side's queue pair, and hears that its own is ready.
func (q *queue) welcome(conn net.Conn, own *gid, ours []byte) error {
	if err := say(conn, q.setup(own, ours)); err != nil {
		return err
	}
	return hearReady(conn)
}

// hearReady hears that the peer's queue pair is ready, or why it will not be.
func hearReady(conn net.Conn) error {
	m, err := readFrame(conn)
	if err != nil {
		return fmt.Errorf("it did not say that it is ready: %w", err)
	}
	if r, ok := m.(*exchange.Refusal); ok {
		return fmt.Errorf("%w: %s", rdma.ErrRefused, r.Text)
	}
	if _, ok := m.(*exchange.Ready); !ok {
		return fmt.Errorf("%w: it said %T before it was ready", rdma.ErrProtocol, m)
	}
	return nil
}

// Close stops listening.
func (l *listener) Close() error {
	l.once.Do(func() {
		l.mu.Lock()
		l.die()
		for conn, heard := range l.conns {
			if heard {
				_ = conn.SetDeadline(past)
			}
		}
		l.mu.Unlock()
		l.err = l.ln.Close()
		l.work.Wait()
		l.dom.mu.Lock()
		delete(l.dom.listeners, l)
		l.dom.mu.Unlock()
	})
	return l.err
}
