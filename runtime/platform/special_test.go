package platform_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// What control groups allow, in the three forms that they had.
func TestAllowed(t *testing.T) {
	for name, want := range map[string]struct{ cpus, mems, usable string }{
		"16amd64-4n4c-cgroup-distance-merge": {"0-3", "2-3", "2-3"},
		"16amd64-8n2c-cpusets":               {"0-6,12-15", "1-4", "1-4"},
		"32amd64-4s2n4c-cgroup2":             {"0-5", "0-5", "0-5"},
		"cxl-stageB-sysram":                  {"0-3", "0-1,4", "0-1,4"},
		"fakememinitiators-1np2c+1npp+gi":    {"0-7", "5-10", "5-10"},
		"256ia64-64n2s2c":                    {"", "", "0-63"}, // nothing says
	} {
		n := captured(t, name).NUMA
		if n.CPUsAllowed.Value.String() != want.cpus || n.Allowed.Value.String() != want.mems || n.Usable().String() != want.usable {
			t.Errorf("%s: processors %s, nodes %s, usable %s; want %+v", name, n.CPUsAllowed, n.Allowed, n.Usable(), want)
		}
	}
}

// What nodes' memory is, and what is not known of it.
func TestKinds(t *testing.T) {
	for _, x := range []struct {
		machine      string
		node         int
		kind, likely platform.MemoryKind
		known        bool
	}{
		{"cxl-stageB-sysram", 4, platform.CXLMemory, platform.CXLMemory, true},
		{"cxl-stageB-sysram", 0, platform.PlainMemory, platform.PlainMemory, true},
		{"numa-9nodes-nocxl", 8, platform.PlainMemory, platform.PlainMemory, true}, // no processor, and not CXL
		{"nvidiagpunumanodes", 255, platform.GPUMemory, platform.GPUMemory, true},
		{"fakeheteromemtiers", 2, platform.SoftReserved, platform.HBM, true}, // it has processors
		{"fakeheteromemtiers", 6, platform.NVDIMM, platform.NVDIMM, true},
		{"fakememinitiators-1np2c+1npp+gi", 4, platform.NoMemory, platform.NoMemory, true},
		{"fakememinitiators-1np2c+1npp+gi", 7, platform.NVDIMM, platform.NVDIMM, true},
		{"nri-sample2-4dram4pmem", 4, platform.UnknownMemory, platform.UnknownMemory, false}, // PMEM, but no file says so
		{"128ia64-17n4s2c", 16, platform.UnknownMemory, platform.UnknownMemory, false},
	} {
		m := captured(t, x.machine)
		n, ok := m.NUMA.Node(x.node)
		if !ok || n.Kind.Value != x.kind || n.Likely.Value != x.likely || n.Kind.Known() != x.known {
			t.Errorf("%s, node %d: %s, likely %s; want %s, %s", x.machine, x.node, n.Kind, n.Likely, x.kind, x.likely)
		}
		if n.Kind.Known() != (n.Kind.Err == nil) {
			t.Errorf("%s, node %d: %+v", x.machine, x.node, n.Kind)
		}
	}
}

// Firmware may bring CXL memory up as a node by itself: then there is no dax device, and only its table tells. The tree is
// one that was captured, its dax devices taken away.
func TestNodeOfFirmwareByItsTable(t *testing.T) {
	fsys := tree(t, "cxl-stageB-sysram")
	for name := range fsys {
		if len(name) > 12 && name[:12] == "sys/bus/dax/" {
			delete(fsys, name)
		}
	}
	n, _ := in(t, fsys).NUMA.Node(4)
	if n.Kind.Value != platform.CXLMemory || n.Kind.Inferred == "" || n.Kind.From != "sys/firmware/acpi/tables/CEDT" {
		t.Errorf("with the table: %+v", n.Kind)
	}
	delete(fsys, "sys/firmware/acpi/tables/CEDT")
	for name := range fsys { // as if it could not be read: a tree without tables says nothing of them
		if len(name) > 22 && name[:23] == "sys/firmware/acpi/table" {
			delete(fsys, name)
		}
	}
	n, _ = in(t, fsys).NUMA.Node(4)
	if n.Kind.Known() || n.Kind.Value != platform.UnknownMemory {
		t.Errorf("without the table: %+v; it must not be guessed", n.Kind)
	}
}

func TestCXLByStages(t *testing.T) {
	for _, x := range []struct {
		machine                           string
		memdevs, ports, decoders, regions int
		mappable, nodes                   string
		none                              bool
	}{
		{"cxl-stage0-noregion", 3, 6, 19, 0, "[]", "", false},
		{"cxl-stageA-devdax", 3, 6, 19, 2, "[dax0.0]", "", false},
		{"cxl-stageB-sysram", 3, 6, 19, 2, "[dax0.0]", "4", false},
		{"numa-9nodes-nocxl", 0, 0, 0, 0, "[]", "", true}, // the bus is there, and empty
		{"nri-sample2-4dram4pmem", 0, 0, 0, 0, "[]", "", true},
	} {
		m := captured(t, x.machine)
		var names []string
		for _, d := range m.Mappable() {
			names = append(names, d.Name)
		}
		nodes := m.NUMA.OfKind(platform.MemoryKind.IsCXL)
		c := &m.CXL
		if len(c.Memdevs) != x.memdevs || len(c.Ports) != x.ports || len(c.Decoders) != x.decoders || len(c.Regions) != x.regions ||
			fmt.Sprint(names) != x.mappable || nodes.String() != x.nodes || errors.Is(c.Err, platform.ErrNoCXL) != x.none {
			t.Errorf("%s: %d memdevs, %d ports, %d decoders, %d regions, mappable %v, nodes %s, %v", x.machine,
				len(c.Memdevs), len(c.Ports), len(c.Decoders), len(c.Regions), names, nodes, c.Err)
		}
	}
	m := captured(t, "cxl-stageB-sysram")
	d, _ := m.DaxOf("dax1.0")
	if d.Region != "region1" || !d.Online || d.TargetNode.Value != 4 || d.Number.Value != "251:1" || d.Tag.Known() {
		t.Errorf("%+v", d)
	}
	mem, ok := m.CXL.BySerial(0x13)
	if !ok || mem.Address != "0000:e0:00.0" || mem.DVSEC.Or(0) != 3 {
		t.Errorf("%+v", mem)
	}
}

// TestTag: a dax device is known by its UUID where the kernel has one for it, as those of dynamic capacity will be; nothing and zeros are none.
func TestTag(t *testing.T) {
	const tag = "5afe11e5-ca5e-4000-8000-00000000000F"
	for text, want := range map[string]error{
		tag + "\n": nil, "\n": platform.ErrNotTold, "0\n": platform.ErrNotTold, "00000000-0000-0000-0000-000000000000\n": platform.ErrNotTold,
		"5afe\n": platform.ErrMalformed, tag[:35] + "x": platform.ErrMalformed, "-" + tag[1:]: platform.ErrMalformed,
	} {
		m := in(t, small(map[string]string{"sys/bus/dax/devices/dax7.0/uuid": text, "sys/bus/cxl/devices/region7/uuid": text}))
		d, ok := m.DaxOf("dax7.0")
		r, too := m.CXL.Region("region7")
		if !ok || !too {
			t.Fatalf("%+v, %+v", m.Dax, m.CXL)
		}
		for _, f := range []platform.Fact[string]{d.Tag, r.UUID} {
			if !errors.Is(f.Err, want) || want == nil && f.Value != tag {
				t.Errorf("%q: %+v, want %v", text, f, want)
			}
		}
	}
}

func TestRDMADevices(t *testing.T) {
	m := captured(t, "32em64t-2n8c+dax+nvme+mic+dimms")
	if len(m.RDMA.Devices) != 2 {
		t.Fatalf("%+v", m.RDMA)
	}
	d := m.RDMA.Devices[0]
	if d.Name != "mlx4_0" || d.Address != "0000:82:00.0" || d.NUMANode.Or(-1) != 1 || d.NodeType.Or("") != "CA" {
		t.Errorf("%+v", d)
	}
	// By hand, as drivers/infiniband/core/sysfs.c writes it: a RoCE port with three addresses, one of them not set.
	const dev = "sys/class/infiniband/rxe0"
	m = in(t, small(map[string]string{
		dev + "/node_type":                         "1: CA\n",
		dev + "/fw_ver":                            "\n",
		dev + "/ports/1/state":                     "4: ACTIVE\n",
		dev + "/ports/1/phys_state":                "5: LinkUp\n",
		dev + "/ports/1/link_layer":                "Ethernet\n",
		dev + "/ports/1/rate":                      "2.5 Gb/sec (1X SDR)\n",
		dev + "/ports/1/gids/0":                    "fe80:0000:0000:0000:5054:00ff:fe12:3456\n",
		dev + "/ports/1/gids/1":                    "0000:0000:0000:0000:0000:ffff:0a00:0002\n",
		dev + "/ports/1/gids/2":                    "0000:0000:0000:0000:0000:0000:0000:0000\n",
		dev + "/ports/1/gid_attrs/types/0":         "IB/RoCE v1\n",
		dev + "/ports/1/gid_attrs/types/1":         "RoCE v2\n",
		dev + "/ports/1/gid_attrs/ndevs/0":         "eth0\n",
		"sys/class/net/eth0/mtu":                   "1500\n",
		"sys/class/infiniband_verbs/uverbs0/ibdev": "rxe0\n",
	}))
	if len(m.RDMA.Devices) != 1 || len(m.RDMA.Devices[0].Ports) != 1 {
		t.Fatalf("%+v", m.RDMA)
	}
	d = m.RDMA.Devices[0]
	p := d.Ports[0]
	if d.Verbs != "/dev/infiniband/uverbs0" || !p.Active() || p.LinkLayer.Value != "Ethernet" || p.Netdev.Value != "eth0" || p.MTU.Value != 1500 ||
		len(p.GIDs) != 2 || p.GIDs[1].Type.Value != "RoCE v2" || p.GIDs[1].Index != 1 {
		t.Errorf("%+v", d)
	}
	if d.NUMANode.Known() || d.Address != "" {
		t.Errorf("a device of software is at node %s, at %q", d.NUMANode, d.Address)
	}
}

// gpuConfig is the configuration space of a device, made by hand after the PCI Express base specification: no machine with a
// GPU was at hand. A capability that is not ours stands first. sizes is for BAR 1, in bits from 1 MiB; 0 leaves the capability out.
func gpuConfig(sizes uint32) []byte {
	c := make([]byte, 4096)
	le := binary.LittleEndian
	le.PutUint16(c, platform.VendorNVIDIA)
	le.PutUint32(c[0x100:], 0x0001|2<<16|0x140<<20) // advanced error reporting, next at 0x140
	if sizes != 0 {
		le.PutUint32(c[0x100:], 0x0001|2<<16|0x200<<20)
		le.PutUint32(c[0x200:], 0x0015|1<<16|0<<20) // resizable BAR, the last
		le.PutUint32(c[0x204:], sizes<<4)
		le.PutUint32(c[0x208:], 1|1<<5|8<<8) // BAR 1, one BAR, 256 MiB now
	}
	return c
}

// The lines of the file resource of such a device: 16 MiB, 256 MiB or more of prefetchable memory, 32 MiB, ports.
func gpuResource(bar1 uint64) string {
	s := "0x00000000fb000000 0x00000000fbffffff 0x0000000000040200\n"
	s += fmt.Sprintf("0x%016x 0x%016x 0x000000000014220c\n", uint64(0x4000000000), 0x4000000000+bar1-1)
	s += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	s += "0x0000005000000000 0x0000005001ffffff 0x000000000014220c\n"
	s += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n"
	s += "0x0000000000003000 0x000000000000307f 0x0000000000040101\n"
	return s + "0x00000000fc000000 0x00000000fc07ffff 0x0000000000046200\n"
}

