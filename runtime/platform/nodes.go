package platform

import (
	"context"
	"fmt"
	"io/fs"
	"strconv"
)

// Nodes answers single questions about NUMA nodes from a machine's files, as they are now: each reads the few files that it takes, where [Detect]
// reads all there are. It may be used from several goroutines.
type Nodes struct{ fsys fs.FS }

// NodesIn asks the files of a root, with sys in it; see [DetectFS].
func NodesIn(fsys fs.FS) Nodes { return Nodes{fsys} }

func (n Nodes) tree() *tree { return newTree(context.Background(), n.fsys) }

// Online is the nodes that are there. Where there is no such file, there is no NUMA.
func (n Nodes) Online() Fact[IDs] { return n.tree().ids(nodeDir + "/online") }

// WithMemory is the nodes that have memory, as the kernel lists them; some kernels have no such list.
func (n Nodes) WithMemory() Fact[IDs] { return n.tree().ids(nodeDir + "/has_memory") }

// CPUs is a node's processors that are online. The node may have none.
func (n Nodes) CPUs(node int) Fact[IDs] {
	t := n.tree()
	return t.cpus(dirOf(node), t.ids("sys/devices/system/cpu/online"))
}

// Distances is a node's distances to those that are online. There is no more to them than the firmware's opinion: see [Node.Distances].
func (n Nodes) Distances(node int) Fact[[]Distance] {
	t := n.tree()
	online := t.ids(nodeDir + "/online")
	if !online.Known() { // the columns have no names
		return Fact[[]Distance]{From: online.From, Err: online.Err}
	}
	columns := columnsOf(online, nil)
	return then(t.text(dirOf(node)+"/distance"), func(s string) ([]Distance, error) { return parseDistances(s, columns) })
}

// dirOf is a node's directory. Numbers that no node has name one that is not there.
func dirOf(node int) string {
	if node < 0 {
		return fmt.Sprintf("%s/no-node%d", nodeDir, node)
	}
	return nodeDir + "/node" + strconv.Itoa(node)
}
