package shm

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

const (
	network      = "unixpacket"
	maxGreeting  = 64 // peers that have connected and are not accepted yet
	refusalGrace = time.Second
	maxAddr      = 107 // bytes of a Unix socket's path (unix(7))
)

// listener accepts connections at a Unix socket.
type listener struct {
	d       *domain
	l       *net.UnixListener
	greeted chan *greeting
	tell    atomic.Pointer[func(peer string, err error)] // see Tell
	end     context.Context                              // ends with Close
	cancel  context.CancelFunc
	once    sync.Once
	work    sync.WaitGroup
}

// greeting is a peer that has said hello.
type greeting struct {
	sock  *socket
	bell  *bell // nil in what a dialer hears: it has one
	peer  *outbox
	hello []byte
}

func (g *greeting) close() {
	g.peer.close()
	if g.bell != nil {
		g.bell.close()
	}
	_ = g.sock.conn.Close()
}

// Listen listens at a path, or at a name without a file that begins with @. A
// socket that a process which ended has left at the path is replaced. Who may
// connect is the file's permission; anybody in the network namespace may
// to a name with @. An empty address stands for a name with @ that nobody has:
// Addr tells it.
func (d *domain) Listen(ctx context.Context, addr string) (rdma.Acceptor, error) {
	if addr == "" {
		addr = fmt.Sprintf("@barewire-%d-%016x", os.Getpid(), random())
	}
	if err := checkAddr(addr); err != nil {
		return nil, err
	}
	l, err := listen(ctx, addr)
	if err != nil {
		return nil, fmt.Errorf("shm: %w", err)
	}
	ln := &listener{d: d, l: l.(*net.UnixListener), greeted: make(chan *greeting)}
	ln.end, ln.cancel = context.WithCancel(context.Background())
	d.mu.Lock()
	closed := d.closed
	if !closed {
		d.listeners[ln] = struct{}{}
	}
	d.mu.Unlock()
	if closed {
		ln.cancel()
		return nil, errors.Join(errClosed, l.Close())
	}
	ln.work.Add(1)
	go ln.run()
	return ln, nil
}

// checkAddr says what the kernel calls an invalid argument.
func checkAddr(addr string) error {
	if len(addr) > maxAddr {
		return fmt.Errorf("shm: an address of %d bytes, at most %d are possible", len(addr), maxAddr)
	}
	return nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, network, addr)
	if !errors.Is(err, syscall.EADDRINUSE) || strings.HasPrefix(addr, "@") {
		return l, err
	}
	st, serr := os.Lstat(addr)
	if serr != nil || st.Mode()&os.ModeSocket == 0 {
		return l, err
	}
	var dialer net.Dialer
	c, derr := dialer.DialContext(ctx, network, addr)
	if derr == nil {
		_ = c.Close()
		return l, err
	}
	if !errors.Is(derr, syscall.ECONNREFUSED) || os.Remove(addr) != nil {
		return l, err
	}
	return lc.Listen(ctx, network, addr)
}

// Addr is where it listens.
func (ln *listener) Addr() string { return ln.l.Addr().String() }

// run takes connections and hears their hellos side by side, so that one who says
// nothing keeps nobody waiting.
func (ln *listener) run() {
	defer ln.work.Done()
	places := make(chan struct{}, maxGreeting)
	pause := leastPause
	for {
		conn, err := ln.l.AcceptUnix()
		if err != nil {
			if ln.end.Err() == nil {
				ln.trouble("", err)
			}
			select {
			case <-ln.end.Done():
				return
			case <-time.After(pause): // out of descriptors, perhaps
				pause = min(2*pause, mostPause)
				continue
			}
		}
		pause = leastPause
		select {
		case places <- struct{}{}:
		case <-ln.end.Done():
			_ = conn.Close()
			return
		}
		ln.work.Add(1)
		go func() {
			defer ln.work.Done()
			defer func() { <-places }()
			ln.hear(conn)
		}()
	}
}

