package platform_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// tree is a captured machine that a test changes.
func tree(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	fsys, err := machines.FS(name)
	if err != nil {
		t.Fatal(err)
	}
	return fsys
}

// small is a machine of a few files.
func small(content map[string]string) fstest.MapFS {
	m := fstest.MapFS{"sys": {Mode: fs.ModeDir | 0o755}}
	for name, text := range content {
		m[name] = &fstest.MapFile{Data: []byte(text), Mode: 0o444}
	}
	return m
}

func in(t testing.TB, fsys fs.FS) *platform.Machine {
	t.Helper()
	m, err := platform.DetectFS(context.Background(), fsys)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// sane holds what was found in any tree, however wild: facts have a value or a reason, sets and lists are no larger than machines are.
func sane(t *testing.T, m *platform.Machine) {
	t.Helper()
	if len(m.NUMA.Nodes) > 1024 {
		t.Errorf("%d nodes", len(m.NUMA.Nodes))
	}
	if !slices.IsSortedFunc(m.NUMA.Nodes, func(a, b platform.Node) int { return a.ID - b.ID }) {
		t.Error("nodes are not in order")
	}
	for _, id := range slices.Collect(m.NUMA.Usable().All()) {
		if n, ok := m.NUMA.Node(id); !ok || n.Memory.Total.Or(0) == 0 {
			t.Errorf("node %d is usable, and is not there or has no memory", id)
		}
	}
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		t.Fatal(err)
	}
	walk(v, func(f map[string]any) {
		_, value := f["value"]
		if why, unknown := f["unknown"].(string); value == unknown || unknown && why == "" {
			t.Errorf("a fact is %v", f)
		}
	})
}

// TestNoSysfs: without sysfs, as in a container that was started so, there may be anything: each typed answer says so, and is one still.
func TestNoSysfs(t *testing.T) {
	for name, files := range map[string]fstest.MapFS{"an empty directory": small(nil), "nothing": {"proc/self/status": {Data: []byte("CapEff: 0\n")}}} {
		m := in(t, files)
		for err, want := range map[error]error{m.NUMA.Err: platform.ErrNoNUMA, m.CXL.Err: platform.ErrNoCXL, m.RDMA.Err: platform.ErrNoRDMA, m.GPU.Err: platform.ErrNoGPU} {
			if !errors.Is(err, platform.ErrNoSysfs) || !errors.Is(err, want) || strings.Contains(err.Error(), "no GPU") {
				t.Errorf("%s: %v, want %v and %v", name, err, platform.ErrNoSysfs, want)
			}
		}
		for _, r := range m.Residencies() {
			if strings.Contains(r.Gets+r.Why, "no GPU") || strings.Contains(r.Why, "no CXL") {
				t.Errorf("%s: it guesses: %+v", name, r)
			}
		}
	}
	m := in(t, small(map[string]string{"sys/class/net/eth0/mtu": "1500"}))
	if m.GPU.Err != platform.ErrNoGPU || m.RDMA.Err != platform.ErrNoRDMA {
		t.Errorf("with sysfs: %v, %v", m.GPU.Err, m.RDMA.Err)
	}
}

