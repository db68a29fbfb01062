package gpu

import (
	"context"
	"fmt"
	"sync"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// machine is what the kernel's files say of this machine; nil where they could not be read. Tests take its place.
var machine = sync.OnceValue(func() *platform.Machine {
	m, err := platform.Detect(context.Background())
	if err != nil {
		return nil
	}
	return m
})

// onBus is a device as the kernel's files have it; nil where they have it not.
func onBus(m *platform.Machine, d *DeviceInfo) *platform.GPUDevice {
	if m == nil || d.PCI == "" {
		return nil
	}
	for i := range m.GPU.Devices {
		if m.GPU.Devices[i].Address == d.PCI {
			return &m.GPU.Devices[i]
		}
	}
	return nil
}

// barOf says how much of a device's memory its largest BAR covers, and what that is worth: "" where it is not known.
func barOf(m *platform.Machine, d *DeviceInfo) string {
	g := onBus(m, d)
	if g == nil {
		return ""
	}
	bar, ok := g.Largest()
	if !ok {
		return ""
	}
	s := fmt.Sprintf("BAR %d of %s has %s", bar.Number, d.PCI, platform.FormatBytes(bar.Size))
	switch {
	case d.Memory == 0:
	case bar.Size >= d.Memory:
		s += ", room for all " + platform.FormatBytes(d.Memory) + " of the device's memory"
	default:
		s += " for " + platform.FormatBytes(d.Memory) + " of the device's memory"
		if g.Resizable.Or(false) {
			s += ", and can be resized (\"Resizable BAR\" in the firmware's settings)"
		}
	}
	return s + "; of whatever size, a BAR is the driver's, and gives a program no pointer"
}

// Node is the node of NUMA that the device is nearest to: as the driver says, else as the kernel's files do, else the only one that there is.
// The error is [ErrNotHere] where nobody says it.
//
//barewire:effect looks=d
func (d *Device) Node() (int, error) {
	if d.none() {
		return 0, ErrNoDevice
	}
	if n := d.info.Facts.HostNode; n != nil && *n >= 0 {
		return *n, nil
	}
	if g := onBus(machine(), &d.info); g != nil && g.NUMANode.Or(-1) >= 0 {
		return g.NUMANode.Value, nil
	}
	if s, err := mempolicy.Allowed(); err == nil {
		if all := s.All(); len(all) == 1 {
			return all[0], nil
		}
	}
	return 0, wrap(ErrNotHere, "node: %s: neither the driver nor the kernel says which node of NUMA it is nearest to; name one", d.name)
}
