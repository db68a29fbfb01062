package shm

import (
	"errors"
	"io"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// watch reads the control socket until it ends, which is how the end of the peer
// shows: the kernel closes it after the peer's memory is gone (exit(2)).
func (q *queue) watch() {
	defer close(q.watched)
	for {
		m, fd, err := q.sock.receive()
		if err == nil || errors.Is(err, errNoRoom) && m.kind == kindGrant { // which says so to who asked
			err = q.handle(m, fd)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, errMessage) || errors.Is(err, errNoRoom) {
			q.fail(failed, failure(rdma.StatusProvider, "%v", err))
			continue // to see its end
		}
		if errors.Is(err, io.EOF) {
			q.peerGone.Store(true)
			q.fail(lost, failure(rdma.StatusPeerLost, "%s has ended, or hung up", q.peerName))
		} else {
			q.fail(lost, failure(rdma.StatusPeerLost, "%v", err))
			_ = q.sock.conn.CloseWrite() // nobody hears the peer here any more
		}
		return
	}
}

// handle does what a message asks for. An error of the protocol or of the socket is returned.
func (q *queue) handle(m message, fd int) error {
	switch m.kind {
	case kindBell:
		if q.waiting.len() != 0 {
			q.mu.Lock()
			if !q.closed {
				q.sender.rung = true
				q.resume()
				q.ringIfAsleep()
			}
			q.unlock()
		}
		q.wake()
	case kindAsk:
		return q.give(m)
	case kindGrant, kindDeny:
		return q.answered(m, fd)
	case kindRevoke:
		q.revoked(m)
	case kindAbort:
		q.fail(lost, failure(rdma.StatusPeerLost, "it gave the connection up: %s", said(m.body)))
	case kindBye:
		q.fail(lost, failure(rdma.StatusPeerLost, "it closed the connection"))
	default:
		if fd >= 0 {
			unix.Close(fd)
		}
		return errMessage // a hello or a refusal, after the hello
	}
	return nil
}
