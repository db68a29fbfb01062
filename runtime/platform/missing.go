package platform

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Missing is what the machine could have and has not, or has switched off, each with what to do.
func (m *Machine) Missing() (missing []*Lack) {
	say := func(asked, why, remedy string) {
		missing = append(missing, &Lack{Asked: asked, Why: why, Remedy: remedy})
	}
	if errors.Is(m.NUMA.Err, ErrNoSysfs) {
		say("nodes and devices", "sysfs is not mounted at sys, and it says which there are", "as root: mount -t sysfs -o ro sysfs /sys; containers have it unless they are started without")
	}
	m.missingNUMA(say)
	m.missingCXL(say)
	m.missingRDMA(say)
	m.missingGPU(say)
	m.missingLimits(say)
	return missing
}

type sayer func(asked, why, remedy string)

func (m *Machine) missingNUMA(say sayer) {
	n := &m.NUMA
	if n.Allowed.Known() {
		var all []int
		for _, node := range n.Nodes {
			if node.Online.Or(true) && node.Memory.Total.Or(0) > 0 && node.Kind.Or(UnknownMemory) != GPUMemory { // which is for its driver
				all = append(all, node.ID)
			}
		}
		if out := MakeIDs(all...).Without(n.Allowed.Value); !out.Empty() {
			say("memory of "+nodesOf(out), "this process is allowed "+nodesOf(n.Allowed.Value)+" ("+n.Allowed.From+")", "widen cpuset.mems of its control group, or --cpuset-mems of its container")
		}
	}
	if n.Demotion.Or(false) && len(n.Tiers) > 1 {
		say("placement for life", "the kernel moves cold pages to slower nodes ("+n.Demotion.From+")", "as root: echo 0 > /sys/kernel/mm/numa/demotion_enabled")
	}
	if n.Balancing.Or(false) && n.near().Len() > 1 {
		say("memory that stays at its node", "the kernel moves pages that are not bound to the nodes that use them ("+n.Balancing.From+")", "bind it (numa.New), or as root: echo 0 > /proc/sys/kernel/numa_balancing")
	}
	for _, node := range n.Nodes {
		if node.Movable.Or(false) && node.Kind.Or(UnknownMemory) != GPUMemory {
			say(fmt.Sprintf("registered memory at node %d", node.ID), "it is online as movable, and what is registered leaves such memory", movableRemedy(node))
		}
	}
}

func movableRemedy(n Node) string {
	if len(n.Dax) > 0 {
		return "as root: daxctl offline-memory " + n.Dax[0] + "; daxctl online-memory --no-movable " + n.Dax[0]
	}
	return "bring its memory online with online_kernel"
}

func (m *Machine) missingCXL(say sayer) {
	for _, address := range m.CXL.Undriven {
		say("a driver of the CXL device "+address, "it is on the PCI bus, and no memory device of the kernel", "as root: modprobe cxl_pci cxl_acpi cxl_mem")
	}
	used := map[string]bool{}
	for _, d := range m.CXL.Decoders {
		if d.Type.Or("") == "cxl_decoder_endpoint" && d.Region.Or("") != "" {
			used[m.memdevOf(d)] = true
		}
	}
	for _, d := range m.CXL.Memdevs {
		if !used[d.Name] && d.RAM.Or(0) > 0 {
			say(fmt.Sprintf("a region of %s (%s)", d.Name, FormatBytes(d.RAM.Value)), "its memory is in no region, so nobody can use it", "as root: cxl create-region -m -t ram -d "+m.rootDecoder()+" "+d.Name)
		}
	}
	for _, r := range m.CXL.Regions {
		if r.Committed.Or(false) && len(r.Dax) == 0 && r.Mode.Or("") == "ram" {
			say("a device-dax of "+r.Name, "the region is committed, and has none", "as root: modprobe dax_cxl")
		}
	}
	for _, d := range m.Dax {
		if !d.Driver.Known() {
			say("a driver of "+d.Name, "without one "+d.Dev+" cannot be opened, and its memory is no node",
				m.moduleFirst("device_dax")+"daxctl reconfigure-device --mode=devdax "+d.Name+", or --mode=system-ram --no-movable")
		}
	}
}

// moduleFirst begins a remedy, with the loading of a module where it is known not to be there.
func (m *Machine) moduleFirst(name string) string {
	if loaded := m.Kernel.Module(name); loaded.Known() && !loaded.Value {
		return "as root: modprobe " + name + "; "
	}
	return "as root: "
}

