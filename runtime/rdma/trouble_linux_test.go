package rdma_test

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
)

// strangers is a listener, and what is heard of peers that come to it.
type strangers struct {
	dom  *rdma.Domain
	ln   *rdma.Listener
	log  syncBuffer
	mu   sync.Mutex
	seen []rdma.Event
}

func newStrangers(t *testing.T, cfg rdma.Config) *strangers {
	s := &strangers{}
	cfg.Provider, cfg.Logger = shm.Provider(), slog.New(slog.NewTextHandler(&s.log, nil))
	cfg.Observer = func(e rdma.Event) {
		s.mu.Lock()
		s.seen = append(s.seen, e)
		s.mu.Unlock()
	}
	ctx := limit(t)
	dev := must(rdma.Open(ctx, cfg))(t)
	t.Cleanup(func() { ok(t, dev.Close()) })
	s.dom = must(dev.Domain())(t)
	s.ln = must(s.dom.Listen(ctx, fmt.Sprintf("@barewire-trouble-%d-%d", os.Getpid(), sockets.Add(1))))(t)
	go func() {
		for {
			if _, err := s.ln.Accept(ctx); err != nil {
				return
			}
		}
	}()
	return s
}

// events are those of a kind, once there are so many.
func (s *strangers) events(t *testing.T, kind rdma.EventKind, n int) (got []rdma.Event) {
	t.Helper()
	soon(t, func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		got = got[:0]
		for _, e := range s.seen {
			if e.Kind == kind {
				got = append(got, e)
			}
		}
		return len(got) >= n
	})
	return got
}

// call connects a socket of a peer that says what it likes.
func (s *strangers) call(t *testing.T, says []byte) (fd int) {
	t.Helper()
	fd = must(unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
	t.Cleanup(func() { _ = unix.Close(fd) })
	ok(t, unix.Connect(fd, &unix.SockaddrUnix{Name: s.ln.Addr()}))
	if says != nil {
		ok(t, unix.Send(fd, says, unix.MSG_NOSIGNAL))
	}
	return fd
}

// TestStrangersLeaveATrace: who connects and greets badly, or not at all, is seen and logged, the log not
// each time.
func TestStrangersLeaveATrace(t *testing.T) {
	s := newStrangers(t, rdma.Config{HandshakeTimeout: time.Second})
	s.call(t, []byte("GET / HTTP/1.0"))
	first := s.events(t, rdma.EventNotConnected, 1)[0]
	if want := fmt.Sprintf("process %d of user %d", os.Getpid(), os.Getuid()); !strings.HasPrefix(first.Peer, want) || first.Err == nil {
		t.Errorf("got %+v, want one of %s", first, want)
	}
	s.call(t, nil) // and says nothing
	for range 20 {
		_ = unix.Shutdown(s.call(t, nil), unix.SHUT_RDWR)
	}
	var hung, silent int
	for _, e := range s.events(t, rdma.EventNotConnected, 22) {
		text := e.Err.Error()
		if strings.Contains(text, "it has hung up, and said no hello") {
			hung++
		}
		if strings.Contains(text, "it said no hello within 1s") {
			silent++
		}
	}
	if hung != 20 || silent != 1 {
		t.Errorf("%d hung up and %d were silent, want 20 and 1", hung, silent)
	}
	if n := strings.Count(s.log.String(), `level=WARN msg="rdma: a peer could not connect"`); n < 1 || n > 11 { // one a second
		t.Errorf("%d warnings:\n%s", n, s.log.String())
	}
}

// TestNoDescriptorsLeft: a listener that has no descriptor for a peer says so, and takes it when there is one.
func TestNoDescriptorsLeft(t *testing.T) {
	s := newStrangers(t, rdma.Config{})
	fd := must(unix.Socket(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0))(t)
	defer unix.Close(fd)
	var was unix.Rlimit
	ok(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &was))
	ok(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Max: was.Max}))
	restore := sync.OnceFunc(func() { ok(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &was)) })
	defer restore()
	ok(t, unix.Connect(fd, &unix.SockaddrUnix{Name: s.ln.Addr()}))
	first := s.events(t, rdma.EventNotConnected, 1)[0]
	if text := first.Err.Error(); !strings.Contains(text, "RLIMIT_NOFILE") {
		t.Errorf("it says %s", text)
	}
	time.Sleep(300 * time.Millisecond)
	if n := len(s.events(t, rdma.EventNotConnected, 1)); n > 12 {
		t.Errorf("%d tries", n)
	}
	restore()
	must(s.dom.Dial(limit(t), s.ln.Addr()))(t)
}

// TestRefusedIsLogged: also where the provider goes on to the next peer by itself.
func TestRefusedIsLogged(t *testing.T) {
	s := newStrangers(t, rdma.Config{MaxConns: 1})
	dev := must(rdma.Open(limit(t), rdma.Config{Provider: shm.Provider(), Logger: quiet}))(t)
	defer dev.Close()
	dom := must(dev.Domain())(t)
	must(dom.Dial(limit(t), s.ln.Addr()))(t)
	_, err := dom.Dial(limit(t), s.ln.Addr())
	is(t, err, rdma.ErrRefused)
	is(t, s.events(t, rdma.EventRefused, 1)[0].Err, rdma.ErrTooMany)
	if !strings.Contains(s.log.String(), "a peer was refused") {
		t.Errorf("the log has %s", s.log.String())
	}
}

// TestPeerGaveUp: why a peer gave the connection up is one clause.
func TestPeerGaveUp(t *testing.T) {
	for why, want := range map[error]string{
		errors.New("enough"): "(it gave the connection up: the connection was aborted: enough)",
		rdma.ErrClosed:       "(it gave the connection up: the connection was aborted: it is closed)", // as of another one
	} {
		s := otherWorlds["shm"](t).stage(rdma.Config{})
		s.b.conn.Abort(why)
		_, err := s.a.conn.Receive(limit(t), make([]byte, 1))
		is(t, err, rdma.ErrPeerLost)
		if !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%v\ndoes not end in %q", err, want)
		}
	}
}
