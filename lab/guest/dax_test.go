//go:build lab && linux

package guest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

const daxDir = "bus/dax/devices/dax0.0"

// align is what offsets and lengths of mappings are multiples of.
const align = 2 << 20

// TestHmem: memory that firmware has reserved is a device, which maps, keeps what is written, becomes the system's
// memory with its speed kept, and comes back.
func TestHmem(t *testing.T) {
	want(t, fmt.Sprint(1<<30), daxDir, "size")
	want(t, fmt.Sprint(slow), daxDir, "target_node")
	want(t, "0-1", nodeDir, "has_memory")
	refusals(t)
	store(t, 8*align)
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
	want(t, "0-2", nodeDir, "has_memory")
	speed(t)
	onNode(t, slow)
	tool(t, "daxctl offline-memory dax0.0")
	tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	want(t, "0-1", nodeDir, "has_memory")
	store(t, align)
}

// TestCXL: a CXL memory device of type 3 has become a region, a namespace and a device. What is written to its
// memory is in the file that the host has behind it: tools report success even where it is not.
func TestCXL(t *testing.T) {
	for attr, value := range map[string]string{"mem0/pmem/size": "0x20000000", "region0/size": "0x20000000", "region0/commit": "1"} {
		want(t, value, "bus/cxl/devices", attr)
	}
	want(t, fmt.Sprint(510<<20), daxDir, "size")
	refusals(t)
	data := store(t, 4*align)
	// The namespace keeps notes on itself at the region's beginning.
	file := must(os.Open("/host/cxl0"))(t)
	defer file.Close()
	behind := make([]byte, len(data))
	_ = must(file.ReadAt(behind, align))(t)
	if !bytes.Equal(behind, data) {
		t.Error("what was written is not in the file behind the device")
	}
	node := sysInt(t, daxDir, "target_node")
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
	want(t, fmt.Sprintf("0-%d", node), nodeDir, "has_memory")
	want(t, "", nodeDir, fmt.Sprintf("node%d/cpulist", node))
	onNode(t, node)
	tool(t, "daxctl offline-memory dax0.0")
	tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	store(t, align)
}

// refusals are of mappings that a device cannot have. Source: the kernel's drivers/dax/device.c, check_vma.
func refusals(t testing.TB) {
	t.Helper()
	fd := openDax(t)
	defer unix.Close(fd)
	for what, c := range map[string]struct{ n, flags int }{"a small page": {4096, unix.MAP_SHARED}, "a private mapping": {align, unix.MAP_PRIVATE}} {
		if _, err := unix.Mmap(fd, 0, c.n, unix.PROT_READ|unix.PROT_WRITE, c.flags); !errors.Is(err, unix.EINVAL) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func openDax(t testing.TB) int {
	t.Helper()
	return must(unix.Open("/dev/dax0.0", unix.O_RDWR|unix.O_CLOEXEC, 0))(t)
}

// mapDax maps the beginning of the device.
func mapDax(t testing.TB, n int) []byte {
	t.Helper()
	fd := openDax(t)
	defer unix.Close(fd)
	return must(unix.Mmap(fd, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(t)
}

// store writes by one mapping and reads by another one, and returns what is there.
func store(t testing.TB, n int) []byte {
	t.Helper()
	data := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n >> 20)})
	_ = must(random.Read(data))(t)
	mem := mapDax(t, n)
	copy(mem, data)
	ok(t, unix.Munmap(mem))
	mem = mapDax(t, n)
	defer func() { _ = unix.Munmap(mem) }()
	if !bytes.Equal(mem, data) {
		t.Fatal("what was written is not there")
	}
	return data
}
