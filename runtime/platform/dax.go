package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// dax reads the dax devices.
func (t *tree) dax(online Fact[IDs]) (found []Dax) {
	names, err := t.names(daxDir)
	if err != nil {
		return nil
	}
	drivers := t.daxDrivers()
	for _, name := range names {
		if !isDax(name) {
			continue
		}
		dir := daxDir + "/" + name
		d := Dax{
			Name: name, Dev: "/dev/" + name, Path: dir, Number: t.text(dir + "/dev"), Tag: t.uuid(dir + "/uuid"),
			Size: t.number(dir + "/size"), Align: t.number(dir + "/align"),
			TargetNode: t.nodeIn(dir + "/target_node"), NUMANode: t.nodeOf(dir),
			Driver: t.linkName(dir + "/driver"),
		}
		// Older captures have the driver's side of the link only.
		if driver, ok := drivers[name]; ok && !d.Driver.Known() {
			d.Driver = known(driver, "sys/bus/dax/drivers/"+driver+"/"+name)
		}
		d.Kind = then(t.link(dir), daxKind)
		if d.Kind.Known() && d.Kind.Value.IsCXL() {
			d.Region = regionOf(t.link(dir).Value)
		}
		d.Online = d.Driver.Or("") == "kmem" && d.TargetNode.Known() && (!online.Known() || online.Value.Has(d.TargetNode.Value))
		found = append(found, d)
	}
	return found
}

// nodeIn reads the number of a node; -1 is none.
func (t *tree) nodeIn(name string) Fact[int] {
	return then(t.integer(name), func(n int) (int, error) {
		if n < 0 {
			return 0, ErrNotTold
		}
		return n, nil
	})
}

// uuid reads a UUID; the kernel writes nothing, 0 or zeros where there is none.
func (t *tree) uuid(name string) Fact[string] {
	return then(t.text(name), func(s string) (string, error) {
		if strings.Trim(s, "0-") == "" {
			return "", ErrNotTold
		}
		const form = "00000000-0000-0000-0000-000000000000"
		if len(s) != len(form) {
			return "", fmt.Errorf("%w: %s is no UUID", ErrMalformed, quote(s))
		}
		for i := range len(form) {
			if (form[i] == '-') != (s[i] == '-') || s[i] != '-' && !strings.ContainsRune("0123456789abcdefABCDEF", rune(s[i])) {
				return "", fmt.Errorf("%w: %s is no UUID", ErrMalformed, quote(s))
			}
		}
		return s, nil
	})
}

// daxDrivers is the driver of each dax device, as the drivers list them.
func (t *tree) daxDrivers() map[string]string {
	const dir = "sys/bus/dax/drivers"
	drivers, err := t.names(dir)
	if err != nil {
		return nil
	}
	of := map[string]string{}
	for _, driver := range drivers {
		names, err := t.names(dir + "/" + driver)
		if err != nil {
			continue
		}
		for _, name := range names {
			if isDax(name) {
				of[name] = driver
			}
		}
	}
	return of
}

// daxKind tells the kind of memory by where the device hangs.
func daxKind(link string) (MemoryKind, error) {
	for part := range strings.SplitSeq(link, "/") {
		switch {
		case strings.HasPrefix(part, "dax_region"):
			return CXLMemory, nil
		case strings.HasPrefix(part, "nvdimm-bridge"):
			return CXLPersistent, nil
		case strings.HasPrefix(part, "hmem."):
			return SoftReserved, nil
		}
	}
	// The bus of persistent memory hangs from the bridge of CXL, or from the ACPI device of NVDIMMs.
	if strings.Contains(link, "/ndbus") {
		return NVDIMM, nil
	}
	return UnknownMemory, ErrNotTold
}

// regionOf is the CXL region in a link.
func regionOf(link string) string {
	parts := strings.Split(link, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "dax_region") && i > 0 {
			return parts[i-1]
		}
	}
	return ""
}

// kinds works out what the memory of each node is.
func (t *tree) kinds(m *Machine) {
	block := then(t.text("sys/devices/system/memory/block_size_bytes"), parseHex)
	windows := apart(m.CXL.Windows.Value)
	t.reserved(m, windows)
	for i := range m.NUMA.Nodes {
		n := &m.NUMA.Nodes[i]
		n.Kind = t.kind(m, n, block, windows)
	}
	for i := range m.NUMA.Nodes {
		n := &m.NUMA.Nodes[i]
		n.Likely = likely(&m.NUMA, n)
	}
}

