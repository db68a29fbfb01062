package shm

import (
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// memfd makes a file to pass.
func memfd(t testing.TB, size int64, seals int) int {
	t.Helper()
	fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	fatal(t, err)
	t.Cleanup(func() { _ = unix.Close(fd) })
	fatal(t, unix.Ftruncate(fd, size))
	if seals != 0 {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		fatal(t, err)
	}
	return fd
}

// rogue is the socket of a peer that does what it likes.
func rogue(t testing.TB, addr string) *socket {
	t.Helper()
	c, err := net.Dial(network, addr)
	fatal(t, err)
	t.Cleanup(func() { _ = c.Close() })
	s, err := newSocket(c.(*net.UnixConn))
	fatal(t, err)
	return s
}

// rogueBell is the end of a bell to pass; nobody listens at the other.
func rogueBell(t testing.TB) int {
	t.Helper()
	own, fd, err := newBells()
	fatal(t, err)
	t.Cleanup(func() {
		own.close()
		_ = unix.Close(fd)
	})
	return fd
}

// othersSocket is connected to another process.
func othersSocket(t testing.TB) int {
	t.Helper()
	addr := address()
	h := startHelper(t, "listening", addr)
	h.ready(t)
	c, err := net.Dial("unix", addr)
	fatal(t, err)
	t.Cleanup(func() { _ = c.Close() })
	f, err := c.(*net.UnixConn).File()
	fatal(t, err)
	t.Cleanup(func() { _ = f.Close() })
	return int(f.Fd())
}

// rogueQueue connects a queue to a peer whose socket and outbox the test has.
func rogueQueue(t testing.TB) (a *side, sock *socket, own, peer *outbox) {
	t.Helper()
	a, sock, own, peer, _, _ = rogueBelled(t)
	return a, sock, own, peer
}

// rogueBelled is rogueQueue with the peer's bell, and the end of it that the queue was passed.
func rogueBelled(t testing.TB) (a *side, sock *socket, own, peer *outbox, ours *bell, passed int) {
	t.Helper()
	a = newSide(t, nil, 1<<16, all)
	ln, err := a.dom.Listen(within(t, patience), address())
	fatal(t, err)
	defer ln.Close()
	s := rogue(t, ln.Addr())
	d := newDomain(newAdapter(nil))
	own, fd, err := newOutbox(d.a.layout)
	fatal(t, err)
	t.Cleanup(own.close)
	ours, passed, err = newBells()
	fatal(t, err)
	t.Cleanup(func() {
		ours.close()
		_ = unix.Close(passed)
	})
	fatal(t, d.greet(s, kindHello, own, nil, fd, passed))
	fatal(t, unix.Close(fd))
	q, err := ln.Accept(within(t, patience), func([]byte) ([]byte, error) { return nil, nil })
	fatal(t, err)
	a.q = q.(*queue)
	g, err := d.hear(s.conn, kindWelcome, time.Now().Add(patience))
	fatal(t, err)
	t.Cleanup(g.peer.close)
	return a, g.sock, own, g.peer, ours, passed
}
