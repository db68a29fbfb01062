//go:build lab

//barewire:trust tests make what is wrong
package cxl_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/cxl"
	"github.com/fidelityframework/barewire-gen/runtime/internal/fault"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/internal/seal"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// monitor opens the emulator's, which the preset poison has at a serial port. What it says must be read, or it takes no more commands.
func monitor(t *testing.T) io.Writer {
	t.Helper()
	const port = "/dev/ttyS2"
	tool(t, "stty -F "+port+" raw -echo")
	f, err := os.OpenFile(port, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, f) })
	go func() { _, _ = io.Copy(io.Discard, f) }()
	return f
}

// machineCheck has the second processor find that it loaded from memory that cannot be corrected, as a program's load does: UC, EN, MISCV, ADDRV, S, AR, data
// load; of that processor alone. Source: Intel SDM, volume 3, "Machine-check architecture"; QEMU's monitor, mce.
func machineCheck(t *testing.T, monitor io.Writer, phys uint64) {
	t.Helper()
	if _, err := fmt.Fprintf(monitor, "mce 1 9 0xbd80000000000134 0xf %#x 0x8c\n", phys); err != nil {
		t.Fatal(err)
	}
}

// TestLabMachineCheck: a machine check in the midst of a copy is an error of the copy that names the region and where; the program and its regions live
// on. Of device-dax Linux tells the page that is mapped, which may begin before the region.
func TestLabMachineCheck(t *testing.T) {
	if at := os.Getenv("BAREWIRE_TEST_LOADS"); at != "" {
		loads(t, at)
		return
	}
	m := monitor(t)
	// The device is last: the kernel no longer has addresses of its own for what broke there, and falls if it is to be its memory later.
	t.Run("node", func(t *testing.T) { checked(t, m, strconv.Itoa(asNode(t))) })
	t.Run("device", func(t *testing.T) { checked(t, m, "device") })
}

// asNode has the memory of the lab be a node until the test has ended.
func asNode(t *testing.T) int {
	t.Helper()
	m, err := platform.Detect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := m.DaxOf("dax0.0")
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
	t.Cleanup(func() {
		tool(t, "daxctl offline-memory dax0.0")
		tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	})
	return d.TargetNode.Value
}

// checked runs a process that copies on the second processor, and has memory break that it copies.
func checked(t *testing.T, monitor io.Writer, at string) {
	t.Helper()
	cmd := again(t, "TestLabMachineCheck", "BAREWIRE_TEST_LOADS="+at, "GOMAXPROCS=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	cmd.Args = append(cmd.Args, "-test.v")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines, said := bufio.NewScanner(out), ""
	for lines.Scan() {
		said += lines.Text() + "\n"
		if at, ok := strings.CutPrefix(lines.Text(), ready[:5]); ok {
			phys, err := strconv.ParseUint(strings.TrimSpace(at), 0, 64)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(300 * time.Millisecond)
			machineCheck(t, monitor, phys)
		}
	}
	if err := errors.Join(cmd.Wait(), lines.Err()); err != nil || !strings.Contains(said, "PASS") {
		t.Errorf("%v\n%s", err, said)
	}
	t.Log(said)
}

// loads copies a region on the second processor, without a rest, until that fails.
func loads(t *testing.T, at string) {
	const n = 1 << 18 // 16 MiB
	p := poolAt(t, at)
	lead, err := cxl.New(p, placed.SensorInCXL(), 3)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), n, barewire.Named("broken"))
	if err != nil {
		t.Fatal(err)
	}
	data, got := random(t, r, 6), make([]byte, n*64)
	// All pages are there, also those of what is copied to: the kernel makes none later.
	if err := barewire.CopyOut(r, 0, got); err != nil || !bytes.Equal(got, data) {
		t.Fatalf("what was written is not there, %v", err)
	}
	bad := 5 << 20 // from the region's beginning on
	phys := physical(t, r, bad)
	alone(t)
	// One call without the runtime's knowledge: it would give this processor to another thread.
	line := fmt.Appendf(nil, "ready %#x\n", phys)
	_, _, _ = unix.RawSyscall(unix.SYS_WRITE, 1, uintptr(unsafe.Pointer(&line[0])), uintptr(len(line)))
	for began := time.Now(); err == nil && time.Since(began) < time.Minute; {
		err = barewire.CopyOut(r, 0, got)
	}
	wrong(t, err, barewire.ErrMemory, "copy out: region broken of placed.Sensor made at cxl/poison_lab_linux_test.go:", "its memory failed: element ", "bytes behind it")
	t.Log(err)
	t.Logf("after that: %v", barewire.CopyOut(r, 0, got))
	if err := barewire.CopyOut(r, 0, got[:4<<20]); err != nil {
		t.Errorf("before it: %v", err)
	}
	closed(t, r)
	closed(t, lead)
	closed(t, p)
}

