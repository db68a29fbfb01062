package platform

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
)

// Whatever a file holds, its parser gives a value or an error, and never both.
func FuzzParsers(f *testing.F) {
	for _, seed := range []string{
		"0-3,8", "00000000,0000000f", "10 21 20", "Node 0 MemTotal:  985700 kB\nMemFree: 1 kB\n", "4: ACTIVE", "always [madvise] never",
		"Node:      255\nStatus:    online\n", "0x1 0x2 0x200\n0x0 0x0 0x0\n", "0000000000020100", "0x10de", "8000000", "max",
		"Limit  Soft  Hard\nMax locked memory  8 unlimited bytes\n", "CEDT\x28\x00\x00\x00", "../../../devices/platform/hmem.0/dax0.0",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s := string(b)
		if ids, err := ParseIDs(s); err != nil {
			if !ids.Empty() {
				t.Error("a set and an error")
			}
		} else if again, err := ParseIDs(ids.String()); err != nil || !again.Equal(ids) {
			t.Errorf("%q is %s, which is %s, %v", s, ids, again, err)
		}
		if ids, err := parseMask(s); err == nil && len(ids.runs) > 16*len(b)+16 {
			t.Error("a set larger than its mask")
		}
		distances, err := parseDistances(s, []int{0, 1, 4})
		if (err == nil) != (len(distances) == 3) {
			t.Errorf("%v, %v", distances, err)
		}
		if fact := meminfoLine(b, nil, "x", "MemTotal:"); fact.Known() == (fact.Err != nil) {
			t.Errorf("%+v", fact)
		}
		if bars, err := parseBARs(s); err == nil {
			for _, b := range bars {
				if b.Size == 0 || b.Number > 5 {
					t.Errorf("%+v", b)
				}
			}
		}
		if windows, err := parseCEDT(b); err == nil && len(windows) > len(b)/24 {
			t.Errorf("%d windows", len(windows))
		}
		n := 0
		extended(b, func(id uint16, at int) {
			n++
			if id == capReBAR {
				resizable(b, at)
			}
		})
		if n > configFull/4 {
			t.Errorf("%d capabilities", n)
		}
		_, _ = parseResize(s)
		_, _ = parseID16(s)
		_, _ = parseNumaStatus(s)
		_, _ = behindColon(s)
		_, _ = bracketed(s)
		_, _ = parseMax(s)
		_, _ = limitOf(s, "Max locked memory", 1)
		if kind, err := daxKind(s); (err == nil) != (kind != UnknownMemory) {
			t.Errorf("%s, %v", kind, err)
		}
		if name, err := interfaceName(s); err == nil && strings.Contains(name, "/") {
			t.Errorf("%q is no interface", name)
		}
	})
}

// fuzzPaths is files of a small machine; input has a byte for the file, one for its length, and the content.
var fuzzPaths = []string{
	nodeDir + "/online", nodeDir + "/possible", nodeDir + "/has_memory", nodeDir + "/has_normal_memory",
	nodeDir + "/node0/cpumap", nodeDir + "/node0/cpulist", nodeDir + "/node0/meminfo", nodeDir + "/node0/distance", nodeDir + "/node0/memory3/x",
	nodeDir + "/node9/cpumap", nodeDir + "/node9/meminfo", nodeDir + "/node9/distance", nodeDir + "/node9/memory7",
	nodeDir + "/node9/access1/initiators/read_bandwidth", nodeDir + "/node9/access1/initiators/node0/x",
	nodeDir + "/node9/hugepages/hugepages-2048kB/nr_hugepages", nodeDir + "/node9/memory_side_cache/index1/size",
	"sys/devices/system/cpu/online", "sys/devices/system/memory/block_size_bytes", tierDir + "/memory_tier4/nodelist",
	cedt, cxlDir + "/mem0/serial", cxlDir + "/mem0/ram/size", cxlDir + "/region0/size", cxlDir + "/region0/target0", cxlDir + "/decoder0.0/devtype",
	cxlDir + "/region0/dax_region0/dax0.0/size", daxDir + "/dax0.0/size", daxDir + "/dax0.0/target_node", "sys/bus/dax/drivers/kmem/dax0.0",
	pciDir + "/0000:01:00.0/class", pciDir + "/0000:01:00.0/vendor", pciDir + "/0000:01:00.0/resource", pciDir + "/0000:01:00.0/config",
	pciDir + "/0000:01:00.0/resource1_resize", "proc/driver/nvidia/gpus/0000:01:00.0/numa_status",
	ibDir + "/rxe0/node_type", ibDir + "/rxe0/ports/1/state", ibDir + "/rxe0/ports/1/gids/0", ibDir + "/rxe0/ports/1/gid_attrs/ndevs/0",
	verbsDir + "/uverbs0/ibdev", "proc/self/status", "proc/self/limits", "proc/self/auxv", "proc/self/mounts", "proc/self/cgroup", "proc/meminfo",
	"proc/modules", "proc/version", "sys/kernel/mm/transparent_hugepage/enabled", "sys/kernel/mm/transparent_hugepage/shmem_enabled", "cg/cpuset.mems.effective", "cg/memory.max",
}

