package shm

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Salvage is a mapping of a peer's memory, for reading, that does not end with
// the connection, nor with the peer: what a process that was killed has left.
type Salvage struct {
	mem  []byte
	data []byte
}

// View maps a key that the queue has mapped already (Prepare, or an operation) once
// more, for reading. It is for looking at what a dead peer left: nothing protects from a
// living one that changes the memory or uses it for something else.
// The caller closes it.
func View(q rdma.Queue, key rdma.RKey, epoch uint32) (*Salvage, error) {
	sq, ok := q.(*queue)
	if !ok {
		return nil, errors.New("shm: View is for connections of this provider")
	}
	sq.mu.Lock()
	defer sq.mu.Unlock()
	if sq.closed {
		return nil, errClosed
	}
	r := sq.imports.find(uint32(key), epoch)
	if r == nil {
		return nil, fmt.Errorf("shm: key %#x is not mapped here", key)
	}
	if r.rights&region.Read == 0 {
		return nil, fmt.Errorf("shm: key %#x was not granted for reading", key)
	}
	// mremap(2) with an old size of 0 makes a second mapping of shared memory.
	mem, err := unix.MremapPtr(unsafe.Pointer(&r.mem[0]), 0, nil, uintptr(len(r.mem)), unix.MREMAP_MAYMOVE)
	if err != nil {
		return nil, os.NewSyscallError("mremap", err)
	}
	s := &Salvage{mem: unsafe.Slice((*byte)(mem), len(r.mem))}
	if err := unix.Mprotect(s.mem, unix.PROT_READ); err != nil {
		return nil, errors.Join(os.NewSyscallError("mprotect", err), s.Close())
	}
	lead := uintptr(r.base) - uintptr(unsafe.Pointer(&r.mem[0]))
	s.data = s.mem[lead:][:r.length]
	return s, nil
}

// Bytes is the memory; nil after Close. It must not be stored to.
func (s *Salvage) Bytes() []byte { return s.data }

// Close unmaps it: what Bytes gave must not be used any more.
func (s *Salvage) Close() error {
	if s.mem == nil {
		return nil
	}
	err := unix.MunmapPtr(unsafe.Pointer(&s.mem[0]), uintptr(len(s.mem)))
	s.mem, s.data = nil, nil
	return err
}
