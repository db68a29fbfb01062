//go:build lab && (amd64 || arm64)

package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	iregion "github.com/fidelityframework/barewire-gen/runtime/internal/region"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// The tests of this file are on the lab's memory: device-dax, CXL, nodes that come and go.

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// tool runs a program, which must end well.
func tool(t testing.TB, line string) {
	t.Helper()
	words := strings.Fields(line)
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// domainOf opens the device and makes a domain.
func domainOf(t testing.TB) *domain {
	t.Helper()
	a := must(standard.Open(t.Context(), device(t), &rdma.Config{Depth: 64, Credits: 32}))(t)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return must(a.NewDomain())(t).(*domain)
}

// linked connects two domains and returns the end that dials.
func linked(t testing.TB, from, to *domain) rdma.Queue {
	t.Helper()
	q, _ := linkedBoth(t, from, to)
	return q
}

func linkedBoth(t testing.TB, from, to *domain) (dialed, accepted *queue) {
	t.Helper()
	l := must(to.Listen(t.Context(), ""))(t)
	defer l.Close()
	came := make(chan rdma.Queue, 1)
	go func() {
		q, err := l.Accept(t.Context(), func([]byte) ([]byte, error) { return []byte("hello"), nil })
		if err != nil {
			t.Error(err)
		}
		came <- q
	}()
	q := must(from.Dial(t.Context(), l.Addr(), []byte("hello")))(t)
	return q.(*queue), (<-came).(*queue)
}

// mapped is memory of the test's, which stays until the guest is off.
func mapped(t testing.TB, n int) []byte {
	t.Helper()
	b := must(unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	return b
}

// done posts a request, which must be done.
func done(t testing.TB, q rdma.Queue, wr rdma.WorkRequest) {
	t.Helper()
	if n, err := q.Post([]rdma.WorkRequest{wr}); n != 1 {
		t.Fatal(err)
	}
	var out [1]rdma.Completion
	for q.Poll(out[:]) == 0 {
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if out[0].Err != nil {
		t.Fatal(out[0].Err)
	}
}

const daxBytes = 4 << 20

// mapDax maps the beginning of the device-dax.
func mapDax(t testing.TB) []byte {
	t.Helper()
	fd := must(unix.Open("/dev/dax0.0", unix.O_RDWR|unix.O_CLOEXEC, 0))(t)
	defer unix.Close(fd)
	return must(unix.Mmap(fd, 0, daxBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED))(t)
}

func memoryOf(b []byte, name string) rdma.Memory {
	return rdma.Memory{Base: unsafe.Pointer(&b[0]), Len: len(b), Name: name}
}

// TestDax registers memory of a device-dax, soft-reserved or CXL's, and has a peer write to it and read from it. What is there
// is looked at by another mapping: tools and completions succeed where memory keeps nothing, too.
func TestDax(t *testing.T) {
	a, b := domainOf(t), domainOf(t)
	q := linked(t, a, b)
	far := mapDax(t)
	own := must(unix.Mmap(-1, 0, 2*daxBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	for i := range daxBytes {
		own[i] = byte(i*7 + i>>9)
	}
	fk := must(b.Register(memoryOf(far, "the device-dax"), iregion.Write|iregion.Read|iregion.Atomic, nil))(t)
	ok := must(a.Register(memoryOf(own, "own memory"), 0, nil))(t)
	wr := rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: fk.R, Epoch: fk.Epoch, Addr: fk.Addr}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&own[0]), Len: daxBytes, Key: ok.L}
	done(t, q, wr)
	done(t, q, rdma.WorkRequest{Verb: rdma.VerbFlush})
	other := mapDax(t)
	if !bytes.Equal(other, own[:daxBytes]) {
		t.Error("what a peer wrote is not in the device's memory")
	}
	wr.Verb = rdma.VerbRead
	wr.Local[0].Ptr = unsafe.Pointer(&own[daxBytes])
	done(t, q, wr)
	if !bytes.Equal(own[daxBytes:], own[:daxBytes]) {
		t.Error("what a peer reads is not what is in the device's memory")
	}
	for _, d := range []struct {
		d *domain
		k rdma.Keys
	}{{b, fk}, {a, ok}} {
		if err := d.d.Deregister(t.Context(), d.k); err != nil {
			t.Error(err)
		}
	}
	for _, m := range [][]byte{far, other, own} {
		if err := unix.Munmap(m); err != nil {
			t.Error(err)
		}
	}
}

// onNode maps memory and has all of it on a node.
func onNode(t testing.TB, n, node int) []byte {
	t.Helper()
	b := must(unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	mask := [16]uint64{}
	mask[node/64] = 1 << (node % 64)
	const bind, bits = 2, 1025 // MPOL_BIND; the kernel takes one bit less than it is told
	if _, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(unsafe.Pointer(&b[0])), uintptr(n), bind, uintptr(unsafe.Pointer(&mask)), bits, 0); errno != 0 {
		t.Fatal(errno)
	}
	for i := 0; i < n; i += os.Getpagesize() {
		b[i] = byte(i >> 12)
	}
	return b
}

// pagesAt counts the pages by node.
func pagesAt(t testing.TB, b []byte) map[int32]int {
	t.Helper()
	at := map[int32]int{}
	var pages []unsafe.Pointer
	for i := 0; i < len(b); i += os.Getpagesize() {
		pages = append(pages, unsafe.Pointer(&b[i]))
	}
	for _, node := range must(mempolicy.NodesOf(pages))(t) {
		at[node]++
	}
	return at
}

// TestPlacement registers memory at a node that came online as movable: the kernel takes it elsewhere, and all calls succeed. It
// must be an error, and the memory be where it was. At a node that is not movable it stays, and is registered.
func TestPlacement(t *testing.T) {
	const node, size = 2, 16 << 20
	d := domainOf(t)
	tool(t, "daxctl reconfigure-device --mode=system-ram --force dax0.0")
	b := onNode(t, size, node)
	if at := pagesAt(t, b); at[node] != size/os.Getpagesize() {
		t.Fatalf("pages by node %v, want all at %d", at, node)
	}
	k, err := d.Register(memoryOf(b, "memory of a movable node"), iregion.Read, nil)
	if !errors.Is(err, barewire.ErrPlacementLost) || !strings.Contains(err.Error(), "--no-movable") {
		t.Errorf("registered with %+v, %v; want %v and what to do", k, err, barewire.ErrPlacementLost)
	}
	t.Log(err)
	if at := pagesAt(t, b); at[node] != size/os.Getpagesize() {
		t.Errorf("after that, pages by node %v, want all at %d", at, node)
	}
	for i := 0; i < size; i += os.Getpagesize() {
		if b[i] != byte(i>>12) {
			t.Fatalf("the byte %d has changed", i)
		}
	}
	if err := unix.Munmap(b); err != nil {
		t.Fatal(err)
	}
	tool(t, "daxctl offline-memory dax0.0")
	tool(t, "daxctl reconfigure-device --mode=devdax --force dax0.0")
	tool(t, "daxctl reconfigure-device --mode=system-ram --no-movable --force dax0.0")
	b = onNode(t, size, node)
	k, err = d.Register(memoryOf(b, "memory of a node that stays"), iregion.Read, nil)
	if err != nil {
		t.Fatal(err)
	}
	if at := pagesAt(t, b); at[node] != size/os.Getpagesize() {
		t.Errorf("registered, pages by node %v, want all at %d", at, node)
	}
	if err := d.Deregister(t.Context(), k); err != nil {
		t.Error(err)
	}
}

// TestMemlock registers more than a process of a common user may lock.
func TestMemlock(t *testing.T) {
	const limit, need = 1 << 20, 4 << 20
	if os.Getenv("BAREWIRE_MEMLOCK") == "" {
		cmd := exec.Command("/proc/self/exe", "-test.run=^TestMemlock$", "-test.v")
		cmd.Env = append(os.Environ(), "BAREWIRE_MEMLOCK=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		var before unix.Rlimit
		if err := errors.Join(unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before), unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: limit, Max: limit})); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before) }()
		out, err := cmd.CombinedOutput()
		t.Logf("%s", out)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	d := domainOf(t)
	b := must(unix.Mmap(-1, 0, need, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	_, err := d.Register(memoryOf(b, "much memory"), 0, nil)
	var m *MemlockError
	if !errors.As(err, &m) || m.Need != need || m.Limit != limit || !errors.Is(err, unix.ENOMEM) {
		t.Fatalf("got %v, %+v; want need %d, limit %d", err, m, need, limit)
	}
	fmt.Println(err)
	k, err := d.Register(memoryOf(b[:64<<10], "some memory"), 0, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Deregister(context.Background(), k); err != nil {
		t.Error(err)
	}
}

// TestFork has a peer write to memory while children are made, which do not disturb it.
func TestFork(t *testing.T) {
	a, b := domainOf(t), domainOf(t)
	q := linked(t, a, b)
	far := must(unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	own := must(unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON))(t)
	fk := must(b.Register(memoryOf(far, "far memory"), iregion.Write, nil))(t)
	ok := must(a.Register(memoryOf(own, "own memory"), 0, nil))(t)
	wr := rdma.WorkRequest{Verb: rdma.VerbWrite, Segs: 1, Key: fk.R, Epoch: fk.Epoch, Addr: fk.Addr}
	wr.Local[0] = rdma.Segment{Ptr: unsafe.Pointer(&own[0]), Len: 4096, Key: ok.L}
	for i := range 30 {
		child := exec.Command("/bin/sleep", "0.2")
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		for j := range own {
			own[j] = byte(i + j)
		}
		done(t, q, wr)
		done(t, q, rdma.WorkRequest{Verb: rdma.VerbFlush})
		if !bytes.Equal(own, far) {
			t.Fatalf("with a child of the process what was written is not there, in round %d", i)
		}
		if err := child.Wait(); err != nil {
			t.Fatal(err)
		}
	}
}
