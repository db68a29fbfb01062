package gpu

import (
	"context"
	"fmt"
	"math"
	"os"
	"unsafe"
)

// Provider finds and opens devices of one kind. What it gives need check nothing that this package has checked:
// ranges, generations, devices.
type Provider interface {
	// Name is the provider's name, as in "cuda/0".
	Name() string
	// Devices lists what there is, also what cannot be used: State says why.
	Devices(ctx context.Context) ([]DeviceInfo, error)
	// Open opens a device by its Name.
	Open(ctx context.Context, name string) (Adapter, error)
}

// DeviceInfo is what is known of a device without using it.
type DeviceInfo struct {
	Provider string // set by this package
	Name     string // among the provider's: "0"
	Model    string // as the driver calls it
	PCI      string // domain:bus:device.function in hexadecimal, as sysfs has it; empty where it is not on PCI or not known
	Memory   uint64 // bytes of its own
	State    string // StateReady, or why it cannot be used
	Facts    Facts
}

// StateReady is the State of a device that can be opened.
const StateReady = "ready"

// Facts are what a device says of itself that decides what its memory is. Of what it does not say the
// answer is no.
type Facts struct {
	Integrated  bool // it has the host's memory
	HostMapped  bool // kernels reach pinned host memory in place
	SameAddress bool // and find it at the host's address
	Managed     bool // there is managed memory
	Concurrent  bool // which the host may touch while kernels run
	Pageable    bool // kernels reach any memory of the process
	HostTables  bool // through the host's page tables (ATS); else by faults (HMM)
	FineGrain   bool // host and kernels see each other's writes to shared memory without mapping it
	Exclusive   bool // while the host has any managed memory no kernel may run at all
	DMABuf      bool // its memory can be given to other devices as a dma-buf
	// FlushNeeded says that what another device wrote to its memory is seen by kernels only after a flush: see [Arrived].
	FlushNeeded bool
	// Window says how the host may map memory of the device; empty where it may not, and then NoWindow may say why.
	Window, NoWindow string
	// HostNode is the node of NUMA that it is nearest to; nil where the driver does not say it.
	HostNode *int
	// Read are the answers as they were read.
	Read []Fact
}

// Fact is an answer of a device, and which call gave it.
type Fact struct {
	Name  string
	Value int64
	From  string
}

// Kind is a kind of memory that is allocated.
type Kind uint8

// The kinds of memory.
const (
	DeviceMemory  Kind = iota + 1 // the device's own
	HostMemory                    // the host's, pinned and mapped into the device
	ManagedMemory                 // the driver moves it
	UnifiedMemory                 // coherent for both at any time
)

// String is what errors call the kind.
func (k Kind) String() string {
	switch k {
	case DeviceMemory:
		return "device memory"
	case HostMemory:
		return "pinned host memory"
	case ManagedMemory:
		return "managed memory"
	case UnifiedMemory:
		return "unified memory"
	}
	return "memory of an unknown kind"
}

// Adapter is an open device. Its methods may be called by several goroutines, on any thread. Errors are a [*CallError].
type Adapter interface {
	Info() DeviceInfo
	// Alloc gives n zeroed bytes, aligned as asked, a power of two.
	Alloc(kind Kind, n, align uintptr) (Memory, error)
	// Stream makes a queue whose operations are numbered by slots below depth.
	Stream(depth int) (Stream, error)
	// Load makes a program of its source, in the form that the provider takes.
	Load(source []byte) (Program, error)
	// Arrived makes what other devices wrote to this one's memory before visible to what is posted after.
	Arrived() error
	// Lost is why the device cannot be used any more, nil where it can.
	Lost() error
	// Close gives the device up. Nothing of it is in use, unless it is lost.
	Close() error
}

// Memory is allocated memory.
type Memory interface {
	// Host is where the processor finds it: nil for DeviceMemory.
	Host() unsafe.Pointer
	// Device is what kernels are given for it, or 0 where that is no number.
	Device() uint64
	// How says what calls made it what it is.
	How() string
	// Free gives it back. No operation uses it.
	Free() error
}

