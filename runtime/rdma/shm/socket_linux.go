package shm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// socket is the control socket of a connection. Packets are whole, so several
// goroutines may send at a time; one receives.
type socket struct {
	conn *net.UnixConn
	raw  syscall.RawConn
	cred unix.Ucred
	bell func(fd uintptr) // sends a doorbell; made once

	// What receive uses; made once.
	buf  [maxMessage + 1]byte
	oob  []byte
	iov  unix.Iovec
	hdr  unix.Msghdr
	recv func(fd uintptr) bool
	n    int
	err  error
}

func newSocket(conn *net.UnixConn) (*socket, error) {
	raw, err := conn.SyscallConn()
	if err != nil {
		return nil, err
	}
	s := &socket{conn: conn, raw: raw, oob: make([]byte, unix.CmsgSpace(4*maxPassed))}
	var cred *unix.Ucred
	cerr := raw.Control(func(fd uintptr) {
		cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err = errors.Join(cerr, err); err != nil {
		return nil, fmt.Errorf("shm: who the peer is: %w", err)
	}
	s.cred = *cred
	packet := []byte{byte(kindBell)}
	s.bell = func(fd uintptr) {
		// A full socket means that the peer has bells enough to read.
		_ = unix.Sendto(int(fd), packet, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	}
	s.iov.Base = &s.buf[0]
	s.iov.SetLen(len(s.buf))
	s.recv = s.packet
	return s, nil
}

// packet receives a packet, if there is one. A doorbell is one, so this allocates nothing, as
// net's ReadMsgUnix does.
func (s *socket) packet(fd uintptr) bool {
	s.hdr = unix.Msghdr{Iov: &s.iov, Control: &s.oob[0]}
	s.hdr.SetIovlen(1)
	s.hdr.SetControllen(len(s.oob))
	for {
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&s.hdr)), unix.MSG_DONTWAIT|unix.MSG_CMSG_CLOEXEC)
		switch errno {
		case unix.EINTR:
			continue
		case unix.EAGAIN:
			return false
		case 0:
			s.n, s.err = int(n), nil
			if n == 0 {
				s.err = io.EOF
			}
		case unix.ECONNRESET:
			s.err = io.EOF // the peer ended with messages of ours unread
		default:
			s.err = os.NewSyscallError("recvmsg", errno)
		}
		return true
	}
}

// ring wakes the peer up. It never waits.
func (s *socket) ring() { _ = s.raw.Control(s.bell) }

// post sends without waiting: for those who hold locks. It fails if the
// peer has not read for long.
func (s *socket) post(m message) error {
	b := m.append(nil)
	var err error
	// Control, not Write: that one heeds the deadline that send has set.
	werr := s.raw.Control(func(fd uintptr) {
		err = unix.Sendto(int(fd), b, unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, nil)
	})
	return errors.Join(werr, err)
}

// send sends a message with the descriptor that goes with it (-1: none), and waits for room, but not
// forever. The descriptor stays the caller's.
func (s *socket) send(m message, fd int, timeout time.Duration) error {
	if fd < 0 {
		return s.sendAll(m, timeout)
	}
	return s.sendAll(m, timeout, fd)
}

// sendAll is send with any number of descriptors.
func (s *socket) sendAll(m message, timeout time.Duration, fds ...int) error {
	var oob []byte
	if len(fds) > 0 {
		oob = unix.UnixRights(fds...)
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, _, err := s.conn.WriteMsgUnix(m.append(nil), oob, nil)
	return err
}

// errNoRoom is what becomes of a descriptor that the kernel cannot hand over (unix(7), SCM_RIGHTS). The peer
// did nothing wrong. Both sides may get to read it.
var errNoRoom = errors.New("shm: a descriptor that was passed got lost: the process that was to get it has as many files open as it may (RLIMIT_NOFILE)")

// lacksRoom reports whether a descriptor could not be made or sent because there are too many, and says whose.
func lacksRoom(err error) (why string, ok bool) {
	switch {
	case errors.Is(err, unix.EMFILE):
		return "has as many files open as it may (RLIMIT_NOFILE)", true
	case errors.Is(err, unix.ETOOMANYREFS): // unix(7)
		return "has sent as many descriptors that were not received as it may have files open (RLIMIT_NOFILE)", true
	case errors.Is(err, unix.ENFILE):
		return "runs on a system that has as many files open as it may (file-max)", true
	}
	return "", false
}

// receive waits for a message. The texts in it are good until the next call. Who gets a descriptor closes it; it
// is -1 for a message that has none. The message is there with errNoRoom, too: it came without its
// descriptor. io.EOF means that the peer has ended.
func (s *socket) receive() (m message, fd int, err error) {
	m, fds, err := s.receiveAll()
	for _, fd := range fds[min(len(fds), 1):] {
		unix.Close(fd) // of a hello where there is to be none
	}
	if len(fds) == 0 {
		return m, -1, err
	}
	return m, fds[0], err
}

// receiveAll is receive, for messages that may have more descriptors.
func (s *socket) receiveAll() (m message, fds []int, err error) {
	if err := s.raw.Read(s.recv); err != nil {
		return message{}, nil, err
	}
	if s.err != nil {
		return message{}, nil, s.err
	}
	fds, err = passed(s.oob[:min(int(s.hdr.Controllen), len(s.oob))])
	if err == nil {
		m, err = parse(s.buf[:s.n])
	}
	if err == nil && len(fds) < m.kind.passes() && s.hdr.Flags&unix.MSG_CTRUNC != 0 {
		err = errNoRoom
	}
	if err == nil && (len(fds) != m.kind.passes() || s.hdr.Flags&unix.MSG_CTRUNC != 0) {
		err = fmt.Errorf("%w: kind %d with %d descriptors instead of %d", errMessage, m.kind, len(fds), m.kind.passes())
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return m, nil, err
	}
	return m, fds, nil
}

// ended is the error of what was done with the socket: that
// the peer is lost, where it has hung up. Others stay as they are.
func (s *socket) ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return failure(rdma.StatusPeerLost, "%s has hung up", who(s))
	case errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET), errors.Is(err, net.ErrClosed):
		return failure(rdma.StatusPeerLost, "%s: %v", who(s), err)
	}
	return err
}

// passed takes the descriptors out of the control part of a packet.
func passed(oob []byte) (fds []int, err error) {
	if len(oob) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	for i := range parts {
		more, err := unix.ParseUnixRights(&parts[i])
		if err != nil {
			continue // not descriptors
		}
		fds = append(fds, more...)
	}
	return fds, nil
}

// deadline is when something that may take this long ends, in a context that
// may end earlier.
func deadline(ctx context.Context, long time.Duration) time.Time {
	t := time.Now().Add(long)
	if d, ok := ctx.Deadline(); ok && d.Before(t) {
		return d
	}
	return t
}
