//go:build lab

//barewire:trust tests make what is wrong
package cxl_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// reserved says that the lab's memory is soft-reserved, so that the system does not say that it is CXL's: the presets hmem and poison. In
// the others it is of a CXL device of type 3, with a region and a namespace.
var reserved = !slices.Contains([]string{"cxl", "share", "interleave"}, os.Getenv("BAREWIRE_LAB"))

// labPool opens a pool on the lab's memory.
func labPool(t *testing.T, opts ...cxl.Option) (*cxl.Pool, error) {
	t.Helper()
	if reserved {
		opts = append(opts, cxl.Device("dax0.0"), cxl.Assume())
	}
	return cxl.Open(t.Context(), opts...)
}

// random fills a region of so many bytes and returns what it has.
func random(t *testing.T, r *placed.SensorCXL[barewire.Unregistered], seed byte) []byte {
	t.Helper()
	data := make([]byte, r.Len()*64)
	if _, err := rand.NewChaCha8([32]byte{seed}).Read(data); err != nil {
		t.Fatal(err)
	}
	if err := barewire.CopyIn(r, 0, data); err != nil {
		t.Fatal(err)
	}
	return data
}

// is compares a region's memory.
func is(t *testing.T, r *placed.SensorCXL[barewire.Unregistered], data []byte) {
	t.Helper()
	got := make([]byte, len(data))
	if err := barewire.CopyOut(r, 0, got); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, data) {
		t.Error("what was written is not there")
	}
}

