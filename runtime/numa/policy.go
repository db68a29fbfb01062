package numa

import (
	"fmt"
	"slices"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// LargeBuffer is more than caches and most working sets take, in bytes: what is larger goes to slower and larger memory by
// [LargeToCXL].
const LargeBuffer = 512 << 20

// Policy chooses nodes for a buffer by its size. It is a wish: memory is elsewhere where there is no room.
type Policy struct {
	Name  string
	Over  uint64 // bytes: larger buffers go to Nodes, the others are local
	Nodes []int  // none: all buffers are local
}

// LargeToCXL is the policy that buffers of more than [LargeBuffer] go to the nodes of CXL memory and all others are local: they
// leave the fast memory to what needs it. CXL takes two to three times as long to load from, so it is for those who ask for it.
// The error is [platform.ErrNoCXL] where no node is known to be of CXL memory; the policy is then good, and
// all is local. Nodes that firmware brought online as plain memory are not known to be: name them, Policy{Nodes: …}.
func LargeToCXL(m *platform.Machine) (Policy, error) {
	p := Policy{Name: "large buffers to CXL, the rest local", Over: LargeBuffer}
	if m == nil || m.NUMA.Err != nil {
		return p, fmt.Errorf("numa: policy: no nodes are known: %w", platform.ErrNoCXL)
	}
	nodes := m.NUMA.OfKind(platform.MemoryKind.IsCXL).And(m.NUMA.Usable())
	p.Nodes = slices.Collect(nodes.All())
	if len(p.Nodes) == 0 {
		return p, fmt.Errorf("numa: policy: no node is known to be of CXL memory: %w", platform.ErrNoCXL)
	}
	return p, nil
}

// PolicyOf is the policy of a configuration: buffers of at least [platform.Resolved.LargeFrom] bytes go to its nodes of CXL memory, the others
// are local.
func PolicyOf(r *platform.Resolved) Policy {
	if r == nil || r.LargeFrom == 0 || len(r.Far) == 0 {
		return Policy{Name: "all local"}
	}
	return Policy{Name: "large buffers to CXL, the rest local", Over: r.LargeFrom - 1, Nodes: slices.Clone(r.Far)}
}

// Choose says where a buffer goes: nodes, or none for the local one.
func (p Policy) Choose(bytes uint64) []int {
	if bytes > p.Over {
		return p.Nodes
	}
	return nil
}

// ByPolicy allocates n elements where a policy wants so many bytes: as [Preferred] at its nodes, else as [Local].
//
//barewire:effect fresh=0 on ok
func ByPolicy[T barewire.Fixed[T], R nodeMemory](pol Policy, p barewire.Place[T, R], n int, opts ...barewire.Option) (*barewire.Region[T, R, barewire.Unregistered], error) {
	info, _, _, _, err := barewire.PlaceParts(friend, p)
	if err != nil {
		return nil, err
	}
	if nodes := pol.Choose(info.Size * uint64(max(n, 0))); len(nodes) > 0 {
		return Preferred(p, n, nodes, opts...)
	}
	return Local(p, n, opts...)
}
