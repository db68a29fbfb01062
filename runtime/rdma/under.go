package rdma

import "github.com/fidelityframework/barewire-gen/runtime/platform"

// Under is the configuration with what a platform's says of devices: how to wait becomes the Mode, and
// where memory is to be near to an RDMA device, that is the Device, unless one is named already. nil changes nothing.
func (c Config) Under(r *platform.Resolved) Config {
	if r == nil {
		return c
	}
	c.Mode = map[platform.WaitMode]Mode{platform.WaitEvent: ByEvent, platform.WaitAdaptive: Adaptive, platform.WaitBusy: Busy}[r.Wait]
	if c.Device != "" || r.Device == "" || r.Machine == nil {
		return c
	}
	for _, d := range r.Machine.RDMA.Devices {
		if d.Name == r.Device || d.Address == r.Device {
			c.Device = d.Name
		}
	}
	return c
}
