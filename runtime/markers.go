package barewire

// The residency markers: where a region's memory lives. They stand in types
// only. Their sizes differ, so that generic code is compiled for each of them. The
// directives tell the analyzers what they stand for.
type (
	// CPU is the machine's own memory.
	//
	//barewire:residency cpu
	CPU struct{ _ [1]byte }
	// NUMA is the machine's memory at one node.
	//
	//barewire:residency numa
	NUMA struct{ _ [2]byte }
	// CXL is memory behind CXL, at a node of its own or as device-dax.
	//
	//barewire:residency cxl
	CXL struct{ _ [3]byte }
	// CXLShared is CXL memory that several machines see, without hardware coherence.
	//
	//barewire:residency cxl_shared
	CXLShared struct{ _ [4]byte }
	// GPU is a GPU's memory: no host pointer.
	//
	//barewire:residency gpu
	GPU struct{ _ [5]byte }
	// Managed is memory that a GPU's driver moves: the host needs Acquire.
	//
	//barewire:residency managed
	Managed struct{ _ [6]byte }
	// Unified is memory that is coherent for host and devices at any time.
	//
	//barewire:residency unified
	Unified struct{ _ [7]byte }
)

// The access markers: who may reach a region. Local memory may be written by
// the device that it is registered with, so any registered region can receive a read.
type (
	// Unregistered memory is known to no device.
	//
	//barewire:access unregistered
	Unregistered struct{ _ [1]byte }
	// Local memory is for a device of this machine, on behalf of its owner.
	//
	//barewire:access local
	Local struct{ _ [2]byte }
	//barewire:access remote_read
	RemoteRead struct{ _ [3]byte }
	//barewire:access remote_write
	RemoteWrite struct{ _ [4]byte }
	//barewire:access remote_read_write
	RemoteReadWrite struct{ _ [5]byte }
	//barewire:access remote_atomic
	RemoteAtomic struct{ _ [6]byte }
	//barewire:access remote_read_atomic
	RemoteReadAtomic struct{ _ [7]byte }
	//barewire:access remote_write_atomic
	RemoteWriteAtomic struct{ _ [8]byte }
	//barewire:access remote_read_write_atomic
	RemoteReadWriteAtomic struct{ _ [9]byte }
)

// Residency is any place where a region may live. The unions in this file have
// no ~ and are closed: no type of another package is in them.
type Residency interface {
	CPU | NUMA | CXL | CXLShared | GPU | Managed | Unified
}

// HostAddressable is memory that this processor may load from and store to at
// any time, coherently.
type HostAddressable interface{ CPU | NUMA | CXL | Unified }

// Registrable is memory that a network device can reach coherently.
type Registrable interface {
	CPU | NUMA | CXL | GPU | Unified
}

// Access is any access that a region grants.
type Access interface {
	Unregistered | Local | RemoteRead | RemoteWrite | RemoteReadWrite |
		RemoteAtomic | RemoteReadAtomic | RemoteWriteAtomic | RemoteReadWriteAtomic
}

// Registered is memory that a device knows: operations may name it.
type Registered interface {
	Local | RemoteRead | RemoteWrite | RemoteReadWrite |
		RemoteAtomic | RemoteReadAtomic | RemoteWriteAtomic | RemoteReadWriteAtomic
}

// RemoteAccess is memory that a peer may reach in some way.
type RemoteAccess interface {
	RemoteRead | RemoteWrite | RemoteReadWrite |
		RemoteAtomic | RemoteReadAtomic | RemoteWriteAtomic | RemoteReadWriteAtomic
}

// CanRemoteRead is memory that a peer may read.
type CanRemoteRead interface {
	RemoteRead | RemoteReadWrite | RemoteReadAtomic | RemoteReadWriteAtomic
}

// CanRemoteWrite is memory that a peer may write.
type CanRemoteWrite interface {
	RemoteWrite | RemoteReadWrite | RemoteWriteAtomic | RemoteReadWriteAtomic
}

// CanRemoteReadWrite is memory that a peer may both read and write.
type CanRemoteReadWrite interface {
	RemoteReadWrite | RemoteReadWriteAtomic
}

// CanRemoteAtomic is memory with words that a peer may change atomically.
type CanRemoteAtomic interface {
	RemoteAtomic | RemoteReadAtomic | RemoteWriteAtomic | RemoteReadWriteAtomic
}

// CanExclusive is memory that nobody remote can change while it is open: a
// plain slice over it is sound.
type CanExclusive interface {
	Unregistered | Local | RemoteRead
}

// CanLocalAtomic is memory whose words no peer changes by atomic operations,
// so that this processor's atomics are enough. For the rest see [GlobalAtomics].
type CanLocalAtomic interface {
	Unregistered | Local | RemoteRead | RemoteWrite | RemoteReadWrite
}
