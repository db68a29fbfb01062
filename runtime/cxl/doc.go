// Package cxl allocates regions in memory behind CXL.
//
//	pool, err := cxl.Open(ctx)                       // what this machine has, or ErrNoCXL
//	r, err := cxl.New(pool, KvBlockInCXL(), 1024)    // memory of the pool, or an error
//	u, err := cxl.New(pool, KvBlockInCXLOrUnified(), 1024) // or the machine's own: Backing tells, and why
//
// Linux shows such memory in two ways, and a [Pool] is of either. A device-dax (/dev/dax0.0) is mapped: the program has it, by a
// lock on its range of bytes, and nothing else touches it; what it holds stays when the program ends, and is made zero before it is given
// out. A node of NUMA without a processor is the system's memory: the pool is bound to the node, and each of its pages looked
// for after it was touched. Pools are divided here, in the program: Linux has no call that claims or allocates CXL memory.
//
// Memory is taken to be of CXL where the kernel's device tree says so (package platform has the rule). Memory that firmware has reserved or
// brought online by itself may be of CXL or not; who knows that it is says so by [Assume].
//
// # What a claim protects against
//
// A pool on a device-dax holds an exclusive lock on its range, an open file description lock of fcntl(2). Another pool on the same bytes, in this program or
// another one, is [ErrClaimed]; pools on other ranges of the device are not in the way. The lock ends with the program, however
// it ends. It is advisory: it does not keep out programs that take none (daxctl, databases), nor those that open another device file for the
// same memory, nor other hosts.
//
// # Sharing between hosts
//
// [Share] opens memory that several hosts see: see there.
//
// # What is not here
//
// Fabric managers, switches, and dynamic capacity: they add memory to a host outside its kernel, or by its administrator. A
// device's tag, the UUID by which an allocation of dynamic capacity is known, is kept where the kernel shows one ([Pool.Tag]).
// Making regions of memory devices, and nodes of dax devices, is for cxl(1) and daxctl(1).
//
// Sources: the kernel's Documentation/driver-api/cxl, Documentation/ABI/testing/sysfs-bus-dax, drivers/dax/device.c; fcntl(2).
//
//barewire:trust what a call does to a handle is in its generation, which its type does not show
package cxl

import (
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

var friend = seal.Key()

// Why there is no memory behind CXL, for errors.Is.
var (
	ErrNoCXL   = platform.ErrNoCXL                                      // this machine has none, as far as its system tells
	ErrNotCXL  = errors.New("the system does not say that it is CXL's") // it may be: see Assume
	ErrClaimed = errors.New("another pool has it")
	ErrPart    = errors.New("no such part of the device") // an offset or a length that it does not take
	ErrDevice  = errors.New("the device cannot be used")  // it is missing, has no driver, or may not be opened
	ErrFull    = errors.New("the pool is full")
	ErrGuard   = errors.New("bytes beside the region were written") // by whoever got its address
	ErrInUse   = errors.New("regions of the pool are not closed")

	ErrNoNode    = mempolicy.ErrNoNode
	ErrForbidden = mempolicy.ErrForbidden
	ErrElsewhere = mempolicy.ErrElsewhere
)
