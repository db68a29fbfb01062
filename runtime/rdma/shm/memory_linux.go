package shm

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// sealed is what every memory that is passed must have, so that its size stays and no
// access faults (memfd_create(2), fcntl(2)).
const sealed = unix.F_SEAL_SHRINK

// outbox is the memory that one side writes and the other reads.
type outbox struct {
	layout
	mem    []byte
	first  unsafe.Pointer // entry of the ring; it is good as long as mem is
	places uint64         // of the ring, less one
}

func newMapping(l layout, mem []byte) *outbox {
	return &outbox{layout: l, mem: mem, first: unsafe.Pointer(&mem[l.ring()]), places: uint64(l.entries) - 1}
}

// newOutbox makes an outbox, and a descriptor of it that cannot be mapped for
// writing by whoever gets it. The caller closes both.
func newOutbox(l layout) (o *outbox, fd int, err error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err = unix.MemfdCreate("barewire-shm", flags|unix.MFD_NOEXEC_SEAL)
	if errors.Is(err, unix.EINVAL) { // before Linux 6.3
		fd, err = unix.MemfdCreate("barewire-shm", flags)
	}
	if err != nil {
		return nil, -1, os.NewSyscallError("memfd_create", err)
	}
	defer func() {
		if err != nil {
			unix.Close(fd)
		}
	}()
	if err := unix.Ftruncate(fd, int64(l.size())); err != nil {
		return nil, -1, os.NewSyscallError("ftruncate", err)
	}
	mem, err := unix.Mmap(fd, 0, l.size(), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, -1, os.NewSyscallError("mmap", err)
	}
	o = newMapping(l, mem)
	seals := unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_FUTURE_WRITE | unix.F_SEAL_SEAL
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals); err != nil {
		o.close()
		return nil, -1, fmt.Errorf("shm: sealing memory against writing (Linux 5.1 or later can): %w", err)
	}
	return o, fd, nil
}

// openOutbox maps a peer's outbox. The descriptor stays the caller's.
func openOutbox(fd int, l layout) (*outbox, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	if err := checkFile(fd, uint64(l.size()), false); err != nil {
		return nil, err
	}
	mem, err := unix.Mmap(fd, 0, l.size(), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	return newMapping(l, mem), nil
}

func (o *outbox) close() {
	if o.mem != nil {
		_ = unix.Munmap(o.mem) // fails for wrong arguments only
		o.mem = nil
	}
}

// word is the word at an offset, which is a constant or was checked.
func (o *outbox) word(at int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&o.mem[at]))
}

// slot is the word of a granted key.
func (o *outbox) slot(i uint32) *atomic.Uint64 { return o.word(atSlots + int(i)*8) }

// posted is the size of the n-th receive.
func (o *outbox) posted(n uint64) *uint32 {
	return (*uint32)(unsafe.Pointer(&o.mem[o.sizes()+int(n&uint64(o.entries-1))*4]))
}

// entry is the n-th entry of the ring: its words.
func (o *outbox) entry(n uint64) *[entryWords]uint64 {
	return (*[entryWords]uint64)(unsafe.Add(o.first, n&o.places*entrySize))
}

// bytes are n bytes of the arena, or nil if they are not in it.
func (o *outbox) bytes(off uint64, n int) []byte {
	at := int(off & uint64(o.arena-1))
	if n < 0 || n > int(o.arena)-at {
		return nil
	}
	at += o.data()
	return o.mem[at : at+n]
}

// checkFile refuses a descriptor that is not shared memory of at least that size
// whose size is sealed: access to it could fault. Only memfds have seals, so what answers for
// them is no file system of the peer's either.
func checkFile(fd int, size uint64, writable bool) error {
	seals, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil {
		return fmt.Errorf("shm: the descriptor is no memfd: %w", err)
	}
	if seals&sealed != sealed {
		return errors.New("shm: the memfd is not sealed against shrinking (F_SEAL_SHRINK)")
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return os.NewSyscallError("fstat", err)
	}
	if st.Size < 0 || uint64(st.Size) < size {
		return fmt.Errorf("shm: the memfd has %d bytes, %d are claimed", st.Size, size)
	}
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		return os.NewSyscallError("fcntl", err)
	}
	if writable && flags&unix.O_ACCMODE != unix.O_RDWR {
		return errors.New("shm: the memfd is open for reading only, but the grant says more")
	}
	return nil
}

// readOnly opens a memfd again, for reading only, and takes away its mode bits
// so that a process of another user cannot open it for writing by way of /proc.
func readOnly(fd int) (int, error) {
	if err := unix.Fchmod(fd, 0o400); err != nil {
		return -1, os.NewSyscallError("fchmod", err)
	}
	ro, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, fmt.Errorf("shm: opening memory for reading only (needs /proc): %w", err)
	}
	if err := unix.Fchmod(fd, 0); err != nil {
		unix.Close(ro)
		return -1, os.NewSyscallError("fchmod", err)
	}
	return ro, nil
}

// mapRange maps length bytes of a file from offset on: page-rounded. The slice
// that is returned is what to unmap; base is where the range begins in it.
func mapRange(fd int, offset, length uint64, writable bool) (mem []byte, base unsafe.Pointer, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, nil, os.NewSyscallError("fstat", err)
	}
	page := max(uint64(os.Getpagesize()), uint64(st.Blksize)) // of huge pages: theirs
	lead := offset % page
	if length == 0 || length > maxTransfer || offset > 1<<62 {
		return nil, nil, fmt.Errorf("shm: a key for %d bytes at %d cannot be mapped", length, offset)
	}
	prot := unix.PROT_READ
	if writable {
		prot |= unix.PROT_WRITE
	}
	rounded := (lead + length + page - 1) / page * page
	mem, err = unix.Mmap(fd, int64(offset-lead), int(rounded), prot, unix.MAP_SHARED)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	return mem, unsafe.Pointer(&mem[lead]), nil
}
