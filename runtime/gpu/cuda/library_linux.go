//go:build amd64 || arm64

package cuda

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
)

// oldest is the driver that is needed, as cuDriverGetVersion counts: 1000 times the major version and 10 times the minor.
const oldest = 11000

// call is a function of the library; its fn is 0 where an optional one is absent.
type call struct {
	name string
	fn   uintptr
	lib  *library
}

// library is the functions of the driver that are used, in the versions whose arguments this package has: a name without
// its suffix is often an older function, with sizes of 32 bits.
type library struct {
	path    string
	version int

	init, driverVersion, errorName, errorString, procAddress       call
	deviceCount, deviceGet, deviceName, deviceAttr, deviceMem, pci call
	retain, release, push, pop                                     call
	alloc, free, hostAlloc, hostFree, hostPointer, allocManaged    call
	hostRegister, hostUnregister                                   call
	memset, pointerAttr, setPointerAttr, exportRange, flushWrites  call
	toDevice, toHost, within, copyAny                              call
	streamCreate, streamSync, streamDestroy                        call
	eventCreate, eventRecord, eventQuery, eventDestroy             call
	moduleLoad, moduleFunction, moduleUnload, launch               call
}

var libraries struct {
	mu   sync.Mutex
	open map[string]*library
}

// load opens a library, once, and starts it.
func load(path string) (*library, error) {
	if path == "" {
		path = "libcuda.so.1"
	}
	libraries.mu.Lock()
	defer libraries.mu.Unlock()
	if l := libraries.open[path]; l != nil {
		return l, nil
	}
	l, err := open(path)
	if err != nil {
		return nil, fmt.Errorf("CUDA cannot be used (libcuda.so.1 comes with NVIDIA's driver): %w", err)
	}
	if libraries.open == nil {
		libraries.open = map[string]*library{}
	}
	libraries.open[path] = l
	return l, nil
}

func open(path string) (*library, error) {
	so, err := dl.Open(path)
	if err != nil {
		return nil, err
	}
	l := &library{path: path}
	for _, f := range []struct {
		at       *call
		name     string
		optional bool
	}{
		{&l.init, "cuInit", false}, {&l.driverVersion, "cuDriverGetVersion", false},
		{&l.errorName, "cuGetErrorName", false}, {&l.errorString, "cuGetErrorString", false},
		{&l.procAddress, "cuGetProcAddress_v2", true},
		{&l.deviceCount, "cuDeviceGetCount", false}, {&l.deviceGet, "cuDeviceGet", false}, {&l.deviceName, "cuDeviceGetName", false},
		{&l.deviceAttr, "cuDeviceGetAttribute", false}, {&l.deviceMem, "cuDeviceTotalMem_v2", false}, {&l.pci, "cuDeviceGetPCIBusId", false},
		{&l.retain, "cuDevicePrimaryCtxRetain", false}, {&l.release, "cuDevicePrimaryCtxRelease_v2", false},
		{&l.push, "cuCtxPushCurrent_v2", false}, {&l.pop, "cuCtxPopCurrent_v2", false},
		{&l.alloc, "cuMemAlloc_v2", false}, {&l.free, "cuMemFree_v2", false},
		{&l.hostAlloc, "cuMemHostAlloc", false}, {&l.hostFree, "cuMemFreeHost", false}, {&l.hostPointer, "cuMemHostGetDevicePointer_v2", false},
		{&l.hostRegister, "cuMemHostRegister_v2", false}, {&l.hostUnregister, "cuMemHostUnregister", false},
		{&l.allocManaged, "cuMemAllocManaged", false}, {&l.memset, "cuMemsetD8Async", false},
		{&l.pointerAttr, "cuPointerGetAttribute", false}, {&l.setPointerAttr, "cuPointerSetAttribute", false},
		{&l.exportRange, "cuMemGetHandleForAddressRange", true}, {&l.flushWrites, "cuFlushGPUDirectRDMAWrites", true},
		{&l.toDevice, "cuMemcpyHtoDAsync_v2", false}, {&l.toHost, "cuMemcpyDtoHAsync_v2", false},
		{&l.within, "cuMemcpyDtoDAsync_v2", false}, {&l.copyAny, "cuMemcpyAsync", false},
		{&l.streamCreate, "cuStreamCreate", false}, {&l.streamSync, "cuStreamSynchronize", false}, {&l.streamDestroy, "cuStreamDestroy_v2", false},
		{&l.eventCreate, "cuEventCreate", false}, {&l.eventRecord, "cuEventRecord", false},
		{&l.eventQuery, "cuEventQuery", false}, {&l.eventDestroy, "cuEventDestroy_v2", false},
		{&l.moduleLoad, "cuModuleLoadData", false}, {&l.moduleFunction, "cuModuleGetFunction", false},
		{&l.moduleUnload, "cuModuleUnload", false}, {&l.launch, "cuLaunchKernel", false},
	} {
		fn, err := so.Func(f.name, "")
		if err != nil {
			if fn = l.proc(f.name); fn == 0 && !f.optional {
				return nil, err
			}
		}
		*f.at = call{f.name, fn, l}
	}
	return l, l.start()
}

// proc asks the driver itself for a function that the dynamic linker does not find. Its name is that without a version, which
// the driver takes from the version of CUDA that it is asked for. Source: CUDA Driver API, cuGetProcAddress.
func (l *library) proc(name string) uintptr {
	if l.procAddress.fn == 0 {
		return 0
	}
	base, _, _ := strings.Cut(name, "_v")
	n, out := text(base), heap()
	r := dl.Fast(l.procAddress.fn, []uintptr{addr(&n[0]), addr(&out[0]), 12000, 0, addr(&out[1])})
	runtime.KeepAlive(n)
	if int32(r) != 0 {
		return 0
	}
	return uintptr(out[0])
}

// start starts the driver.
func (l *library) start() error {
	if err := l.init.do("", 0); err != nil {
		return err
	}
	out := heap()
	if err := l.driverVersion.do("", addr(out)); err != nil {
		return err
	}
	if l.version = int(int32(out[0])); l.version < oldest {
		return fmt.Errorf("the driver is of CUDA %d.%d, and 11.0 at least is needed: %w", l.version/1000, l.version%1000/10, gpu.ErrNotHere)
	}
	return nil
}

// do calls a function.
func (c *call) do(asked string, args ...uintptr) error {
	if r := int32(dl.Fast(c.fn, args)); r != 0 {
		return c.failed(r, asked)
	}
	return nil
}

// fast calls a function with arguments that stand in memory of the caller's.
func (c *call) fast(args []uintptr) int32 { return int32(dl.Fast(c.fn, args)) }

// scratch is memory that the library writes to.
type scratch [8]uint64

// heap gives zeroed scratch on the heap, which does not move: stacks do.
//
//go:noinline
func heap() *scratch { return new(scratch) }

// bytes gives zeroed memory on the heap, too.
//
//go:noinline
func bytes(n int) []byte { return make([]byte, n) }

// text is a string as C has it, on the heap.
func text(s string) []byte {
	b := bytes(len(s) + 1)
	copy(b, s)
	return b
}

// addr is where something is that the library reads or writes while it is called: on the heap, which does not move.
func addr[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// pointer is an address of C memory as a pointer: the Go heap has no part in it.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }
