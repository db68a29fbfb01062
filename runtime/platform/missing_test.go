package platform_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// What is missing on machines that were captured, and on made ones: what is said, with what to do.
func TestMissing(t *testing.T) {
	const pci, ib, gpu = "sys/bus/pci/devices", "sys/class/infiniband/mlx5_0", "sys/bus/pci/devices/0000:41:00.0"
	made := func(content map[string]string) func(*testing.T) *platform.Machine {
		return func(t *testing.T) *platform.Machine { return in(t, small(content)) }
	}
	of := func(name string) func(*testing.T) *platform.Machine {
		return func(t *testing.T) *platform.Machine { return captured(t, name) }
	}
	for name, x := range map[string]struct {
		machine func(*testing.T) *platform.Machine
		asked   string
		remedy  string // empty: it is not said
	}{
		"memory that is in no region":     {of("cxl-stage0-noregion"), "a region of mem2 (512 MiB)", "cxl create-region -m -t ram -d decoder0.0 mem2"},
		"memory that is in one":           {of("cxl-stageA-devdax"), "a region of mem2", ""},
		"a dax device without a driver":   {of("cxl-stageA-devdax"), "a driver of dax1.0", "daxctl reconfigure-device --mode=devdax dax1.0"},
		"one with a driver":               {of("cxl-stageB-sysram"), "a driver of dax1.0", ""},
		"movable memory":                  {of("fakeheteromemtiers"), "registered memory at node 6", "daxctl online-memory --no-movable dax5.0"},
		"nodes that are not allowed":      {of("16amd64-8n2c-cpusets"), "memory of nodes 0,5-7", "cpuset.mems"},
		"a CXL device without a driver":   {made(map[string]string{pci + "/0000:0d:00.0/class": "0x050210"}), "a driver of the CXL device 0000:0d:00.0", "modprobe cxl_pci"},
		"no RDMA":                         {made(map[string]string{"sys/class/net/eth0/mtu": "1500"}), "an RDMA device", "rdma link add rxe0"},
		"a port that is down":             {made(map[string]string{ib + "/ports/1/state": "1: DOWN", ib + "/ports/1/link_layer": "InfiniBand"}), "traffic on mlx5_0, port 1", "cable"},
		"a port of Ethernet that is down": {made(map[string]string{ib + "/ports/1/state": "1: DOWN", ib + "/ports/1/gids/0": "fe80::1", ib + "/ports/1/gid_attrs/ndevs/0": "eth7"}), "traffic on mlx5_0", "ip link set eth7 up"},
		"no file of verbs":                {made(map[string]string{ib + "/node_type": "1: CA"}), "the file of mlx5_0", "modprobe ib_uverbs"},
		"a module that is not loaded":     {made(map[string]string{ib + "/node_type": "1: CA", "proc/modules": "mlx5_ib 1 0 - Live 0x0\n"}), "connections by addresses", "modprobe rdma_ucm"},
		"that is loaded":                  {made(map[string]string{ib + "/node_type": "1: CA", "proc/modules": "rdma_ucm 1 0 - Live 0x0\n"}), "connections by addresses", ""},
		"a GPU without a driver":          {made(map[string]string{gpu + "/class": "0x030200", gpu + "/vendor": "0x10de"}), "a driver of the GPU 0000:41:00.0 (NVIDIA)", "install"},
		"managed memory":                  {made(map[string]string{gpu + "/class": "0x030200", gpu + "/vendor": "0x10de", "proc/modules": "nvidia 1 0 - Live 0x0\n"}), "managed memory", "modprobe nvidia_uvm"},
		"a small BAR": {made(map[string]string{gpu + "/class": "0x030000", gpu + "/vendor": "0x1002", gpu + "/resource": gpuResource(256 << 20), gpu + "/mem_info_vram_total": "17163091968"}),
			"a BAR over all memory of 0000:41:00.0", "Resizable BAR"},
		"a BAR over all": {made(map[string]string{gpu + "/class": "0x030000", gpu + "/vendor": "0x1002", gpu + "/resource": gpuResource(16 << 30), gpu + "/mem_info_vram_total": "17163091968"}),
			"a BAR over all memory", ""},
		"little locked memory": {made(map[string]string{"proc/self/limits": "Max locked memory  8388608 8388608 bytes\n"}), "more locked memory", "ulimit -l unlimited"},
		"much of it":           {made(map[string]string{"proc/self/limits": "Max locked memory  unlimited unlimited bytes\n"}), "more locked memory", ""},
		"huge pages":           {made(map[string]string{"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "0"}), "free huge pages", "nr_hugepages"},
		"some of them":         {made(map[string]string{"sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages": "1"}), "free huge pages", ""},
		"no sysfs":             {made(nil), "nodes and devices", "mount -t sysfs"},
		"no RDMA without it":   {made(nil), "an RDMA device", ""},
		"another pool":         {made(map[string]string{"sys/kernel/mm/hugepages/hugepages-524288kB/free_hugepages": "0"}), "free huge pages", "echo 2 > /sys/kernel/mm/hugepages/hugepages-524288kB/nr_hugepages"},
		"transparent ones":     {made(map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]"}), "transparent huge pages", "echo madvise"},
		"those of memory files": {made(map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never", "sys/kernel/mm/transparent_hugepage/shmem_enabled": "always within_size advise [never] deny force"}),
			"huge pages of memory files", "echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled"},
		"files have some": {made(map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never", "sys/kernel/mm/transparent_hugepage/shmem_enabled": "always within_size [advise] never deny force"}),
			"huge pages of memory files", ""},
		"none has some": {made(map[string]string{"sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]", "sys/kernel/mm/transparent_hugepage/shmem_enabled": "always within_size advise [never] deny force"}),
			"huge pages of memory files", ""},
	} {
		said := ""
		for _, l := range x.machine(t).Missing() {
			if strings.HasPrefix(l.Asked, x.asked) {
				said = l.Remedy
			}
			if l.Asked == "" || l.Why == "" || l.Remedy == "" {
				t.Errorf("%s: %+v", name, l)
			}
		}
		if (said == "") != (x.remedy == "") || !strings.Contains(said, x.remedy) {
			t.Errorf("%s: the remedy is %q, want %q", name, said, x.remedy)
		}
	}
}

// What each residency gets.
func TestResidencies(t *testing.T) {
	for _, x := range []struct {
		machine, residency, gets, why string
	}{
		{"cxl-stageB-sysram", "numa", "memory bound to one of nodes 0-1,4", ""},
		{"cxl-stageB-sysram", "cxl", "memory bound to node 4; /dev/dax0.0, 512 MiB, for who may open it", ""},
		{"cxl-stageA-devdax", "cxl_shared", "/dev/dax0.0, for who may open it", "no file tells whether other hosts see it"},
		{"cxl-stage0-noregion", "cxl_shared", "", "or a file, which is not looked for: 3 memory devices"},
		{"cxl-stage0-noregion", "cxl", "", "3 memory devices, 0 regions"},
		{"numa-9nodes-nocxl", "cxl", "", "no CXL memory device"},
		{"nvidiagpunumanodes", "gpu", "memory of NVIDIA 0004:05:00.0", "if its driver's library is there"},
		{"nvidiagpunumanodes", "managed", "memory of NVIDIA", "if the driver says"},
		{"32em64t-2n8c+dax+nvme+mic+dimms", "gpu", "", "do not compute"},
		{"offline-cpu0-node0", "numa", "memory of node 1, the only one", ""},
		{"offline-cpu0-node0", "unified", "the machine's own memory", "no GPU on the PCI bus could give more"},
		{"offline-cpu0-node0", "gpu", "", "OpenCL on processors (PoCL), which needs none, is not looked for"},
	} {
		for _, r := range captured(t, x.machine).Residencies() {
			if r.Name == x.residency && (!strings.HasPrefix(r.Gets, x.gets) || (r.Gets == "") != (x.gets == "") || !strings.Contains(r.Why, x.why)) {
				t.Errorf("%s: %+v; want %q, %q", x.machine, r, x.gets, x.why)
			}
		}
	}
}

// TestManagedOfOpenCL: managed memory is not CUDA's alone.
func TestManagedOfOpenCL(t *testing.T) {
	m := &platform.Machine{GPU: platform.GPUs{Devices: []platform.GPUDevice{{Address: "0000:03:00.0", Class: 0x030000}}}}
	m.GPU.Devices[0].Vendor = platform.Fact[uint16]{Value: platform.VendorAMD, From: "vendor"}
	if r := m.Residencies()[5]; r.Name != "managed" || r.Gets != "memory of AMD 0000:03:00.0" || !strings.Contains(r.Why, "OpenCL") {
		t.Errorf("%+v", r)
	}
}

// TestResidencyOfNoNode: where no node is known to have memory, none is named, and the processor's memory is there all the same.
func TestResidencyOfNoNode(t *testing.T) {
	m := in(t, small(map[string]string{"sys/devices/system/node/node0/meminfo": "\x00"}))
	if r := m.Residencies()[0]; r.Name != "cpu" || r.Gets != "the machine's own memory" {
		t.Errorf("%+v", r)
	}
}

// A directory that is there and cannot be listed is said to be.
func TestUnread(t *testing.T) {
	fsys := closedDirs{small(map[string]string{"sys/class/infiniband/mlx5_0/ports/1/state": "4: ACTIVE"}), "sys/class/infiniband/mlx5_0/ports"}
	m := in(t, fsys)
	if len(m.RDMA.Devices) != 1 || len(m.Unread) != 1 || m.Unread[0] != (platform.Unread{Path: fsys.dir, Why: "not permitted"}) {
		t.Errorf("%+v, %+v", m.RDMA, m.Unread)
	}
}

// closedDirs is a tree with a directory that nobody may list.
type closedDirs struct {
	fstest.MapFS
	dir string
}

func (c closedDirs) Open(name string) (fs.File, error) {
	if name == c.dir {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return c.MapFS.Open(name)
}
