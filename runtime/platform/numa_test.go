package platform

import (
	"context"
	"errors"
	"io/fs"
	"testing"
	"testing/fstest"
)

// files is a tree of small files.
func files(content map[string]string) fstest.MapFS {
	m := fstest.MapFS{"sys": {Mode: fs.ModeDir | 0o755}}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
	}
	return m
}

func detect(t *testing.T, fsys fs.FS) *Machine {
	t.Helper()
	m, err := DetectFS(context.Background(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Two nodes as Linux shows them, the second without a processor, numbered 0 and 70.
func TestNodes(t *testing.T) {
	m := detect(t, files(map[string]string{
		nodeDir + "/online":                   "0,70\n",
		nodeDir + "/has_normal_memory":        "0\n",
		nodeDir + "/node0/cpumap":             "00000000,0000000f\n",
		nodeDir + "/node0/meminfo":            "Node 0 MemTotal:   1000 kB\nNode 0 MemFree:   10 kB\n",
		nodeDir + "/node0/distance":           "10 17\n",
		nodeDir + "/node70/cpumap":            "0\n",
		nodeDir + "/node70/meminfo":           "Node 70 MemTotal:   2000 kB\nNode 70 MemFree:   20 kB\n",
		nodeDir + "/node70/distance":          "17\n",
		"sys/devices/system/cpu/online":       "0-2\n",
		tierDir + "/memory_tier4/nodelist":    "0\n",
		tierDir + "/memory_tier1393/nodelist": "70\n",
	}))
	zero, _ := m.NUMA.Node(0)
	far, ok := m.NUMA.Node(70)
	if !ok || len(m.NUMA.Nodes) != 2 {
		t.Fatalf("nodes: %+v", m.NUMA.Nodes)
	}
	if got := zero.CPUs.Value.String(); got != "0-2" {
		t.Errorf("node 0 has processors %s; 3 is offline", got)
	}
	if zero.Memory.Total.Value != 1000<<10 || zero.Memory.Total.From != nodeDir+"/node0/meminfo" {
		t.Errorf("node 0 has %+v", zero.Memory.Total)
	}
	if d, ok := m.NUMA.Distance(0, 70); !ok || d != 17 {
		t.Errorf("distance 0 to 70: %d, %v", d, ok)
	}
	if !errors.Is(far.Distances.Err, ErrMalformed) {
		t.Errorf("a distance file with a column too few: %v", far.Distances)
	}
	if !far.Movable.Or(false) || zero.Movable.Or(true) || far.Movable.From != nodeDir+"/has_normal_memory" {
		t.Errorf("node 70 has movable memory only, and node 0 has not: %+v, %+v", far.Movable, zero.Movable)
	}
	if !far.Online.Or(false) || far.Online.From != nodeDir+"/online" {
		t.Errorf("node 70 is online: %+v", far.Online)
	}
	if far.Tier.Value != 1393 || len(m.NUMA.Tiers) != 2 || m.NUMA.Tiers[0].ID != 4 {
		t.Errorf("tiers: %+v, node 70 in %v", m.NUMA.Tiers, far.Tier)
	}
	if got := m.NUMA.Usable().String(); got != "0,70" {
		t.Errorf("usable: %s", got)
	}
	if !errors.Is(m.NUMA.Possible.Err, fs.ErrNotExist) {
		t.Errorf("there is no list of possible nodes, and it says %v", m.NUMA.Possible)
	}
}

// Kernels without the lists do not say of a node whether it is online, and whether its memory is movable; neither is taken for true or false.
func TestNoLists(t *testing.T) {
	m := detect(t, files(map[string]string{
		nodeDir + "/node3/meminfo": "Node 3 MemTotal: 1000 kB\n",
		nodeDir + "/node4/cpumap":  "1\n",
	}))
	three, _ := m.NUMA.Node(3)
	four, _ := m.NUMA.Node(4)
	for _, f := range []Fact[bool]{three.Online, three.Movable, four.Online, four.Movable} {
		if f.Known() || !errors.Is(f.Err, fs.ErrNotExist) {
			t.Errorf("%+v", f)
		}
	}
	if four.Movable.From != nodeDir+"/node4/meminfo" {
		t.Errorf("without its memory's size: %+v", four.Movable)
	}
	if got := m.NUMA.Usable().String(); got != "3" {
		t.Errorf("usable: %s", got)
	}
}

func TestNoNodes(t *testing.T) {
	if m := detect(t, files(nil)); !errors.Is(m.NUMA.Err, ErrNoNUMA) {
		t.Errorf("a tree without nodes: %v", m.NUMA.Err)
	}
}

func TestParseIDs(t *testing.T) {
	for _, x := range []struct{ in, out string }{
		{"", ""}, {"\n", ""}, {"0-3,8", "0-3,8"}, {"8,0-3,2-5", "0-5,8"}, {"1,2,3", "1-3"}, {"0-65535", "0-65535"},
	} {
		s, err := ParseIDs(x.in)
		if err != nil || s.String() != x.out {
			t.Errorf("%q: %q, %v; want %q", x.in, s, err, x.out)
		}
	}
	for _, x := range []struct {
		in  string
		why error
	}{
		{"x", ErrMalformed}, {"1-", ErrMalformed}, {"3-1", ErrMalformed}, {"-1", ErrMalformed},
		{"0-65536", ErrTooLarge}, {"18446744073709551616", ErrTooLarge},
	} {
		if s, err := ParseIDs(x.in); !errors.Is(err, x.why) {
			t.Errorf("%q: %q, %v; want %v", x.in, s, err, x.why)
		}
	}
}

func TestParseMask(t *testing.T) {
	for _, x := range []struct{ in, out string }{
		{"0", ""}, {"f", "0-3"}, {"00000001,80000000\n", "31-32"}, {"ffffffff,ffffffff", "0-63"}, {"5", "0,2"},
	} {
		s, err := parseMask(x.in)
		if err != nil || s.String() != x.out {
			t.Errorf("%q: %q, %v; want %q", x.in, s, err, x.out)
		}
	}
	for _, in := range []string{"", ",", "g", "100000000"} {
		if s, err := parseMask(in); !errors.Is(err, ErrMalformed) {
			t.Errorf("%q: %q, %v", in, s, err)
		}
	}
}

// Sets obey the laws of sets, on all sets of seven numbers and some around them.
func TestSets(t *testing.T) {
	set := func(bits int) (s []int) {
		for i := range 7 {
			if bits>>i&1 != 0 {
				s = append(s, i*i)
			}
		}
		return s
	}
	for a := range 128 {
		for b := range 128 {
			x, y := MakeIDs(set(a)...), MakeIDs(set(b)...)
			if !x.And(y).Equal(MakeIDs(set(a&b)...)) || !x.Or(y).Equal(MakeIDs(set(a|b)...)) || !x.Without(y).Equal(MakeIDs(set(a&^b)...)) {
				t.Fatalf("%s and %s: %s, %s, %s", x, y, x.And(y), x.Or(y), x.Without(y))
			}
		}
	}
}
