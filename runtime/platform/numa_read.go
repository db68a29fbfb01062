package platform

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

const (
	nodeDir = "sys/devices/system/node"
	tierDir = "sys/devices/virtual/memory_tiering"
	// maxNodes is the most nodes that a kernel can be built for (CONFIG_NODES_SHIFT is at most 10).
	maxNodes = 1024
)

// numa reads the nodes. What their memory is, is worked out later: it takes the rest of the machine.
func (t *tree) numa() NUMA {
	n := NUMA{
		Possible:   t.ids(nodeDir + "/possible"),
		Online:     t.ids(nodeDir + "/online"),
		HasCPU:     t.ids(nodeDir + "/has_cpu"),
		HasMemory:  t.ids(nodeDir + "/has_memory"),
		HasNormal:  t.ids(nodeDir + "/has_normal_memory"),
		Initiator:  t.ids(nodeDir + "/has_generic_initiator"),
		CPUsOnline: t.ids("sys/devices/system/cpu/online"),
		Demotion:   t.flag("sys/kernel/mm/numa/demotion_enabled"),
		// 0 is off; 1 and 2 are kinds of on: Documentation/admin-guide/sysctl/kernel.rst.
		Balancing: then(t.number("proc/sys/kernel/numa_balancing"), func(v uint64) (bool, error) { return v != 0, nil }),
	}
	dirs, err := t.numbered(nodeDir, "node")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		n.Err = ErrNoNUMA
		return n
	case err != nil:
		n.Err = fmt.Errorf("%s: %w", nodeDir, err)
		return n
	case len(dirs) > maxNodes:
		n.Err = fmt.Errorf("%s: %d nodes: %w", nodeDir, len(dirs), ErrTooLarge)
		return n
	case len(dirs) == 0:
		n.Err = ErrNoNUMA
		return n
	}
	columns := columnsOf(n.Online, dirs)
	n.Nodes = make([]Node, len(dirs))
	for i, d := range dirs {
		t.node(&n, &n.Nodes[i], d, columns)
	}
	n.Tiers = t.tiers()
	for _, tier := range n.Tiers {
		for i := range n.Nodes {
			if tier.Nodes.Known() && tier.Nodes.Value.Has(n.Nodes[i].ID) {
				n.Nodes[i].Tier = known(tier.ID, tier.Nodes.From)
			}
		}
	}
	return n
}

// columnsOf is the nodes that the columns of a distance file stand for: those that are online, in order
// (node_read_distance in drivers/base/node.c); without such a list, those that there are.
func columnsOf(online Fact[IDs], dirs []numbered) (columns []int) {
	if online.Known() {
		for id := range online.Value.All() {
			columns = append(columns, id)
		}
		return columns
	}
	for _, d := range dirs {
		columns = append(columns, d.n)
	}
	return columns
}

func (t *tree) node(n *NUMA, node *Node, d numbered, columns []int) {
	dir := nodeDir + "/" + d.name
	node.ID, node.Path = d.n, dir
	node.Online = then(n.Online, func(ids IDs) (bool, error) { return ids.Has(d.n), nil })
	names, err := t.names(dir)
	if err != nil {
		node.CPUs = unknown[IDs](dir, err)
		node.Memory.Total = unknown[uint64](dir, err)
		node.Movable = unknown[bool](dir, err)
		return
	}
	node.CPUs = t.cpus(dir, n.CPUsOnline)
	t.meminfo(dir+"/meminfo", &node.Memory)
	node.Movable = movable(d.n, node.Memory.Total, n.HasNormal)
	node.Distances = then(t.text(dir+"/distance"), func(s string) ([]Distance, error) { return parseDistances(s, columns) })
	for _, name := range names {
		switch name {
		case "access0", "access1":
			node.Access[name[len(name)-1]-'0'] = t.access(dir + "/" + name + "/initiators")
		case "hugepages":
			node.HugePages = t.hugePages(dir + "/hugepages")
		case "memory_side_cache":
			node.SideCaches = t.sideCaches(dir + "/memory_side_cache")
		}
	}
}

// movable is whether a node has memory, and none but movable memory.
func movable(node int, total Fact[uint64], normal Fact[IDs]) Fact[bool] {
	if !total.Known() {
		return Fact[bool]{From: total.From, Err: total.Err}
	}
	return then(normal, func(ids IDs) (bool, error) { return total.Value > 0 && !ids.Has(node), nil })
}

// cpus reads a node's processors: the mask, else the list, which some captured trees contradict it with; of them those that are online.
func (t *tree) cpus(dir string, online Fact[IDs]) Fact[IDs] {
	f := then(t.text(dir+"/cpumap"), parseMask)
	if !f.Known() {
		if list := t.ids(dir + "/cpulist"); list.Known() || errors.Is(f.Err, fs.ErrNotExist) {
			f = list
		}
	}
	if f.Known() && online.Known() {
		f.Value = f.Value.And(online.Value)
	}
	return f
}

