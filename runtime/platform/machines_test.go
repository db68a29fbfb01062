package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// expected is what FACTS.json says of a machine.
type expected struct {
	Flags      []string
	Online     *string
	Possible   *string
	HasCPU     *string `json:"has_cpu"`
	HasMemory  *string `json:"has_memory"`
	HasNormal  *string `json:"has_normal_memory"`
	HasInit    *string `json:"has_generic_initiator"`
	NodeIDs    []int   `json:"node_ids"`
	Nodes      map[string]expectedNode
	Tiers      map[string]string `json:"memory_tiers"`
	Dax        map[string]expectedDax
	CXL        map[string]json.RawMessage
	ByHwloc212 struct {
		OK    bool
		Nodes map[string]struct {
			CPUSet  string
			Mem     uint64 // KiB
			Subtype string
			Infos   map[string]string
		}
	} `json:"hwloc_2_12"`
}

type expectedNode struct {
	CPUs      string // as the files say, offline ones too
	MemKB     uint64 `json:"mem_kb"`
	Distance  []int
	Access0   *expectedAccess
	Access1   *expectedAccess
	HugePages map[string]string `json:"nr_hugepages"`
	Caches    []string          `json:"memory_side_cache"`
}

type expectedAccess struct {
	Initiators     []int
	ReadBandwidth  uint64 `json:"read_bandwidth"`
	WriteBandwidth uint64 `json:"write_bandwidth"`
	ReadLatency    uint64 `json:"read_latency"`
	WriteLatency   uint64 `json:"write_latency"`
}

type expectedDax struct {
	Align, Driver, Kind, Size string
	NUMANode                  string `json:"numa_node"`
	TargetNode                string `json:"target_node"`
}

