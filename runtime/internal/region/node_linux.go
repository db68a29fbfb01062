package region

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostPages bounds how many pages Node looks at.
const mostPages = 4096

// Node is the NUMA node where the memory lies now, as far as its pages were touched; -1
// where none was, they lie at several nodes, or the kernel does not tell, as in
// containers that forbid it. Of large memory it looks at 4096 pages, spread evenly.
// Source: move_pages(2), without nodes to move to. Who calls it holds the handle.
func (h *Handle) Node() int {
	m := &h.block.mem
	page := pageSize()
	pages := m.size / page
	step := max((pages+mostPages-1)/mostPages, 1)
	var at []unsafe.Pointer
	for i := uintptr(0); i < pages; i += step {
		at = append(at, unsafe.Add(m.base, i*page))
	}
	status := make([]int32, len(at))
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(at)),
		uintptr(unsafe.Pointer(&at[0])), 0, uintptr(unsafe.Pointer(&status[0])), 0)
	runtime.KeepAlive(at)
	if errno != 0 {
		return -1
	}
	return oneNode(status)
}

// oneNode is the node that pages lie at, by their status: a node, or an error,
// as for a page that was never touched.
func oneNode(status []int32) int {
	node := -1
	for _, s := range status {
		switch {
		case s < 0 || int(s) == node:
		case node >= 0:
			return -1
		default:
			node = int(s)
		}
	}
	return node
}