func TestHostileFiles(t *testing.T) {
	const node = "sys/devices/system/node"
	list := strings.Repeat("1,3,5,7,9,11,", 200_000) // over a million numbers, some 2 MB
	for name, files := range map[string]map[string]string{
		"a million numbers":   {node + "/online": list, node + "/node0/cpulist": list},
		"huge numbers":        {node + "/online": "0-18446744073709551615", node + "/node0/meminfo": "Node 0 MemTotal: 99999999999999999999 kB", node + "/node0/distance": "99999999999999999999"},
		"backwards":           {node + "/online": "9-1", node + "/node0/cpumap": "ffffffffff"},
		"a mask of megabytes": {node + "/node0/cpumap": strings.Repeat("ffffffff,", 100_000) + "ffffffff"},
		"binary":              {node + "/online": "\x00\xff\x7f", node + "/node0/meminfo": "\x00\x01MemTotal:\xff\xff", node + "/node0/cpumap": "\xff\xfe", "proc/self/status": "\x00", "proc/self/limits": "\xff", "proc/mounts": "\x00 \x00 \x00 \x00"},
		"empty":               {node + "/online": "", node + "/node0/meminfo": "", node + "/node0/cpumap": "", node + "/node0/distance": ""},
		"a directory for a file": {
			node + "/online/x": "0", node + "/node0/meminfo/x": "0", node + "/node0/cpumap/x": "0", "proc/self/status/x": "",
			"sys/bus/pci/devices/0000:00:00.0/config/x": "", "sys/bus/cxl/devices/mem0/ram/size/x": "",
		},
		"a file for a directory": {node: "x", "sys/bus/pci/devices": "x", "sys/bus/cxl/devices": "x", "sys/bus/dax/devices": "x", "sys/class/infiniband": "x", "proc": "x"},
		"numbers that no node has": {
			node + "/node18446744073709551616/meminfo": "x", node + "/node99999/meminfo": "x", node + "/node-1/meminfo": "x", node + "/node01/meminfo": "x",
		},
		"wild mounts": {
			"proc/self/mounts":          strings.Repeat("cgroup2 /../../x cgroup2 rw\ncgroup2 // cgroup2 rw\ncgroup . cgroup cpuset,memory\n", 50),
			"proc/self/cgroup":          "0::" + strings.Repeat("/..", 1000) + strings.Repeat("/a", 5000) + "\n4:cpuset,memory:" + strings.Repeat("/x", 100) + "\n:::::\n",
			"proc/sys/kernel/osrelease": "../../../../etc\n",
		},
		"a table that lies": {"sys/firmware/acpi/tables/CEDT": "CEDT\xff\xff\xff\xff" + strings.Repeat("\x01\x00\x00\x00", 100)},
		"a configuration space that is a loop": {
			"sys/bus/pci/devices/0000:01:00.0/class":  "0x030000",
			"sys/bus/pci/devices/0000:01:00.0/config": strings.Repeat("\x00", 0x100) + strings.Repeat("\x15\x00\x01\x10", 0x3c0),
		},
		"interfaces that lead elsewhere": {
			"sys/class/infiniband/x/ports/1/gids/0": "fe80::1", "sys/class/infiniband/x/ports/1/gid_attrs/ndevs/0": "../../../etc",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			sane(t, in(t, small(files)))
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
				t.Errorf("%d MiB were allocated", used>>20)
			}
		})
	}
}

// Directories with more in them than any machine has.
func TestHostileDirectories(t *testing.T) {
	files := map[string]string{}
	for i := range 1025 {
		files[fmt.Sprintf("sys/devices/system/node/node%d/meminfo", i)] = "x"
	}
	if m := in(t, small(files)); !errors.Is(m.NUMA.Err, platform.ErrTooLarge) {
		t.Errorf("1025 nodes: %v", m.NUMA.Err)
	}
	m := in(t, crowd{small(nil), "sys/bus/pci/devices", 1 << 20})
	if !errors.Is(m.GPU.Err, platform.ErrTooLarge) {
		t.Errorf("a million devices: %v", m.GPU.Err)
	}
}

// crowd is a tree with a directory of very many names.
type crowd struct {
	fstest.MapFS
	dir string
	n   int
}

func (c crowd) Open(name string) (fs.File, error) {
	if name == c.dir {
		return &crowded{left: c.n}, nil
	}
	return c.MapFS.Open(name)
}

type crowded struct {
	fs.File
	left int
}

func (c *crowded) Close() error { return nil }
func (c *crowded) ReadDir(n int) (entries []fs.DirEntry, err error) {
	for ; len(entries) < n && c.left > 0; c.left-- {
		info, err := fs.Stat(fstest.MapFS{"0000": {}}, "0000")
		if err != nil {
			return nil, err
		}
		entries = append(entries, fs.FileInfoToDirEntry(info))
	}
	return entries, nil
}

