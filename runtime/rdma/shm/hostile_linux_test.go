package shm

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestBadHellos sends hellos that must be refused, with descriptors that must be closed.
func TestBadHellos(t *testing.T) {
	good := newAdapter(nil).layout
	size := int64(good.size())
	grown := good
	grown.arena *= 2
	memory := func(size int64, seals int) func(testing.TB) []int {
		return func(t testing.TB) []int { return []int{memfd(t, size, seals), rogueBell(t)} }
	}
	bell := func(make func(t testing.TB) int) func(testing.TB) []int {
		return func(t testing.TB) []int { return []int{memfd(t, size, sealed), make(t)} }
	}
	socket := func(family, typ int) func(t testing.TB) int {
		return func(t testing.TB) int {
			fd, err := unix.Socket(family, typ|unix.SOCK_CLOEXEC, 0)
			fatal(t, err)
			t.Cleanup(func() { _ = unix.Close(fd) })
			return fd
		}
	}
	for _, test := range []struct {
		name   string
		l      layout
		passes func(t testing.TB) []int
	}{
		{"no descriptor", good, func(testing.TB) []int { return nil }},
		{"one descriptor", good, func(t testing.TB) []int { return memory(size, sealed)(t)[:1] }},
		{"many descriptors", good, func(t testing.TB) []int { return slices.Repeat(memory(size, sealed)(t), 50) }},
		{"not sealed", good, memory(size, 0)},
		{"too short", good, memory(size-1, sealed)},
		{"larger than the file", grown, memory(size, sealed)},
		{"no entries", layout{0, good.arena, good.slots, good.longest}, memory(size, sealed)},
		{"entries no power of two", layout{3, good.arena, good.slots, good.longest}, memory(size, sealed)},
		{"huge", layout{1 << 31, 1 << 31, 1 << 31, 1 << 31}, memory(size, sealed)},
		{"messages longer than the arena", layout{good.entries, good.arena, good.slots, good.arena}, memory(size, sealed)},
		{"a bell that is a file", good, bell(func(t testing.TB) int { return memfd(t, size, sealed) })},
		{"a bell of another family", good, bell(socket(unix.AF_NETLINK, unix.SOCK_RAW))},
		{"a bell of another type", good, bell(socket(unix.AF_UNIX, unix.SOCK_DGRAM))},
		{"a bell that nobody is at", good, bell(socket(unix.AF_UNIX, unix.SOCK_STREAM))},
		{"a bell of another process", good, bell(othersSocket)},
	} {
		t.Run(test.name, func(t *testing.T) {
			a := newSide(t, nil, 4096, all)
			ln, err := a.dom.Listen(within(t, patience), address())
			fatal(t, err)
			defer ln.Close()
			s, fds := rogue(t, ln.Addr()), test.passes(t)
			before := count(t)
			hello := message{kind: kindHello, layout: test.l, body: []byte("x")}
			fatal(t, s.sendAll(hello, patience, fds...))
			fatal(t, s.conn.SetReadDeadline(time.Now().Add(patience)))
			if m, _, err := s.receive(); err == nil && m.kind != kindRefuse {
				t.Errorf("answered with kind %d", m.kind)
			} else if errors.Is(err, os.ErrDeadlineExceeded) {
				t.Error("not refused")
			}
			_ = s.conn.Close()
			before.noMore(t)
		})
	}
}

// TestNoRoomForDescriptors has as many files open as it may when a peer passes one: that is not
// said to be the peer's fault, and the peer is told.
func TestNoRoomForDescriptors(t *testing.T) {
	d := newDomain(newAdapter(nil))
	ln, err := net.Listen(network, address())
	fatal(t, err)
	defer ln.Close()
	s, fd := rogue(t, ln.Addr().String()), memfd(t, int64(d.a.layout.size()), sealed)
	c, err := ln.Accept()
	fatal(t, err)
	defer c.Close()
	fatal(t, s.sendAll(message{kind: kindHello, layout: d.a.layout, body: []byte("x")}, patience, fd, rogueBell(t)))
	fatal(t, withoutDescriptors(func() { _, err = d.hear(c.(*net.UnixConn), kindHello, time.Now().Add(patience)) }))
	if !errors.Is(err, errNoRoom) {
		t.Errorf("heard %v", err)
	}
	fatal(t, s.conn.SetReadDeadline(time.Now().Add(patience)))
	m, _, err := s.receive()
	fatal(t, err)
	if m.kind != kindRefuse || !strings.Contains(string(m.body), "RLIMIT_NOFILE") {
		t.Errorf("told kind %d, %q", m.kind, m.body)
	}
}

