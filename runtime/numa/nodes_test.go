package numa

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// captured has the files of a captured machine.
func captured(t *testing.T, name string) platform.Nodes {
	t.Helper()
	files, err := machines.FS(name)
	if err != nil {
		t.Fatal(err)
	}
	return platform.NodesIn(files)
}

// TestNearest: of nodes without the one that is asked for, the firmware's nearest; the CXL node of a captured machine is at 20, and the other socket at 21.
func TestNearest(t *testing.T) {
	files := captured(t, "cxl-stageB-sysram")
	for _, c := range []struct {
		here  int
		nodes []int
		want  int
	}{
		{0, []int{0, 1, 4}, 0},
		{1, []int{0, 1, 4}, 1},
		{0, []int{1, 4}, 4},
		{1, []int{0, 4}, 4},
		{4, []int{1, 0}, 0},
		{1000, []int{4, 1}, 4}, // nothing says
	} {
		if got := nearest(files, c.here, c.nodes); got != c.want {
			t.Errorf("at %d, of %v: %d, want %d", c.here, c.nodes, got, c.want)
		}
	}
	if got := nearest(platform.NodesIn(fstest.MapFS{}), 1, []int{7, 8}); got != 7 {
		t.Errorf("without files: %d", got)
	}
}

// TestWithMemory: of the nodes that a process may use those with memory; all where the system has no such list.
func TestWithMemory(t *testing.T) {
	allowed, err := mempolicy.SetOf(0, 1, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	if got := withMemory(captured(t, "cxl-stageB-sysram"), &allowed); !slices.Equal(got, []int{0, 1, 4}) {
		t.Errorf("%v", got)
	}
	if got := withMemory(platform.NodesIn(fstest.MapFS{}), &allowed); !slices.Equal(got, []int{0, 1, 2, 4}) {
		t.Errorf("%v", got)
	}
}

// TestProcessors: a node's, or why there are none, by type.
func TestProcessors(t *testing.T) {
	files := captured(t, "cxl-stageB-sysram")
	for node, want := range map[int]string{0: "0-1", 1: "2-3"} {
		if got, err := processors(files, node); err != nil || got.String() != want {
			t.Errorf("node %d: %v, %v, want %s", node, got, err, want)
		}
	}
	const dir = "sys/devices/system/node/"
	broken := platform.NodesIn(fstest.MapFS{dir + "online": {Data: []byte("0")}, dir + "node0/cpumap": {Data: []byte("\x00\xff")}})
	for _, c := range []struct {
		name  string
		files platform.Nodes
		node  int
		want  error
	}{
		{"memory only", files, 4, ErrNoProcessor},
		{"no such node", files, 9, ErrNoNode},
		{"a negative one", files, -7, ErrNoNode},
		{"more than there can be", files, 1024, ErrNoNode},
		{"no NUMA", platform.NodesIn(fstest.MapFS{}), 0, ErrNoNUMA},
		{"a file that is none", broken, 0, platform.ErrMalformed},
	} {
		got, err := processors(c.files, c.node)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if known := c.node >= 0 && c.node < 1024; !known && !strings.Contains(err.Error(), "numbers go from 0 to 1023") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