// fuzzTree makes a tree of input. Every other number is a link instead.
func fuzzTree(b []byte) fstest.MapFS {
	fsys := fstest.MapFS{"sys": {Mode: fs.ModeDir}}
	for len(b) >= 2 {
		n := min(int(b[1]), len(b)-2)
		f := &fstest.MapFile{Data: bytes.Clone(b[2 : 2+n]), Mode: 0o444}
		if b[0]&0x80 != 0 {
			f.Mode = fs.ModeSymlink
		}
		fsys[fuzzPaths[int(b[0]&0x7f)%len(fuzzPaths)]] = f
		b = b[2+n:]
	}
	return fsys
}

// Whatever a small tree holds, there is a machine, whose facts have a value or a reason; configuring it gives a result or an error.
func FuzzTree(f *testing.F) {
	seed := func(files map[string]string) {
		var b []byte
		for i, path := range fuzzPaths {
			if text, ok := files[path]; ok {
				b = append(append(b, byte(i), byte(len(text))), text...)
			}
		}
		f.Add(b)
	}
	seed(map[string]string{
		nodeDir + "/online": "0,9", nodeDir + "/node0/cpumap": "3", nodeDir + "/node0/meminfo": "MemTotal: 9 kB\nMemFree: 1 kB\n", nodeDir + "/node0/distance": "10 20",
		nodeDir + "/node9/cpumap": "0", nodeDir + "/node9/meminfo": "MemTotal: 9 kB\n", nodeDir + "/node9/memory7": "",
		"sys/devices/system/memory/block_size_bytes": "8000000", daxDir + "/dax0.0/target_node": "9", "sys/bus/dax/drivers/kmem/dax0.0": "",
		"proc/self/mounts": "cgroup2 /cg cgroup2 rw 0 0\n", "proc/self/cgroup": "0::/\n", "cg/cpuset.mems.effective": "0", "cg/memory.max": "1000",
	})
	seed(map[string]string{
		pciDir + "/0000:01:00.0/class": "0x030000", pciDir + "/0000:01:00.0/resource": "0x0 0x0 0x0\n0x1000 0x1fff 0x200\n", pciDir + "/0000:01:00.0/resource1_resize": "ff",
		ibDir + "/rxe0/ports/1/state": "4: ACTIVE", ibDir + "/rxe0/ports/1/gids/0": "fe80::1", ibDir + "/rxe0/ports/1/gid_attrs/ndevs/0": "eth0",
		cxlDir + "/mem0/serial": "0x11", cxlDir + "/region0/size": "0x100", cedt: "CEDT\x28\x00\x00\x00",
	})
	f.Fuzz(func(t *testing.T, b []byte) {
		tree := fuzzTree(b)
		m, err := DetectFS(context.Background(), tree)
		if err != nil { // the root itself is a link, and nothing else is an error
			if _, unread := fs.ReadDir(tree, "."); unread == nil || m != nil {
				t.Errorf("%v, but the root can be read (%v); %v", err, unread, m)
			}
			return
		}
		// What is worked out of facts stands on whatever they are.
		m.Residencies()
		m.Missing()
		for _, preset := range []Option{DataScience(), LowLatency(), EmbeddedHighPerformance(), DataCenter(), FromDetected(m)} {
			if r, err := Configure(m, preset, WithCXL(), WithResizableBAR(), WithNUMA(Topology{Only: MakeIDs(0, 9), Near: "rxe0"})); (r == nil) == (err == nil) {
				t.Errorf("%v and %v", r, err)
			} else if r != nil {
				r.Place(1 << 30)
				_ = r.String()
			}
		}
		// Single questions have the same answers.
		nodes := NodesIn(tree)
		for _, n := range m.NUMA.Nodes {
			if got := nodes.CPUs(n.ID); got.String() != n.CPUs.String() && n.CPUs.From != n.Path {
				t.Errorf("node %d: processors %v, asked alone %v", n.ID, n.CPUs, got)
			}
			if got := nodes.Distances(n.ID); got.Known() && len(got.Value) != len(n.Distances.Value) {
				t.Errorf("node %d: distances %v, asked alone %v", n.ID, n.Distances, got)
			}
		}
		text, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if len(text) > 1<<20 {
			t.Errorf("%d bytes of facts of %d", len(text), len(b))
		}
		if strings.Contains(string(text), `"unknown":""`) {
			t.Errorf("a fact is not known, and not why: %s", text)
		}
	})
}
