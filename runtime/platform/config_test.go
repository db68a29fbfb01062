package platform_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// What configurations give on captured machines: what is used, or what is lacking.
func TestConfigure(t *testing.T) {
	for _, x := range []struct {
		name, machine string
		opts          []platform.Option
		want          string // what is used, or of an error each line
	}{
		{"nothing", "cxl-stageB-sysram", nil,
			"nodes 0-1,4, near [0 1], far [4], huge pages never, waiting event, memory 2.4 GiB, locked unlimited"},
		{"data science", "cxl-stageB-sysram", []platform.Option{platform.DataScience()},
			"nodes 0-1,4, near [0 1], far [4] from 512 MiB, huge pages try, waiting adaptive, memory 1.8 GiB, locked unlimited"},
		{"data science without CXL", "memorysidecaches", []platform.Option{platform.DataScience()},
			"nodes 0-3, near [0 1 2 3], far [] from 512 MiB, huge pages try, waiting adaptive, memory 1.1 TiB, locked unlimited; memory of the machine's own instead of a node of CXL memory"},
		{"low latency", "cxl-stageB-sysram", []platform.Option{platform.LowLatency()},
			"nodes 0-1,4, near [0 1], far [4], huge pages try, waiting busy, memory 2.4 GiB, locked unlimited; huge pages where the kernel makes some instead of free huge pages of 2 MiB"},
		{"embedded", "nvidia-dgx-gb10", []platform.Option{platform.EmbeddedHighPerformance()},
			"nodes 0, near [0], far [], huge pages never, waiting adaptive, memory 59.8 GiB, locked unlimited"},
		{"data center, bounded", "32amd64-4s2n4c-cgroup2", []platform.Option{platform.DataCenter(), platform.WithMemoryLimit(1 << 30)},
			"nodes 0-5, near [0 1], far [] from 512 MiB, huge pages try, waiting event, memory 1 GiB, locked unlimited; memory of the machine's own instead of CXL memory, as device-dax or as a node"},
		{"nodes", "48amd64-4pa2n6c-sparse", []platform.Option{platform.WithNUMA(platform.Topology{Only: platform.MakeIDs(33, 72), AtLeast: 8})},
			"nodes 33,72, near [33 72], far [], huge pages never, waiting event, memory 94.6 GiB, locked unlimited"},
		{"CXL of what is not there", "numa-9nodes-nocxl", []platform.Option{platform.WithCXL(platform.CXLNode, platform.CXLDevice)},
			"platform: no node of CXL memory: no CXL memory device (sys/bus/cxl/devices)\nplatform: no CXL memory device: no CXL memory device (sys/bus/cxl/devices)"},
		{"CXL that nobody has set up", "cxl-stage0-noregion", []platform.Option{platform.WithCXL()},
			"platform: no CXL memory, as device-dax or as a node: 3 memory devices, 0 regions; as root: cxl create-region, then daxctl reconfigure-device"},
		{"CXL that is a device and no node", "cxl-stageA-devdax", []platform.Option{platform.WithCXL(platform.CXLNode)},
			"platform: no node of CXL memory: 3 memory devices, 2 regions, dax0.0 with driver device_dax, dax1.0 with no driver; as root: daxctl reconfigure-device --mode=system-ram --no-movable dax0.0"},
		{"CXL as it is there", "cxl-stageB-sysram", []platform.Option{platform.WithCXL(platform.CXLDevice, platform.CXLRegion, platform.CXLMappable, platform.CXLNode, platform.CXLInterleave)},
			"nodes 0-1,4, near [0 1], far [4], huge pages never, waiting event, memory 2.4 GiB, locked unlimited"},
		{"nodes that are not allowed", "16amd64-8n2c-cpusets", []platform.Option{platform.WithNUMA(platform.Topology{Only: platform.MakeIDs(0, 1)})},
			"platform: no node 0 with memory: usable are 1-4 (online 0-7, allowed 1-4); see `cat /proc/self/status` for Mems_allowed_list, and cpuset.mems of the control group"},
		{"the same, if they are there", "16amd64-8n2c-cpusets", []platform.Option{platform.Optional(platform.WithNUMA(platform.Topology{Only: platform.MakeIDs(0, 1)}))},
			"nodes 1, near [1], far [], huge pages never, waiting event, memory unlimited, locked unlimited; the nodes that are usable instead of node 0 with memory"},
		{"a resizable BAR", "nvidiagpunumanodes", []platform.Option{platform.WithResizableBAR()}, "platform: no GPU with a resizable BAR: 0004:05:00.0 (NVIDIA)"},
		{"a resizable BAR, without a GPU", "cxl-stageB-sysram", []platform.Option{platform.WithResizableBAR()}, "platform: no GPU with a resizable BAR: no GPU"},
		{"more memory than there is", "nvidia-dgx-gb10", []platform.Option{platform.WithMemoryLimit(1 << 50)}, "memory 119.7 GiB, locked unlimited; 119.7 GiB instead of 1 PiB of memory"},
		{"a node that somebody knows", "128ia64-17n4s2c", []platform.Option{platform.WithMemoryKind(16, platform.CXLMemory), platform.WithLargeFar(1 << 20)}, "far [16] from 1 MiB"},
		{"a node that is not there", "128ia64-17n4s2c", []platform.Option{platform.WithMemoryKind(17, platform.CXLMemory)}, "platform: no node 17"},
		{"near a device", "32em64t-2n8c+dax+nvme+mic+dimms", []platform.Option{platform.WithNUMA(platform.Topology{Near: "mlx4_0"})}, "near [1 0]"},
		{"near nothing", "32em64t-2n8c+dax+nvme+mic+dimms", []platform.Option{platform.WithNUMA(platform.Topology{Near: "mlx5_9"})}, "platform: no node near mlx5_9: no RDMA device, GPU or CXL device is called that"},
		{"a mode of nothing", "cxl-stageB-sysram", []platform.Option{platform.WithWait(9)}, "platform: there is no wait mode 9"},
		{"huge pages of no mode", "cxl-stageB-sysram", []platform.Option{platform.WithHugePages(9)}, "platform: there is no mode 9 of huge pages"},
	} {
		r, err := platform.Configure(captured(t, x.machine), x.opts...)
		got := ""
		switch {
		case (r == nil) == (err == nil):
			t.Errorf("%s: %v and %v", x.name, r, err)
			continue
		case err != nil:
			got = err.Error()
			if !errors.Is(err, platform.ErrLacks) && !strings.Contains(x.name, "mode") {
				t.Errorf("%s: %v is no ErrLacks", x.name, err)
			}
		default:
			got = r.String()
		}
		if !strings.Contains(got, x.want) {
			t.Errorf("%s on %s:\n %s\nwant\n %s", x.name, x.machine, got, x.want)
		}
	}
}

