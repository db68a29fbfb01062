//go:build lab && linux

package guest

import (
	"fmt"
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const nodeDir = "devices/system/node"

// slow is the node that is memory only.
const slow = 2

// TestNUMA: two nodes with a processor each, and one without, behind the first, of the speed that the HMAT gives it.
func TestNUMA(t *testing.T) {
	want(t, "0-2", nodeDir, "has_memory")
	want(t, "0-1", nodeDir, "has_cpu")
	want(t, "", nodeDir, "node2/cpulist")
	want(t, "17 28 10", nodeDir, "node2/distance")
	speed(t)
	onNode(t, slow)
}

// speed wants the numbers of the HMAT: as seen from the node that is best for each. Source: the kernel's
// Documentation/admin-guide/mm/numaperf.rst; ns and MB/s.
func speed(t testing.TB) {
	t.Helper()
	for node, c := range []struct{ latency, bandwidth string }{{"100", "20480"}, {"100", "20480"}, {"400", "4096"}} {
		in := fmt.Sprintf("%s/node%d/access0/initiators", nodeDir, node)
		want(t, c.latency, in, "read_latency")
		want(t, c.latency, in, "write_latency")
		want(t, c.bandwidth, in, "read_bandwidth")
		want(t, c.bandwidth, in, "write_bandwidth")
	}
	ok(t, there("/sys/"+nodeDir+"/node2/access0/initiators/node0")())
	if there("/sys/"+nodeDir+"/node2/access0/initiators/node1")() == nil {
		t.Error("the farther node counts as among the best for node2")
	}
}

// onNode binds memory to a node, and asks where it is. Source: mbind(2), move_pages(2).
func onNode(t testing.TB, want int) {
	t.Helper()
	const pages, bind = 64, 2
	size := os.Getpagesize()
	mem := must(unix.Mmap(-1, 0, pages*size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	defer func() { _ = unix.Munmap(mem) }()
	mask := uint64(1) << want
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(&mem[0])), uintptr(len(mem)), bind, uintptr(unsafe.Pointer(&mask)), 65, 0)
	if errno != 0 {
		t.Fatalf("mbind: %v", errno)
	}
	var at [pages]*byte
	var node [pages]int32
	for i := range at {
		mem[i*size] = 1
		at[i], node[i] = &mem[i*size], -99
	}
	_, _, errno = unix.Syscall6(unix.SYS_MOVE_PAGES, 0, pages, uintptr(unsafe.Pointer(&at)), 0, uintptr(unsafe.Pointer(&node)), 0)
	if errno != 0 {
		t.Fatalf("move_pages: %v", errno)
	}
	for i, n := range node {
		if int(n) != want {
			t.Fatalf("page %d is on node %d", i, n)
		}
	}
}