// memdevOf is the memory device that an endpoint's decoder is of.
func (m *Machine) memdevOf(d Decoder) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(d.Name, "decoder"), ".")
	for _, p := range m.CXL.Ports {
		if p.Name == "endpoint"+number {
			return p.Uport.Or("")
		}
	}
	return ""
}

// rootDecoder is a window where regions of volatile memory can be made.
func (m *Machine) rootDecoder() string {
	for _, d := range m.CXL.Decoders {
		if d.RAM.Or(false) {
			return d.Name
		}
	}
	return "decoder0.0"
}

func (m *Machine) missingRDMA(say sayer) {
	if m.RDMA.Err == ErrNoRDMA {
		say("an RDMA device", "the kernel shows none; providers iwarp, shm and soft need none", "for one in software, as root: modprobe rdma_rxe; rdma link add rxe0 type rxe netdev eth0")
	}
	for _, d := range m.RDMA.Devices {
		if d.Verbs == "" {
			say("the file of "+d.Name+" for programs", "no "+verbsDir+" names the device", "as root: modprobe ib_uverbs rdma_ucm")
		}
		for _, p := range d.Ports {
			if p.State.Known() && !p.Active() {
				say(fmt.Sprintf("traffic on %s, port %d", d.Name, p.Number), fmt.Sprintf("its state is %s, of the link %s", p.State, p.PhysState), portRemedy(p))
			}
		}
	}
	if loaded := m.Kernel.Module("rdma_ucm"); len(m.RDMA.Devices) > 0 && loaded.Known() && !loaded.Value {
		say("connections by addresses", "module rdma_ucm is not loaded", "as root: modprobe rdma_ucm")
	}
}

func portRemedy(p RDMAPort) string {
	if p.LinkLayer.Or("") == "InfiniBand" {
		return "look at the cable, and at the fabric's subnet manager"
	}
	if p.Netdev.Known() {
		return "as root: ip link set " + p.Netdev.Value + " up"
	}
	return "bring its network interface up"
}

func (m *Machine) missingGPU(say sayer) {
	for _, g := range m.GPU.Devices {
		if !g.Computes() {
			continue
		}
		if !g.Driver.Known() && !g.OwnNode.Known() {
			say("a driver of the GPU "+g.Address+" ("+g.VendorName()+")", g.Driver.Why(), "install its driver and load its module")
		}
		bar, ok := g.Largest()
		if ok && g.VRAM.Known() && bar.Size < g.VRAM.Value {
			say("a BAR over all memory of "+g.Address, fmt.Sprintf("BAR %d has %s of %s", bar.Number, FormatBytes(bar.Size), FormatBytes(g.VRAM.Value)), "switch \"Resizable BAR\" and \"Above 4G decoding\" on in the firmware's settings")
		}
	}
	if slices.ContainsFunc(m.GPU.Devices, func(g GPUDevice) bool { return g.Vendor.Or(0) == VendorNVIDIA }) {
		if loaded := m.Kernel.Module("nvidia_uvm"); loaded.Known() && !loaded.Value {
			say("managed memory", "module nvidia_uvm is not loaded", "as root: modprobe nvidia_uvm")
		}
	}
}

// littleLock is what a limit of locked memory is at least that nobody is told of.
const littleLock = 1 << 30

func (m *Machine) missingLimits(say sayer) {
	l := &m.Limits
	if may := l.MayLock(); may.Known() && may.Value < littleLock {
		say("more locked memory", "registered memory is locked, and the limit is "+FormatBytes(may.Value)+" ("+may.From+")", m.lacksLock(Unlimited).Remedy)
	}
	if len(l.HugePages) > 0 && !slices.ContainsFunc(l.HugePages, func(h HugePages) bool { return h.Free.Or(0) > 0 }) {
		least := slices.MinFunc(l.HugePages, func(a, b HugePages) int { return cmp.Compare(a.Size, b.Size) })
		say("free huge pages", "no pool has any", fmt.Sprintf("as root: echo %d > /sys/kernel/mm/hugepages/hugepages-%dkB/nr_hugepages", max(1, 1<<30/max(least.Size, 1)), least.Size>>10))
	}
	if f := l.THPFiles.Or(""); (f == "never" || f == "deny") && l.THP.Or("never") != "never" {
		say("huge pages of memory files", "regions are memory files, whose pages the kernel never makes huge ("+l.THPFiles.From+")", "as root: echo advise > /sys/kernel/mm/transparent_hugepage/shmem_enabled")
	}
	if l.THP.Or("") == "never" {
		say("transparent huge pages", "they are off ("+l.THP.From+")", "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
	}
}