// TestBadGrants answers questions with memory that must not be mapped, or not be believed.
func TestBadGrants(t *testing.T) {
	const length = 1 << 16
	good := message{kind: kindGrant, slot: 3, nonce: 7, rights: uint16(all), addr: 1 << 20, length: length}
	for _, test := range []struct {
		name   string
		change func(m *message)
		fd     func(t testing.TB) int
	}{
		{"not sealed", nil, func(t testing.TB) int { return memfd(t, length, 0) }},
		{"shorter than it says", func(m *message) { m.length++ }, nil},
		{"begins behind its end", func(m *message) { m.offset = length }, nil},
		{"an end that wraps", func(m *message) { m.offset = 1<<64 - 64 }, nil},
		{"a length that wraps", func(m *message) { m.length = 1<<64 - 64 }, nil},
		{"an address that wraps", func(m *message) { m.addr = 1<<64 - 64 }, nil},
		{"no bytes", func(m *message) { m.length = 0 }, nil},
		{"not aligned", func(m *message) { m.offset, m.length = 4, 64 }, nil},
		{"no rights", func(m *message) { m.rights = 0 }, nil},
		{"unknown rights", func(m *message) { m.rights = 0xff }, nil},
		{"no such slot", func(m *message) { m.slot = 1 << 30 }, nil},
		{"a word that means revoked", func(m *message) { m.nonce = wordRevoked }, nil},
		{"write by a descriptor for reading", nil, func(t testing.TB) int {
			ro, err := readOnly(memfd(t, length, sealed))
			fatal(t, err)
			t.Cleanup(func() { _ = unix.Close(ro) })
			return ro
		}},
		{"a file on disk", nil, func(t testing.TB) int {
			f, err := os.Create(filepath.Join(t.TempDir(), "f"))
			fatal(t, err)
			t.Cleanup(func() { _ = f.Close() })
			fatal(t, f.Truncate(length))
			return int(f.Fd())
		}},
		{"a pipe", nil, func(t testing.TB) int {
			r, w, err := os.Pipe()
			fatal(t, err)
			t.Cleanup(func() { _ = r.Close(); _ = w.Close() })
			return int(r.Fd())
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, s, own, _ := rogueQueue(t)
			own.slot(3).Store(7)
			asked := make(chan error, 1)
			go func() { asked <- a.q.Prepare(within(t, patience), 0x1234, 1) }()
			m, _, err := s.receive()
			fatal(t, err)
			if m.kind != kindAsk || m.key != 0x1234 || m.epoch != 1 {
				t.Fatalf("asked %+v", m)
			}
			answer, fd := good, -1
			answer.id = m.id
			if test.change != nil {
				test.change(&answer)
			}
			if test.fd != nil {
				fd = test.fd(t)
			} else {
				fd = memfd(t, length, sealed)
			}
			fatal(t, s.send(answer, fd, patience))
			if err := <-asked; err == nil || errors.Is(err, rdma.ErrTimeout) {
				t.Errorf("Prepare: %v", err)
			}
		})
	}
}

// TestBadMessages breaks the protocol in ways that end the connection.
func TestBadMessages(t *testing.T) {
	for name, b := range map[string][]byte{
		"empty kind":      {0},
		"unknown kind":    {99},
		"a second hello":  (&message{kind: kindHello, layout: newAdapter(nil).layout}).append(nil),
		"a welcome":       (&message{kind: kindWelcome, layout: newAdapter(nil).layout}).append(nil),
		"a refusal":       (&message{kind: kindRefuse}).append(nil),
		"not asked":       (&message{kind: kindDeny, id: 5}).append(nil),
		"a grant without": (&message{kind: kindGrant, id: 5}).append(nil),
		"cut":             (&message{kind: kindAsk}).append(nil)[:5],
		"too long":        make([]byte, maxMessage+1),
	} {
		t.Run(name, func(t *testing.T) {
			a, s, _, _ := rogueQueue(t)
			fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1}}))
			_, err := s.conn.Write(b)
			fatal(t, err)
			a.fails(t, 1, rdma.StatusFlushed)
			a.post(t, rdma.WorkRequest{ID: 2, Verb: rdma.VerbFlush})
			a.fails(t, 2, rdma.StatusFlushed)
		})
	}
}

// TestBadEntries puts what must not be believed into the ring.
func TestBadEntries(t *testing.T) {
	for name, e := range map[string][entryWords]uint64{
		"unknown kind":        {entryKind: 9},
		"longer than allowed": {entryKind: entrySend | 1<<40<<kindBits},
		"longer than taken":   {entryKind: entrySend | 4097<<kindBits},
		"across the end":      {entryKind: entrySend | 4096<<kindBits, entryAt: uint64(newAdapter(nil).layout.arena) - 4095},
	} {
		t.Run(name, func(t *testing.T) {
			a, _, own, _ := rogueQueue(t)
			fatal(t, a.q.PostReceive([]rdma.ReceiveRequest{{ID: 1, Buf: a.seg(0, 8192)}}))
			at := own.entry(0)
			copy(at[1:], e[1:])
			atomic.StoreUint64(&at[entryNumber], 1)
			a.fails(t, 1, rdma.StatusProvider)
		})
	}
}

