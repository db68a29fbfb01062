package gpu_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/gpu"
	"github.com/fidelityframework/barewire-gen/runtime/gpu/internal/sample"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// onMachine has this machine's files be those of one with a GPU whose BAR 1 has so many bytes; sizes is what it can be resized to, as the
// kernel writes it, or empty.
func onMachine(t *testing.T, bar1 uint64, sizes string) {
	t.Helper()
	const dev = "sys/bus/pci/devices/0000:01:00.0/"
	lines := fmt.Sprintf("0xfb000000 0xfbffffff 0x40200\n0x%x 0x%x 0x14220c\n", uint64(0x4000000000), 0x4000000000+bar1-1) + strings.Repeat("0x0 0x0 0x0\n", 5)
	files := fstest.MapFS{}
	for name, text := range map[string]string{"class": "0x030200\n", "vendor": "0x10de\n", "device": "0x2330\n", "numa_node": "1\n", "resource": lines} {
		files[dev+name] = &fstest.MapFile{Data: []byte(text)}
	}
	if sizes != "" {
		files[dev+"resource1_resize"] = &fstest.MapFile{Data: []byte(sizes)}
	}
	m, err := platform.DetectFS(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(gpu.Detected(m))
}

// open opens a plain device that says of itself what info does.
func open(t testing.TB, info gpu.DeviceInfo) *gpu.Device {
	t.Helper()
	info.Name, info.State = "0", gpu.StateReady
	dev, err := gpu.Open(t.Context(), gpu.Config{Provider: plain{[]gpu.DeviceInfo{info}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	return dev
}

// TestNoWindow: who wants to map memory of a device that allows it not is told why, how large the BAR is, and what that is worth.
func TestNoWindow(t *testing.T) {
	for _, c := range []struct {
		bar   uint64
		sizes string
		pci   string
		says  []string
	}{
		{256 << 20, "0000000000003f00\n", "0000:01:00.0", []string{"BAR 1 of 0000:01:00.0 has 256 MiB for 8 GiB of the device's memory, and can be resized", "gives a program no pointer"}},
		{256 << 20, "", "0000:01:00.0", []string{"has 256 MiB for 8 GiB of the device's memory; of whatever size"}},
		{16 << 30, "", "0000:01:00.0", []string{"has 16 GiB, room for all 8 GiB of the device's memory; of whatever size, a BAR is the driver's, and gives a program no pointer"}},
		{16 << 30, "", "0000:07:00.0", nil}, // another device than the kernel has
		{16 << 30, "", "", nil},
	} {
		onMachine(t, c.bar, c.sizes)
		dev := open(t, gpu.DeviceInfo{PCI: c.pci, Memory: 8 << 30, Facts: gpu.Facts{NoWindow: "The driver is too old"}})
		r, err := gpu.New(dev, sample.BodyInGPU(), 4)
		if err != nil {
			t.Fatal(err)
		}
		_, err = gpu.Map(t.Context(), r)
		if !errors.Is(err, gpu.ErrNoWindow) {
			t.Fatal(err)
		}
		for _, s := range append(c.says, "plain/0: The driver is too old. ", "Use copies, or gpu.NewHost") {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%q does not say %q", err, s)
			}
		}
		if c.says == nil && strings.Contains(err.Error(), "BAR") {
			t.Errorf("%q says what nobody knows", err)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestNode: the node of a device is what its driver says, else what the kernel's files do.
func TestNode(t *testing.T) {
	onMachine(t, 256<<20, "")
	three, none := 3, -1
	for _, c := range []struct {
		info gpu.DeviceInfo
		want int
	}{
		{gpu.DeviceInfo{PCI: "0000:01:00.0", Facts: gpu.Facts{HostNode: &three}}, 3},
		{gpu.DeviceInfo{PCI: "0000:01:00.0", Facts: gpu.Facts{HostNode: &none}}, 1},
		{gpu.DeviceInfo{PCI: "0000:01:00.0"}, 1},
	} {
		if got, err := open(t, c.info).Node(); err != nil || got != c.want {
			t.Errorf("node %d, %v; want %d", got, err, c.want)
		}
	}
	dev := open(t, gpu.DeviceInfo{})
	if s, err := mempolicy.Allowed(); err == nil && len(s.All()) == 1 {
		if got, err := dev.Node(); err != nil || got != s.All()[0] {
			t.Errorf("the only node is %v: %d, %v", s.All(), got, err)
		}
	} else if _, err := dev.Node(); !errors.Is(err, gpu.ErrNotHere) {
		t.Errorf("a node that nobody says: %v", err)
	}
}

// TestNewHostAt: pinned memory is at each node that this process may have memory at, if that is what was asked for, and at no other. In the lab there
// are several.
func TestNewHostAt(t *testing.T) {
	all, err := mempolicy.Allowed()
	if err != nil {
		t.Skipf("this system places no memory: %v", err)
	}
	for _, node := range all.All() {
		dev := open(t, gpu.DeviceInfo{Facts: gpu.Facts{HostMapped: true, HostNode: &node}})
		for _, ask := range []int{node, gpu.Near} {
			r, err := gpu.NewHostAt(dev, ask, sample.BodyInCPU(), 1<<14)
			if errors.Is(err, mempolicy.ErrForbidden) {
				t.Skipf("this process may place no memory: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			at, err := barewire.Placement(r)
			if err != nil || at.Node != node {
				t.Errorf("asked for node %d, it is at %+v, %v", ask, at, err)
			}
			b, err := gpu.Backing(r)
			if want := fmt.Sprintf("plain, at node %d", node); err != nil || b.How != want || b.Kind != gpu.HostMemory {
				t.Errorf("backing: %+v, %v, want %q", b, err, want)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	dev := open(t, gpu.DeviceInfo{Facts: gpu.Facts{HostMapped: true}})
	if _, err := gpu.NewHostAt(dev, 777, sample.BodyInCPU(), 4); !errors.Is(err, barewire.ErrPlace) || !errors.Is(err, mempolicy.ErrNoNode) {
		t.Errorf("at a node that there is not: %v", err)
	}
	if _, err := gpu.NewHostAt(open(t, gpu.DeviceInfo{}), 0, sample.BodyInCPU(), 4); !errors.Is(err, gpu.ErrNotHere) {
		t.Errorf("on a device that maps no host memory: %v", err)
	}
}
