package platform

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
)

const (
	cxlDir  = "sys/bus/cxl/devices"
	daxDir  = "sys/bus/dax/devices"
	cedt    = "sys/firmware/acpi/tables/CEDT"
	acpiDir = "sys/firmware/acpi/tables"
)

// cxl reads what the bus has, and which devices on the PCI bus it lacks.
func (t *tree) cxl(devices []pciDevice) CXL {
	c := CXL{Bus: known(true, cxlDir), Windows: t.windows()}
	names, err := t.names(cxlDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		c.Bus = known(false, cxlDir)
	case err != nil:
		c.Bus = unknown[bool](cxlDir, err)
		c.Err = fmt.Errorf("%s: %w", cxlDir, err)
		return c
	}
	for _, name := range names {
		dir := cxlDir + "/" + name
		switch kind := strings.TrimRight(name, "0123456789."); kind {
		case "mem":
			c.Memdevs = append(c.Memdevs, t.memdev(name, dir))
		case "root", "port", "endpoint":
			c.Ports = append(c.Ports, Port{
				Name: name, Path: dir,
				Uport: t.linkName(dir + "/uport"), Parent: t.linkName(dir + "/parent_dport"),
				Committed: t.number(dir + "/decoders_committed"),
			})
		case "decoder":
			c.Decoders = append(c.Decoders, t.decoder(name, dir))
		case "region":
			c.Regions = append(c.Regions, t.region(name, dir))
		}
	}
	if len(c.Memdevs) == 0 {
		c.Err = ErrNoCXL
	}
	for _, d := range devices {
		if d.class>>8 == 0x0502 && !c.drives(d.address) {
			c.Undriven = append(c.Undriven, d.address)
		}
	}
	return c
}

// drives reports whether a device on the PCI bus is a memdev. Where links cannot be read, any may be.
func (c *CXL) drives(address string) bool {
	for _, m := range c.Memdevs {
		if m.Address == address || m.Address == "" {
			return true
		}
	}
	return false
}

func (t *tree) memdev(name, dir string) Memdev {
	m := Memdev{
		Name: name, Path: dir,
		Serial: t.number(dir + "/serial"), RAM: t.number(dir + "/ram/size"), PMEM: t.number(dir + "/pmem/size"),
		NUMANode: t.nodeOf(dir), Firmware: t.text(dir + "/firmware_version"),
	}
	if to := t.link(dir); to.Known() {
		if parent := path.Base(path.Dir(to.Value)); strings.Count(parent, ":") == 2 {
			m.Address = parent
		}
	}
	m.DVSEC = t.dvsec(m.Address, dir)
	return m
}

// dvsec reads the revision of the capability that makes a device one of CXL (vendor 0x1e98, identity 0). Source: CXL
// specification 3.0, 8.1.3.
func (t *tree) dvsec(address, dir string) Fact[uint8] {
	if address == "" {
		return unknown[uint8](dir, ErrNotTold)
	}
	name := pciDir + "/" + address + "/config"
	config, err := t.read(name)
	if err == nil && len(config) < configFull {
		err = fs.ErrPermission
	}
	if err != nil {
		return unknown[uint8](name, err)
	}
	f := unknown[uint8](name, ErrNotTold)
	extended(config, func(id uint16, at int) {
		if id != capDVSEC || at+10 > len(config) {
			return
		}
		head := binary.LittleEndian.Uint32(config[at+4:])
		if uint16(head) == cxlVendor && binary.LittleEndian.Uint16(config[at+8:]) == 0 {
			f = known(uint8(head>>16&0xf), name)
		}
	})
	return f
}