// TestBadCounters lets the peer count wrongly: the sender must not believe it.
func TestBadCounters(t *testing.T) {
	for name, lie := range map[string]func(own *outbox){
		"took more than was sent":  func(o *outbox) { o.word(atPosted).Store(10); o.word(atConsumed).Store(5) },
		"took more than it posted": func(o *outbox) { o.word(atConsumed).Store(1) },
		"took without end":         func(o *outbox) { o.word(atPosted).Store(1<<64 - 1); o.word(atConsumed).Store(1<<64 - 1) },
	} {
		t.Run(name, func(t *testing.T) {
			a, _, own, _ := rogueQueue(t)
			lie(own)
			wr := rdma.WorkRequest{ID: 1, Verb: rdma.VerbSend, Segs: 1}
			wr.Local[0] = a.seg(0, 64)
			a.post(t, wr)
			a.fails(t, 1, rdma.StatusProvider)
		})
	}
	// A peer that claims endless receives hurts itself only.
	a, _, own, _ := rogueQueue(t)
	own.word(atPosted).Store(1<<64 - 1)
	for i := range own.entries {
		*own.posted(uint64(i)) = 1 << 20
	}
	sent := 0
	for range 100 {
		wr := rdma.WorkRequest{ID: uint64(sent), Verb: rdma.VerbSend, Segs: 1}
		wr.Local[0] = a.seg(0, 4096)
		if n, _ := a.q.Post([]rdma.WorkRequest{wr}); n == 0 {
			break
		}
		sent++
	}
	var out [200]rdma.Completion
	if done := a.q.Poll(out[:]); done == 0 || done > int(a.q.own.arena)/4096 {
		t.Errorf("%d messages of 4 KiB went into an arena of %d", done, a.q.own.arena)
	}
}

