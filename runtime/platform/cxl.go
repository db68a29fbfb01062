package platform

import (
	"cmp"
	"math"
	"slices"
)

// CXL is what the kernel shows of CXL. Numbers in names are given anew at each boot; a device is known by its serial number.
// Linux states no version of CXL: what is there is what counts.
type CXL struct {
	Err error `json:"-"` // why there is none: [ErrNotLinux], [ErrNoCXL], or what reading gave

	Bus      Fact[bool]  `json:"bus"`     // the kernel has the bus; by itself that says nothing about devices
	Windows  Fact[[]HPA] `json:"windows"` // addresses that the firmware sets apart for CXL: ACPI's CEDT, readable by root
	Memdevs  []Memdev    `json:"memdevs"`
	Ports    []Port      `json:"ports"`
	Decoders []Decoder   `json:"decoders"`
	Regions  []Region    `json:"regions"`

	// Undriven is the CXL memory devices on the PCI bus (class 0502) without a memdev: their driver is missing.
	Undriven []string `json:"undriven,omitempty"`
}

// HPA is a range of host physical addresses.
type HPA struct {
	Start uint64 `json:"start"`
	Size  uint64 `json:"size"`
}

// Memdev is a CXL memory device: what it has, whether or not it is in use.
type Memdev struct {
	Name     string       `json:"name"` // mem0
	Path     string       `json:"path"`
	Address  string       `json:"address,omitempty"` // on the PCI bus
	Serial   Fact[uint64] `json:"serial"`
	RAM      Fact[uint64] `json:"ram"`       // bytes of volatile memory
	PMEM     Fact[uint64] `json:"pmem"`      // bytes of persistent memory
	NUMANode Fact[int]    `json:"numa_node"` // of the processors near it; not that of its memory
	Firmware Fact[string] `json:"firmware"`
	// DVSEC is the revision of the device's capability, for diagnosis: it is no version of CXL.
	DVSEC Fact[uint8] `json:"dvsec"`
}

// Port is a host bridge, a switch or a device's end of a link.
type Port struct {
	Name      string       `json:"name"` // root0, port1, endpoint3
	Path      string       `json:"path"`
	Uport     Fact[string] `json:"uport"`              // the device that it is of
	Parent    Fact[string] `json:"parent_dport"`       // what it hangs from
	Committed Fact[uint64] `json:"decoders_committed"` // decoders in use
}

// Decoder routes addresses.
type Decoder struct {
	Name        string       `json:"name"` // decoder0.0
	Path        string       `json:"path"`
	Type        Fact[string] `json:"devtype"` // cxl_decoder_root, cxl_decoder_switch, cxl_decoder_endpoint
	Start       Fact[uint64] `json:"start"`
	Size        Fact[uint64] `json:"size"`
	Ways        Fact[uint64] `json:"interleave_ways"`
	Granularity Fact[uint64] `json:"interleave_granularity"`
	Targets     Fact[string] `json:"target_list"` // of root and switch decoders
	RAM         Fact[bool]   `json:"cap_ram"`     // of root decoders: regions of volatile memory can be made here
	PMEM        Fact[bool]   `json:"cap_pmem"`
	Mode        Fact[string] `json:"mode"`     // of endpoint decoders: ram, pmem, none
	DPASize     Fact[uint64] `json:"dpa_size"` // of endpoint decoders: bytes of the device
	Region      Fact[string] `json:"region"`   // empty: none
}

// Region is memory of one or more devices, interleaved, at a range of addresses.
type Region struct {
	Name        string       `json:"name"` // region0
	Path        string       `json:"path"`
	Mode        Fact[string] `json:"mode"` // ram or pmem
	Size        Fact[uint64] `json:"size"`
	Start       Fact[uint64] `json:"resource"`
	Ways        Fact[uint64] `json:"interleave_ways"`
	Granularity Fact[uint64] `json:"interleave_granularity"`
	Targets     []string     `json:"targets"` // endpoint decoders
	Committed   Fact[bool]   `json:"committed"`
	Driver      Fact[string] `json:"driver"`
	UUID        Fact[string] `json:"uuid"` // of persistent ones
	// Access is what processors and others get from it; the kernel gives none for some interleaved regions.
	Access [2]Access `json:"access"`
	Dax    []string  `json:"dax"` // its dax devices
}

