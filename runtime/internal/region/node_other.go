//go:build !linux

package region

// Node is the NUMA node where the memory lies now: -1, since only Linux is asked.
func (h *Handle) Node() int { return -1 }