// Reserved huge pages are those that allocators ask for: of 2 MiB.
func TestHugePages(t *testing.T) {
	const dir = "sys/kernel/mm/hugepages/hugepages-"
	large := map[string]string{dir + "1048576kB/free_hugepages": "4", dir + "2048kB/free_hugepages": "0"}
	must := platform.WithHugePages(platform.HugeMust)
	if r, err := platform.Configure(in(t, small(large)), must); !errors.Is(err, platform.ErrLacks) {
		t.Errorf("with pages of 1 GiB only: %v, %v", r, err)
	}
	large[dir+"2048kB/free_hugepages"] = "1"
	if r, err := platform.Configure(in(t, small(large)), must); err != nil || r.HugePages != platform.HugeMust || r.HugeSize != 2<<20 {
		t.Errorf("with one of 2 MiB: %v, %v", r, err)
	}
}

// The typed answers are in the error.
func TestLacksAreTyped(t *testing.T) {
	m := captured(t, "numa-9nodes-nocxl")
	_, err := platform.Configure(m, platform.WithCXL(platform.CXLNode), platform.WithResizableBAR(), platform.WithNUMA(platform.Topology{AtLeast: 3}))
	var lack *platform.Lack
	if !errors.Is(err, platform.ErrNoCXL) || !errors.Is(err, platform.ErrNoGPU) || !errors.Is(err, platform.ErrLacks) || !errors.As(err, &lack) {
		t.Errorf("%v", err)
	}
	if n := strings.Count(err.Error(), "\n") + 1; n != 3 {
		t.Errorf("three things are lacking, and it has %d lines: %v", n, err)
	}
	if r, err := platform.Configure(nil); r != nil || err == nil {
		t.Errorf("no machine: %v, %v", r, err)
	}
}

