package shm

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var _ rdma.Telling = (*listener)(nil)

// A listener that cannot accept, for want of descriptors say, tries again after leastPause, and then less and
// less often.
const (
	leastPause = 5 * time.Millisecond
	mostPause  = time.Second
)

// errAnswered is for a peer that was told that it is refused, by whom its hello was shown to.
var errAnswered = errors.New("refused")

// Tell says who hears of peers that did not become connections.
func (ln *listener) Tell(f func(peer string, err error)) { ln.tell.Store(&f) }

// trouble tells of one.
func (ln *listener) trouble(peer string, err error) {
	f := ln.tell.Load()
	if f == nil || *f == nil {
		return
	}
	switch {
	case errors.Is(err, io.EOF):
		err = errors.New("shm: it has hung up, and said no hello")
	case errors.Is(err, os.ErrDeadlineExceeded):
		err = fmt.Errorf("shm: it said no hello within %v", ln.d.a.handshake)
	case errors.Is(err, unix.EMFILE):
		err = fmt.Errorf("shm: this process has as many files open as it may (RLIMIT_NOFILE); peers wait: %w", err)
	}
	(*f)(peer, err)
}

// caller is who connected, as the kernel says.
func (ln *listener) caller(conn *net.UnixConn) string {
	s, err := newSocket(conn)
	if err != nil {
		return ""
	}
	return who(s) + " at " + ln.Addr()
}
