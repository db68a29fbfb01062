package platform

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// GPUs is the devices that draw or compute.
type GPUs struct {
	Err     error       `json:"-"` // why there are none: [ErrNotLinux], [ErrNoGPU], or what reading gave
	Devices []GPUDevice `json:"devices"`
}

// GPUDevice is a display controller or a processing accelerator on the PCI bus (classes 03 and 12).
type GPUDevice struct {
	Address  string       `json:"address"` // on the bus: 0000:01:00.0
	Path     string       `json:"path"`
	Class    uint64       `json:"class"` // 0x030200 is a controller without a display
	Vendor   Fact[uint16] `json:"vendor"`
	Device   Fact[uint16] `json:"device"`
	Driver   Fact[string] `json:"driver"`
	NUMANode Fact[int]    `json:"numa_node"` // of the processors near it
	OwnNode  Fact[int]    `json:"own_node"`  // the node that its memory is, where the driver made one

	VRAM        Fact[uint64] `json:"vram"`         // bytes of its memory; amdgpu and xe say it in files, other drivers by calls only
	VisibleVRAM Fact[uint64] `json:"visible_vram"` // bytes of it that the processor can address

	BARs Fact[[]BAR] `json:"bars"`
	// Resizable is whether a BAR can be resized. A big BAR gives programs no pointer to the memory by itself.
	Resizable Fact[bool] `json:"resizable_bar"`
}

// The vendors of GPUs that programs compute on.
const (
	VendorNVIDIA = 0x10de
	VendorAMD    = 0x1002
	VendorIntel  = 0x8086
)

var vendorNames = map[uint16]string{
	VendorNVIDIA: "NVIDIA", VendorAMD: "AMD", VendorIntel: "Intel",
	0x1a03: "ASPEED", 0x102b: "Matrox", 0x1234: "QEMU", 0x1b36: "QEMU", 0x1af4: "virtio", 0x15ad: "VMware", 0x1414: "Microsoft",
}

// VendorName is the vendor in letters, or as a number.
func (g *GPUDevice) VendorName() string {
	if !g.Vendor.Known() {
		return "unknown vendor"
	}
	if name, ok := vendorNames[g.Vendor.Value]; ok {
		return name
	}
	return fmt.Sprintf("vendor 0x%04x", g.Vendor.Value)
}

// Computes reports whether the device is of a vendor whose GPUs compute. Others, as those of management
// controllers, draw only.
func (g *GPUDevice) Computes() bool {
	return g.Vendor.Known() && (g.Vendor.Value == VendorNVIDIA || g.Vendor.Value == VendorAMD || g.Vendor.Value == VendorIntel)
}

// Largest is the largest BAR, through which the processor can reach the memory.
func (g *GPUDevice) Largest() (BAR, bool) {
	if !g.BARs.Known() || len(g.BARs.Value) == 0 {
		return BAR{}, false
	}
	return slices.MaxFunc(g.BARs.Value, func(a, b BAR) int { return cmpUint(a.Size, b.Size) }), true
}

func cmpUint(a, b uint64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// gpus reads the GPUs among the devices of the bus.
func (t *tree) gpus(devices []pciDevice, err error, release Fact[string]) (g GPUs) {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		g.Err = ErrNoGPU
		return g
	case err != nil:
		g.Err = fmt.Errorf("%s: %w", pciDir, err)
		return g
	}
	for _, d := range devices {
		if base := d.class >> 16; base == 0x03 || base == 0x12 {
			g.Devices = append(g.Devices, t.gpu(d, release))
		}
	}
	if len(g.Devices) == 0 {
		g.Err = ErrNoGPU
	}
	return g
}

func (t *tree) gpu(d pciDevice, release Fact[string]) GPUDevice {
	dir := pciDir + "/" + d.address
	g := GPUDevice{
		Address: d.address, Path: dir, Class: d.class,
		Vendor:   then(t.text(dir+"/vendor"), parseID16),
		Device:   then(t.text(dir+"/device"), parseID16),
		Driver:   t.linkName(dir + "/driver"),
		NUMANode: t.nodeOf(dir),
		BARs:     then(t.text(dir+"/resource"), parseBARs),
	}
	t.nvidia(&g)
	t.vram(&g, dir)
	t.rebar(&g, dir, release)
	return g
}

