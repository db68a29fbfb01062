package numa

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// nodeFiles is where Linux has what it knows of nodes. Source: the kernel's Documentation/ABI/stable/sysfs-devices-node.
const nodeFiles = "/sys/devices/system/node/"

// usable are the nodes with memory for this process.
func usable() ([]int, error) {
	allowed, err := mempolicy.Allowed()
	if err != nil {
		return nil, err
	}
	nodes := allowed.All()
	if have, err := listed("has_memory"); err == nil {
		nodes = nodes[:0]
		for n := range have.All() {
			if allowed.Has(n) {
				nodes = append(nodes, n)
			}
		}
	}
	if len(nodes) == 0 {
		return nil, fmt.Errorf("the system lists no memory for this process: %w", ErrNoNode)
	}
	return nodes, nil
}

// listed reads a list of numbers: 0-3,8.
func listed(name string) (platform.IDs, error) {
	b, err := os.ReadFile(nodeFiles + name)
	if err != nil {
		return platform.IDs{}, err
	}
	return platform.ParseIDs(strings.TrimSpace(string(b)))
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
	return nearest(here, nodes, distances(here)), nil
}

// nearest is the node of nodes that is here, or else the one at the least distance.
func nearest(here int, nodes []int, distance map[int]int) int {
	best, least := nodes[0], math.MaxInt
	for _, n := range nodes {
		if n == here {
			return n
		}
		if d, ok := distance[n]; ok && d < least {
			best, least = n, d
		}
	}
	return best
}

// distances are a node's to others, by number. The file has those of the nodes that are online, in their order.
func distances(node int) map[int]int {
	online, err := listed("online")
	if err != nil {
		return nil
	}
	b, err := os.ReadFile(nodeFiles + "node" + strconv.Itoa(node) + "/distance")
	if err != nil {
		return nil
	}
	words, at := strings.Fields(string(b)), map[int]int{}
	for n := range online.All() {
		if len(words) == 0 {
			break
		}
		if d, err := strconv.Atoi(words[0]); err == nil {
			at[n] = d
		}
		words = words[1:]
	}
	return at
}