// TestLabDevice: a pool on the device, found or named; what a region has is in the device's memory, as another mapping, and the host behind
// the device, see it.
func TestLabDevice(t *testing.T) {
	m, err := platform.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if reserved {
		_, err = cxl.Open(t.Context(), cxl.Device("dax0.0"))
		wrong(t, err, cxl.ErrNotCXL, "dax0.0 is")
		_, err = cxl.Open(t.Context())
		wrong(t, err, cxl.ErrNoCXL)
	}
	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, p)
	d, _ := m.DaxOf("dax0.0")
	o := p.Origin()
	t.Logf("%+v", o)
	if o.Device != "dax0.0" || o.Size != d.Size.Value || o.Node != d.TargetNode.Value || o.Assumed != reserved {
		t.Errorf("%+v, and the device is %+v", o, d)
	}
	const n = 1 << 16
	r, err := cxl.New(p, placed.SensorInCXL(), n)
	if err != nil {
		t.Fatal(err)
	}
	is(t, r, make([]byte, n*64))
	data := random(t, r, 1)
	is(t, r, data)
	if pl, err := barewire.Placement(r); err != nil || pl.Kind != barewire.InCXL || pl.Node != o.Node {
		t.Errorf("%+v, %v", pl, err)
	}
	fd, err := unix.Open("/dev/dax0.0", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	other, err := unix.Mmap(fd, 0, n*64, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(other, data) {
		t.Error("another mapping of the device has other bytes")
	}
	if err := errors.Join(unix.Munmap(other), unix.Close(fd)); err != nil {
		t.Error(err)
	}
	if !reserved { // the namespace keeps notes on itself before
		f, err := os.Open("/host/cxl0")
		if err != nil {
			t.Fatal(err)
		}
		behind := make([]byte, len(data))
		if _, err := f.ReadAt(behind, 2<<20); err != nil || !bytes.Equal(behind, data) {
			t.Errorf("the host has other bytes behind the device, %v", err)
		}
		closed(t, f)
	}
	closed(t, r)
	if r, err = cxl.New(p, placed.SensorInCXL(), n); err != nil {
		t.Fatal(err)
	}
	is(t, r, make([]byte, n*64))
	closed(t, r)
}

// TestLabProcesses: two processes have parts of one device; one that is killed in the midst leaves its part free, and the other's as it was.
func TestLabProcesses(t *testing.T) {
	const part = 32 << 20
	if os.Getenv("BAREWIRE_TEST_HOLD") != "" {
		hold(t, part)
		return
	}
	mine, err := labPool(t, cxl.Part(part, part))
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, mine)
	r, err := cxl.New(mine, placed.SensorInCXL(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, r)
	data := random(t, r, 2)
	for round := range 3 {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestLabProcesses$")
		cmd.Env = append(os.Environ(), "BAREWIRE_TEST_HOLD=1")
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(out, make([]byte, len(ready))); err != nil {
			t.Fatalf("the other process: %v", err)
		}
		_, err = labPool(t, cxl.Part(0, part))
		wrong(t, err, cxl.ErrClaimed)
		time.Sleep(time.Duration(round) * 50 * time.Millisecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		p, err := labPool(t, cxl.Part(0, part))
		if err != nil {
			t.Fatalf("after it was killed: %v", err)
		}
		all, err := cxl.New(p, placed.SensorInCXL(), 4096)
		if err != nil {
			t.Fatal(err)
		}
		is(t, all, make([]byte, 4096*64))
		closed(t, all)
		closed(t, p)
		is(t, r, data)
	}
}

const ready = "ready\n"

// hold has a part of the device, and writes to it until it is killed.
func hold(t *testing.T, part uint64) {
	p, err := labPool(t, cxl.Part(0, part))
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print(ready)
	for i := byte(0); ; i++ {
		r, err := cxl.New(p, placed.SensorInCXL(), 4096)
		if err != nil {
			t.Fatal(err)
		}
		random(t, r, i)
		closed(t, r)
	}
}

// tool runs a program, which must end well.
func tool(t *testing.T, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// kernelSays is how many pages of the mapping of a region the kernel counts at each node, in a way that is not ours. Source: proc(5).
func kernelSays(t *testing.T, r *placed.SensorCXL[barewire.Unregistered]) map[int]int {
	t.Helper()
	h, _, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/self/numa_maps")
	if err != nil {
		t.Fatal(err)
	}
	at, best := map[int]int{}, uint64(0)
	for line := range strings.Lines(string(b)) {
		words := strings.Fields(line)
		start, err := strconv.ParseUint(words[0], 16, 64)
		if err != nil || start > uint64(uintptr(h.Base())) || start < best {
			continue
		}
		best = start
		clear(at)
		for _, w := range words {
			node, pages, ok := strings.Cut(w, "=")
			n, err := strconv.Atoi(strings.TrimPrefix(node, "N"))
			if !ok || err != nil || node[0] != 'N' {
				continue
			}
			if at[n], err = strconv.Atoi(pages); err != nil {
				t.Fatal(err)
			}
		}
	}
	return at
}

// nodePool opens a pool on the node that the memory has become.
func nodePool(t *testing.T, node int, opts ...cxl.Option) *cxl.Pool {
	t.Helper()
	if reserved {
		opts = append(opts, cxl.Node(node), cxl.Assume())
	}
	p, err := cxl.Open(t.Context(), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if o := p.Origin(); o.Node != node || o.Device != "" || o.Assumed != reserved {
		t.Errorf("%+v, want node %d", o, node)
	}
	return p
}

// TestLabNode: the memory is a node of the system's. Regions are there, page by page; more than it has is an error; what registering
// moves away is one, too, and the region is where it was; on a node that is not movable it is registered.
func TestLabNode(t *testing.T) {
	m, err := platform.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := m.DaxOf("dax0.0")
	node := d.TargetNode.Value
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
	defer func() {
		tool(t, "daxctl offline-memory dax0.0")
		tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	}()
	if _, err := cxl.Open(t.Context(), cxl.Device("dax0.0"), cxl.Assume()); !errors.Is(err, cxl.ErrDevice) {
		t.Errorf("a device that is a node: %v", err)
	}
	p := nodePool(t, node, cxl.Size(2<<30))
	const n = 1 << 16 // 4 MiB
	r, err := cxl.New(p, placed.SensorInCXL(), n)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 3)
	if at := kernelSays(t, r); at[node] < n*64/4096 || len(at) != 1 {
		t.Errorf("the kernel says %v, want all at %d", at, node)
	}
	if reserved { // the emulator has memory of a CXL device be a device, which takes minutes to fill
		_, err = cxl.New(p, placed.SensorInCXL(), (1<<30+64<<20)/64)
		wrong(t, err, cxl.ErrElsewhere)
		t.Log(err)
		is(t, r, data)
	}
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: verbs.New(verbs.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	_, err = rdma.Register(dom, r, placed.SensorRemoteRead())
	wrong(t, err, barewire.ErrPlacementLost, "--no-movable")
	t.Log(err)
	if pl, err := barewire.Placement(r); err != nil || pl.Node != node {
		t.Errorf("after that %+v, %v", pl, err)
	}
	is(t, r, data)
	closed(t, r)
	closed(t, p)
	tool(t, "daxctl offline-memory dax0.0")
	tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	registered(t, dom)
	closed(t, dev)
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
}

// registered registers memory of the device itself, which nothing moves.
func registered(t *testing.T, dom *rdma.Domain) {
	t.Helper()
	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 4)
	mr, err := rdma.Register(dom, r, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	if r, err = rdma.Deregister(context.Background(), mr); err != nil {
		t.Fatal(err)
	}
	is(t, r, data)
	closed(t, r)
	closed(t, p)
}

// TestLabStays is last: a node that is not movable does not become a device again before the next boot. Memory of it stays where it
// is when it is registered.
func TestLabStays(t *testing.T) {
	node := staysNode(t)
	p := nodePool(t, node)
	defer closed(t, p)
	r, err := cxl.New(p, placed.SensorInCXL(), 1<<16)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 5)
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: verbs.New(verbs.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, dev)
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	mr, err := rdma.Register(dom, r, placed.SensorRemoteRead())
	if err != nil {
		t.Fatal(err)
	}
	if pl, err := barewire.Placement(mr); err != nil || pl.Node != node || pl.Kind != barewire.InCXL {
		t.Errorf("registered at %+v, %v; want node %d", pl, err, node)
	}
	if r, err = rdma.Deregister(t.Context(), mr); err != nil {
		t.Fatal(err)
	}
	is(t, r, data)
	closed(t, r)
}

// staysNode has the memory be a node that is not movable.
func staysNode(t *testing.T) int {
	t.Helper()
	m, err := platform.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := m.DaxOf("dax0.0")
	if d.Driver.Or("") != "kmem" { // else tests before have left it so
		tool(t, "daxctl reconfigure-device --mode=system-ram --no-movable --force dax0.0")
	}
	return d.TargetNode.Value
}

// TestLabInterleave: a region of two devices is in the memory of both, by turns.
func TestLabInterleave(t *testing.T) {
	const turn, at, n = 8 << 10, 2 << 20, 1 << 14 // the namespace keeps notes on itself before
	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, p)
	if o := p.Origin(); o.Size < 500<<20 {
		t.Errorf("%+v", o)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), n)
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, r)
	data := random(t, r, 12)
	is(t, r, data)
	var behind [2][]byte
	for i := range behind {
		f, err := os.Open(fmt.Sprint("/host/cxl", i))
		if err != nil {
			t.Fatal(err)
		}
		defer closed(t, f)
		behind[i] = make([]byte, len(data)/2)
		if _, err := f.ReadAt(behind[i], at/2); err != nil {
			t.Fatal(err)
		}
	}
	for i := range len(data) / turn {
		if got := behind[i%2][i/2*turn:][:turn]; !bytes.Equal(got, data[i*turn:][:turn]) {
			t.Fatalf("turn %d is not in the memory of device %d", i, i%2)
		}
	}
}