// poolAt opens a pool on the device, or the node.
func poolAt(t *testing.T, at string) *cxl.Pool {
	t.Helper()
	if node, err := strconv.Atoi(at); err == nil {
		return nodePool(t, node)
	}
	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// physical is the address that hardware has for a byte of a region. Source: the kernel's Documentation/admin-guide/mm/pagemap.rst.
func physical(t *testing.T, r *placed.SensorCXL[barewire.Unregistered], off int) uint64 {
	t.Helper()
	h, _, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open("/proc/self/pagemap")
	if err != nil {
		t.Fatal(err)
	}
	defer closed(t, f)
	page := uintptr(os.Getpagesize())
	var entry [8]byte
	at := uintptr(h.Base()) + uintptr(off)
	if _, err := f.ReadAt(entry[:], int64(at/page*8)); err != nil {
		t.Fatal(err)
	}
	e := *(*uint64)(unsafe.Pointer(&entry))
	if e>>63 == 0 {
		t.Fatalf("the page is not there: %#x", e)
	}
	return e&(1<<55-1)*uint64(page) + uint64(at%page)
}

// alone has this goroutine be the only one on the second processor: the runtime's other threads are on the first, and no collection of garbage runs.
func alone(t *testing.T) {
	t.Helper()
	debug.SetGCPercent(-1)
	debug.FreeOSMemory() // and its goroutines have nothing left to do
	me := unix.Gettid()
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range tasks {
		tid, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		var cpu unix.CPUSet
		if tid == me {
			continue
		}
		cpu.Set(0)
		if err := unix.SchedSetaffinity(tid, &cpu); err != nil {
			t.Fatal(err)
		}
	}
	var cpu unix.CPUSet
	cpu.Set(1)
	_, _, errno := unix.RawSyscall(unix.SYS_SCHED_SETAFFINITY, 0, unsafe.Sizeof(cpu), uintptr(unsafe.Pointer(&cpu)))
	tid, _, _ := unix.RawSyscall(unix.SYS_GETTID, 0, 0, 0)
	if errno != 0 || int(tid) != me {
		t.Fatalf("pinning: %v; thread %d, and it was %d", errno, tid, me)
	}
}

// poison tells the kernel that the page of an address is broken, and reports what the signal says that it may send at once, to whoever told it: the call must be one
// that can be left by a panic. Source: madvise(2), MADV_HWPOISON.
func poison(t *testing.T, at unsafe.Pointer) error {
	t.Helper()
	page := os.Getpagesize()
	broken := unsafe.Slice((*byte)(unsafe.Add(at, -int(uintptr(at)%uintptr(page)))), page)
	var errno unix.Errno
	err := fault.Try(broken, func() { errno = tell(broken) })
	if errno != 0 {
		t.Fatalf("madvise: %v", errno)
	}
	return err
}

func tell(broken []byte) unix.Errno {
	_, _, errno := unix.RawSyscall(unix.SYS_MADVISE, uintptr(unsafe.Pointer(&broken[0])), uintptr(len(broken)), unix.MADV_HWPOISON)
	return errno
}

// baseOf is where a region's memory begins.
func baseOf[T barewire.Fixed[T], R barewire.Residency](t *testing.T, r *barewire.Region[T, R, barewire.Unregistered]) unsafe.Pointer {
	t.Helper()
	h, _, err := barewire.Core(seal.Key(), r)
	if err != nil {
		t.Fatal(err)
	}
	return h.Base()
}

// TestLabPoisonDevice: a page of the device breaks in the midst of a publication, which says so; regions can be used and closed, and memory is given out
// again. The kernel has no machine check to make for it here, so that what comes later reads it.
func TestLabPoisonDevice(t *testing.T) {
	opts := []cxl.Option{cxl.Device("dax0.0"), cxl.Part(16<<20, 2<<20)}
	if reserved {
		opts = append(opts, cxl.Assume())
	}
	w, err := cxl.Share(t.Context(), placed.BlockInCXLShared(), 1000, cxl.Writer(0, 1000), opts...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cxl.Publish(w, 900, blockOf(1)); err != nil {
		t.Fatal(err)
	}
	page := os.Getpagesize()
	const stride = 64 + 256
	broken := unsafe.Slice((*byte)(unsafe.Add(baseOf(t, w), 900*stride/page*page)), page)
	cxl.Halfway(func() { _ = tell(broken) })
	_, err = cxl.Publish(w, 900, blockOf(2))
	cxl.Halfway(nil)
	wrong(t, err, barewire.ErrMemory, "publish: region", "element 900", "poisoned")
	t.Log(err)
	var b placed.Block
	_, err = cxl.Snapshot(w, 900, &b)
	wrong(t, err, cxl.ErrTorn)
	if _, err := cxl.Publish(w, 900, blockOf(3)); err != nil {
		t.Error(err)
	}
	if _, err := cxl.Snapshot(w, 900, &b); err != nil || b != *blockOf(3) {
		t.Errorf("%+v, %v", b, err)
	}
	closed(t, w)

	p, err := labPool(t)
	if err != nil {
		t.Fatal(err)
	}
	r, err := cxl.New(p, placed.SensorInCXL(), 4096)
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 7)
	if err := poison(t, unsafe.Add(baseOf(t, r), 5*page)); err == nil {
		t.Error("nobody was told that a page of the device broke")
	}
	is(t, r, data) // the memory of the emulator is sound
	closed(t, r)
	closed(t, p)
}

// TestLabPoisonNode: a page of a region at the node breaks, by the administrator's word. Copies that meet it say where, what is beside it can be had, it cannot be
// registered, the region closes, and the pool does not give the page out again.
func TestLabPoisonNode(t *testing.T) {
	node, page := asNode(t), os.Getpagesize()
	p := nodePool(t, node, cxl.Size(16<<20))
	const n = 1 << 12
	r, err := cxl.New(p, placed.SensorInCXL(), n, barewire.Named("broken"))
	if err != nil {
		t.Fatal(err)
	}
	data := random(t, r, 8)
	// Moved to sound memory before it breaks, it is as it was, and at the node.
	offlinePage(t, "soft", physical(t, r, 9*page))
	is(t, r, data)
	if pl, err := barewire.Placement(r); err != nil || pl.Node != node {
		t.Errorf("%+v, %v", pl, err)
	}
	offlinePage(t, "hard", physical(t, r, 5*page))
	got := make([]byte, n*64)
	err = barewire.CopyOut(r, 0, got)
	wrong(t, err, barewire.ErrMemory, "copy out: region broken", "element 320, byte 0 of it, or up to 4095 bytes behind it")
	t.Log(err)
	wrong(t, barewire.CopyIn(r, 330, got[:64]), barewire.ErrMemory, "copy in: region broken", "element 330")
	if err := errors.Join(barewire.CopyOut(r, 0, got[:5*page]), barewire.CopyOut(r, 6*page/64, got[6*page:])); err != nil {
		t.Errorf("beside it: %v", err)
	}
	copy(got[5*page:6*page], data[5*page:])
	if !bytes.Equal(got, data) {
		t.Error("what is beside it has changed")
	}
	pl, err := barewire.Placement(r)
	if err != nil || pl.Node != node {
		t.Errorf("%+v, %v", pl, err)
	}
	dev, dom := domain(t)
	_, err = rdma.Register(dom, r, placed.SensorRemoteRead())
	if err == nil {
		t.Error("it was registered")
	}
	t.Log(err)
	closed(t, dev)
	closed(t, r)
	_, err = cxl.New(p, placed.SensorInCXL(), n)
	wrong(t, err, barewire.ErrPlace, "poisoned")
	if s := p.Stats(); s.Bad == 0 || s.Regions != 0 {
		t.Errorf("%+v", s)
	}
	if r, err = cxl.New(p, placed.SensorInCXL(), n); err != nil {
		t.Fatal(err)
	}
	is(t, r, make([]byte, n*64))
	closed(t, r)
	closed(t, p)
}

// offlinePage takes a page out of use. Source: the kernel's Documentation/ABI/testing/sysfs-memory-page-offline.
func offlinePage(t *testing.T, how string, phys uint64) {
	t.Helper()
	if err := os.WriteFile("/sys/devices/system/memory/"+how+"_offline_page", fmt.Appendf(nil, "%#x", phys), 0); err != nil {
		t.Fatal(err)
	}
}

// domain opens a device of rdma/verbs.
func domain(t *testing.T) (*rdma.Device, *rdma.Domain) {
	t.Helper()
	dev, err := rdma.Open(t.Context(), rdma.Config{Provider: verbs.New(verbs.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	dom, err := dev.Domain()
	if err != nil {
		t.Fatal(err)
	}
	return dev, dom
}

// TestLabPoisonFile: a page of a file in memory breaks that processes share. Who publishes to it and who reads it is told which element, and the others are
// as they were.
func TestLabPoisonFile(t *testing.T) {
	name := file(t, 1<<20)
	w, r := share(t, name, 100, cxl.Writer(0, 100)), share(t, name, 100, cxl.Reader)
	for _, i := range []int{0, 50, 99} {
		if _, err := cxl.Publish(w, i, blockOf(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("told of it the kernel says: %v", poison(t, unsafe.Add(baseOf(t, w), 50*(64+256))))
	var b placed.Block
	_, err := cxl.Snapshot(r, 50, &b)
	wrong(t, err, barewire.ErrMemory, "snapshot: region", "element 50", "poisoned")
	t.Log(err)
	_, err = cxl.Publish(w, 50, blockOf(7))
	wrong(t, err, barewire.ErrMemory, "publish: region", "element 50", "poisoned")
	for _, i := range []int{0, 99} {
		if _, err := cxl.Snapshot(r, i, &b); err != nil || b != *blockOf(uint64(i)) {
			t.Errorf("element %d: %+v, %v", i, b, err)
		}
	}
}
