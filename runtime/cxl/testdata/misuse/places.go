package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/scratch/placed"
)

// Memory 32: what may be the machine's own memory is not of type CXL, and a place goes to its allocator.

func fallbacks(p *cxl.Pool) {
	var c *placed.SensorCXL[barewire.Unregistered]
	c, _ = cxl.New(p, placed.SensorInCXLOrUnified(), 1) // want "Unified"
	_, _ = c, p
	_, _ = cxl.New(p, placed.SensorInNUMA(), 1)     // want "NUMA"
	_, _ = cxl.New(p, placed.BlockInCXLShared(), 1) // want "CXLShared"
	_, _ = numa.New(0, placed.SensorInCXL(), 1)     // want "CXL"
	_, _ = numa.New(0, placed.SensorInCPU(), 1)     // want "CPU"
	_, _ = barewire.New(placed.SensorInCXL(), 1)    // want "CXL"
	_ = placed.NearInCXL()                          // want "NearInCXL"
}

// Memory 34: hosts that share without coherence have no view of the memory, and devices none of it either.

func shared(dom *rdma.Domain, r *placed.BlockCXLShared[barewire.Unregistered], g barewire.Grant[placed.Block, barewire.Local], b []byte) {
	_, _ = barewire.Open(r)                  // want "HostAddressable"
	_ = barewire.CopyOut(r, 0, b)            // want "HostAddressable"
	_, _ = rdma.Register(dom, r, g)          // want "Registrable"
	_, _ = cxl.Publish(r, 0, &placed.Mark{}) // want "Mark"
}

// Moving memory that a device has, or that is not of a node, is not for Migrate.

func moves(mr *placed.SensorNUMA[barewire.RemoteRead], c *placed.SensorCXL[barewire.Unregistered], u *placed.SensorUnified[barewire.Unregistered]) {
	_ = numa.Migrate(mr, 1) // want "RemoteRead"
	_ = numa.Migrate(c, 1)  // want "CXL"
	_ = numa.Migrate(u, 1)  // want "Unified"
}

// Memory 29: memory that was mapped by hand is no region, and none can be made of it.

func byHand(b []byte, r *placed.SensorCPU[barewire.Unregistered]) {
	_ = (*placed.SensorCXL[barewire.Unregistered])(r) // want "CXL"
	_ = placed.SensorCXL[barewire.Unregistered](b)    // want "cannot convert"
}
