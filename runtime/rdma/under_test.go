package rdma_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// TestUnder: what a platform's configuration says of waiting and of the device is used.
func TestUnder(t *testing.T) {
	fsys, err := machines.FS("32em64t-2n8c+dax+nvme+mic+dimms") // with mlx4_0
	if err != nil {
		t.Fatal(err)
	}
	m, err := platform.DetectFS(t.Context(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		near   string
		wait   platform.WaitMode
		given  rdma.Config
		mode   rdma.Mode
		device string
	}{
		{"", platform.WaitEvent, rdma.Config{Mode: rdma.Busy}, rdma.ByEvent, ""},
		{"", platform.WaitAdaptive, rdma.Config{}, rdma.Adaptive, ""},
		{"mlx4_0", platform.WaitBusy, rdma.Config{}, rdma.Busy, "mlx4_0"},
		{"0000:82:00.0", platform.WaitBusy, rdma.Config{}, rdma.Busy, "mlx4_0"},
		{"mlx4_0", platform.WaitBusy, rdma.Config{Device: "soft"}, rdma.Busy, "soft"},
	} {
		r, err := platform.Configure(m, platform.WithWait(x.wait), platform.WithNUMA(platform.Topology{Near: x.near}))
		if err != nil {
			t.Fatal(err)
		}
		if c := x.given.Under(r); c.Mode != x.mode || c.Device != x.device {
			t.Errorf("%+v: mode %d, device %q", x, c.Mode, c.Device)
		}
	}
	if c := (rdma.Config{Mode: rdma.Busy}).Under(nil); c.Mode != rdma.Busy {
		t.Error("no configuration changes something")
	}
}