// Links that are loops, lead out of the tree, or nowhere: on a real file system, as doctor reads it.
func TestHostileLinks(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("0-7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{
		"sys/devices/system/node/online":           outside,
		"sys/devices/system/node/possible":         "possible",
		"sys/devices/system/node/node0":            ".",
		"sys/devices/system/node/node1":            "../../../../../../../../../../../..",
		"sys/bus/cxl/devices":                      "../../bus/cxl/devices",
		"sys/bus/dax/devices/dax0.0":               "dax0.0",
		"sys/class/infiniband":                     "nowhere",
		"sys/bus/pci/devices/0000:00:00.0/driver":  outside,
		"sys/bus/pci/devices/0000:00:00.0/loop":    "..",
		"sys/devices/virtual/memory_tiering":       "/",
		"proc/self":                                "self",
		"sys/firmware/acpi/tables/CEDT":            "CEDT",
		"sys/kernel/mm/hugepages":                  "../../..",
		"sys/bus/pci/devices/0000:00:00.0/config":  "config",
		"sys/bus/pci/devices/0000:00:00.0/class":   "/etc/passwd",
		"sys/class/infiniband_verbs/uverbs0/ibdev": "ibdev",
	} {
		at := filepath.Join(dir, filepath.FromSlash(link))
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at); err != nil {
			t.Skip("this system makes no symbolic links: ", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	m := in(t, root.FS())
	sane(t, m)
	if m.NUMA.Online.Known() {
		t.Errorf("a link out of the tree was followed: %s", m.NUMA.Online)
	}
}

// Each captured machine, with each of its files in turn gone, empty or noise, is read without a fault.
func TestDamagedMachines(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, name := range []string{"cxl-stageB-sysram", "fakeheteromemtiers", "nvidiagpunumanodes", "32amd64-4s2n4c-cgroup2"} {
		fsys := tree(t, name)
		var names []string
		for file := range fsys {
			names = append(names, file)
		}
		slices.Sort(names)
		step := 1
		if len(names) > 50 {
			step = len(names)/25 + 1
		}
		for i := rnd.IntN(step); i < len(names); i += step {
			file := names[i]
			was := fsys[file]
			noise := make([]byte, rnd.IntN(200))
			for i := range noise {
				noise[i] = byte(rnd.Uint32())
			}
			for _, now := range []*fstest.MapFile{nil, {}, {Data: noise, Mode: 0o444}, {Data: noise, Mode: fs.ModeSymlink}, {Mode: fs.ModeDir}} {
				if delete(fsys, file); now != nil {
					fsys[file] = now
				}
				sane(t, in(t, fsys))
			}
			fsys[file] = was
		}
	}
}

func TestContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if m, err := platform.DetectFS(ctx, tree(t, "cxl-stageB-sysram")); m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", m, err)
	}
	if m, err := platform.Detect(ctx); m != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", m, err)
	}
	slow, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	if _, err := platform.DetectFS(slow, tree(t, "256ia64-64n2s2c")); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if _, err := platform.DetectFS(context.Background(), os.DirFS(filepath.Join(t.TempDir(), "none"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a root that is not there: %v", err)
	}
	var none context.Context
	_, err1 := platform.Detect(none)
	_, err2 := platform.DetectFS(none, fstest.MapFS{})
	_, err3 := platform.DetectFS(context.Background(), nil)
	for _, err := range []error{err1, err2, err3} {
		if err == nil || !strings.Contains(err.Error(), "is nil") {
			t.Errorf("nothing to read, or no context: %v", err)
		}
	}
}

// This machine, whatever it is.
func TestDetect(t *testing.T) {
	m, err := platform.Detect(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	sane(t, m)
	if m.System != runtime.GOOS || !m.Limits.PageSize.Known() || int(m.Limits.PageSize.Value) != os.Getpagesize() {
		t.Errorf("system %s, pages of %s", m.System, m.Limits.PageSize)
	}
	if runtime.GOOS != "linux" {
		for _, err := range []error{m.NUMA.Err, m.CXL.Err, m.RDMA.Err, m.GPU.Err} {
			if !errors.Is(err, platform.ErrNotLinux) {
				t.Errorf("%v", err)
			}
		}
	}
}