// A configuration from a machine resolves on it, without fallbacks.
func TestFromDetected(t *testing.T) {
	for _, name := range machines.Names() {
		m := captured(t, name)
		r, err := platform.Configure(m, platform.FromDetected(m))
		if err != nil || len(r.Fallbacks) > 0 && m.NUMA.CPUsAllowed.Value.Len() != 1 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
	rich, poor := captured(t, "cxl-stageB-sysram"), captured(t, "numa-9nodes-nocxl")
	if _, err := platform.Configure(poor, platform.FromDetected(rich)); !errors.Is(err, platform.ErrNoCXL) {
		t.Errorf("what one machine has, on a lesser: %v", err)
	}
}

// Options compose, and a configuration is a value.
func TestConfigIsAValue(t *testing.T) {
	m := captured(t, "cxl-stageB-sysram")
	base := platform.NewConfig(platform.WithCXL(platform.CXLNode), platform.WithMemoryKind(0, platform.PlainMemory))
	one := base.With(platform.WithCXL(platform.CXLDurable), platform.WithMemoryKind(1, platform.CXLMemory))
	if _, err := one.Resolve(m); !errors.Is(err, platform.ErrLacks) {
		t.Errorf("no device has persistent memory: %v", err)
	}
	if r, err := base.Resolve(m); err != nil || fmt.Sprint(r.Far) != "[4]" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestPlace(t *testing.T) {
	r, err := platform.Configure(captured(t, "cxl-stageB-sysram"), platform.WithLargeFar(256<<20))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		bytes uint64
		nodes string
		why   string
	}{
		{1 << 20, "[0 1]", "near the processors"},
		{256 << 20, "[4 0 1]", "from 256 MiB on buffers lie at CXL nodes"},
		{1 << 40, "[0 1]", "no CXL node has 1 TiB free"},
	} {
		if nodes, why := r.Place(x.bytes); fmt.Sprint(nodes) != x.nodes || why != x.why {
			t.Errorf("%d bytes: %v, %s; want %s, %s", x.bytes, nodes, why, x.nodes, x.why)
		}
	}
}

func TestFormatBytes(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 B", 1023: "1023 B", 1024: "1 KiB", 1536: "1.5 KiB", 1 << 30: "1 GiB", 1<<62 + 1: "4.0 EiB", platform.Unlimited: "unlimited"} {
		if got := platform.FormatBytes(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}

func TestReserve(t *testing.T) {
	r, err := platform.Configure(captured(t, "cxl-stageB-sysram"), platform.WithMemoryLimit(1000))
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	releases := make(chan func(), 100)
	for range 100 {
		all.Add(1)
		go func() {
			defer all.Done()
			if release, err := r.Reserve(100); err == nil {
				releases <- release
			} else if !errors.Is(err, platform.ErrMemoryLimit) {
				t.Error(err)
			}
		}()
	}
	all.Wait()
	close(releases)
	if len(releases) != 10 || r.Reserved() != 1000 {
		t.Errorf("%d of 10 were given, %d bytes", len(releases), r.Reserved())
	}
	for release := range releases {
		release()
		release()
	}
	if r.Reserved() != 0 {
		t.Errorf("%d bytes are left", r.Reserved())
	}
	if _, err := r.Reserve(1<<64 - 1); !errors.Is(err, platform.ErrMemoryLimit) {
		t.Errorf("all there is: %v", err)
	}
	var none *platform.Resolved
	if release, err := none.Reserve(5); err != nil {
		t.Errorf("no configuration has no limit: %v", err)
	} else {
		release()
	}
}

// TestNoConfiguration: a nil configuration, and one that nothing was resolved for, allow all and name nothing.
func TestNoConfiguration(t *testing.T) {
	for name, r := range map[string]*platform.Resolved{"nil": nil, "zero": {}} {
		if n := r.Reserved(); n != 0 {
			t.Errorf("%s: %d bytes are reserved", name, n)
		}
		if err := r.MayLie(3); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if nodes, why := r.Place(1 << 40); len(nodes) != 0 || why == "" {
			t.Errorf("%s: at %v, for %q", name, nodes, why)
		}
		if r.String() == "" {
			t.Errorf("%s has no name", name)
		}
	}
}
