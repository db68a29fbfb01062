package region

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestNode asks the kernel, of memory that was touched and of memory that was not.
func TestNode(t *testing.T) {
	h := newRegion(t, Spec{Type: ticks, Count: 1 << 16}) // 1024 pages
	defer mustClose(t, h)
	if n := h.Node(); n != -1 && !Race { // the heap may have been used before
		t.Errorf("memory that nobody touched is at node %d", n)
	}
	bytesOf(h)[5000] = 1
	got := h.Node()
	at, status := []unsafe.Pointer{unsafe.Add(h.Base(), 4096)}, []int32{-1}
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, 1, uintptr(unsafe.Pointer(&at[0])), 0, uintptr(unsafe.Pointer(&status[0])), 0)
	if errno != 0 {
		if got != -1 {
			t.Errorf("node %d, and the kernel does not tell: %v", got, errno)
		}
		t.Skipf("this kernel does not tell where pages lie: %v", errno)
	}
	if got != int(status[0]) && !Race {
		t.Errorf("node %d, and the page is at %d", got, status[0])
	}
	online, err := os.ReadFile("/sys/devices/system/node/online")
	if err == nil && strings.TrimSpace(string(online)) == "0" && got != 0 {
		t.Errorf("node %d of a machine that has node 0 only", got)
	}
}

func TestNodesOf(t *testing.T) {
	for _, c := range []struct{ status, want []int }{
		{},
		{status: []int{-2, -2}},
		{[]int{-2, 1, 1, -14}, []int{1}},
		{[]int{0, 2, 0, 1}, []int{0, 1, 2}},
	} {
		var status []int32
		for _, s := range c.status {
			status = append(status, int32(s))
		}
		if got := nodesOf(status); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.status, got, c.want)
		}
	}
}
