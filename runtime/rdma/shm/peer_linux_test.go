package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestListenAnywhere listens at addresses of the provider's choice.
func TestListenAnywhere(t *testing.T) {
	a, b := newSide(t, nil, 4096, all), newSide(t, nil, 4096, all)
	first, err := a.dom.Listen(within(t, patience), "")
	fatal(t, err)
	defer first.Close()
	second, err := a.dom.Listen(within(t, patience), "")
	fatal(t, err)
	defer second.Close()
	if prefix := fmt.Sprintf("@barewire-%d-", os.Getpid()); !strings.HasPrefix(first.Addr(), prefix) || first.Addr() == second.Addr() {
		t.Errorf("it listens at %q and %q", first.Addr(), second.Addr())
	}
	go func() {
		_, _ = first.Accept(within(t, patience), func([]byte) ([]byte, error) { return nil, nil })
	}()
	q, err := b.dom.Dial(within(t, patience), first.Addr(), nil)
	fatal(t, err)
	fatal(t, q.Close())
}

// nasty is a text that would do things to a terminal, and is long.
var nasty = "\x1b[2J\x1b]0;owned\x07\r\nlevel=ERROR \xff\u202e" + strings.Repeat("x", 450)

// harmless wants an error's text short and printable.
func harmless(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	s := err.Error()
	if strings.ContainsFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) || len(s) > 500 {
		t.Errorf("%d bytes: %q", len(s), s)
	}
	if !strings.Contains(s, "owned") {
		t.Errorf("the peer's reason is missing: %q", s)
	}
}

// TestNastyTexts has a peer whose reasons are not for a terminal.
func TestNastyTexts(t *testing.T) {
	t.Run("deny", func(t *testing.T) {
		a, s, _, _ := rogueQueue(t)
		asked := make(chan error, 1)
		go func() { asked <- a.q.Prepare(within(t, patience), 0x1234, 1) }()
		m, _, err := s.receive()
		fatal(t, err)
		fatal(t, s.send(message{kind: kindDeny, id: m.id, status: rdma.StatusRemoteKey, body: []byte(nasty)}, -1, patience))
		harmless(t, <-asked)
	})
	t.Run("abort", func(t *testing.T) {
		a, s, _, _ := rogueQueue(t)
		fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1}}))
		fatal(t, s.send(message{kind: kindAbort, status: rdma.StatusFlushed, body: []byte(nasty)}, -1, patience))
		harmless(t, a.next(t).Err)
	})
	t.Run("refuse", func(t *testing.T) {
		b := newSide(t, nil, 4096, all)
		addr := address()
		ln, err := net.ListenUnix(network, &net.UnixAddr{Name: addr, Net: network})
		fatal(t, err)
		defer ln.Close()
		go func() {
			if c, err := ln.Accept(); err == nil {
				refusal := message{kind: kindRefuse, body: []byte(nasty)}
				_, _ = c.Write(refusal.append(nil))
				time.Sleep(20 * time.Millisecond)
				_ = c.Close()
			}
		}()
		_, err = b.dom.Dial(within(t, patience), addr, nil)
		if !errors.Is(err, rdma.ErrRefused) {
			t.Errorf("not a refusal: %v", err)
		}
		harmless(t, err)
	})
}

// TestAskTheDead asks a peer whose socket has ended, before the watcher has seen that.
func TestAskTheDead(t *testing.T) {
	for _, how := range []int{unix.SHUT_RD, unix.SHUT_RDWR} {
		a, s, _, _ := rogueQueue(t)
		fatal(t, s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), how) }))
		if err := a.q.Prepare(within(t, patience), 0x1234, 1); !errors.Is(err, rdma.ErrPeerLost) {
			t.Errorf("Prepare: %v", err)
		}
	}
}

// TestHangUp dials one who is gone before he has answered.
func TestHangUp(t *testing.T) {
	b := newSide(t, nil, 4096, all)
	addr := address()
	ln, err := net.ListenUnix(network, &net.UnixAddr{Name: addr, Net: network})
	fatal(t, err)
	defer ln.Close()
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	for range 20 {
		if _, err := b.dom.Dial(within(t, patience), addr, nil); !errors.Is(err, rdma.ErrPeerLost) {
			t.Errorf("Dial: %v", err)
		}
	}
}