// meminfo reads lines as "Node 0 MemTotal:  985700 kB".
func (t *tree) meminfo(name string, m *Memory) {
	b, err := t.read(name)
	m.Total = meminfoLine(b, err, name, "MemTotal:")
	m.Free = meminfoLine(b, err, name, "MemFree:")
	m.Reclaimable = meminfoLine(b, err, name, "Inactive(file):")
}

// meminfoLine is one value of a meminfo, in bytes.
func meminfoLine(b []byte, err error, name, key string) Fact[uint64] {
	if err != nil {
		return unknown[uint64](name, err)
	}
	_, rest, ok := bytes.Cut(b, []byte(key))
	if !ok {
		return unknown[uint64](name, fmt.Errorf("%w: no line %s", ErrMalformed, key))
	}
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	fields := bytes.Fields(line)
	if len(fields) == 0 || len(fields) > 2 || len(fields) == 2 && string(fields[1]) != "kB" {
		return unknown[uint64](name, fmt.Errorf("%w: %s %s", ErrMalformed, key, quote(string(line))))
	}
	kib, perr := strconv.ParseUint(string(fields[0]), 10, 64)
	if perr != nil || kib > 1<<53 {
		return unknown[uint64](name, fmt.Errorf("%w: %s %s", ErrMalformed, key, quote(string(line))))
	}
	return known(kib<<10, name)
}

func parseDistances(s string, columns []int) ([]Distance, error) {
	fields := strings.Fields(s)
	if len(fields) != len(columns) {
		return nil, fmt.Errorf("%w: %d distances for %d nodes, so nothing says which is whose", ErrMalformed, len(fields), len(columns))
	}
	distances := make([]Distance, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 10, 31)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is no distance", ErrMalformed, quote(f))
		}
		distances[i] = Distance{columns[i], int(v)}
	}
	return distances, nil
}

// access reads the initiators of a class and what they get. The kernel prints 0 for what the firmware did not say.
func (t *tree) access(dir string) Access {
	names, err := t.names(dir)
	if err != nil {
		return Access{Initiators: unknown[IDs](dir, err)}
	}
	nodes, err := numberedIn(names, "node")
	if err != nil {
		return Access{Initiators: unknown[IDs](dir, err)}
	}
	var ids []int
	for _, n := range nodes {
		ids = append(ids, n.n)
	}
	a := t.speeds(dir)
	a.Initiators = known(MakeIDs(ids...), dir)
	return a
}

// speeds reads the four numbers of a directory of performance.
func (t *tree) speeds(dir string) Access {
	told := func(v uint64) (uint64, error) {
		if v == 0 {
			return 0, ErrNotTold
		}
		return v, nil
	}
	return Access{
		ReadBandwidth:  then(t.number(dir+"/read_bandwidth"), told),
		WriteBandwidth: then(t.number(dir+"/write_bandwidth"), told),
		ReadLatency:    then(t.number(dir+"/read_latency"), told),
		WriteLatency:   then(t.number(dir+"/write_latency"), told),
	}
}

// hugePages reads the pools in a directory: hugepages-2048kB and so on.
func (t *tree) hugePages(dir string) (pools []HugePages) {
	names, err := t.names(dir)
	if err != nil {
		return nil
	}
	for _, name := range names {
		s, ok := strings.CutPrefix(name, "hugepages-")
		s, isKB := strings.CutSuffix(s, "kB")
		kib, err := strconv.ParseUint(s, 10, 40)
		if !ok || !isKB || err != nil {
			continue
		}
		pools = append(pools, HugePages{
			Size:  kib << 10,
			Total: t.number(dir + "/" + name + "/nr_hugepages"),
			Free:  t.number(dir + "/" + name + "/free_hugepages"),
		})
	}
	return pools
}

func (t *tree) sideCaches(dir string) (caches []SideCache) {
	levels, err := t.numbered(dir, "index")
	if err != nil {
		return nil
	}
	for _, l := range levels {
		at := path.Join(dir, l.name)
		caches = append(caches, SideCache{Level: l.n, Size: t.number(at + "/size"), Line: t.number(at + "/line_size")})
	}
	return caches
}

func (t *tree) tiers() (tiers []Tier) {
	dirs, err := t.numbered(tierDir, "memory_tier")
	if err != nil {
		return nil // kernels before 6.1 have none
	}
	for _, d := range dirs {
		tiers = append(tiers, Tier{ID: d.n, Nodes: t.ids(tierDir + "/" + d.name + "/nodelist")})
	}
	return tiers
}
