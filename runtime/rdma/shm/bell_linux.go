package shm

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// bell is this side's end of a pair of sockets by which the sides of a connection wake each other. Who sleeps
// waits for it in the netpoller, with nobody between: the byte that comes need not even be read, since
// each makes the netpoller look again (epoll(7), EPOLLET).
//
// An eventfd would do, but that is one file description for both sides: a peer that fills it and takes
// O_NONBLOCK off makes who rings wait for ever. Here each side has its own, and each call says that it does not wait.
type bell struct {
	f     *os.File
	raw   syscall.RawConn
	write func(fd uintptr)
	read  func(fd uintptr)
}

// maxUnread is how many times one sleeps before what has rung is read. The least that a socket has room for is
// more; a peer rings once for each sleep.
const maxUnread = 8

// newBells makes a bell, and the end that the peer is to have.
func newBells() (own *bell, peers int, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, -1, os.NewSyscallError("socketpair", err)
	}
	if own, err = makeBell(fds[0]); err != nil {
		unix.Close(fds[1])
		return nil, -1, err
	}
	return own, fds[1], nil
}

// openBell takes the end that the peer with these credentials passed. It owns the descriptor, even if it fails.
func openBell(fd int, peer unix.Ucred) (*bell, error) {
	if err := checkBell(fd, peer); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("%w: a bell: %w", errMessage, err)
	}
	return makeBell(fd)
}

// checkBell refuses what is no socket that the peer has made: ringing it must not say anything to others.
func checkBell(fd int, peer unix.Ucred) error {
	for _, o := range []struct{ option, want int }{{unix.SO_DOMAIN, unix.AF_UNIX}, {unix.SO_TYPE, unix.SOCK_STREAM}, {unix.SO_ACCEPTCONN, 0}} {
		got, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, o.option)
		if err != nil {
			return os.NewSyscallError("getsockopt", err)
		}
		if got != o.want {
			return fmt.Errorf("a socket whose option %d is %d instead of %d", o.option, got, o.want)
		}
	}
	cred, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return os.NewSyscallError("getsockopt", err)
	}
	if cred.Pid != peer.Pid {
		return errors.New("a socket of another process")
	}
	return os.NewSyscallError("fcntl", unix.SetNonblock(fd, true)) // else the netpoller does not take it
}

func makeBell(fd int) (*bell, error) {
	b := &bell{f: os.NewFile(uintptr(fd), "bell")}
	raw, err := b.f.SyscallConn()
	if err == nil {
		err = b.f.SetReadDeadline(time.Time{}) // which needs the netpoller
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("shm: a bell that cannot be waited for: %w", err), b.f.Close())
	}
	b.raw = raw
	packet := make([]byte, 1)
	b.write = func(fd uintptr) {
		// A full socket means that the peer does not read what has rung, and so need not be woken.
		_ = unix.Sendto(int(fd), packet, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	}
	buf := make([]byte, 4096)
	b.read = func(fd uintptr) {
		_, _, _ = unix.Syscall6(unix.SYS_RECVFROM, fd, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), unix.MSG_DONTWAIT, 0, 0)
	}
	return b, nil
}

// ring wakes the peer up. It never waits, and allocates nothing.
func (b *bell) ring() { _ = b.raw.Control(b.write) }

// longAgo is a deadline that is over.
var longAgo = time.Unix(1, 0)

// nudge wakes who sleeps here, or the next one who does.
func (b *bell) nudge() { _ = b.f.SetReadDeadline(longAgo) }

// sleep calls look before it sleeps and after each waking, until that says that it was enough.
// What rings, or nudges, after look has begun wakes it. It allocates nothing.
func (b *bell) sleep(look func(fd uintptr) bool) {
	if err := b.raw.Read(look); errors.Is(err, os.ErrDeadlineExceeded) {
		// A nudge that this undoes was before Wait returns, and so before the caller looks.
		_ = b.f.SetReadDeadline(time.Time{})
	}
}

func (b *bell) close() { _ = b.f.Close() }
