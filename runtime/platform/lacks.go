package platform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// lacksCXL says why a capability is not there, or nil.
func (m *Machine) lacksCXL(what CXLCapability) *Lack {
	c := &m.CXL
	asked := what.String()
	has := false
	why, remedy := "", ""
	switch what {
	case CXLDevice:
		has = len(c.Memdevs) > 0
	case CXLRegion, CXLInterleave:
		has = slices.ContainsFunc(c.Regions, func(r Region) bool {
			return r.Committed.Or(false) && (what == CXLRegion || r.Ways.Or(1) > 1)
		})
		why, remedy = fmt.Sprintf("%d memory devices, %d regions", len(c.Memdevs), len(c.Regions)), "as root: cxl create-region"
	case CXLMappable:
		has = len(m.Mappable()) > 0
		why, remedy = m.daxState(), "as root: daxctl reconfigure-device --mode=devdax dax0.0"
	case CXLNode:
		has = !m.NUMA.OfKind(MemoryKind.IsCXL).Empty()
		why, remedy = m.daxState(), "as root: daxctl reconfigure-device --mode=system-ram --no-movable dax0.0"
	case anyCXL:
		asked = "CXL memory, as device-dax or as a node"
		has = len(m.Mappable()) > 0 || !m.NUMA.OfKind(MemoryKind.IsCXL).Empty()
		why, remedy = m.daxState(), "as root: cxl create-region, then daxctl reconfigure-device"
	case CXLDurable:
		has = slices.ContainsFunc(c.Memdevs, func(d Memdev) bool { return d.PMEM.Or(0) > 0 })
		why = fmt.Sprintf("%d memory devices, none with any", len(c.Memdevs))
	}
	if has {
		return nil
	}
	// A node may be CXL by what somebody says of it, where no device shows.
	if c.Err != nil {
		if why, remedy = plain(c.Err), ""; !errors.Is(c.Err, ErrNoSysfs) {
			why += " (" + cxlDir + ")"
		}
		if len(c.Undriven) > 0 {
			remedy = "the PCI bus has " + c.Undriven[0] + ": as root: modprobe cxl_pci"
		}
		return &Lack{Asked: asked, Why: why, Remedy: remedy, Err: c.Err}
	}
	return &Lack{Asked: asked, Why: why, Remedy: remedy, Err: ErrNoCXL}
}

// daxState is what there is of CXL memory, short.
func (m *Machine) daxState() string {
	s := fmt.Sprintf("%d memory devices, %d regions", len(m.CXL.Memdevs), len(m.CXL.Regions))
	for _, d := range m.Dax {
		if d.Kind.Or(UnknownMemory).IsCXL() {
			s += ", " + d.Name + " with " + driverOf(d)
		}
	}
	return s
}

func driverOf(d Dax) string {
	if !d.Driver.Known() {
		return "no driver"
	}
	return "driver " + d.Driver.Value
}

// lacksBAR says why no GPU has a resizable BAR, or nil.
func (m *Machine) lacksBAR() *Lack {
	const asked = "a GPU with a resizable BAR"
	if m.GPU.Err != nil {
		return &Lack{Asked: asked, Why: plain(m.GPU.Err), Err: m.GPU.Err}
	}
	var why []string
	for _, g := range m.GPU.Devices {
		if g.whole() {
			return nil
		}
		reason := "its BARs cannot be resized"
		if !g.Resizable.Known() {
			reason = g.Resizable.Why()
		}
		why = append(why, g.Address+" ("+g.VendorName()+"): "+reason)
	}
	return &Lack{Asked: asked, Why: few(why, ", "), Remedy: "switch it on in the firmware's settings (\"Resizable BAR\", \"Above 4G decoding\")"}
}

// few joins the first of a list, and says how many more there are: trees may have any number of what a machine has a few of.
func few(list []string, sep string) string {
	const most = 16
	if n := len(list) - most; n > 0 {
		return strings.Join(list[:most], sep) + fmt.Sprintf("%sand %d more", sep, n)
	}
	return strings.Join(list, sep)
}

