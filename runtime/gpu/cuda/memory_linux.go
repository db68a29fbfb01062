//go:build amd64 || arm64

package cuda

import (
	"context"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

const (
	exportPage = 64 << 10 // the greatest page of hosts with NVIDIA GPUs
	allocAlign = 256      // that cuMemAlloc gives at least

	portable, deviceMap = 1, 2 // CU_MEMHOSTALLOC_
	attachGlobal        = 1    // CU_MEM_ATTACH_GLOBAL

	pointerMemoryType = 2 // CU_POINTER_ATTRIBUTE_
	pointerSyncMemops = 6
	pointerIsManaged  = 8
	pointerOrdinal    = 9

	typeHost, typeDevice = 1, 2 // CU_MEMORYTYPE_

	handleDMABuf = 1 // CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD
)

// memory is memory of a device, or that it reaches.
type memory struct {
	a     *adapter
	kind  gpu.Kind
	n     uintptr        // bytes, of whole pages where it can be exported
	dev   uintptr        // where kernels find it
	whole uintptr        // what was allocated
	host  unsafe.Pointer // nil where the processor must not touch it
	how   string
	lent  bool     // pinned only: the memory is somebody else's
	win   []byte   // of the host's window
	file  *os.File // behind that
}

// Alloc allocates zeroed memory.
func (a *adapter) Alloc(kind gpu.Kind, n, align uintptr) (gpu.Memory, error) {
	m := &memory{a: a, kind: kind, n: n}
	var err error
	switch kind {
	case gpu.DeviceMemory:
		err = m.device(align)
	case gpu.HostMemory:
		err = m.pinned(max(align, allocAlign))
	default:
		err = m.managed(max(align, uintptr(os.Getpagesize())))
	}
	if err != nil {
		return nil, err
	}
	if err := m.verify(); err != nil {
		_ = m.Free()
		return nil, err
	}
	if err := m.zero(); err != nil {
		_ = m.Free()
		return nil, err
	}
	return m, nil
}

// up is the first multiple of align from p on.
func up(p, align uintptr) uintptr { return (p + align - 1) &^ (align - 1) }

// device allocates the device's own memory.
func (m *memory) device(align uintptr) error {
	if m.a.info.Facts.DMABuf {
		align, m.n = max(align, exportPage), up(m.n, exportPage)
	}
	room := m.n
	if align > allocAlign {
		room += align - allocAlign
	}
	out := heap()
	if err := m.a.in(&m.a.lib.alloc, fmt.Sprintf("%d bytes", room), addr(out), room); err != nil {
		return err
	}
	m.whole = uintptr(out[0])
	m.dev = up(m.whole, align)
	m.how = "the device's own (cuMemAlloc)"
	return nil
}

// pinned allocates memory of the host's that the device reaches.
func (m *memory) pinned(align uintptr) error {
	room := m.n + align
	out := heap()
	if err := m.a.in(&m.a.lib.hostAlloc, fmt.Sprintf("%d bytes", room), addr(out), room, portable|deviceMap); err != nil {
		return err
	}
	m.whole = uintptr(out[0])
	m.host = pointer(up(m.whole, align))
	if err := m.a.in(&m.a.lib.hostPointer, "", addr(out), m.whole, 0); err != nil {
		_ = m.Free()
		return err
	}
	m.dev = uintptr(out[0]) + uintptr(m.host) - m.whole
	m.how = "pinned host memory (cuMemHostAlloc), mapped into the device at " + m.where()
	return nil
}

// Pin pins memory of this process, and maps it into the device.
func (a *adapter) Pin(base unsafe.Pointer, n uintptr) (gpu.Memory, error) {
	m := &memory{a: a, kind: gpu.HostMemory, n: n, host: base, whole: uintptr(base), lent: true}
	const portable, deviceMap = 1, 2 // CU_MEMHOSTREGISTER_
	if err := a.in(&a.lib.hostRegister, fmt.Sprintf("%d bytes", n), m.whole, n, portable|deviceMap); err != nil {
		return nil, err
	}
	out := heap()
	if err := a.in(&a.lib.hostPointer, "", addr(out), m.whole, 0); err != nil {
		_ = m.Free()
		return nil, err
	}
	m.dev = uintptr(out[0])
	m.how = "host memory that was placed and then pinned (cuMemHostRegister), mapped into the device at " + m.where()
	if err := m.verify(); err != nil {
		_ = m.Free()
		return nil, err
	}
	return m, nil
}

// where says at which address the device has host memory.
func (m *memory) where() string {
	if m.dev != uintptr(m.host) {
		return "another address than the host's"
	}
	return "the host's address"
}

// managed allocates memory that the driver moves.
func (m *memory) managed(align uintptr) error {
	// Where host and device may not have managed memory at once, the witness of unified memory was that the device reaches any.
	if f := &m.a.info.Facts; !f.Managed || m.kind == gpu.UnifiedMemory && !f.Concurrent {
		p, err := unix.MmapPtr(-1, 0, nil, up(m.n, align), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
		if err != nil {
			return fmt.Errorf("mapping %d bytes: %w", m.n, err)
		}
		m.host, m.dev, m.how = p, uintptr(p), "host memory that the device reaches as it is"
		return nil
	}
	room := m.n + align
	out := heap()
	if err := m.a.in(&m.a.lib.allocManaged, fmt.Sprintf("%d bytes", room), addr(out), room, attachGlobal); err != nil {
		return err
	}
	m.whole = uintptr(out[0])
	m.dev = up(m.whole, align)
	m.host = pointer(m.dev)
	m.how = "managed memory (cuMemAllocManaged)"
	return nil
}

// verify asks the driver whether the memory is what was asked for.
func (m *memory) verify() error {
	if m.whole == 0 {
		return nil
	}
	ask := func(what uintptr) (int32, error) {
		out := heap()
		err := m.a.in(&m.a.lib.pointerAttr, "", addr(out), what, m.dev)
		return int32(out[0]), err
	}
	what, want := uintptr(pointerMemoryType), int32(typeDevice)
	switch m.kind {
	case gpu.HostMemory:
		want = typeHost
	case gpu.ManagedMemory, gpu.UnifiedMemory:
		what, want = pointerIsManaged, 1
	}
	got, err := ask(what)
	if err != nil {
		return err
	}
	if got&0xff != want&0xff {
		return fmt.Errorf("%s is not that: its pointer attribute %d is %d, and not %d", m.kind, what, got, want)
	}
	if m.kind != gpu.DeviceMemory {
		return nil
	}
	if got, err = ask(pointerOrdinal); err == nil && uintptr(got) != m.a.dev {
		err = fmt.Errorf("%s is on device %d, and not on %d", m.kind, got, m.a.dev)
	}
	return err
}

// zero zeroes the memory.
func (m *memory) zero() error {
	if m.kind == gpu.HostMemory || m.whole == 0 {
		clear(unsafe.Slice((*byte)(m.host), m.n))
		return nil
	}
	l := m.a.lib
	m.a.mu.Lock()
	defer m.a.mu.Unlock()
	if err := m.a.in(&l.memset, fmt.Sprintf("%d bytes", m.n), m.dev, 0, m.n, m.a.own); err != nil {
		return err
	}
	return m.a.in(&l.streamSync, "", m.a.own)
}

// Host is where the processor finds the memory.
func (m *memory) Host() unsafe.Pointer { return m.host }

// Device is where kernels find it.
func (m *memory) Device() uint64 { return uint64(m.dev) }

// How says which way was taken.
func (m *memory) How() string { return m.how }

// Free gives it back.
func (m *memory) Free() error {
	switch {
	case m.whole == 0:
		return unix.MunmapPtr(m.host, up(m.n, uintptr(os.Getpagesize())))
	case m.lent:
		return m.a.in(&m.a.lib.hostUnregister, "", m.whole)
	case m.kind == gpu.HostMemory:
		return m.a.in(&m.a.lib.hostFree, "", m.whole)
	}
	return m.a.in(&m.a.lib.free, "", m.whole)
}

// Acquire has nothing to do: what the driver asks for is that the operations have ended, which they have.
func (m *memory) Acquire(context.Context) error { return m.a.Lost() }

// Yield has nothing to do either.
func (m *memory) Yield() error { return nil }

// Export gives the memory as a dma-buf. Work on memory that other devices write must be done when the call returns: that is
// what SYNC_MEMOPS is for. Source: CUDA, Developing a Linux Kernel Module using GPUDirect RDMA.
func (m *memory) Export() (*os.File, uint64, error) {
	l := m.a.lib
	out := heap()
	out[1] = 1
	asked := fmt.Sprintf("%d bytes at %#x", m.n, m.dev)
	if err := m.a.in(&l.setPointerAttr, asked, addr(&out[1]), pointerSyncMemops, m.dev); err != nil {
		return nil, 0, err
	}
	if err := m.a.in(&l.exportRange, asked, addr(out), m.dev, m.n, handleDMABuf, 0); err != nil {
		return nil, 0, err
	}
	return os.NewFile(uintptr(uint32(out[0])), "dma-buf"), 0, nil
}

// Map maps the memory's dma-buf.
func (m *memory) Map(context.Context) (unsafe.Pointer, error) {
	f, _, err := m.Export()
	if err != nil {
		return nil, err
	}
	b, err := unix.Mmap(int(f.Fd()), 0, int(m.n), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w: mapping %d bytes of a dma-buf: %w", gpu.ErrNoWindow, m.n, err)
	}
	m.win, m.file = b, f
	m.turn(syncStart)
	return unsafe.Pointer(&b[0]), nil
}

// Unmap ends what Map began.
func (m *memory) Unmap() error {
	m.turn(syncEnd)
	err := unix.Munmap(m.win)
	if cerr := m.file.Close(); err == nil {
		err = cerr
	}
	m.win, m.file = nil, nil
	return err
}

// The host's turn with a dma-buf, by DMA_BUF_IOCTL_SYNC. Source: the kernel's include/uapi/linux/dma-buf.h.
const (
	syncIoctl = 0x40086200
	syncStart = 3     // to read and write
	syncEnd   = 3 | 4 // and its end
)

// turn tells the kernel whose turn it is. Drivers that need not know may refuse it.
func (m *memory) turn(flags uint64) {
	p := &flags
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, m.file.Fd(), syncIoctl, uintptr(unsafe.Pointer(p)))
}
