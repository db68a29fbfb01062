//barewire:trust tests make what is wrong
package numa_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
	"github.com/fidelityframework/barewire-gen/runtime/internal/placed"
	"github.com/fidelityframework/barewire-gen/runtime/numa"
)

// mask is what the calling thread may run on.
func mask(t *testing.T) unix.CPUSetDynamic {
	t.Helper()
	s := unix.NewCPUSet(8192)
	if err := unix.SchedGetaffinityDynamic(0, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestRun: f runs at the node, and the thread has after it what it had before.
func TestRun(t *testing.T) {
	node := here(t)
	var inner unix.CPUSetDynamic
	tid := 0
	if err := numa.Run(node, func() error {
		inner, tid = mask(t), unix.Gettid()
		for range 100 {
			if _, at, err := mempolicy.Here(); err != nil || at != node {
				return fmt.Errorf("it runs at node %d, %w", at, err)
			}
			runtime.Gosched()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	after := unix.NewCPUSet(8192)
	if err := unix.SchedGetaffinityDynamic(tid, after); err != nil && !errors.Is(err, unix.ESRCH) {
		t.Fatal(err)
	} else if err == nil && !slices.Equal(after, mask(t)) {
		t.Error("the thread has other processors than before")
	}
	if inner.Count() == 0 {
		t.Error("it had no processors")
	}
	mine := errors.New("mine")
	if err := numa.Run(node, func() error { return mine }); err != mine {
		t.Errorf("its error is %v", err)
	}
	wrong(t, numa.Run(absent, func() error { return nil }), numa.ErrNoNode, "pin to node 1000")
	if numa.Run(node, nil) == nil {
		t.Error("nothing was run, and no error")
	}
	unpin, err := numa.Pin(node)
	if err != nil {
		t.Fatal(err)
	}
	unpin()
	unpin()
}

// TestRunEnds: a panic and Goexit of f are the caller's.
func TestRunEnds(t *testing.T) {
	node := here(t)
	func() {
		defer func() {
			if got := recover(); got != "mine" {
				t.Errorf("recovered %v", got)
			}
		}()
		_ = numa.Run(node, func() error { panic("mine") })
	}()
	ended := make(chan bool)
	go func() {
		returned := false
		defer func() { ended <- returned }()
		_ = numa.Run(node, func() error { runtime.Goexit(); return nil })
		returned = true
	}()
	if <-ended {
		t.Error("Goexit ended f only")
	}
}

// TestNarrowed: a thread that had fewer processors has those again, and no more.
func TestNarrowed(t *testing.T) {
	node := here(t)
	runtime.LockOSThread() // and never unlocked: the thread goes with this goroutine
	one := unix.NewCPUSet(8192)
	cpu, _, err := mempolicy.Here()
	if err != nil {
		t.Fatal(err)
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinityDynamic(0, one); err != nil {
		t.Fatal(err)
	}
	unpin, err := numa.Pin(node)
	if err != nil {
		t.Fatal(err)
	}
	unpin()
	if got := mask(t); !slices.Equal(got, one) {
		t.Error("it has other processors than the one that it had")
	}
}

// TestForbidden runs in a process that may not place memory, as in a container: seccomp gives EPERM.
func TestForbidden(t *testing.T) { apart(t, func() { placeForbidden(t) }) }

func placeForbidden(t *testing.T) {
	forbid(t, unix.EPERM, unix.SYS_MBIND, unix.SYS_GET_MEMPOLICY, unix.SYS_SET_MEMPOLICY, unix.SYS_MOVE_PAGES)
	_, err := numa.New(0, placed.SensorInNUMA(), 1)
	wrong(t, err, numa.ErrForbidden, "CAP_SYS_NICE")
	wrong(t, err, barewire.ErrPlace)
	_, err = numa.Local(placed.SensorInNUMA(), 1)
	wrong(t, err, numa.ErrForbidden)
	u, err := numa.New(0, placed.SensorInNUMAOrUnified(), 1)
	if err != nil {
		t.Fatal(err)
	}
	b, err := barewire.Backing(u)
	if err != nil || b.Kind != barewire.InCPU || !strings.Contains(b.Why, "CAP_SYS_NICE") {
		t.Errorf("%+v, %v", b, err)
	}
	if p, err := barewire.Placement(u); err != nil || p.Node != -1 {
		t.Errorf("%+v, %v", p, err)
	}
	closed(t, u)
}

// TestRunForbidden: a process whose seccomp profile refuses what pinning takes is told so by type; and a thread that cannot be given back what it had
// is not left to others.
func TestRunForbidden(t *testing.T) {
	get, set := uint32(unix.SYS_SCHED_GETAFFINITY), uint32(unix.SYS_SCHED_SETAFFINITY)
	ran := func() error { return errors.New("f was called") }
	for _, c := range []struct {
		name string
		do   func(t *testing.T, node int)
	}{
		{"asking", func(t *testing.T, node int) {
			forbid(t, unix.EPERM, get)
			wrong(t, numa.Run(node, ran), numa.ErrForbidden, "pin to node", "sched_getaffinity")
		}},
		{"pinning", func(t *testing.T, node int) {
			forbid(t, unix.EPERM, set)
			err := numa.Run(node, ran)
			wrong(t, err, numa.ErrForbidden, "pin to node", "sched_setaffinity")
			wrong(t, err, unix.EPERM)
			_, err = numa.Pin(node)
			wrong(t, err, numa.ErrForbidden)
		}},
		{"a kernel without", func(t *testing.T, node int) {
			forbid(t, unix.ENOSYS, get, set)
			wrong(t, numa.Run(node, ran), numa.ErrNoNUMA, "sched_getaffinity")
		}},
		{"unpinning", func(t *testing.T, node int) {
			tid := 0
			var f func() error
			f = func() error {
				if tid = unix.Gettid(); tid == os.Getpid() { // the process's first thread never ends
					return numa.Run(node, f)
				}
				forbid(t, unix.EPERM, set)
				return nil
			}
			if err := numa.Run(node, f); err != nil {
				t.Fatal(err)
			}
			for range 1000 { // the thread ends some time after its goroutine
				if err := unix.Tgkill(os.Getpid(), tid, 0); errors.Is(err, unix.ESRCH) {
					return
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Error("the thread is still there, with the processors of the node only")
		}},
	} {
		t.Run(c.name, func(t *testing.T) { apart(t, func() { c.do(t, here(t)) }) })
	}
}

// apart calls f in a process of its own, for what cannot be taken back.
func apart(t *testing.T, f func()) {
	t.Helper()
	const done = "was done as it must be"
	if os.Getenv("BAREWIRE_TEST_APART") == t.Name() {
		if f(); !t.Failed() {
			t.Log(done)
		}
		return
	}
	here(t)
	var pattern []string
	for name := range strings.SplitSeq(t.Name(), "/") {
		pattern = append(pattern, "^"+name+"$")
	}
	cmd := exec.Command("/proc/self/exe", "-test.run="+strings.Join(pattern, "/"), "-test.v")
	cmd.Env = append(os.Environ(), "BAREWIRE_TEST_APART="+t.Name())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), done) {
		t.Errorf("%v\n%s", err, out)
	}
}

// forbid has system calls give an error in this process, for good. Source: seccomp(2).
func forbid(t *testing.T, errno unix.Errno, calls ...uint32) {
	t.Helper()
	const load, jumpEqual, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	prog := []unix.SockFilter{{Code: load, K: 0}} // the call's number
	for i, c := range calls {
		prog = append(prog, unix.SockFilter{Code: jumpEqual, Jt: uint8(len(calls) - i), K: c})
	}
	prog = append(prog, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(errno)})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		t.Fatal(err)
	}
	fprog := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	if _, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&fprog))); errno != 0 {
		t.Fatalf("seccomp: %v", errno)
	}
}