// Pinner is an [Adapter] that pins memory which it did not allocate.
type Pinner interface {
	// Pin pins n bytes of this process' memory, whole pages, and maps them into the device as HostMemory. Free of what it gives
	// unpins them; the memory itself stays the caller's.
	Pin(base unsafe.Pointer, n uintptr) (Memory, error)
}

// Acquirer is [Memory] of the kind ManagedMemory: all of it is one. No operation uses it when it is called.
type Acquirer interface {
	Acquire(ctx context.Context) error // the host may touch it
	Yield() error                      // the device has it again
}

// Mapper is [Memory] of the kind DeviceMemory that the host can map: a provider whose Facts have a Window. No operation uses it
// from Map to Unmap.
type Mapper interface {
	Map(ctx context.Context) (unsafe.Pointer, error)
	Unmap() error
}

// Exporter is [Memory] of the kind DeviceMemory that is given to other devices: a provider whose Facts say DMABuf.
type Exporter interface {
	// Export gives a dma-buf, whose file the caller closes, and where in it the memory begins.
	Export() (*os.File, uint64, error)
}

// Stream is a queue of a device: what is posted is done in order. One goroutine at a time calls its methods.
type Stream interface {
	// Copy posts a copy, as the operation of a slot that is free. When it fails nothing was posted.
	Copy(slot int, c *CopyWork) error
	// Launch posts a kernel in the same way.
	Launch(slot int, l *LaunchWork) error
	// Done reports whether the operation of a slot has ended, and why it failed. The slot is free then. It does
	// not wait. When the device is lost everything has ended.
	Done(slot int) (bool, error)
	// Close ends the queue. All slots are free.
	Close() error
}

// CopyWork is a copy. Of its sides one is the device's at least.
type CopyWork struct {
	Dst, Src Side
	Bytes    uintptr
}

// Side is where a copy goes to or comes from.
type Side struct {
	Mem  Memory         // of the adapter's; nil for other memory of the host's
	Host unsafe.Pointer // where the range begins, for the processor; nil in memory of the device
	Off  uintptr        // where it begins in Mem
}

// Program is what was loaded.
type Program interface {
	// Kernel finds one by its name.
	Kernel(name string) (Code, error)
	Close() error
}

// Code is a kernel of an adapter's: what it is only that knows. It goes with its program.
type Code any

// LaunchWork is a kernel that is to run.
type LaunchWork struct {
	Code Code
	Grid Grid
	Args []ArgWork
}

// ArgWork is an argument of a kernel: memory, or a number.
type ArgWork struct {
	Mem   Memory         // of the adapter's; nil for a number, or memory of the host's that kernels reach as it is
	Host  unsafe.Pointer // of the latter
	Off   uintptr        // into Mem
	Bytes uintptr        // of the range, or of the number: 1, 2, 4 or 8
	Bits  uint64         // the number, as it stands in memory
}

// Grid says how many instances of a kernel run: groups of threads, in three dimensions. A zero counts as one.
type Grid struct {
	Groups  [3]uint32 // CUDA: the grid, in blocks
	Threads [3]uint32 // of a group. CUDA: the block. OpenCL: the local size

	wrong error // why it is none: see [Line]
}

// Line is n threads in one dimension, in groups of so many; n that is no multiple makes a group more. [Launch] refuses what is no line: less than
// one thread ([ErrEmpty]), and more groups, or threads of a group, than a Grid can say ([ErrArgs]).
func Line(n, group int) Grid {
	if group == 0 {
		group = 1
	}
	switch {
	case n < 1:
		return Grid{wrong: fmt.Errorf("%w: a line of %d threads", ErrEmpty, n)}
	case group < 0 || uint64(group) > math.MaxUint32 || uint64((n-1)/group) >= math.MaxUint32:
		return Grid{wrong: fmt.Errorf("%w: a line of %d threads in groups of %d; there are at most %d of either", ErrArgs, n, group, uint32(math.MaxUint32))}
	}
	return Grid{Groups: [3]uint32{uint32((n-1)/group + 1)}, Threads: [3]uint32{uint32(group)}}
}
