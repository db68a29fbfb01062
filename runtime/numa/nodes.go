package numa

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// machine has the files that say what nodes there are.
var machine = platform.NodesIn(os.DirFS("/"))

// usable are the nodes with memory for this process.
func usable() ([]int, error) {
	allowed, err := mempolicy.Allowed()
	if err != nil {
		return nil, err
	}
	nodes := withMemory(machine, &allowed)
	if len(nodes) == 0 {
		return nil, fmt.Errorf("the system lists no memory for this process: %w", ErrNoNode)
	}
	return nodes, nil
}

// withMemory are those of some nodes that have memory, where the system lists those.
func withMemory(files platform.Nodes, allowed *mempolicy.Set) (nodes []int) {
	have := files.WithMemory()
	for _, n := range allowed.All() {
		if !have.Known() || have.Value.Has(n) {
			nodes = append(nodes, n)
		}
	}
	return nodes
}

// localNode is the node with memory that is nearest to this processor.
func localNode() (int, error) {
	_, here, err := mempolicy.Here()
	if err != nil {
		return 0, err
	}
	nodes, err := usable()
	if err != nil {
		return 0, err
	}
	return nearest(machine, here, nodes), nil
}

// nearest is the node of nodes that is here, or else the first at the least distance. Where nothing says how far they are, it is the first.
func nearest(files platform.Nodes, here int, nodes []int) int {
	if slices.Contains(nodes, here) {
		return here
	}
	best, least := nodes[0], math.MaxInt
	for _, d := range files.Distances(here).Value {
		if d.Value < least && slices.Contains(nodes, d.Node) {
			best, least = d.Node, d.Value
		}
	}
	return best
}

// processors are a node's.
func processors(files platform.Nodes, node int) (platform.IDs, error) {
	if node < 0 || node >= mempolicy.MaxNodes {
		return platform.IDs{}, fmt.Errorf("numbers go from 0 to %d: %w", mempolicy.MaxNodes-1, ErrNoNode)
	}
	f := files.CPUs(node)
	switch {
	case errors.Is(f.Err, fs.ErrNotExist):
		if online := files.Online(); !online.Known() {
			return f.Value, fmt.Errorf("%s: %w", online.Why(), ErrNoNUMA)
		}
		return f.Value, fmt.Errorf("%s: %w", f.Why(), ErrNoNode)
	case !f.Known():
		return f.Value, fmt.Errorf("its processors are not known: %s: %w", f.From, f.Err)
	case f.Value.Empty():
		return f.Value, fmt.Errorf("it is memory only: %w", ErrNoProcessor)
	}
	return f.Value, nil
}