// nvidia reads what NVIDIA's driver says in /proc: a machine may show nothing else of the device.
func (t *tree) nvidia(g *GPUDevice) {
	const dir = "proc/driver/nvidia/gpus"
	name := dir + "/" + g.Address + "/numa_status"
	g.OwnNode = then(t.text(name), parseNumaStatus)
	if !g.Vendor.Known() && !errors.Is(g.OwnNode.Err, fs.ErrNotExist) {
		g.Vendor = Fact[uint16]{Value: VendorNVIDIA, From: path.Dir(name), Inferred: "NVIDIA's driver lists the device"}
	}
}

// parseNumaStatus reads "Node: 255" and "Status: online" among lines.
func parseNumaStatus(s string) (int, error) {
	node, online := -1, false
	for line := range strings.SplitSeq(s, "\n") {
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch strings.TrimSpace(key) {
		case "Node":
			n, err := strconv.Atoi(value)
			if err != nil || n >= maxID {
				return 0, fmt.Errorf("%w: %s is no node", ErrMalformed, quote(value))
			}
			node = n
		case "Status":
			online = value == "online"
		}
	}
	if node < 0 || !online {
		return 0, ErrNotTold
	}
	return node, nil
}

// vram reads the size of the memory from where drivers write it: amdgpu's mem_info_vram_total, and xe's
// physical_vram_size_bytes for each tile, whose sum it is.
func (t *tree) vram(g *GPUDevice, dir string) {
	if g.Vendor.Known() && g.Vendor.Value == VendorAMD {
		g.VRAM = t.number(dir + "/mem_info_vram_total")
		g.VisibleVRAM = t.number(dir + "/mem_info_vis_vram_total")
		return
	}
	if g.Driver.Known() && g.Driver.Value == "xe" {
		g.VRAM = t.tiles(dir)
		return
	}
	g.VRAM = unknown[uint64](dir, ErrNotTold)
	g.VisibleVRAM = g.VRAM
}

func (t *tree) tiles(dir string) Fact[uint64] {
	tiles, err := t.numbered(dir, "tile")
	if err != nil {
		return unknown[uint64](dir, err)
	}
	sum := unknown[uint64](dir, ErrNotTold)
	for _, tile := range tiles {
		f := t.number(dir + "/" + tile.name + "/physical_vram_size_bytes")
		if !f.Known() {
			return f
		}
		sum = known(sum.Or(0)+f.Value, f.From)
	}
	return sum
}

// rebar finds out whether a BAR can be resized: by the capability in the configuration space, which takes rights to
// read, else by the files resourceN_resize, which kernels show from 6.1 on where there is the capability.
func (t *tree) rebar(g *GPUDevice, dir string, release Fact[string]) {
	config, err := t.read(dir + "/config")
	if err == nil && len(config) >= configFull {
		g.Resizable = known(false, dir+"/config")
		extended(config, func(id uint16, at int) {
			if id == capReBAR {
				g.Resizable.Value = true
				g.setSizes(resizable(config, at))
			}
		})
		return
	}
	if err == nil {
		err = fmt.Errorf("%d bytes of the configuration space are shown, and the capability is behind them: %w", len(config), fs.ErrPermission)
	}
	var sizes [6][]uint64
	found := ""
	for n := range sizes {
		name := fmt.Sprintf("%s/resource%d_resize", dir, n)
		if f := then(t.text(name), parseResize); f.Known() {
			sizes[n], found = f.Value, name
		} else if !errors.Is(f.Err, fs.ErrNotExist) {
			found = name // it is there, and what it says cannot be read
		}
	}
	switch {
	case found != "":
		g.Resizable = known(true, found)
		g.setSizes(sizes)
	case atLeast(release, 6, 1) && g.BARs.Known():
		g.Resizable = Fact[bool]{From: dir, Inferred: "kernel " + release.Value + " shows resourceN_resize for BARs that can be resized, and there is none"}
	default:
		g.Resizable = unknown[bool](dir+"/config", err)
	}
}

func (g *GPUDevice) setSizes(sizes [6][]uint64) {
	for i := range g.BARs.Value {
		g.BARs.Value[i].Sizes = sizes[g.BARs.Value[i].Number]
	}
}

// atLeast reports whether a kernel's release is known and at least a version: "6.12.9-amd64".
func atLeast(release Fact[string], major, minor int) bool {
	if !release.Known() {
		return false
	}
	a, rest, _ := strings.Cut(release.Value, ".")
	b, _, _ := strings.Cut(rest, ".")
	b = b[:len(b)-len(strings.TrimLeft(b, "0123456789"))]
	x, err1 := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	return err1 == nil && err2 == nil && (x > major || x == major && y >= minor)
}
