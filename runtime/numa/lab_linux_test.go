//go:build lab

//barewire:trust tests make what is wrong
package numa_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/fault"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
)

// The lab's machine has processors at the nodes 0 and 1, and at node 2 a GiB of memory only: see the preset numa.
const (
	slow  = 2
	bytes = 1 << 30 // of node 2
)

// kernelSays is how many pages of a region the kernel counts at nodes, in a way that is not ours. Source: proc(5), /proc/PID/numa_maps.
func kernelSays(t *testing.T, name string) map[int]int {
	t.Helper()
	b, err := os.ReadFile("/proc/self/numa_maps")
	if err != nil {
		t.Fatal(err)
	}
	at := map[int]int{}
	for line := range strings.Lines(string(b)) {
		if !strings.Contains(line, "barewire:"+name) {
			continue
		}
		for _, w := range strings.Fields(line) {
			node, pages, ok := strings.Cut(w, "=")
			if n, err := strconv.Atoi(strings.TrimPrefix(node, "N")); ok && err == nil && strings.HasPrefix(node, "N") {
				p, err := strconv.Atoi(pages)
				if err != nil {
					t.Fatal(err)
				}
				at[n] += p
			}
		}
	}
	return at
}

// pages is how many a region of sensors has.
func pages(elements int) int { return elements * 64 / os.Getpagesize() }

// TestLabNodes: memory is where it was asked for, at a node without a processor as well; kernel and region agree.
func TestLabNodes(t *testing.T) {
	const n = 1 << 16 // 4 MiB
	for node := range 3 {
		r, err := numa.New(node, placed.SensorInNUMA(), n, barewire.Named("at"+strconv.Itoa(node)))
		if err != nil {
			t.Fatal(err)
		}
		if p, err := barewire.Placement(r); err != nil || p.Node != node {
			t.Errorf("%+v, %v; want %d", p, err, node)
		}
		if at := kernelSays(t, "at"+strconv.Itoa(node)); at[node] != pages(n) || len(at) != 1 {
			t.Errorf("the kernel says %v, want all %d at %d", at, pages(n), node)
		}
		closed(t, r)
	}
	r, err := numa.Interleave(placed.SensorInNUMA(), n, nil, barewire.Named("all"))
	if err != nil {
		t.Fatal(err)
	}
	at := kernelSays(t, "all")
	for node := range 3 {
		if third := pages(n) / 3; at[node] < third || at[node] > third+1 {
			t.Errorf("of %d pages, %v by node", pages(n), at)
		}
	}
	closed(t, r)
	r, err = numa.Preferred(placed.SensorInNUMA(), n, []int{slow, 1}, barewire.Named("some"))
	if err != nil {
		t.Fatal(err)
	}
	if pl, err := numa.PlacingOf(r); err != nil || pl.Pages[0] != 0 || pl.Pages[slow]+pl.Pages[1] != pages(n) || pl.Weaker != nil {
		t.Errorf("%+v, %v", pl, err)
	}
	closed(t, r)
}

