// Package misuse has what must not compile: mistakes with memory of GPUs, by the numbers of the catalogue of such
// mistakes. Behind each line is the word that the compiler's message must have.
package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

type (
	device  = barewire.Region[sample.Body, barewire.GPU, barewire.Unregistered]
	host    = barewire.Region[sample.Body, barewire.CPU, barewire.Unregistered]
	managed = barewire.Region[sample.Body, barewire.Managed, barewire.Unregistered]
	unified = barewire.Region[sample.Body, barewire.Unified, barewire.Unregistered]
	cxl     = barewire.Region[sample.Body, barewire.CXL, barewire.Unregistered]
	tags    = barewire.Region[sample.Tag, barewire.CPU, barewire.Unregistered]
)

// 1, 2: memory of the device in the host's hands.
func touch(r *device, m *managed) {
	_, _ = barewire.Open(r)   // want "HostAddressable"
	_, _ = barewire.Open(m)   // want "HostAddressable"
	_ = barewire.With(r, nil) // want "HostAddressable"
	_, _ = gpu.OpenManaged(r) // want "Managed"
}

// 4: memory of the host where the device's is wanted; 6, 7, 8: a direction that the memory does not have.
func direction(q *gpu.Queue, r *device, h *host, u *unified, m *managed) {
	_, _ = gpu.CopyToDevice(q, gpu.All(h), gpu.All(r)) // want "GPU"
	_, _ = gpu.CopyToHost(q, gpu.All(r), gpu.All(h))   // want "GPU"
	_, _ = gpu.Copy(q, gpu.All(r), gpu.All(h))         // want "GPU"
	_, _ = gpu.Copy(q, gpu.All(u), gpu.All(u))         // want "GPU"
	_, _ = gpu.CopyToHost(q, gpu.All(m), gpu.All(r))   // want "HostAddressable"
	_, _ = gpu.CopyToHost(q, r, r)                     // want "Part"
}

// 5: an address is not asked for, and none is taken.
func address(r *device) {
	_ = gpu.Mem(uintptr(0)) // want "Part"
	_ = gpu.Num(r)          // want "Number"
}

// 15: unified memory takes a witness; what is not witnessed has another type.
func witness(dev *gpu.Device, m *managed) {
	_, _ = gpu.NewUnified(dev, sample.BodyInUnified(), 8) // want "Witness"
	_, _ = gpu.NewManaged(dev, sample.BodyInUnified(), 8) // want "Managed"
	_ = gpu.Witness{dev: dev}                             // want "dev"
	var _ *unified = m                                    // want "unified"
	_ = gpu.Shared(gpu.All(m))                            // want "Unified"
}

// 20: elements of another type; 3 cannot be written, since schemas have no pointers.
func types(q *gpu.Queue, r *device, t *tags) {
	_, _ = gpu.CopyToDevice(q, gpu.All(r), gpu.All(t)) // want "Tag"
}

// Memory that kernels do not reach, and places that are another allocator's.
func reach(dev *gpu.Device, c *cxl) {
	_ = gpu.Mem(gpu.All(c))                        // want "Reachable"
	_ = gpu.In(gpu.All(c))                         // want "Reachable"
	_, _ = gpu.New(dev, sample.BodyInCPU(), 8)     // want "CPU"
	_, _ = gpu.NewHost(dev, sample.BodyInGPU(), 8) // want "GPU"
}

// 23: what the host has mapped is not for network cards; the region is.
func card(dom *rdma.Domain, w gpu.Window[sample.Body, barewire.Unregistered], m *managed) {
	_, _ = rdma.Register(dom, w, sample.BodyRemoteRead()) // want "Window"
	_, _ = rdma.Register(dom, m, sample.BodyRemoteRead()) // want "Registrable"
}

// A window is no window of barewire's: there are no views, slices or atomics of it.
func window(w gpu.Window[sample.Body, barewire.Unregistered]) {
	_ = sample.BodyAt(w, 0)  // want "Window"
	_, _ = barewire.Slice(w) // want "Window"
}
