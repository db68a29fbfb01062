package region

import (
	"slices"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
)

// mostPages bounds how many pages Node looks at.
const mostPages = 4096

// Node is the NUMA node where the memory lies now; -1 where no page was touched, they lie
// at several nodes, or the kernel does not tell. See Nodes.
func (h *Handle) Node() int {
	if nodes := h.Nodes(); len(nodes) == 1 {
		return nodes[0]
	}
	return -1
}

// Nodes are the NUMA nodes where the memory lies now, in ascending order, as far as its pages
// were touched; none where no page was, or the kernel does not tell, as in
// containers that forbid it. Of large memory it looks at 4096 pages, spread evenly.
// Who calls it holds the handle.
func (h *Handle) Nodes() []int {
	m := &h.block.mem
	if g := m.given; g != nil {
		if g.Nodes != nil {
			return g.Nodes()
		}
		if g.Opaque {
			return nil
		}
	}
	page := pageSize()
	pages := m.size / page
	step := max((pages+mostPages-1)/mostPages, 1)
	var at []unsafe.Pointer
	for i := uintptr(0); i < pages; i += step {
		at = append(at, unsafe.Add(m.base, i*page))
	}
	if len(at) == 0 { // a part of a page, from a pool
		at = append(at, m.base)
	}
	status, err := mempolicy.NodesOf(at)
	if err != nil {
		return nil
	}
	return nodesOf(status)
}

// nodesOf are the nodes that pages lie at, by their status: a node, or an error,
// as for a page that was never touched.
func nodesOf(status []int32) (nodes []int) {
	for _, s := range status {
		if s >= 0 && !slices.Contains(nodes, int(s)) {
			nodes = append(nodes, int(s))
		}
	}
	slices.Sort(nodes)
	return nodes
}
