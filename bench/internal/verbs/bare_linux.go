package verbs

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"golang.org/x/sys/unix"
)

func init() {
	peers["memfd"] = echoLines
	peers["memfd, two lines"] = echoApart
	peers["socket"] = echoSocket
	peers["net"] = echoNet
}

// line is a cache line: a payload, and the number that says that it is there.
type line struct {
	payload [56]byte
	seq     atomic.Uint64
}

// exchange is the memory of a ping-pong, each way on a pair of lines of its own,
// since processors fetch lines in pairs.
type exchange struct {
	there line
	_     [64]byte
	back  line
	_     [64]byte
}

// lines is a payload of 64 bytes and its number in lines of their own, as a write
// with notification needs them.
type lines struct {
	payload [64]byte
	_       [64]byte
	seq     atomic.Uint64
	_       [120]byte
}

// wait spins until a word has a number.
func wait(word *atomic.Uint64, seq uint64) error {
	for i := 0; word.Load() != seq; i++ {
		if i == 1<<32 { // many seconds; a peer may be preempted for a while
			return errors.New("the peer does not answer")
		}
	}
	return nil
}

// echoApart is the other process of two lines.
func echoApart(ready func(string)) error {
	b, err := unix.Mmap(3, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	x := (*[2]lines)(unsafe.Pointer(unsafe.SliceData(b)))
	there, back := &x[0], &x[1]
	ready("ready")
	for seq := uint64(1); ; seq++ {
		for there.seq.Load() != seq {
		}
		back.payload = there.payload
		back.seq.Store(seq)
	}
}

// memfdApart is memfd with 64 bytes, which leave no room for a number.
func memfdApart(l *Loop) error {
	f, b, err := mapShared(4096)
	if err != nil {
		return err
	}
	l.onClose(func() error { return errors.Join(unix.Munmap(b), f.Close()) })
	if _, err := l.start("memfd, two lines", f); err != nil {
		return err
	}
	x := (*[2]lines)(unsafe.Pointer(unsafe.SliceData(b)))
	there, back := &x[0], &x[1]
	seq := uint64(0)
	var own [64]byte
	l.Run = func(n int) error {
		for range n {
			seq++
			binary.LittleEndian.PutUint64(own[:], seq)
			there.payload = own
			there.seq.Store(seq)
			if err := wait(&back.seq, seq); err != nil {
				return err
			}
			if err := same(back.payload[:], seq); err != nil {
				return err
			}
		}
		return nil
	}
	return nil
}

// mapShared makes n bytes of memory with a file, as regions have.
func mapShared(n int) (*os.File, []byte, error) {
	fd, err := unix.MemfdCreate("bench", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, nil, err
	}
	f := os.NewFile(uintptr(fd), "memfd")
	if err := f.Truncate(int64(n)); err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	b, err := unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, errors.Join(err, f.Close())
	}
	return f, b, nil
}

