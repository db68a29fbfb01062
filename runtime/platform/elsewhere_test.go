package platform

import (
	"errors"
	"fmt"
	"testing"
)

// On other systems each part has its typed answer, and what stands on it says so and works.
func TestElsewhere(t *testing.T) {
	m := elsewhere("darwin", 16<<10)
	for _, err := range []error{m.NUMA.Err, m.CXL.Err, m.RDMA.Err, m.GPU.Err} {
		if !errors.Is(err, ErrNotLinux) {
			t.Errorf("%v", err)
		}
	}
	for _, r := range m.Residencies() {
		if has := r.Gets != ""; has != (r.Name == "cpu" || r.Name == "unified") || !has && r.Why == "" {
			t.Errorf("%+v", r)
		}
	}
	if missing := m.Missing(); len(missing) > 0 {
		t.Errorf("nothing is known, and %v is said to be missing", missing)
	}
	r, err := Configure(m, DataCenter(), WithMemoryLimit(100))
	if err != nil || r.MemoryLimit != 100 || len(r.Fallbacks) != 1 || r.MayLie(3) != nil {
		t.Errorf("%v, %v", r, err)
	}
	if _, err := Configure(m, WithCXL()); !errors.Is(err, ErrNotLinux) || !errors.Is(err, ErrLacks) {
		t.Errorf("%v", err)
	}
	if _, err := Configure(m, WithNUMA(Topology{AtLeast: 2})); !errors.Is(err, ErrNotLinux) {
		t.Errorf("%v", err)
	}
}

// More nodes than a word of a mask has bits, some of them not online, numbered up to the highest that there is.
func TestManyNodes(t *testing.T) {
	content := map[string]string{nodeDir + "/online": "0-398,1023", nodeDir + "/possible": "0-1023"}
	distances := ""
	for i := range 400 {
		distances += fmt.Sprint(10+min(i, 90), " ")
	}
	for i := range 400 {
		n := i
		if i == 399 {
			n = 1023
		}
		dir := fmt.Sprintf("%s/node%d", nodeDir, n)
		content[dir+"/meminfo"] = fmt.Sprintf("Node %d MemTotal: 1000 kB\nNode %d MemFree: 1 kB\n", n, n)
		content[dir+"/cpulist"] = fmt.Sprintf("%d-%d\n", 2*i, 2*i+1)
		content[dir+"/distance"] = distances
	}
	content[nodeDir+"/node399/meminfo"] = "Node 399 MemTotal: 1000 kB\n" // it is not online
	m := detect(t, files(content))
	if got := m.NUMA.Usable().String(); got != "0-398,1023" || len(m.NUMA.Nodes) != 401 {
		t.Errorf("usable: %s of %d nodes", got, len(m.NUMA.Nodes))
	}
	if n, ok := m.NUMA.Node(399); !ok || n.Online.Or(true) {
		t.Errorf("node 399: %+v", n)
	}
	last, _ := m.NUMA.Node(1023)
	if last.CPUs.Value.String() != "798-799" {
		t.Errorf("node 1023: %+v", last.CPUs)
	}
	if d, ok := m.NUMA.Distance(1023, 1023); !ok || d != 100 {
		t.Errorf("the last column is node 1023's: %d, %v", d, ok)
	}
}
