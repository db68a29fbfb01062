//go:build amd64 || arm64

package opencl

import (
	"context"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

const (
	memReadWrite = 1 << 0 // CL_MEM_READ_WRITE
	memFineGrain = 1 << 10
	mapRead      = 1 << 0
	mapWrite     = 1 << 1
	blocking     = 1

	svmAlign = 128 // the largest that clSVMAlloc takes for sure: of long16
)

// memory is a buffer, or shared virtual memory.
type memory struct {
	a     *adapter
	kind  gpu.Kind
	n     uintptr
	buf   uintptr        // cl_mem of a buffer
	at    unsafe.Pointer // shared memory; of a buffer a reservation without access, which stands for it
	whole unsafe.Pointer // what was allocated, or reserved
	room  uintptr        // bytes of whole
	host  unsafe.Pointer // where a buffer is mapped
}

// Alloc allocates zeroed memory.
func (a *adapter) Alloc(kind gpu.Kind, n, align uintptr) (gpu.Memory, error) {
	m := &memory{a: a, kind: kind, n: n}
	if kind == gpu.DeviceMemory {
		return m, a.see(m.buffer(align))
	}
	return m, a.see(m.shared(max(align, uintptr(os.Getpagesize()))))
}

// buffer makes a buffer, and reserves addresses for it, which no host pointer of it are.
func (m *memory) buffer(align uintptr) (err error) {
	l := m.a.lib
	asked := fmt.Sprintf("%d bytes aligned to %d", m.n, align)
	if align > m.a.found.align && align > uintptr(os.Getpagesize()) {
		return &gpu.CallError{Call: l.createBuffer.name, Name: "not asked", Asked: asked, Err: gpu.ErrNotHere}
	}
	out := heap()
	if m.buf, err = l.createBuffer.make(asked, out, m.a.ctx, memReadWrite, m.n, 0, addr(out)); err != nil {
		return err
	}
	page := uintptr(os.Getpagesize())
	m.room = (m.n+page-1)&^(page-1) + align
	if m.whole, err = unix.MmapPtr(-1, 0, nil, m.room, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE); err != nil {
		_ = l.releaseMem.do("", m.buf)
		return fmt.Errorf("reserving %d bytes of address space: %w", m.room, err)
	}
	m.at = up(m.whole, align)
	if err := m.a.alone(func(q uintptr) error {
		zero := heap()
		return l.enqueueFill.do(asked, q, m.buf, addr(zero), 1, 0, m.n, 0, 0, 0)
	}); err != nil {
		_ = m.Free()
		return err
	}
	return nil
}

// shared allocates shared virtual memory.
func (m *memory) shared(align uintptr) error {
	l := m.a.lib
	flags := uintptr(memReadWrite)
	if m.kind != gpu.ManagedMemory {
		flags |= memFineGrain
	}
	m.room = m.n + align
	asked := fmt.Sprintf("%d bytes", m.room)
	out := dl.Fast(l.svmAlloc.fn, []uintptr{m.a.ctx, flags, m.room, svmAlign})
	if out == 0 {
		return l.svmAlloc.failed(memAllocationFailure, asked)
	}
	m.whole = pointer(out)
	m.at = up(m.whole, align)
	if err := m.a.alone(func(q uintptr) error {
		zero := heap()
		return l.enqueueSVMFill.do(asked, q, uintptr(m.at), addr(zero), 1, m.n, 0, 0, 0)
	}); err != nil {
		_ = m.Free()
		return err
	}
	return nil
}

// up is the first multiple of align from p on.
func up(p unsafe.Pointer, align uintptr) unsafe.Pointer {
	return unsafe.Add(p, (align-uintptr(p)&(align-1))&(align-1))
}

// pointer is an address of C memory as a pointer: the Go heap has no part in it.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// alone does something on the adapter's own queue, and waits for it.
func (a *adapter) alone(do func(queue uintptr) error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if err := do(a.own); err != nil {
		return err
	}
	return a.lib.finish.do("", a.own)
}

// Host is where the processor finds the memory.
func (m *memory) Host() unsafe.Pointer {
	if m.kind == gpu.DeviceMemory {
		return nil
	}
	return m.at
}

// Device is an address that stands for it.
func (m *memory) Device() uint64 { return uint64(uintptr(m.at)) }

// How says which way was taken.
func (m *memory) How() string {
	switch m.kind {
	case gpu.DeviceMemory:
		return "a buffer (clCreateBuffer)"
	case gpu.ManagedMemory:
		return "shared virtual memory of coarse grain (clSVMAlloc)"
	}
	return "shared virtual memory of fine grain (clSVMAlloc), at the same address for host and device"
}

// Free gives it back.
func (m *memory) Free() error {
	if m.kind != gpu.DeviceMemory {
		m.a.lib.svmFree.fast([]uintptr{m.a.ctx, uintptr(m.whole)})
		return nil
	}
	err := m.a.lib.releaseMem.do("", m.buf)
	if uerr := unix.MunmapPtr(m.whole, m.room); err == nil {
		err = uerr
	}
	return err
}

// Acquire maps shared memory of coarse grain for the host.
func (m *memory) Acquire(context.Context) error {
	l := m.a.lib
	m.a.mu.Lock()
	defer m.a.mu.Unlock()
	return l.enqueueSVMMap.do(fmt.Sprintf("%d bytes", m.n), m.a.own, blocking, mapRead|mapWrite, uintptr(m.at), m.n, 0, 0, 0)
}

// Yield ends what Acquire began.
func (m *memory) Yield() error {
	return m.a.alone(func(q uintptr) error { return m.a.lib.enqueueSVMUnmap.do("", q, uintptr(m.at), 0, 0, 0) })
}

// Map maps a buffer for the host.
func (m *memory) Map(context.Context) (unsafe.Pointer, error) {
	out := heap()
	m.a.mu.Lock()
	defer m.a.mu.Unlock()
	p, err := m.a.lib.enqueueMap.make(fmt.Sprintf("%d bytes", m.n), out, m.a.own, m.buf, blocking, mapRead|mapWrite, 0, m.n, 0, 0, 0, addr(out))
	if err != nil {
		return nil, err
	}
	m.host = pointer(p)
	return m.host, nil
}

// Unmap ends what Map began.
func (m *memory) Unmap() error {
	return m.a.alone(func(q uintptr) error { return m.a.lib.enqueueUnmap.do("", q, m.buf, uintptr(m.host), 0, 0, 0) })
}
