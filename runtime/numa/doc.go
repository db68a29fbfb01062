// Package numa allocates regions at nodes of memory, and pins goroutines beside them.
//
//	r, err := numa.New(1, SensorInNUMA(), 4096)         // all of it at node 1, or an error
//	r, err := numa.Local(SensorInNUMA(), 4096)          // at the node of the processor that runs this
//	err = numa.Run(1, func() error { … })               // on a processor of node 1
//
// A region's type says that its memory was placed; at which node is a value ([barewire.Placement]), since machines differ.
// Where the schema fixes the node, by numa(1), [Default] is that.
//
// [New] and [Local] give memory of one node or an error: calls that place memory succeed without effect, so each page is
// touched, and looked for, before the region is given out. That is a statement on that time: kernels move cold pages to
// slower nodes, and registering for RDMA takes them out of movable memory ([barewire.ErrPlacementLost]).
// [barewire.Placement] asks again.
//
// A place with a fallback (SensorInNUMAOrUnified) gives memory of the machine where the node cannot be had:
// [barewire.Backing] says that, and why. Elsewhere it is an error that wraps [barewire.ErrPlace] and a reason:
// [ErrNoNUMA] where there is no Linux or no NUMA in its kernel, [ErrForbidden] in containers that may not place memory,
// [ErrNoNode], [ErrElsewhere] where the node is full.
//
// Touching takes memory at once: of more than the process's control group may have, the kernel ends the process, as it does with any that
// touches so much. A configuration knows that limit (platform.Resolved.MemoryLimit), and with barewire.Under it is an error instead, as far
// as all that is large is allocated so.
//
// Sources: mbind(2), move_pages(2), sched_setaffinity(2); the kernel's Documentation/admin-guide/mm/numa_memory_policy.rst.
//
//barewire:trust what a call does to a handle is in its generation, which its type does not show
package numa

import (
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
)

var friend = seal.Key()

// Why memory is not where it was wanted, for errors.Is.
var (
	ErrNoNUMA    = mempolicy.ErrNoNUMA    // no Linux, or one without NUMA
	ErrForbidden = mempolicy.ErrForbidden // this process may not place memory, or threads
	ErrNoNode    = mempolicy.ErrNoNode    // no such node, or it has no memory, or none for this process
	ErrElsewhere = mempolicy.ErrElsewhere // there was no room; or pages are pinned or shared, and cannot be moved
	ErrUntold    = mempolicy.ErrUntold    // the system does not tell where pages are, so that nobody can say

	// ErrNoProcessor is what running at a node gives that has no processor, or none that this process may use.
	ErrNoProcessor = errors.New("the node has no processor for this process")
)

// Default is the node that the schema names, by numa(N).
const Default = -1
