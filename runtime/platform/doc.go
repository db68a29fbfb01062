// Package platform says what a machine has: NUMA nodes, CXL memory, RDMA devices, GPUs, and the limits that the
// system sets. It also holds a configuration against that.
//
// Everything is read below one root, an [io/fs.FS]: [Detect] reads this machine, [DetectFS] any other, so that a
// captured tree is a machine. It only reads: no device is opened, nothing is written, no system call is made
// but those of reading files.
//
//	m, err := platform.Detect(ctx)
//	for _, n := range m.NUMA.Nodes {
//		fmt.Println(n.ID, n.Kind, n.Memory)
//	}
//
// Each fact is a [Fact]: a value and the file that says so, or why it is not known. What is not written anywhere is not
// guessed; what was concluded from several files says how ([Fact.Inferred]).
//
// The files are Linux's: Documentation/ABI/stable/sysfs-devices-node, Documentation/ABI/testing/sysfs-bus-cxl,
// sysfs-bus-dax, sysfs-bus-pci, sysfs-class-infiniband, sysfs-kernel-mm-memory-tiers, and proc(5). On another system
// every part answers [ErrNotLinux].
package platform