func facts(t *testing.T) map[string]expected {
	t.Helper()
	b, err := machines.Expected()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]expected{}
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func captured(t testing.TB, name string) *platform.Machine {
	t.Helper()
	fsys, err := machines.FS(name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := platform.DetectFS(context.Background(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each captured machine is what FACTS.json says, which another program read from the whole tree.
func TestMachines(t *testing.T) {
	all := facts(t)
	if len(all) != len(machines.Names()) {
		t.Errorf("%d machines, facts of %d", len(machines.Names()), len(all))
	}
	for _, name := range machines.Names() {
		t.Run(name, func(t *testing.T) {
			want, ok := all[name]
			if !ok {
				t.Fatal("no facts")
			}
			m := captured(t, name)
			compareNodes(t, m, want)
			compareHwloc(t, m, want)
			compareDax(t, m, want)
			compareCXL(t, m, want)
		})
	}
}

func compareNodes(t *testing.T, m *platform.Machine, want expected) {
	n := &m.NUMA
	list := func(what string, got platform.Fact[platform.IDs], want *string) {
		t.Helper()
		switch {
		case want == nil && got.Known():
			t.Errorf("%s is %s, which no file says", what, got)
		case want != nil && (!got.Known() || got.Value.String() != *want):
			t.Errorf("%s is %s, want %s", what, got, *want)
		}
	}
	list("online", n.Online, want.Online)
	list("possible", n.Possible, want.Possible)
	list("has_cpu", n.HasCPU, want.HasCPU)
	list("has_memory", n.HasMemory, want.HasMemory)
	list("has_normal_memory", n.HasNormal, want.HasNormal)
	list("has_generic_initiator", n.Initiator, want.HasInit)
	var ids []int
	for i := range n.Nodes {
		node := &n.Nodes[i]
		ids = append(ids, node.ID)
		compareNode(t, n, node, want.Nodes[strconv.Itoa(node.ID)])
	}
	if !slices.Equal(ids, want.NodeIDs) {
		t.Errorf("nodes %v, want %v", ids, want.NodeIDs)
	}
	tiers := map[string]string{}
	for _, tier := range n.Tiers {
		tiers[fmt.Sprint("memory_tier", tier.ID)] = tier.Nodes.Value.String()
	}
	if fmt.Sprint(tiers) != fmt.Sprint(want.Tiers) {
		t.Errorf("tiers %v, want %v", tiers, want.Tiers)
	}
}

func compareNode(t *testing.T, numa *platform.NUMA, n *platform.Node, want expectedNode) {
	if n.Memory.Total.Value != want.MemKB<<10 || !n.Memory.Total.Known() {
		t.Errorf("node %d has %s bytes, want %d KiB", n.ID, n.Memory.Total, want.MemKB)
	}
	var distances []int
	for _, d := range n.Distances.Value {
		distances = append(distances, d.Value)
	}
	switch {
	case n.Distances.Known() && !slices.Equal(distances, want.Distance):
		t.Errorf("node %d: distances %v, want %v", n.ID, distances, want.Distance)
	case !n.Distances.Known() && len(want.Distance) == len(numa.Nodes):
		t.Errorf("node %d: distances %s, want %v", n.ID, n.Distances, want.Distance)
	}
	for i, w := range []*expectedAccess{want.Access0, want.Access1} {
		compareAccess(t, fmt.Sprintf("node %d, access%d", n.ID, i), n.Access[i], w)
	}
	for size, count := range want.HugePages {
		i := slices.IndexFunc(n.HugePages, func(h platform.HugePages) bool { return fmt.Sprintf("%dkB", h.Size>>10) == size })
		if i < 0 || fmt.Sprint(n.HugePages[i].Total.Value) != count {
			t.Errorf("node %d: huge pages %v, want %s of %s", n.ID, n.HugePages, count, size)
		}
	}
	if len(n.SideCaches) != len(want.Caches) {
		t.Errorf("node %d: side caches %v, want %v", n.ID, n.SideCaches, want.Caches)
	}
}

func compareAccess(t *testing.T, what string, a platform.Access, want *expectedAccess) {
	if want == nil {
		if a.Initiators.Known() {
			t.Errorf("%s: %v, which nothing says", what, a)
		}
		return
	}
	if !a.Initiators.Value.Equal(platform.MakeIDs(want.Initiators...)) {
		t.Errorf("%s: initiators %s, want %v", what, a.Initiators, want.Initiators)
	}
	for _, x := range []struct {
		name string
		got  platform.Fact[uint64]
		want uint64
	}{
		{"read bandwidth", a.ReadBandwidth, want.ReadBandwidth}, {"write bandwidth", a.WriteBandwidth, want.WriteBandwidth},
		{"read latency", a.ReadLatency, want.ReadLatency}, {"write latency", a.WriteLatency, want.WriteLatency},
	} {
		if x.got.Or(0) != x.want || x.got.Known() == (x.want == 0) {
			t.Errorf("%s: %s is %s, want %d (0: not told)", what, x.name, x.got, x.want)
		}
	}
}

// hwloc's own answers: processors, bytes, and what the memory is.
func compareHwloc(t *testing.T, m *platform.Machine, want expected) {
	for id, w := range want.ByHwloc212.Nodes {
		number, _ := strconv.Atoi(id)
		n, ok := m.NUMA.Node(number)
		if !ok {
			t.Errorf("hwloc has a node %s", id)
			continue
		}
		// hwloc gives a node without processors those near it.
		if got := n.CPUs.Value.String(); got != w.CPUSet && (got != "" || want.Nodes[id].CPUs != "") {
			t.Errorf("node %s: processors %s, hwloc has %s", id, n.CPUs, w.CPUSet)
		}
		if n.Memory.Total.Value != w.Mem<<10 {
			t.Errorf("node %s: %d bytes, hwloc has %d KiB", id, n.Memory.Total.Value, w.Mem)
		}
		kinds := map[string]platform.MemoryKind{"CXL-DRAM": platform.CXLMemory, "NVM": platform.NVDIMM, "SPM": platform.SoftReserved, "GPUMemory": platform.GPUMemory}
		if kind, ok := kinds[w.Subtype]; ok && n.Kind.Value != kind {
			t.Errorf("node %s: %s, hwloc has %s", id, n.Kind, w.Subtype)
		} else if !ok && w.Subtype != "" {
			t.Logf("node %s: %s (%s, likely %s), hwloc guesses %s", id, n.Kind, n.Kind.Inferred, n.Likely, w.Subtype)
		}
		if dax := w.Infos["DAXDevice"]; dax != "" && !slices.Equal(n.Dax, []string{dax}) {
			t.Errorf("node %s: of %v, hwloc has %s", id, n.Dax, dax)
		}
	}
}

func compareDax(t *testing.T, m *platform.Machine, want expected) {
	if len(m.Dax) != len(want.Dax) {
		t.Errorf("%d dax devices, want %d", len(m.Dax), len(want.Dax))
	}
	for name, w := range want.Dax {
		d, ok := m.DaxOf(name)
		if !ok {
			t.Errorf("no %s", name)
			continue
		}
		kind := map[platform.MemoryKind]string{platform.CXLMemory: "cxl", platform.NVDIMM: "nvdimm", platform.SoftReserved: "hmem(specific purpose)"}[d.Kind.Value]
		if kind != w.Kind || fmt.Sprint(d.Size.Value) != w.Size || fmt.Sprint(d.TargetNode.Value) != w.TargetNode || d.Driver.Value != w.Driver {
			t.Errorf("%s: kind %s, size %s, target node %s, driver %s; want %+v", name, d.Kind, d.Size, d.TargetNode, d.Driver, w)
		}
		if w.Align != "" && fmt.Sprint(d.Align.Value) != w.Align || w.Align == "" && d.Align.Known() {
			t.Errorf("%s: align %s, want %q", name, d.Align, w.Align)
		}
		if d.NUMANode.Known() != (w.NUMANode != "" && w.NUMANode != "-1") || d.NUMANode.Known() && fmt.Sprint(d.NUMANode.Value) != w.NUMANode {
			t.Errorf("%s: NUMA node %s, want %q", name, d.NUMANode, w.NUMANode)
		}
	}
}

func compareCXL(t *testing.T, m *platform.Machine, want expected) {
	for name, raw := range want.CXL {
		var w map[string]any
		if err := json.Unmarshal(raw, &w); err != nil {
			t.Fatal(err)
		}
		got := map[string]any{}
		switch {
		case strings.HasPrefix(name, "mem"):
			i := slices.IndexFunc(m.CXL.Memdevs, func(d platform.Memdev) bool { return d.Name == name })
			if i < 0 {
				t.Errorf("no %s", name)
				continue
			}
			d := m.CXL.Memdevs[i]
			got = map[string]any{"numa_node": fmt.Sprint(d.NUMANode.Value), "pmem": hex(d.PMEM), "ram": hex(d.RAM), "serial": hex(d.Serial)}
		case strings.HasPrefix(name, "region"):
			r, ok := m.CXL.Region(name)
			if !ok {
				t.Errorf("no %s", name)
				continue
			}
			got = map[string]any{"commit": bit(r.Committed), "interleave_granularity": dec(r.Granularity), "interleave_ways": dec(r.Ways),
				"mode": r.Mode.Value, "resource": hex(r.Start), "size": hex(r.Size), "targets": r.Targets}
			for i, a := range r.Access {
				if a.ReadBandwidth.Known() {
					got[fmt.Sprint("access", i)] = map[string]any{"read_bandwidth": dec(a.ReadBandwidth), "read_latency": dec(a.ReadLatency),
						"write_bandwidth": dec(a.WriteBandwidth), "write_latency": dec(a.WriteLatency)}
				}
			}
		case strings.HasPrefix(name, "decoder"):
			i := slices.IndexFunc(m.CXL.Decoders, func(d platform.Decoder) bool { return d.Name == name })
			if i < 0 {
				t.Errorf("no %s", name)
				continue
			}
			d := m.CXL.Decoders[i]
			got = map[string]any{"cap_pmem": bit(d.PMEM), "cap_ram": bit(d.RAM), "interleave_ways": dec(d.Ways),
				"size": hex(d.Size), "start": hex(d.Start), "target_list": d.Targets.Value}
			delete(w, "cap_type2")
			delete(w, "cap_type3")
		}
		if fmt.Sprint(got) != fmt.Sprint(w) {
			t.Errorf("%s is %v, want %v", name, got, w)
		}
	}
}

func hex(f platform.Fact[uint64]) string { return fmt.Sprintf("0x%x", f.Value) }
func dec(f platform.Fact[uint64]) string { return fmt.Sprint(f.Value) }
func bit(f platform.Fact[bool]) string {
	if f.Value {
		return "1"
	}
	return "0"
}

// Every fact that is known says where it was read, and that is there.
func TestEachFactHasItsFile(t *testing.T) {
	for _, name := range machines.Names() {
		fsys, err := machines.FS(name)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(captured(t, name))
		if err != nil {
			t.Fatal(err)
		}
		var tree any
		if err := json.Unmarshal(b, &tree); err != nil {
			t.Fatal(err)
		}
		seen := 0
		walk(tree, func(f map[string]any) {
			from, _ := f["from"].(string)
			if _, known := f["value"]; !known {
				return
			}
			seen++
			if from == "sys/bus/cxl/devices" && f["value"] == false {
				return // that it is not there is the fact
			}
			if _, err := fs.Lstat(fsys, from); err != nil {
				t.Errorf("%s: %v is said to be from %q: %v", name, f["value"], from, err)
			}
		})
		if seen < 10 {
			t.Errorf("%s: %d facts", name, seen)
		}
	}
}

// walk gives each fact in a machine's JSON.
func walk(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		_, value := v["value"]
		_, unknown := v["unknown"]
		if value || unknown {
			visit(v)
			return
		}
		for _, x := range v {
			walk(x, visit)
		}
	case []any:
		for _, x := range v {
			walk(x, visit)
		}
	}
}
