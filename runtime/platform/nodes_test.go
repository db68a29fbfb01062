package platform_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// TestNodes: single questions have the answers that reading all of the machine gives, on each captured machine.
func TestNodes(t *testing.T) {
	for _, name := range machines.Names() {
		files, err := machines.FS(name)
		if err != nil {
			t.Fatal(err)
		}
		m, err := platform.DetectFS(t.Context(), files)
		if err != nil {
			t.Fatal(err)
		}
		n := platform.NodesIn(files)
		if got := n.Online(); got.String() != m.NUMA.Online.String() {
			t.Errorf("%s: online %v, want %v", name, got, m.NUMA.Online)
		}
		if got := n.WithMemory(); got.String() != m.NUMA.HasMemory.String() {
			t.Errorf("%s: with memory %v, want %v", name, got, m.NUMA.HasMemory)
		}
		for _, node := range m.NUMA.Nodes {
			if got := n.CPUs(node.ID); got.String() != node.CPUs.String() {
				t.Errorf("%s, node %d: processors %v, want %v", name, node.ID, got, node.CPUs)
			}
			if got := n.Distances(node.ID); m.NUMA.Online.Known() && !slices.Equal(got.Value, node.Distances.Value) {
				t.Errorf("%s, node %d: distances %v, want %v", name, node.ID, got, node.Distances)
			}
		}
		for _, absent := range []int{-1, 1 << 20} {
			if got := n.CPUs(absent); !errors.Is(got.Err, fs.ErrNotExist) {
				t.Errorf("%s: processors of node %d: %v", name, absent, got)
			}
		}
	}
}

// TestNodesNone: without the files there is an answer that says which one is missing, and what is malformed is said to be.
func TestNodesNone(t *testing.T) {
	n := platform.NodesIn(fstest.MapFS{})
	if f := n.Online(); !errors.Is(f.Err, fs.ErrNotExist) || f.From != "sys/devices/system/node/online" {
		t.Errorf("%+v", f)
	}
	if f := n.Distances(0); f.Known() || f.From != "sys/devices/system/node/online" {
		t.Errorf("%+v", f)
	}
	n = platform.NodesIn(fstest.MapFS{
		"sys/devices/system/node/online":         {Data: []byte("0-1\n")},
		"sys/devices/system/node/node0/distance": {Data: []byte("10\n")},
		"sys/devices/system/node/node0/cpulist":  {Data: []byte("0-99999999999999\n")},
	})
	if f := n.Distances(0); !errors.Is(f.Err, platform.ErrMalformed) {
		t.Errorf("one column for two nodes: %+v", f)
	}
	if f := n.CPUs(0); f.Known() {
		t.Errorf("%+v", f)
	}
}
