package shm

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the control socket of a connection. Packets are whole, so several
// goroutines may send at a time; one receives.
type socket struct {
	conn *net.UnixConn
	raw  syscall.RawConn
	cred unix.Ucred
	bell func(fd uintptr) // sends a doorbell; made once
	buf  [maxMessage + 1]byte
	oob  []byte
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
	return s, nil
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
	var oob []byte
	if fd >= 0 {
		oob = unix.UnixRights(fd)
	}
	if err := s.conn.SetWriteDeadline(time.Now().Add(timeout)); err != nil {
		return err
	}
	_, _, err := s.conn.WriteMsgUnix(m.append(nil), oob, nil)
	return err
}

// receive waits for a message. The texts in it are good until the next call. Who gets a descriptor closes it; it
// is -1 for a message that has none. io.EOF means that the peer has ended.
func (s *socket) receive() (m message, fd int, err error) {
	n, oobn, flags, _, err := s.conn.ReadMsgUnix(s.buf[:], s.oob)
	if errors.Is(err, syscall.ECONNRESET) {
		err = io.EOF // it ended with messages of ours unread
	}
	if err != nil {
		return message{}, -1, err
	}
	fds, err := passed(s.oob[:oobn])
	if err == nil {
		m, err = parse(s.buf[:n])
	}
	if err == nil && (len(fds) != m.kind.passes() || flags&unix.MSG_CTRUNC != 0) {
		err = fmt.Errorf("%w: kind %d with %d descriptors instead of %d", errMessage, m.kind, len(fds), m.kind.passes())
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return message{}, -1, err
	}
	if len(fds) == 0 {
		return m, -1, nil
	}
	return m, fds[0], nil
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
