package gpu

import (
	"fmt"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/region"
)

// Arrived makes what a network device wrote into memory of a GPU visible to operations on that which are posted after. Programs call it between the
// end of a transfer (an rdma.Read's Wait, a notification of a peer's write) and the copy or kernel that works on what came: a completion says that
// the data was handed to the GPU, not that the GPU sees it. Where the device orders such writes itself it costs nothing.
// Source: CUDA Driver API, cuFlushGPUDirectRDMAWrites.
//
// The error is [ErrNotHere] where the device wants an order that it lets nobody ask for from the host.
//
//barewire:effect uses=r
func Arrived[T barewire.Fixed[T], A barewire.Access](r *barewire.Region[T, barewire.GPU, A]) error {
	h, gen, err := barewire.Core(friend, r)
	if err != nil {
		return err
	}
	if err := h.Hold(gen); err != nil {
		return region.Doing("arrived", err)
	}
	defer h.Drop()
	m := memoryOf(h)
	if m == nil {
		return wrap(ErrNotHere, "arrived: %s is no memory of a GPU's allocator", h.Name())
	}
	if !m.dev.info.Facts.FlushNeeded {
		return nil
	}
	if err := m.dev.call(m.dev.ad.Arrived, nil); err != nil {
		return fmt.Errorf("gpu: arrived: %s on %s: %w", h.Name(), m.dev.name, err)
	}
	return nil
}