// Dax is a device-dax: memory that a program maps, or that is made a node.
type Dax struct {
	Name   string           `json:"name"` // dax0.0
	Dev    string           `json:"dev"`  // /dev/dax0.0
	Path   string           `json:"path"`
	Number Fact[string]     `json:"number"` // what Dev has to be: major:minor
	Kind   Fact[MemoryKind] `json:"kind"`
	Region string           `json:"region,omitempty"` // the CXL region that it is of
	// Tag is the UUID of the allocation of dynamic capacity that it is. Kernels show it, in a file uuid, from when they have dynamic capacity on:
	// it was posted for Linux, and not taken yet.
	Tag Fact[string] `json:"tag"`

	Size       Fact[uint64] `json:"size"`
	Align      Fact[uint64] `json:"align"`       // bytes that offsets and lengths of mappings are multiples of
	TargetNode Fact[int]    `json:"target_node"` // the node that it is or would be; it need not be online
	NUMANode   Fact[int]    `json:"numa_node"`   // of the processors near it
	// Driver is device_dax (a program may map Dev), kmem (it is a node), or not there: then opening Dev fails.
	Driver Fact[string] `json:"driver"`
	Online bool         `json:"online"` // its node is online and takes memory from it
}

// DaxOf is the dax device of a name.
func (m *Machine) DaxOf(name string) (*Dax, bool) {
	for i := range m.Dax {
		if m.Dax[i].Name == name {
			return &m.Dax[i], true
		}
	}
	return nil, false
}

// Mappable is the dax devices of CXL memory that programs may map.
func (m *Machine) Mappable() (found []Dax) {
	for _, d := range m.Dax {
		if d.Kind.Or(UnknownMemory).IsCXL() && d.Driver.Or("") == "device_dax" {
			found = append(found, d)
		}
	}
	return found
}

// Region is the region of a name.
func (c *CXL) Region(name string) (*Region, bool) {
	i := slices.IndexFunc(c.Regions, func(r Region) bool { return r.Name == name })
	if i < 0 {
		return nil, false
	}
	return &c.Regions[i], true
}

// BySerial is the memory device of a serial number.
func (c *CXL) BySerial(serial uint64) (*Memdev, bool) {
	for i := range c.Memdevs {
		if s := c.Memdevs[i].Serial; s.Known() && s.Value == serial {
			return &c.Memdevs[i], true
		}
	}
	return nil, false
}

// stretch is a range of addresses with its last one, which may be the last of all.
type stretch struct{ first, last uint64 }

// apart is ranges as stretches in order, none of which touches another.
func apart(ranges []HPA) (list []stretch) {
	for _, r := range ranges {
		if r.Size > 0 {
			list = append(list, stretch{r.Start, r.Start + min(r.Size-1, math.MaxUint64-r.Start)})
		}
	}
	slices.SortFunc(list, func(a, b stretch) int { return cmp.Compare(a.first, b.first) })
	n := 0
	for _, s := range list {
		if n > 0 && (s.first <= list[n-1].last || s.first-1 == list[n-1].last) {
			list[n-1].last = max(list[n-1].last, s.last)
			continue
		}
		list[n] = s
		n++
	}
	return list[:n]
}

// within reports whether an address lies in one of them.
func within(list []stretch, at uint64) bool {
	i, found := slices.BinarySearchFunc(list, at, func(s stretch, at uint64) int { return cmp.Compare(s.first, at) })
	return found || i > 0 && at <= list[i-1].last
}
