package platform

import (
	"fmt"
	"io/fs"
	"strings"
)

// reserved looks closer at memory that the firmware set apart for a purpose it does not name: where all its addresses lie in windows of CXL,
// it is CXL's, which the firmware set up before the kernel ran.
func (t *tree) reserved(m *Machine, sorted []stretch) {
	if len(sorted) == 0 {
		return
	}
	for i := range m.Dax {
		d := &m.Dax[i]
		if d.Kind.Or(UnknownMemory) != SoftReserved {
			continue
		}
		ranges, err := t.ranges(d)
		if err == nil && covers(sorted, ranges) {
			d.Kind = Fact[MemoryKind]{Value: CXLMemory, From: m.CXL.Windows.From,
				Inferred: "the firmware reserved it, and its addresses lie in a CXL window of the firmware"}
		}
	}
}

// ranges are the addresses of a dax device. Source: Documentation/ABI/testing/sysfs-bus-dax; root alone may read them.
func (t *tree) ranges(d *Dax) ([]stretch, error) {
	dir := daxDir + "/" + d.Name
	names, err := t.names(dir)
	if err != nil {
		return nil, err
	}
	var all []stretch
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "mapping")
		if !ok || digits == "" || strings.Trim(digits, "0123456789") != "" {
			continue
		}
		first, last := then(t.text(dir+"/"+name+"/start"), parsePrefixed), then(t.text(dir+"/"+name+"/end"), parsePrefixed)
		if !first.Known() {
			return nil, first.Err
		}
		if !last.Known() {
			return nil, last.Err
		}
		if last.Value < first.Value {
			return nil, fmt.Errorf("%w: %s ends before it begins", ErrMalformed, quote(name))
		}
		all = append(all, stretch{first.Value, last.Value})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no mappings: %w", dir, fs.ErrNotExist)
	}
	return all, nil
}

// covers reports whether each of the ranges lies within one of the windows, none of which touches another.
func covers(windows, ranges []stretch) bool {
	for _, r := range ranges {
		inside := false
		for _, w := range windows {
			inside = inside || w.first <= r.first && r.last <= w.last
		}
		if !inside {
			return false
		}
	}
	return true
}

// parsePrefixed parses a number as the kernel's %#llx writes it.
func parsePrefixed(s string) (uint64, error) { return parseHex(strings.TrimPrefix(s, "0x")) }