// kind follows what is certain first: dax devices that the node's memory comes from, a GPU's driver, the
// firmware's windows. A node without a processor is plain memory only where something says so.
func (t *tree) kind(m *Machine, n *Node, block Fact[uint64], sorted []stretch) Fact[MemoryKind] {
	if f, ok := kindByDax(m, n); ok {
		return f
	}
	for _, g := range m.GPU.Devices {
		if g.OwnNode.Known() && g.OwnNode.Value == n.ID {
			return known(GPUMemory, g.OwnNode.From)
		}
	}
	if !n.Memory.Total.Known() {
		return unknown[MemoryKind](n.Memory.Total.From, n.Memory.Total.Err)
	}
	if n.Memory.Total.Value == 0 {
		return known(NoMemory, n.Memory.Total.From)
	}
	windows := m.CXL.Windows
	if windows.Known() && len(windows.Value) == 0 {
		return Fact[MemoryKind]{Value: PlainMemory, From: windows.From, Inferred: "no dax device gives it memory, and the firmware has no CXL windows"}
	}
	inWindow := t.inWindows(n, windows, sorted, block)
	switch {
	case inWindow.Known() && inWindow.Value:
		return Fact[MemoryKind]{Value: CXLMemory, From: windows.From, Inferred: "its addresses lie in a CXL window of the firmware"}
	case inWindow.Known():
		return Fact[MemoryKind]{Value: PlainMemory, From: windows.From, Inferred: "no dax device gives it memory, and its addresses lie in no CXL window of the firmware"}
	case n.CPUs.Known() && !n.CPUs.Value.Empty():
		return Fact[MemoryKind]{Value: PlainMemory, From: n.CPUs.From, Inferred: "it has processors, and no dax device gives it memory"}
	}
	return unknown[MemoryKind](inWindow.From, fmt.Errorf("no dax device gives it memory, and CXL that the firmware set up shows in the firmware's table only: %w", inWindow.Err))
}

// kindByDax is the kind of the dax devices whose memory the node has, if it has no other.
func kindByDax(m *Machine, n *Node) (Fact[MemoryKind], bool) {
	var kind Fact[MemoryKind]
	var sum uint64
	for _, d := range m.Dax {
		if d.Driver.Or("") != "kmem" || !d.TargetNode.Known() || d.TargetNode.Value != n.ID {
			continue
		}
		n.Dax = append(n.Dax, d.Name)
		sum += d.Size.Or(0)
		switch {
		case len(n.Dax) == 1:
			kind = d.Kind
		case kind.Known() && d.Kind.Known() && kind.Value != d.Kind.Value:
			kind = unknown[MemoryKind](d.Path, fmt.Errorf("%s is %s, and another of its devices %s: %w", d.Name, d.Kind.Value, kind.Value, ErrNotTold))
		}
	}
	if len(n.Dax) == 0 {
		return Fact[MemoryKind]{}, false
	}
	// kmem can only round down what a device has.
	if total := n.Memory.Total.Or(0); kind.Known() && total > sum {
		kind = unknown[MemoryKind](n.Memory.Total.From, fmt.Errorf("of its %d MiB, %s gives %d as %s, and nothing says what the rest is: %w",
			total>>20, few(n.Dax, " and "), sum>>20, kind.Value, ErrNotTold))
	}
	return kind, true
}

// inWindows reports whether all memory of a node lies in windows of CXL, by its memory blocks.
func (t *tree) inWindows(n *Node, windows Fact[[]HPA], sorted []stretch, block Fact[uint64]) Fact[bool] {
	if !windows.Known() {
		return unknown[bool](windows.From, windows.Err)
	}
	if !block.Known() {
		return unknown[bool](block.From, block.Err)
	}
	names, err := t.names(n.Path)
	if err != nil {
		return unknown[bool](n.Path, err)
	}
	in, out := 0, 0
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "memory")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		number, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || number > (1<<64-1)/max(block.Value, 1) {
			return unknown[bool](path.Join(n.Path, name), ErrTooLarge)
		}
		if within(sorted, number*block.Value) {
			in++
		} else {
			out++
		}
	}
	switch {
	case in == 0 && out == 0:
		return unknown[bool](n.Path, fmt.Errorf("no memory blocks: %w", fs.ErrNotExist))
	case in > 0 && out > 0:
		return unknown[bool](n.Path, errors.New("some of its memory lies in CXL windows, and some does not"))
	}
	return known(in > 0, n.Path)
}

// likely guesses what soft-reserved memory is, by its speed for processors beside that of plain memory: HBM has more
// bandwidth than the machine's own memory, CXL less.
func likely(numa *NUMA, n *Node) Fact[MemoryKind] {
	if n.Kind.Or(UnknownMemory) != SoftReserved {
		return n.Kind
	}
	bandwidth := n.Access[1].ReadBandwidth
	if !bandwidth.Known() {
		return unknown[MemoryKind](bandwidth.From, ErrNotTold)
	}
	var best uint64
	for _, other := range numa.Nodes {
		if other.Kind.Or(UnknownMemory) == PlainMemory {
			best = max(best, other.Access[1].ReadBandwidth.Or(0))
		}
	}
	f := Fact[MemoryKind]{From: bandwidth.From}
	switch {
	case best == 0 || best == bandwidth.Value:
		f.Err = ErrNotTold
	case bandwidth.Value > best:
		f.Value, f.Inferred = HBM, fmt.Sprintf("processors read it at %d MB/s, and plain memory at %d", bandwidth.Value, best)
	default:
		f.Value, f.Inferred = CXLMemory, fmt.Sprintf("processors read it at %d MB/s, and plain memory at %d", bandwidth.Value, best)
	}
	return f
}