// echoLines is the other process.
func echoLines(ready func(string)) error {
	b, err := unix.Mmap(3, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	x := (*exchange)(unsafe.Pointer(unsafe.SliceData(b)))
	ready("ready")
	for seq := uint64(1); ; seq++ {
		for x.there.seq.Load() != seq {
		}
		x.back.payload = x.there.payload
		x.back.seq.Store(seq)
	}
}

// memfd is the least that two processes can do: 56 bytes and their number in one line.
func memfd(l *Loop) error {
	f, b, err := mapShared(4096)
	if err != nil {
		return err
	}
	l.onClose(func() error { return errors.Join(unix.Munmap(b), f.Close()) })
	if _, err := l.start("memfd", f); err != nil {
		return err
	}
	x := (*exchange)(unsafe.Pointer(unsafe.SliceData(b)))
	seq := uint64(0)
	var own [56]byte
	l.Run = func(n int) error {
		for range n {
			seq++
			binary.LittleEndian.PutUint64(own[:], seq)
			x.there.payload = own
			x.there.seq.Store(seq)
			if err := wait(&x.back.seq, seq); err != nil {
				return err
			}
			if got := binary.LittleEndian.Uint64(x.back.payload[:]); got != seq {
				return differ(got, seq)
			}
		}
		return nil
	}
	return nil
}

// echoSocket is the other process of raw sockets.
func echoSocket(ready func(string)) error {
	ready("ready")
	var b [64]byte
	for {
		n, err := unix.Read(3, b[:])
		if err == unix.EINTR {
			continue
		}
		if err != nil || n == 0 {
			return err
		}
		if _, err := unix.Write(3, b[:n]); err != nil {
			return err
		}
	}
}

// socketPair makes two ends, one of which is handed to a peer.
func socketPair(l *Loop, peer string, typ int) (*os.File, error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, typ|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	own, other := os.NewFile(uintptr(fds[0]), "own"), os.NewFile(uintptr(fds[1]), "peer")
	defer other.Close()
	l.onClose(own.Close)
	_, err = l.start(peer, other)
	return own, err
}

// rawSocket exchanges packets by system calls that block.
func rawSocket(typ int) func(*Loop) error {
	return func(l *Loop) error {
		own, err := socketPair(l, "socket", typ)
		if err != nil {
			return err
		}
		fd := int(own.Fd())
		var b [64]byte
		seq := uint64(0)
		l.Run = func(n int) error {
			for range n {
				seq++
				binary.LittleEndian.PutUint64(b[:], seq)
				if _, err := unix.Write(fd, b[:]); err != nil {
					return err
				}
				n, err := unix.Read(fd, b[:])
				for err == unix.EINTR {
					n, err = unix.Read(fd, b[:])
				}
				if err != nil {
					return err
				}
				if err := same(b[:n], seq); err != nil {
					return err
				}
			}
			return nil
		}
		return nil
	}
}

// netConn makes a connection of package net of a descriptor.
func netConn(f *os.File) (net.Conn, error) {
	defer f.Close()
	return net.FileConn(f)
}

// echoNet is the other process of package net.
func echoNet(ready func(string)) error {
	c, err := netConn(os.NewFile(3, "socket"))
	if err != nil {
		return err
	}
	ready("ready")
	b := make([]byte, 64)
	for {
		if _, err := io.ReadFull(c, b); err != nil {
			return nil // the other side is done
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
}

// netSocket exchanges packets as Go programs do.
func netSocket(l *Loop) error {
	own, err := socketPair(l, "net", unix.SOCK_STREAM)
	if err != nil {
		return err
	}
	c, err := net.FileConn(own)
	if err != nil {
		return err
	}
	l.onClose(c.Close)
	if err := c.SetDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		return err
	}
	l.Run = pings(c)
	return nil
}

func bareRoundTrips(row func(string, rows.Class, string, func() (*Loop, error)) Row) []Row {
	return []Row{
		row("memfd", rows.Limit, "56 bytes and their number in one line, both sides spin", opener(apart(memfd))),
		row("memfd, two lines", rows.Variant, "64 bytes, and their number in another line", opener(apart(memfdApart))),
		row("unix seqpacket, system calls", rows.Peer, "read and write that block", opener(rawSocket(unix.SOCK_SEQPACKET))),
		row("unix stream, system calls", rows.Peer, "read and write that block", opener(rawSocket(unix.SOCK_STREAM))),
		row("unix stream, package net", rows.Peer, "as Go programs do", opener(netSocket)),
	}
}

// bareBulks is memory of the kind that regions have.
func bareBulks() []Row {
	open := opener(func(l *Loop) error {
		var maps [2][]byte
		for i := range maps {
			f, b, err := mapShared(mib)
			if err != nil {
				return err
			}
			l.onClose(func() error { return errors.Join(unix.Munmap(b), f.Close()) })
			for j := range b {
				b[j] = byte(j)
			}
			maps[i] = b
		}
		l.Run = moves(maps[0], maps[1])
		return nil
	})
	return []Row{{Table: Bulk, Name: "memmove, memfd", Class: rows.Variant, Note: "between two shared mappings, as regions are", Open: open}}
}
