package platform_test

import (
	"fmt"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestReservedForCXL: memory that the firmware reserved is CXL's where all of it lies in windows of CXL, and only there; how it comes is told.
func TestReservedForCXL(t *testing.T) {
	windows := in(t, tree(t, "cxl-stageB-sysram")).CXL.Windows.Value
	window := windows[len(windows)-1] // they lie side by side
	first, last, lowest := window.Start, window.Start+window.Size-1, windows[0].Start
	at := func(n uint64) string { return fmt.Sprintf("%#x\n", n) }
	for _, x := range []struct {
		name     string
		mappings []string // their files start and end
		kind     platform.MemoryKind
	}{
		{"in a window", []string{at(first), at(first + 4095)}, platform.CXLMemory},
		{"all of a window", []string{at(first), at(last)}, platform.CXLMemory},
		{"in pieces", []string{at(first), at(first + 4095), at(first + 8192), at(last)}, platform.CXLMemory},
		{"beyond their end", []string{at(first), at(last + 4096)}, platform.SoftReserved},
		{"in two windows", []string{at(lowest), at(last)}, platform.CXLMemory},
		{"before them", []string{at(lowest - 4096), at(lowest)}, platform.SoftReserved},
		{"one piece elsewhere", []string{at(first), at(first + 4095), at(0), at(4095)}, platform.SoftReserved},
		{"backwards", []string{at(first + 4095), at(first)}, platform.SoftReserved},
		{"no addresses", []string{"", ""}, platform.SoftReserved},
		{"no numbers", []string{"0xzz\n", at(last)}, platform.SoftReserved},
		{"no mappings", nil, platform.SoftReserved},
	} {
		fsys := tree(t, "cxl-stageB-sysram")
		const dir = "sys/devices/platform/hmem.9/dax9.0"
		put := func(name, text string) { fsys[dir+"/"+name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444} }
		put("size", "4096\n")
		for i := 0; i+1 < len(x.mappings); i += 2 {
			put(fmt.Sprintf("mapping%d/start", i/2), x.mappings[i])
			put(fmt.Sprintf("mapping%d/end", i/2), x.mappings[i+1])
		}
		fsys["sys/bus/dax/devices/dax9.0"] = &fstest.MapFile{Data: []byte("../../../devices/platform/hmem.9/dax9.0"), Mode: fs.ModeSymlink}
		d, ok := in(t, fsys).DaxOf("dax9.0")
		if !ok || d.Kind.Or(platform.UnknownMemory) != x.kind || (x.kind == platform.CXLMemory) != (d.Kind.Inferred != "") {
			t.Errorf("%s: %+v, want %s", x.name, d, x.kind)
		}
		// Who may not read the table knows no more than that it is reserved.
		delete(fsys, "sys/firmware/acpi/tables/CEDT")
		if d, _ := in(t, fsys).DaxOf("dax9.0"); d.Kind.Or(platform.UnknownMemory) != platform.SoftReserved {
			t.Errorf("%s, without the table: %+v", x.name, d.Kind)
		}
	}
}
