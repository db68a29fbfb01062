package platform

import (
	"cmp"
	"slices"
)

// NUMA is the machine's memory by nodes. Numbers of nodes are sparse and may be any below 1024.
type NUMA struct {
	Err error `json:"-"` // why there are no nodes: [ErrNotLinux], [ErrNoNUMA], or what reading gave

	Possible  Fact[IDs] `json:"possible"`      // that may ever be there; CXL windows and absent memory have one each
	Online    Fact[IDs] `json:"online"`        // that are there
	HasCPU    Fact[IDs] `json:"has_cpu"`       // as the kernel lists them; older ones have no such list
	HasMemory Fact[IDs] `json:"has_memory"`    // the same
	HasNormal Fact[IDs] `json:"normal_memory"` // with memory that is not all movable
	Initiator Fact[IDs] `json:"has_initiator"` // with a device that starts memory traffic, and no processor

	CPUsOnline  Fact[IDs] `json:"cpus_online"`
	CPUsAllowed Fact[IDs] `json:"cpus_allowed"` // that this process may run on: affinity, cpuset, cgroup
	Allowed     Fact[IDs] `json:"allowed"`      // that this process may have memory at: cpuset, cgroup

	Nodes []Node `json:"nodes"` // that have a directory, by number
	Tiers []Tier `json:"tiers"` // of memory, the fastest first

	Demotion  Fact[bool] `json:"demotion"`  // the kernel moves cold pages to slower nodes; placement is then not for life
	Balancing Fact[bool] `json:"balancing"` // the kernel moves pages to the nodes that use them
}

// Node is one NUMA node. It may have no processor, no memory, or neither.
type Node struct {
	ID   int    `json:"id"`
	Path string `json:"path"` // its directory below the root

	Online  Fact[bool] `json:"online"` // as [NUMA.Online] says; where there is no such list it is not known
	CPUs    Fact[IDs]  `json:"cpus"`   // of its processors those that are online
	Memory  Memory     `json:"memory"`
	Movable Fact[bool] `json:"movable"` // all its memory is movable: what is pinned for devices leaves it

	// Kind is what the memory is, and Likely what it probably is where Kind does not tell (soft-reserved
	// memory is HBM or CXL): inferred, from its speed only.
	Kind   Fact[MemoryKind] `json:"kind"`
	Likely Fact[MemoryKind] `json:"likely"`
	Dax    []string         `json:"dax,omitempty"` // the dax devices whose memory this is

	Distances Fact[[]Distance] `json:"distances"` // to itself (10) and others; an order of nothing but the firmware's opinion
	// Access is what the best initiators get from the memory: Access[0] of any kind, Access[1] processors only, which is
	// the one for placing programs. The kernel's access0 and access1.
	Access     [2]Access   `json:"access"`
	Tier       Fact[int]   `json:"tier"` // the number of its tier
	HugePages  []HugePages `json:"huge_pages,omitempty"`
	SideCaches []SideCache `json:"side_caches,omitempty"` // DRAM before slower memory
}

// Memory is how much memory a node has, in bytes.
type Memory struct {
	Total       Fact[uint64] `json:"total"`
	Free        Fact[uint64] `json:"free"`
	Reclaimable Fact[uint64] `json:"reclaimable"` // page cache that was not used for long
}

// Distance is the firmware's distance to a node: 10 to itself.
type Distance struct {
	Node  int `json:"node"`
	Value int `json:"value"`
}

// Access is the speed of memory for its best initiators, as HMAT or CDAT say.
type Access struct {
	Initiators     Fact[IDs]    `json:"initiators"`      // their nodes
	ReadBandwidth  Fact[uint64] `json:"read_bandwidth"`  // MB/s
	WriteBandwidth Fact[uint64] `json:"write_bandwidth"` // MB/s
	ReadLatency    Fact[uint64] `json:"read_latency"`    // ns
	WriteLatency   Fact[uint64] `json:"write_latency"`   // ns
}

// HugePages is a pool of huge pages of one size.
type HugePages struct {
	Size  uint64       `json:"size"`  // bytes of a page
	Total Fact[uint64] `json:"total"` // pages
	Free  Fact[uint64] `json:"free"`  // pages
}

// SideCache is a cache of a node's memory on the memory's side.
type SideCache struct {
	Level int          `json:"level"`
	Size  Fact[uint64] `json:"size"`
	Line  Fact[uint64] `json:"line"`
}

// Tier is nodes of memory of about one speed.
type Tier struct {
	ID    int       `json:"id"` // lower is faster; the numbers say nothing else
	Nodes Fact[IDs] `json:"nodes"`
}

// MemoryKind is what memory a node or a dax device has.
type MemoryKind uint8

// The kinds. A node without a processor is none of them for that.
const (
	UnknownMemory MemoryKind = iota // nothing says
	NoMemory                        // the node has none
	PlainMemory                     // the machine's own
	CXLMemory                       // volatile memory behind CXL
	CXLPersistent                   // persistent memory behind CXL
	NVDIMM                          // persistent memory on the machine's own channels
	SoftReserved                    // set apart by the firmware: HBM, or CXL that it set up
	HBM                             // high-bandwidth memory; only ever inferred
	GPUMemory                       // a GPU's memory that its driver made a node
)

var kindNames = [...]string{"unknown", "none", "plain", "cxl", "cxl-persistent", "nvdimm", "soft-reserved", "hbm", "gpu"}

// String is a word for the kind.
func (k MemoryKind) String() string {
	if int(k) >= len(kindNames) {
		return kindNames[UnknownMemory]
	}
	return kindNames[k]
}

// MarshalText is [MemoryKind.String], for JSON.
func (k MemoryKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// IsCXL reports whether it is memory behind CXL, volatile or not.
func (k MemoryKind) IsCXL() bool { return k == CXLMemory || k == CXLPersistent }

// Node is the node of a number.
func (n *NUMA) Node(id int) (*Node, bool) {
	i, found := slices.BinarySearchFunc(n.Nodes, id, func(node Node, id int) int { return cmp.Compare(node.ID, id) })
	if !found {
		return nil, false
	}
	return &n.Nodes[i], true
}

// Usable is the nodes that this process can have memory at: online, with memory, and allowed. Where nothing
// says what is online or allowed, all are that have a directory.
func (n *NUMA) Usable() IDs {
	var ids []int
	for _, node := range n.Nodes {
		if node.Online.Or(true) && node.Memory.Total.Or(0) > 0 {
			ids = append(ids, node.ID)
		}
	}
	usable := MakeIDs(ids...)
	if n.Allowed.Known() {
		usable = usable.And(n.Allowed.Value)
	}
	return usable
}

// OfKind is the usable nodes whose memory is of a kind that is asked for.
func (n *NUMA) OfKind(is func(MemoryKind) bool) IDs {
	usable := n.Usable()
	var ids []int
	for _, node := range n.Nodes {
		if usable.Has(node.ID) && node.Kind.Known() && is(node.Kind.Value) {
			ids = append(ids, node.ID)
		}
	}
	return MakeIDs(ids...)
}

// Distance is the firmware's distance between two nodes.
func (n *NUMA) Distance(from, to int) (int, bool) {
	node, ok := n.Node(from)
	if !ok || !node.Distances.Known() {
		return 0, false
	}
	for _, d := range node.Distances.Value {
		if d.Node == to {
			return d.Value, true
		}
	}
	return 0, false
}
