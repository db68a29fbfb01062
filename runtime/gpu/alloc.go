package gpu

import (
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// New allocates zeroed memory of the device for n elements. The processor has no pointer to it. Who called New
// closes the region, or registers it with a network device that takes it as a dma-buf (rdma.Register).
//
// The error is [barewire.ErrNoPlace], [ErrClosed], [barewire.ErrRange] for n below 1, or what the driver says: [barewire.ErrNoMemory] where the
// device has too little, [ErrLost] where it is lost.
//
//barewire:effect fresh=0 on ok, carves=0 of dev on ok
func New[T barewire.Fixed[T]](dev *Device, p barewire.Place[T, barewire.GPU], n int, opts ...barewire.Option) (*barewire.Region[T, barewire.GPU, barewire.Unregistered], error) {
	return mint(dev, p, DeviceMemory, barewire.InGPU, n, opts)
}

// NewHost allocates zeroed memory of the host for n elements, pinned and mapped into the device: kernels work on it in
// place, and copies of it are the fastest. It is the zero-copy buffer that any machine has; [Backing] says by which way. What a kernel and the processor
// may do with it at the same time is what the bus between them allows: wait for operations before the other has its turn.
//
// Beside the errors of [New] it is [ErrNotHere] where the device cannot reach host memory.
//
//barewire:effect fresh=0 on ok, carves=0 of dev on ok
func NewHost[T barewire.Fixed[T]](dev *Device, p barewire.Place[T, barewire.CPU], n int, opts ...barewire.Option) (*barewire.Region[T, barewire.CPU, barewire.Unregistered], error) {
	if !dev.none() && !dev.info.Facts.HostMapped {
		return nil, wrap(ErrNotHere, "new: %s maps no host memory; use gpu.New, and copies", dev.name)
	}
	return mint(dev, p, HostMemory, barewire.InCPU, n, opts)
}

// NewManaged allocates zeroed memory for n elements that the driver moves between host and device. The host reaches it between
// [Acquire] and [Release] only.
//
// Beside the errors of [New] it is [ErrNotHere] where the device has no such memory.
//
//barewire:effect fresh=0 on ok, carves=0 of dev on ok
func NewManaged[T barewire.Fixed[T]](dev *Device, p barewire.Place[T, barewire.Managed], n int, opts ...barewire.Option) (*barewire.Region[T, barewire.Managed, barewire.Unregistered], error) {
	if !dev.none() && !dev.info.Facts.Managed {
		return nil, wrap(ErrNotHere, "new: %s has no managed memory; use gpu.New, and copies", dev.name)
	}
	return mint(dev, p, ManagedMemory, barewire.InManaged, n, opts)
}

// NewUnified allocates zeroed memory for n elements that is coherent for the host and the witness's device at any time. The errors are
// those of [New], and [ErrNotCoherent] for the zero Witness.
//
//barewire:effect fresh=0 on ok
func NewUnified[T barewire.Fixed[T]](w Witness, p barewire.Place[T, barewire.Unified], n int, opts ...barewire.Option) (*barewire.Region[T, barewire.Unified, barewire.Unregistered], error) {
	if w.dev == nil {
		return nil, wrap(ErrNotCoherent, "new: the zero Witness witnesses nothing; Device.Witness gives one")
	}
	return mint(w.dev, p, UnifiedMemory, barewire.InUnified, n, opts)
}

// mint does what the functions above do.
func mint[T barewire.Fixed[T], R barewire.Residency](dev *Device, p barewire.Place[T, R], kind Kind, want barewire.Kind, n int, opts []barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	if dev.none() {
		return nil, wrap(ErrNoDevice, "new")
	}
	info, in, _, _, err := barewire.PlaceParts(friend, p)
	if err != nil {
		return nil, err
	}
	if in != want {
		return nil, fmt.Errorf("gpu: new: this place of %s is %s, and this allocator gives %s: use the place's allocator", info.Name, in, kind)
	}
	h, err := dev.allocate(kind, barewire.Gather(friend, info, n, opts))
	if err != nil {
		return nil, err
	}
	return barewire.Mint[T, R, barewire.Unregistered](friend, h, region.FirstGen), nil
}

// Witness is that a device was asked, and that host and device are coherent in its unified memory. [Device.Witness] gives it; the zero value
// witnesses nothing.
//
//barewire:type witness
type Witness struct {
	dev *Device
	how string
}

// Witness asks the device whether it has memory that the host may touch while kernels run. The error is [ErrNotCoherent] and says
// which answers stand against it. Devices of one machine may differ.
//
//barewire:effect looks=d
func (d *Device) Witness() (Witness, error) {
	if d.none() {
		return Witness{}, ErrNoDevice
	}
	f := d.info.Facts
	switch {
	case f.Managed && f.Concurrent && f.Pageable && f.HostTables:
		return Witness{d, "it uses the host's page tables (ATS)"}, nil
	case f.Managed && f.Concurrent:
		return Witness{d, "managed memory with concurrent access"}, nil
	case f.Pageable:
		return Witness{d, "it reaches pageable memory (HMM)"}, nil
	case f.FineGrain:
		return Witness{d, "shared memory of fine grain"}, nil
	}
	return Witness{}, wrap(ErrNotCoherent, "witness: %s: managed memory %v, with concurrent access %v, pageable memory %v, shared memory of fine grain %v; use gpu.NewManaged",
		d.name, f.Managed, f.Concurrent, f.Pageable, f.FineGrain)
}

// String says what was witnessed, of which device.
func (w Witness) String() string {
	if w.dev == nil {
		return "no witness"
	}
	return w.dev.name + ": " + w.how
}

// Back is what a region's memory is to its device.
type Back struct {
	Device string // cuda/0
	Kind   Kind
	How    string // which way was taken: the driver's calls, and what they gave
}

// Backing tells what memory of this package's a region has. The error is [ErrNotMapped] for regions of other allocators.
//
//barewire:effect uses=r
func Backing[T barewire.Fixed[T], R barewire.Residency, A barewire.Access](r *barewire.Region[T, R, A]) (Back, error) {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return Back{}, err
	}
	if err := h.Hold(gen); err != nil {
		return Back{}, region.Doing("backing", err)
	}
	defer h.Drop()
	m := memoryOf(h)
	if m == nil {
		return Back{}, wrap(ErrNotMapped, "backing: %s is no memory of a GPU's allocator", h.Name())
	}
	return Back{Device: m.dev.name, Kind: m.kind, How: m.how()}, nil
}