// whole reports whether the processor can address all of the memory, or could after resizing.
func (g *GPUDevice) whole() bool {
	bar, ok := g.Largest()
	return g.Resizable.Or(false) || ok && g.VRAM.Known() && bar.Size >= g.VRAM.Value
}

// lacksLock says why so many bytes may not be locked, or nil.
func (m *Machine) lacksLock(bytes uint64) *Lack {
	may := m.Limits.MayLock()
	if may.Or(0) >= bytes {
		return nil
	}
	why := "the limit is " + FormatBytes(may.Value)
	if !may.Known() {
		why = may.Why()
	}
	return &Lack{Asked: FormatBytes(bytes) + " of locked memory", Why: why,
		Remedy: "ulimit -l unlimited, LimitMEMLOCK=infinity for a service of systemd, or --ulimit memlock=-1 for a container"}
}

// mostMemory is the most that this process can have, and what says so.
func (m *Machine) mostMemory() (most uint64, from string) {
	most, from = Unlimited, "nothing"
	for _, f := range []Fact[uint64]{m.Limits.MemoryTotal, m.Limits.Cgroup} {
		if f.Known() && f.Value < most {
			most, from = f.Value, f.From
		}
	}
	return most, from
}

// near is the usable nodes with processors.
func (n *NUMA) near() IDs {
	usable := n.Usable()
	var ids []int
	for _, node := range n.Nodes {
		if usable.Has(node.ID) && node.CPUs.Known() && !node.CPUs.Value.Empty() {
			ids = append(ids, node.ID)
		}
	}
	return MakeIDs(ids...)
}

// processors is how many processors this process may run on, as far as anything says; else 0.
func (m *Machine) processors() int {
	if m.NUMA.CPUsAllowed.Known() {
		return m.NUMA.CPUsAllowed.Value.Len()
	}
	return m.NUMA.CPUsOnline.Value.Len()
}

// compareSpeed orders nodes: by tier, by bandwidth for processors, by number. Distance is no order of speed.
func (n *NUMA) compareSpeed(a, b int) int {
	x, _ := n.Node(a)
	y, _ := n.Node(b)
	return cmp.Or(
		cmp.Compare(x.Tier.Or(1<<30), y.Tier.Or(1<<30)),
		cmpUint(y.Access[1].ReadBandwidth.Or(0), x.Access[1].ReadBandwidth.Or(0)),
		cmp.Compare(a, b),
	)
}

// nodeNear is the node of a device by its name or its address on the PCI bus.
func (m *Machine) nodeNear(device string) (int, *Lack) {
	at := Fact[int]{Err: fmt.Errorf("no RDMA device, GPU or CXL device is called that")}
	for _, d := range m.RDMA.Devices {
		if d.Name == device || d.Address == device {
			at = d.NUMANode
		}
	}
	for _, g := range m.GPU.Devices {
		if g.Address == device {
			at = g.NUMANode
		}
	}
	for _, d := range m.CXL.Memdevs {
		if d.Name == device || d.Address == device {
			at = d.NUMANode
		}
	}
	if !at.Known() {
		return 0, &Lack{Asked: "a node near " + device, Why: at.Why()}
	}
	return at.Value, nil
}

// withKinds is the machine with what somebody knows better of nodes.
func (m *Machine) withKinds(kinds map[int]MemoryKind) *Machine {
	if len(kinds) == 0 {
		return m
	}
	other := *m
	other.NUMA.Nodes = slices.Clone(m.NUMA.Nodes)
	for i := range other.NUMA.Nodes {
		n := &other.NUMA.Nodes[i]
		if kind, ok := kinds[n.ID]; ok {
			n.Kind = Fact[MemoryKind]{Value: kind, From: n.Path, Inferred: "the configuration says so"}
			n.Likely = n.Kind
		}
	}
	return &other
}