// hear takes a hello and hands it to Accept.
func (ln *listener) hear(conn *net.UnixConn) {
	stop := context.AfterFunc(ln.end, func() { _ = conn.SetReadDeadline(time.Now()) })
	g, err := ln.d.hear(conn, kindHello, time.Now().Add(ln.d.a.handshake))
	ended := !stop()
	if err != nil {
		if !ended {
			ln.trouble(ln.caller(conn), err)
		}
		_ = conn.Close()
		return
	}
	if ended {
		g.close()
		return
	}
	select {
	case ln.greeted <- g:
	case <-ln.end.Done():
		g.close()
	}
}

// hear waits for the hello or the welcome of a peer. The connection stays the caller's if it fails.
func (d *domain) hear(conn *net.UnixConn, want kind, until time.Time) (*greeting, error) {
	s, err := newSocket(conn)
	if err != nil {
		return nil, err
	}
	if err := conn.SetReadDeadline(until); err != nil {
		return nil, err
	}
	m, fds, err := s.receiveAll()
	if errors.Is(err, errNoRoom) {
		_ = s.send(message{kind: kindRefuse, body: []byte(err.Error())}, -1, refusalGrace)
	}
	if err != nil {
		return nil, err
	}
	switch m.kind {
	case want:
	case kindRefuse:
		return nil, &refusal{who(s), said(m.body)}
	default:
		closeAll(fds)
		return nil, fmt.Errorf("%w: kind %d instead of a hello", errMessage, m.kind)
	}
	g := &greeting{sock: s, hello: append([]byte(nil), m.body...)}
	if err := g.open(m, fds); err != nil {
		_ = s.send(message{kind: kindRefuse, body: []byte(err.Error())}, -1, refusalGrace)
		return nil, err
	}
	if err := conn.SetReadDeadline(time.Time{}); err != nil {
		g.close()
		return nil, err
	}
	return g, nil
}

// open takes what a greeting passes: an outbox, and perhaps a bell. The descriptors are the greeting's, even if it fails.
func (g *greeting) open(m message, fds []int) (err error) {
	g.peer, err = openOutbox(fds[0], m.layout)
	unix.Close(fds[0])
	if err != nil {
		closeAll(fds[1:])
		return err
	}
	if len(fds) > 1 {
		if g.bell, err = openBell(fds[1], g.sock.cred); err != nil {
			g.peer.close()
			return err
		}
	}
	return nil
}

func closeAll(fds []int) {
	for _, fd := range fds {
		unix.Close(fd)
	}
}

func who(s *socket) string {
	return fmt.Sprintf("process %d of user %d", s.cred.Pid, s.cred.Uid)
}

// refusal is the error of a dialer that was refused.
type refusal struct{ by, why string }

// Error says by whom and why.
func (r *refusal) Error() string { return "shm: " + r.by + " refuses the connection: " + r.why }

// Is makes it rdma.ErrRefused.
func (r *refusal) Is(target error) bool { return target == rdma.ErrRefused }

// Accept takes the next peer that has said hello and is not refused. What answer
// says goes to the peer: at most 512 bytes of a hello, or the first 512 of its error.
func (ln *listener) Accept(ctx context.Context, answer func(hello []byte) ([]byte, error)) (rdma.Queue, error) {
	return ln.AcceptFrom(ctx, func(_ rdma.Request, hello []byte) ([]byte, error) { return answer(hello) })
}