// TestKernelKeepsRights looks at what an importer gets: for a right to read, memory that the kernel
// lets nobody store to, nor map for storing, nor open again for it.
func TestKernelKeepsRights(t *testing.T) {
	for _, test := range []struct {
		rights region.Rights
		writes bool
	}{{region.Read, false}, {region.Write, true}, {region.Atomic, true}, {all, true}} {
		a, s, _, _ := rogueQueue(t)
		k, err := a.dom.Register(memory(t, 8192), test.rights, nil)
		fatal(t, err)
		fatal(t, s.send(message{kind: kindAsk, id: 1, key: uint32(k.R), epoch: k.Epoch}, -1, patience))
		m, fd, err := s.receive()
		fatal(t, err)
		if m.kind != kindGrant || fd < 0 {
			t.Fatalf("answered %+v: %s", m, m.body)
		}
		defer unix.Close(fd)
		b, err := unix.Mmap(fd, 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		if err == nil {
			_ = unix.Munmap(b)
		}
		if (err == nil) != test.writes {
			t.Errorf("rights %v: mapping for writing: %v", test.rights, err)
		}
		var st unix.Stat_t
		fatal(t, unix.Fstat(fd, &st))
		if !test.writes && st.Mode&0o777 != 0 {
			t.Errorf("rights %v: another user may open it: mode %o", test.rights, st.Mode&0o777)
		}
	}
	// An outbox can be mapped for reading only.
	_, _, _, peer := rogueQueue(t)
	o, fd, err := newOutbox(peer.layout)
	fatal(t, err)
	defer o.close()
	defer unix.Close(fd)
	if b, err := unix.Mmap(fd, 0, o.size(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
		_ = unix.Munmap(b)
		t.Error("an outbox that was passed can be mapped for writing")
	}
}

// TestNoVirtualAddress looks for this process's addresses in what a peer is told.
func TestNoVirtualAddress(t *testing.T) {
	a := newSide(t, nil, 8192, all)
	base := uint64(uintptr(a.mem.Base))
	for range 100 {
		k, err := a.dom.Register(a.mem, all, nil)
		fatal(t, err)
		if k.Addr>>16 == base>>16 {
			t.Fatalf("the key's address %#x is the memory's %#x", k.Addr, base)
		}
		if uint32(k.R) == uint32(k.L) {
			t.Fatalf("the keys are alike: %#x", k.R)
		}
	}
}

// TestListenAtPath listens at a file: the one of a dead process is replaced, that of a
// living one is not, and nothing else is.
func TestListenAtPath(t *testing.T) {
	a := newSide(t, nil, 4096, all)
	path := filepath.Join(t.TempDir(), "s")
	ctx := within(t, patience)
	old, err := net.ListenUnix(network, &net.UnixAddr{Name: path, Net: network})
	fatal(t, err)
	long := "/" + strings.Repeat("x", maxAddr)
	_, lerr := a.dom.Listen(ctx, long)
	_, derr := a.dom.Dial(ctx, long, nil)
	for _, err := range []error{lerr, derr} {
		if err == nil || !strings.Contains(err.Error(), "108 bytes, at most 107") {
			t.Errorf("a long path: %v", err)
		}
	}
	if _, err := a.dom.Listen(ctx, path); !errors.Is(err, unix.EADDRINUSE) {
		t.Errorf("listening where another does: %v", err)
	}
	old.SetUnlinkOnClose(false)
	fatal(t, old.Close())
	ln, err := a.dom.Listen(ctx, path)
	fatal(t, err)
	if ln.Addr() != path {
		t.Errorf("it listens at %q", ln.Addr())
	}
	fatal(t, ln.Close())
	fatal(t, os.WriteFile(path, []byte("precious"), 0o600))
	if _, err := a.dom.Listen(ctx, path); err == nil {
		t.Error("a file that is no socket was replaced")
	}
}

// asNobody runs f on a thread of its own that may do no more than any user.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	done := make(chan unix.Errno)
	go func() {
		runtime.LockOSThread() // for good: the thread ends with the goroutine
		var errno unix.Errno
		if os.Geteuid() == 0 {
			const nobody = 65534
			_, _, errno = unix.RawSyscall(unix.SYS_SETRESUID, nobody, nobody, nobody)
		}
		if errno == 0 {
			f()
		}
		done <- errno
	}()
	if errno := <-done; errno != 0 {
		t.Fatal(errno)
	}
}

// TestNobodyOpensAgain has a user try what /proc offers: to open a descriptor that was passed for
// reading once more, for writing.
func TestNobodyOpensAgain(t *testing.T) {
	open := func(fd int) (err error) {
		asNobody(t, func() {
			var again int
			if again, err = unix.Open(fmt.Sprintf("/proc/thread-self/fd/%d", fd), unix.O_RDWR|unix.O_CLOEXEC, 0); err == nil {
				_ = unix.Close(again)
			}
		})
		return err
	}
	fd := memfd(t, 4096, sealed)
	fatal(t, open(fd)) // so it can be done, where nothing is done against it
	ro, err := readOnly(fd)
	fatal(t, err)
	defer unix.Close(ro)
	if err := open(ro); !errors.Is(err, unix.EACCES) {
		t.Errorf("a descriptor for reading, opened for writing: %v", err)
	}
	again, err := readOnly(fd) // a second registration of the same memory
	fatal(t, err)
	fatal(t, unix.Close(again))
}

// TestDialEnds dials one who accepts the connection and hangs up, or says something else.
func TestDialEnds(t *testing.T) {
	b := newSide(t, nil, 4096, all)
	for name, says := range map[string][]byte{
		"hangs up": nil, "nonsense": []byte("HTTP/1.1 400 Bad Request"), "a bell": {byte(kindBell)},
		"a welcome without outbox": (&message{kind: kindWelcome, layout: b.dom.a.layout}).append(nil),
		"a hello":                  (&message{kind: kindHello, layout: b.dom.a.layout}).append(nil),
	} {
		addr := address()
		ln, err := net.ListenUnix(network, &net.UnixAddr{Name: addr, Net: network})
		fatal(t, err)
		go func() {
			if c, err := ln.Accept(); err == nil {
				_, _ = c.Write(says)
				time.Sleep(20 * time.Millisecond)
				_ = c.Close()
			}
		}()
		start := time.Now()
		if q, err := b.dom.Dial(within(t, patience), addr, nil); err == nil || time.Since(start) > patience/2 {
			t.Errorf("%s: %v, %v after %v", name, q, err, time.Since(start))
		}
		_ = ln.Close()
	}
}

// TestPeerReadsNothing has a peer that lets its socket run full. Neither bells nor
// questions wait for it, and each request ends.
func TestPeerReadsNothing(t *testing.T) {
	a, _, _, _ := rogueQueue(t)
	for range 10000 {
		a.q.sock.ring()
	}
	wr := rdma.WorkRequest{ID: 1, Verb: rdma.VerbRead, Segs: 1, Key: 0x1234, Epoch: 1}
	wr.Local[0] = a.seg(0, 64)
	a.post(t, wr, rdma.WorkRequest{ID: 2, Verb: rdma.VerbFlush})
	a.fails(t, 1, rdma.StatusPeerLost)
	a.fails(t, 2, rdma.StatusPeerLost)
	if err := a.q.Prepare(within(t, time.Second), 0x1234, 1); err == nil {
		t.Error("a key was prepared by nobody")
	}
}