// TestLabFull: more than a node has is an error, and nobody is killed for it; what is preferred spills over.
func TestLabFull(t *testing.T) {
	const n = (bytes + 64<<20) / 64
	_, err := numa.New(slow, placed.SensorInNUMA(), n)
	wrong(t, err, numa.ErrElsewhere, "pages")
	t.Log(err)
	r, err := numa.Preferred(placed.SensorInNUMA(), n, []int{slow})
	if err != nil {
		t.Fatal(err)
	}
	pl, err := numa.PlacingOf(r)
	if err != nil || pl.Pages[slow] == 0 || len(pl.Pages) < 2 || pl.Pages[-1] != 0 {
		t.Errorf("%+v, %v", pl, err)
	}
	t.Logf("preferred: %v", pl.Pages)
	closed(t, r)
	r, err = numa.New(slow, placed.SensorInNUMA(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	closed(t, r)
}

// TestLabMigrate: a region goes from node to node with what is in it, its window open, and its type the same.
func TestLabMigrate(t *testing.T) {
	const n = 1 << 15
	r, err := numa.New(0, placed.SensorInNUMA(), n, barewire.Named("nomad"))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, r)
	w, err := barewire.Open(r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		placed.SensorAt(w, i).SetSeq(uint64(i))
	}
	for _, node := range []int{slow, 1, 0, slow} {
		if err := numa.Migrate(r, node); err != nil {
			t.Fatal(err)
		}
		if at := kernelSays(t, "nomad"); at[node] != pages(n) || len(at) != 1 {
			t.Errorf("at %v after it moved to %d", at, node)
		}
	}
	wrong(t, numa.Migrate(r, 7), numa.ErrNoNode)
	if at := kernelSays(t, "nomad"); at[slow] != pages(n) {
		t.Errorf("at %v after a move that failed", at)
	}
	for i := range n {
		if placed.SensorAt(w, i).Seq() != uint64(i) {
			t.Fatalf("element %d is lost", i)
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

// TestLabRun: goroutines run at nodes, where local memory is; a node without a processor runs none.
func TestLabRun(t *testing.T) {
	for node := range 2 {
		if err := numa.Run(node, func() error {
			for range 1000 {
				if _, at, err := mempolicy.Here(); err != nil || at != node {
					return fmt.Errorf("it runs at node %d, %w", at, err)
				}
			}
			r, err := numa.Local(placed.SensorInNUMA(), 1000)
			if err != nil {
				return err
			}
			p, err := barewire.Placement(r)
			if err == nil && p.Node != node {
				err = fmt.Errorf("local memory is at node %d", p.Node)
			}
			return errors.Join(err, r.Close())
		}); err != nil {
			t.Errorf("node %d: %v", node, err)
		}
	}
	wrong(t, numa.Run(slow, func() error { return nil }), numa.ErrNoProcessor, "it is memory only")
}

// TestLabCpuset: in a cpuset without the node it is an error that says what there is, of memory and of processors.
func TestLabCpuset(t *testing.T) {
	if os.Getenv("BAREWIRE_TEST_CPUSET") == "" {
		dir := cgroup(t)
		cmd := exec.Command("/bin/sh", "-c", "echo $$ >"+dir+"/cgroup.procs && exec /proc/self/exe -test.run='^TestLabCpuset$' -test.v")
		cmd.Args[2] = strings.Replace(cmd.Args[2], "/proc/self/exe", self(t), 1)
		cmd.Env = append(os.Environ(), "BAREWIRE_TEST_CPUSET=1")
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Error(err)
		}
		return
	}
	_, err := numa.New(1, placed.SensorInNUMA(), 1)
	wrong(t, err, numa.ErrNoNode, "this process may have memory at 0")
	r, err := numa.Local(placed.SensorInNUMA(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if p, err := barewire.Placement(r); err != nil || p.Node != 0 {
		t.Errorf("%+v, %v", p, err)
	}
	closed(t, r)
	wrong(t, numa.Run(1, func() error { return nil }), numa.ErrNoProcessor, "pin to node 1", "this thread may use none of them")
	if err := numa.Run(0, func() error { return nil }); err != nil {
		t.Error(err)
	}
}

func self(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return exe
}

// cgroup makes a group that has memory and processors at node 0 only.
func cgroup(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	run := func(words ...string) {
		t.Helper()
		if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", words, err, out)
		}
	}
	run("mount", "-t", "cgroup2", "none", root)
	t.Cleanup(func() { run("umount", root) })
	dir := filepath.Join(root, "small")
	put := func(path, value string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(value), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put(filepath.Join(root, "cgroup.subtree_control"), "+cpuset")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(dir) })
	put(filepath.Join(dir, "cpuset.mems"), "0")
	put(filepath.Join(dir, "cpuset.cpus"), "0")
	return dir
}

// TestLabPoison: a page that the kernel was told is broken is an error of the copy that meets it, and names region and element; what
// is beside it can still be had. Source: madvise(2), MADV_HWPOISON.
func TestLabPoison(t *testing.T) {
	const n = 1 << 12
	r, err := numa.New(1, placed.SensorInNUMA(), n, barewire.Named("broken"))
	if err != nil {
		t.Fatal(err)
	}
	h, _, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	// The kernel may send the signal for it at once, to whoever told it: the call must be one that can be left by a panic.
	broken := unsafe.Slice((*byte)(unsafe.Add(h.Base(), 5*page)), page)
	var errno unix.Errno
	err = fault.Try(broken, func() {
		_, _, errno = unix.RawSyscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(&broken[0])), uintptr(page), unix.MADV_HWPOISON)
	})
	if errno != 0 {
		t.Fatalf("madvise: %v", errno)
	}
	t.Logf("told of it the kernel says: %v", err)
	all := make([]byte, n*64)
	err = barewire.CopyOut(r, 0, all)
	wrong(t, err, barewire.ErrMemory, "copy out: region broken of placed.Sensor made at numa/lab_linux_test.go:", "element 320")
	t.Log(err)
	wrong(t, barewire.CopyIn(r, 330, all[:64]), barewire.ErrMemory, "element 330")
	if err := barewire.CopyOut(r, 0, all[:5*page]); err != nil {
		t.Errorf("before it: %v", err)
	}
	if err := barewire.CopyOut(r, 6*page/64, all[6*page:]); err != nil {
		t.Errorf("behind it: %v", err)
	}
	closed(t, r)
}
