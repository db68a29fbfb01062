//go:build !linux

package region

// Nodes are the NUMA nodes where the memory lies now: none, since only Linux is asked.
func (h *Handle) Nodes() []int { return nil }

// Node is the NUMA node where the memory lies now: -1, since only Linux is asked.
func (h *Handle) Node() int { return -1 }