// AcceptFrom is Accept, and answer is told who the peer is.
func (ln *listener) AcceptFrom(ctx context.Context, answer func(who rdma.Request, hello []byte) ([]byte, error)) (rdma.Queue, error) {
	for {
		select {
		case g := <-ln.greeted:
			own, fd, err := newOutbox(ln.d.a.layout)
			if err != nil {
				g.close()
				return nil, err
			}
			q, err := ln.take(g, own, fd, answer)
			_ = unix.Close(fd)
			if err == nil {
				return q, nil
			}
			if errors.Is(err, errClosed) {
				return nil, err
			}
			if !errors.Is(err, errAnswered) {
				ln.trouble(who(g.sock)+" at "+ln.Addr(), g.sock.ended(err))
			}
		case <-ln.end.Done():
			return nil, errClosed
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// take answers a peer. It owns the outbox, not the descriptor.
func (ln *listener) take(g *greeting, own *outbox, fd int, answer func(who rdma.Request, hello []byte) ([]byte, error)) (*queue, error) {
	ours, err := answer(rdma.Request{Peer: nameOf(g.sock, ln.Addr()), Process: processOf(g.sock)}, slices.Clone(g.hello))
	if err == nil && len(ours) > maxHello {
		err = fmt.Errorf("shm: a hello of %d bytes, at most %d can be sent", len(ours), maxHello)
	}
	if err != nil {
		_ = g.sock.send(message{kind: kindRefuse, body: []byte(err.Error())}, -1, refusalGrace)
		g.close()
		own.close()
		return nil, fmt.Errorf("%w: %w", errAnswered, err)
	}
	if err := ln.d.greet(g.sock, kindWelcome, own, ours, fd); err != nil {
		g.close()
		own.close()
		return nil, err
	}
	return newQueue(ln.d, g.sock, g.bell, own, g.peer, g.hello, ln.Addr())
}

// greet sends a hello with an outbox and a bell, or a welcome with an outbox. The descriptors stay the caller's.
func (d *domain) greet(s *socket, k kind, own *outbox, hello []byte, fds ...int) error {
	if err := s.sendAll(message{kind: k, layout: own.layout, body: hello}, d.a.handshake, fds...); err != nil {
		return fmt.Errorf("shm: saying hello: %w", s.ended(err))
	}
	return nil
}

// Close stops listening. Accepted queues stay.
func (ln *listener) Close() error {
	var err error
	ln.once.Do(func() {
		ln.cancel()
		err = ln.l.Close()
		ln.work.Wait()
		ln.d.mu.Lock()
		delete(ln.d.listeners, ln)
		ln.d.mu.Unlock()
	})
	return err
}

// Dial connects to a listener and waits until it has accepted.
func (d *domain) Dial(ctx context.Context, addr string, hello []byte) (rdma.Queue, error) {
	if len(hello) > maxHello {
		return nil, fmt.Errorf("shm: a hello of %d bytes, at most %d can be sent", len(hello), maxHello)
	}
	if err := checkAddr(addr); err != nil {
		return nil, err
	}
	until := deadline(ctx, d.a.handshake)
	dialer := net.Dialer{Deadline: until}
	c, err := dialer.DialContext(ctx, network, addr)
	if err != nil {
		return nil, fmt.Errorf("shm: %w", err)
	}
	conn := c.(*net.UnixConn)
	stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
	q, err := d.introduce(conn, addr, hello, until)
	if !stop() && ctx.Err() != nil {
		if err == nil {
			_ = q.Close()
		}
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return q, nil
}

// introduce says hello and hears the answer.
func (d *domain) introduce(conn *net.UnixConn, addr string, hello []byte, until time.Time) (*queue, error) {
	s, err := newSocket(conn)
	if err != nil {
		return nil, err
	}
	own, fd, err := newOutbox(d.a.layout)
	if err != nil {
		return nil, err
	}
	bell, peers, err := newBells()
	if err == nil {
		err = d.greet(s, kindHello, own, hello, fd, peers)
		unix.Close(peers)
	}
	_ = unix.Close(fd)
	var g *greeting
	if err == nil {
		g, err = d.answered(s, addr, until)
	}
	if err != nil {
		own.close()
		if bell != nil {
			bell.close()
		}
		return nil, err
	}
	return newQueue(d, g.sock, bell, own, g.peer, g.hello, addr)
}

// answered hears what the listener says to a hello.
func (d *domain) answered(s *socket, addr string, until time.Time) (*greeting, error) {
	g, err := d.hear(s.conn, kindWelcome, until)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, fmt.Errorf("shm: %s at %s has not accepted: %w", who(s), addr, context.DeadlineExceeded)
	case err != nil:
		return nil, fmt.Errorf("shm: connecting to %s: %w", addr, s.ended(err))
	}
	return g, nil
}
