package platform

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

const pciDir = "sys/bus/pci/devices"

// BAR is a range of a PCI device's memory that the processor can address.
type BAR struct {
	Number   int    `json:"number"` // 0 to 5
	Start    uint64 `json:"start"`  // its address; 0 to a reader without rights
	Size     uint64 `json:"size"`   // bytes
	Prefetch bool   `json:"prefetchable"`
	Wide     bool   `json:"wide"` // addressed by 64 bits
	// Sizes is what it can be resized to, in bytes; empty where it cannot.
	Sizes []uint64 `json:"sizes,omitempty"`
}

// Bits of a resource's flags: include/linux/ioport.h.
const (
	resourceMem      = 0x200
	resourcePrefetch = 0x2000
	resourceWide     = 0x100000
)

// parseBARs reads the file resource of a device: a line "start end flags" for each of six BARs, and more that are none.
func parseBARs(s string) (bars []BAR, err error) {
	n := 0
	for line := range strings.SplitSeq(s, "\n") {
		if n == 6 {
			break
		}
		var v [3]uint64
		fields := strings.Fields(line)
		if len(fields) != len(v) {
			return nil, fmt.Errorf("%w: %s is no resource", ErrMalformed, quote(line))
		}
		for i := range v {
			if v[i], err = parseNumber(fields[i]); err != nil {
				return nil, err
			}
		}
		start, end, flags := v[0], v[1], v[2]
		if end < start || end-start == 1<<64-1 {
			return nil, fmt.Errorf("%w: %s ends before it starts", ErrMalformed, quote(line))
		}
		if flags&resourceMem != 0 && end > start {
			bars = append(bars, BAR{Number: n, Start: start, Size: end - start + 1,
				Prefetch: flags&resourcePrefetch != 0, Wide: flags&resourceWide != 0})
		}
		n++
	}
	return bars, nil
}

// Numbers of PCI Express extended capabilities, and of CXL's vendor.
const (
	capReBAR  = 0x15
	capDVSEC  = 0x23
	cxlVendor = 0x1e98
)

// configFull is the least bytes of a configuration space that has extended capabilities. Linux shows 64 to
// readers without CAP_SYS_ADMIN.
const configFull = 4096

// extended gives the extended capabilities of a configuration space: each its number and where it begins. The
// list may be a loop; each place is looked at once. Source: PCI Express base specification, 7.6.3.
func extended(config []byte, yield func(id uint16, at int)) {
	var seen [configFull / 4]bool
	for at := 0x100; at+4 <= len(config) && at < configFull && !seen[at/4]; {
		seen[at/4] = true
		head := binary.LittleEndian.Uint32(config[at:])
		if head == 0 || head == ^uint32(0) {
			return
		}
		yield(uint16(head), at)
		if at = int(head >> 20 &^ 3); at < 0x100 {
			return
		}
	}
}

// resizable reads the capability of resizable BARs, by the number of the BAR. Source: PCI Express base specification, 7.8.6:
// pairs of registers from offset 4; in the first bits 4 to 31 stand for 1 MiB to 128 TiB; in the second bits 0 to 2
// are the BAR, and in the first of them bits 5 to 7 the number of pairs.
func resizable(config []byte, at int) (sizes [6][]uint64) {
	pairs := 1
	for i := 0; i < pairs && at+12+8*i <= len(config); i++ {
		can := binary.LittleEndian.Uint32(config[at+4+8*i:])
		control := binary.LittleEndian.Uint32(config[at+8+8*i:])
		if i == 0 {
			pairs = min(int(control>>5&7), 6)
		}
		if bar := control & 7; bar < 6 {
			sizes[bar] = sizesOf(uint64(can) >> 4)
		}
	}
	return sizes
}

// sizesOf is the sizes of a set of bits, of which bit 0 is 1 MiB.
func sizesOf(can uint64) (sizes []uint64) {
	for bit := range 44 {
		if can>>bit&1 != 0 {
			sizes = append(sizes, 1<<(bit+20))
		}
	}
	return sizes
}

// parseResize reads resourceN_resize: the sizes as 16 hexadecimal digits (drivers/pci/pci-sysfs.c).
func parseResize(s string) ([]uint64, error) {
	can, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil {
		return nil, fmt.Errorf("%w: %s is no set of sizes", ErrMalformed, quote(s))
	}
	return sizesOf(can), nil
}

// parseID16 reads a vendor or a device: "0x10de".
func parseID16(s string) (uint16, error) {
	n, err := strconv.ParseUint(s, 0, 16)
	if err != nil {
		return 0, fmt.Errorf("%w: %s is no identity of a PCI device", ErrMalformed, quote(s))
	}
	return uint16(n), nil
}

// pciDevice is a device of the bus and its class, of which the highest byte is the base class.
type pciDevice struct {
	address string // 0000:01:00.0
	class   uint64
}

// pci lists the devices of the bus.
func (t *tree) pci() (devices []pciDevice, err error) {
	names, err := t.names(pciDir)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		class := t.number(pciDir + "/" + name + "/class")
		if !class.Known() {
			t.missed(class.From, class.Err) // it may be a GPU
			continue
		}
		devices = append(devices, pciDevice{name, class.Value})
	}
	return devices, nil
}

// nodeOf reads the node that a device is near; the kernel writes -1 where the firmware did not say.
func (t *tree) nodeOf(dir string) Fact[int] {
	return then(t.integer(dir+"/numa_node"), func(n int) (int, error) {
		if n < 0 {
			return 0, ErrNotTold
		}
		return n, nil
	})
}