func (t *tree) decoder(name, dir string) Decoder {
	d := Decoder{
		Name: name, Path: dir, Type: t.text(dir + "/devtype"),
		Start: t.number(dir + "/start"), Size: t.number(dir + "/size"),
		Ways: t.number(dir + "/interleave_ways"), Granularity: t.number(dir + "/interleave_granularity"),
	}
	switch d.Type.Value {
	case "cxl_decoder_root":
		d.Targets = t.text(dir + "/target_list")
		d.RAM, d.PMEM = t.flag(dir+"/cap_ram"), t.flag(dir+"/cap_pmem")
	case "cxl_decoder_switch":
		d.Targets, d.Region = t.text(dir+"/target_list"), t.text(dir+"/region")
	case "cxl_decoder_endpoint":
		d.Mode, d.DPASize, d.Region = t.text(dir+"/mode"), t.number(dir+"/dpa_size"), t.text(dir+"/region")
	}
	return d
}

func (t *tree) region(name, dir string) Region {
	r := Region{
		Name: name, Path: dir,
		Mode: t.text(dir + "/mode"), Size: t.number(dir + "/size"), Start: t.number(dir + "/resource"),
		Ways: t.number(dir + "/interleave_ways"), Granularity: t.number(dir + "/interleave_granularity"),
		Committed: t.flag(dir + "/commit"), Driver: t.linkName(dir + "/driver"),
		UUID:   t.uuid(dir + "/uuid"),
		Access: [2]Access{t.speeds(dir + "/access0"), t.speeds(dir + "/access1")},
	}
	names, err := t.names(dir)
	if err != nil {
		return r
	}
	for _, name := range names {
		if strings.HasPrefix(name, "dax_region") {
			r.Dax = append(r.Dax, t.daxIn(dir+"/"+name)...)
		}
	}
	targets, err := numberedIn(names, "target")
	for _, n := range targets {
		if f := t.text(dir + "/" + n.name); err == nil && f.Known() && f.Value != "" {
			r.Targets = append(r.Targets, f.Value)
		}
	}
	return r
}

// daxIn lists the dax devices of a region.
func (t *tree) daxIn(dir string) (found []string) {
	names, err := t.names(dir)
	if err != nil {
		return nil
	}
	for _, name := range names {
		if isDax(name) {
			found = append(found, name)
		}
	}
	return found
}

func isDax(name string) bool {
	digits, ok := strings.CutPrefix(name, "dax")
	return ok && strings.Contains(digits, ".") && strings.Trim(digits, "0123456789.") == ""
}

// windows reads ACPI's table of CXL windows: header of 36 bytes, then structures of a type, a length, and for type 1 (CFMWS) a base
// at 8 and a size at 16. Source: CXL specification 3.0, 9.17.1.
func (t *tree) windows() Fact[[]HPA] {
	b, err := t.read(cedt)
	if errors.Is(err, fs.ErrNotExist) {
		// Without the table there are no windows, if there are tables at all.
		if names, derr := t.names(acpiDir); derr == nil && len(names) > 0 {
			return Fact[[]HPA]{From: acpiDir, Inferred: "the firmware has tables, and none of CXL windows"}
		}
	}
	if err != nil {
		return unknown[[]HPA](cedt, err)
	}
	windows, err := parseCEDT(b)
	if err != nil {
		return unknown[[]HPA](cedt, err)
	}
	return known(windows, cedt)
}

func parseCEDT(b []byte) (windows []HPA, err error) {
	const header = 36
	if len(b) < header || string(b[:4]) != "CEDT" || int64(binary.LittleEndian.Uint32(b[4:])) > int64(len(b)) {
		return nil, fmt.Errorf("%w: no CEDT, or not all of one", ErrMalformed)
	}
	rest := b[header:max(header, binary.LittleEndian.Uint32(b[4:]))]
	for len(rest) > 0 {
		if len(rest) < 4 {
			return nil, fmt.Errorf("%w: %d bytes behind the last structure", ErrMalformed, len(rest))
		}
		size := int(binary.LittleEndian.Uint16(rest[2:]))
		if size < 4 || size > len(rest) {
			return nil, fmt.Errorf("%w: a structure of %d bytes where %d are left", ErrMalformed, size, len(rest))
		}
		if rest[0] == 1 && size >= 24 {
			windows = append(windows, HPA{binary.LittleEndian.Uint64(rest[8:]), binary.LittleEndian.Uint64(rest[16:])})
		}
		rest = rest[size:]
	}
	return windows, nil
}