func TestResizableBAR(t *testing.T) {
	const dev = "sys/bus/pci/devices/0000:01:00.0"
	base := func(more map[string]string) fstest.MapFS {
		files := map[string]string{
			dev + "/class": "0x030200\n", dev + "/vendor": "0x10de\n", dev + "/device": "0x2330\n", dev + "/numa_node": "1\n",
			dev + "/resource": gpuResource(256 << 20),
		}
		for name, text := range more {
			files[name] = text
		}
		return small(files)
	}
	one := func(m *platform.Machine) platform.GPUDevice {
		t.Helper()
		if len(m.GPU.Devices) != 1 {
			t.Fatalf("%+v", m.GPU)
		}
		return m.GPU.Devices[0]
	}
	const kernel = "proc/sys/kernel/osrelease"

	g := one(in(t, base(map[string]string{dev + "/config": string(gpuConfig(1<<8 | 1<<17))})))
	bar, _ := g.Largest()
	if !g.Resizable.Or(false) || g.Resizable.From != dev+"/config" || bar.Number != 1 || bar.Size != 256<<20 || !bar.Prefetch || !bar.Wide ||
		fmt.Sprint(bar.Sizes) != fmt.Sprint([]uint64{256 << 20, 128 << 30}) {
		t.Errorf("with the capability: %+v, %+v", g.Resizable, bar)
	}
	if len(g.BARs.Value) != 3 || g.VendorName() != "NVIDIA" || !g.Computes() || g.NUMANode.Or(-1) != 1 {
		t.Errorf("%+v", g)
	}
	if g.VRAM.Known() || !errors.Is(g.VRAM.Err, platform.ErrNotTold) {
		t.Errorf("NVIDIA's driver writes the memory's size nowhere, and it is %s", g.VRAM)
	}

	g = one(in(t, base(map[string]string{dev + "/config": string(gpuConfig(0))})))
	if !g.Resizable.Known() || g.Resizable.Value {
		t.Errorf("without the capability: %+v", g.Resizable)
	}
	// What a reader without rights sees: 64 bytes.
	short := string(gpuConfig(1 << 8)[:64])
	g = one(in(t, base(map[string]string{dev + "/config": short, dev + "/resource1_resize": "0000000000020100\n", kernel: "6.1.0-9-amd64\n"})))
	if bar, _ := g.Largest(); !g.Resizable.Or(false) || g.Resizable.From != dev+"/resource1_resize" || len(bar.Sizes) != 2 {
		t.Errorf("with resource1_resize: %+v", g)
	}
	g = one(in(t, base(map[string]string{dev + "/config": short, kernel: "6.12.9-amd64\n"})))
	if !g.Resizable.Known() || g.Resizable.Value || g.Resizable.Inferred == "" {
		t.Errorf("without it, on a kernel that would show it: %+v", g.Resizable)
	}
	g = one(in(t, base(map[string]string{dev + "/config": short, kernel: "5.15.0\n"})))
	if g.Resizable.Known() || !errors.Is(g.Resizable.Err, fs.ErrPermission) {
		t.Errorf("on a kernel that shows nothing: %+v", g.Resizable)
	}

	// amdgpu and xe write the size of the memory.
	g = one(in(t, base(map[string]string{dev + "/vendor": "0x1002\n", dev + "/resource": gpuResource(16 << 30),
		dev + "/mem_info_vram_total": "17163091968\n", dev + "/mem_info_vis_vram_total": "17163091968\n"})))
	if g.VRAM.Or(0) != 17163091968 || g.VisibleVRAM.Or(0) != 17163091968 {
		t.Errorf("%+v", g)
	}
	fsys := base(map[string]string{dev + "/vendor": "0x8086\n", dev + "/tile0/physical_vram_size_bytes": "1000\n", dev + "/tile1/physical_vram_size_bytes": "24\n"})
	fsys[dev+"/driver"] = &fstest.MapFile{Data: []byte("../../../bus/pci/drivers/xe"), Mode: fs.ModeSymlink | 0o777}
	if g = one(in(t, fsys)); g.VRAM.Or(0) != 1024 || g.Driver.Or("") != "xe" {
		t.Errorf("%+v", g)
	}
}

func TestLimits(t *testing.T) {
	fsys := small(map[string]string{
		"proc/self/limits":                           "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1024                 1048576              files     \nMax locked memory         8388608              unlimited            bytes     \n",
		"proc/self/status":                           "Name:\tx\nCapEff:\t0000000000004000\nMems_allowed_list:\t0\n",
		"proc/meminfo":                               "MemTotal:       16384 kB\nMemAvailable:    8192 kB\n",
		"proc/self/auxv":                             "\x21\x00\x00\x00\x00\x00\x00\x00\x00\x30\x40\x64\xe7\x7f\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00",
		"proc/self/mounts":                           "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
		"proc/self/cgroup":                           "0::/a/b\n",
		"sys/fs/cgroup/a/memory.max":                 "4194304\n",
		"sys/fs/cgroup/a/b/memory.max":               "max\n",
		"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
		"sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages":   "8\n",
		"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "7\n",
		"proc/modules": "kmem 16384 0 - Live 0x0\n",
		"proc/version": "Linux version 6.12.9-amd64 (x) #1\n",
	})
	m := in(t, fsys)
	l := m.Limits
	if l.Memlock.Or(0) != 8<<20 || l.MemlockHard.Or(0) != platform.Unlimited || l.OpenFiles.Or(0) != 1024 || !l.IPCLock.Or(false) || l.Nice.Or(true) {
		t.Errorf("%+v", l)
	}
	if l.MayLock().Or(0) != platform.Unlimited {
		t.Errorf("with CAP_IPC_LOCK it may lock %s", l.MayLock())
	}
	if l.MemoryTotal.Or(0) != 16<<20 || l.PageSize.Or(0) != 64<<10 || l.Cgroup.Or(0) != 4<<20 || l.THP.Or("") != "madvise" {
		t.Errorf("memory %s, page %s, group %s, THP %s", l.MemoryTotal, l.PageSize, l.Cgroup, l.THP)
	}
	if len(l.HugePages) != 1 || l.HugePages[0].Size != 2<<20 || l.HugePages[0].Free.Or(0) != 7 {
		t.Errorf("%+v", l.HugePages)
	}
	if !m.Kernel.Module("kmem").Or(false) || m.Kernel.Module("siw").Or(true) || m.Kernel.Release.Or("") != "6.12.9-amd64" {
		t.Errorf("%+v", m.Kernel)
	}
}
