package iwarp

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// sentry looks at connections while nobody reads from them (lead.go), and makes it the reader's turn when something comes.
// It is an epoll instance with the connections in it, each of which reports once when it was told to; the runtime's
// poller waits for that one, so a goroutine sleeps and no thread. A device has one, while any of its queues does.
type sentry struct {
	mu     sync.Mutex
	file   *os.File // the epoll instance; nil: there is none
	epfd   int
	last   int32
	queues map[int32]*queue
}

// post is a queue's place with the sentry. Of its fields only event changes, by whose turn it is or under the lock of turns.
type post struct {
	epfd  int // 0: it has none yet
	event unix.EpollEvent
}

const (
	sentryLooks = unix.EPOLLIN | unix.EPOLLRDHUP | unix.EPOLLONESHOT
	sentryRests = unix.EPOLLONESHOT
)

// enlist gives a queue a place. The sentry does not look yet.
func (s *sentry) enlist(q *queue, fd uintptr) (post, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		if err := s.open(); err != nil {
			return post{}, err
		}
	}
	for s.last++; s.queues[s.last] != nil; s.last++ { // it may have wrapped around
	}
	p := post{epfd: s.epfd, event: unix.EpollEvent{Events: sentryRests, Fd: s.last}}
	if err := unix.EpollCtl(s.epfd, unix.EPOLL_CTL_ADD, int(fd), &p.event); err != nil {
		if len(s.queues) == 0 {
			go s.file.Close() // its goroutine may wait for mu
			s.file = nil
		}
		return post{}, os.NewSyscallError("epoll_ctl", err)
	}
	s.queues[s.last] = q
	return p, nil
}

// discharge takes a queue's place away. Its connection is closed next, which takes that out of the epoll instance.
func (s *sentry) discharge(p *post) {
	if p.epfd == 0 {
		return
	}
	s.mu.Lock()
	delete(s.queues, p.event.Fd)
	var idle *os.File
	if len(s.queues) == 0 {
		idle, s.file = s.file, nil
	}
	s.mu.Unlock()
	if idle != nil {
		_ = idle.Close() // without mu, which its goroutine may wait for
	}
}

// open makes the epoll instance. mu is held.
func (s *sentry) open() error {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err := unix.SetNonblock(fd, true); err != nil { // so that package os gives it to the poller
		_ = unix.Close(fd)
		return os.NewSyscallError("fcntl", err)
	}
	file := os.NewFile(uintptr(fd), "epoll")
	raw, err := file.SyscallConn()
	if err != nil {
		_ = file.Close()
		return err
	}
	s.file, s.epfd, s.queues = file, fd, map[int32]*queue{}
	var events [64]unix.EpollEvent
	look := func(fd uintptr) bool {
		for {
			n, _ := unix.EpollWait(int(fd), events[:], 0)
			for i := range max(n, 0) {
				s.report(events[i].Fd)
			}
			if n < len(events) {
				return false
			}
		}
	}
	go func() { _ = raw.Read(look) }() // until it is closed
	return nil
}

// report makes it the turn of a queue's reader.
func (s *sentry) report(id int32) {
	s.mu.Lock()
	q := s.queues[id]
	s.mu.Unlock()
	if q != nil {
		q.turn.called()
	}
}

// tell tells the sentry to look at a connection, or not to. It reports whether it did.
func (p *post) tell(fd uintptr, events uint32) bool {
	p.event.Events = events
	return unix.EpollCtl(p.epfd, unix.EPOLL_CTL_MOD, int(fd), &p.event) == nil
}
