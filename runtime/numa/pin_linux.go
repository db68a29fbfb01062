package numa

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
)

// mostCPUs is more processors than any kernel is built for: the kernel refuses masks that are too small for it.
const mostCPUs = 8192

// Pin has the calling goroutine run on processors of a node, as far as this process may use them, until unpin
// is called, in the same goroutine. The goroutine keeps its thread meanwhile. If the thread cannot be
// given exactly the processors that it had, it stays with the goroutine, and goes with it.
// The error is [ErrNoProcessor], [ErrNoNode], [ErrNoNUMA], [ErrForbidden], or the system's.
//
//barewire:effect pins=node
func Pin(node int) (unpin func(), err error) {
	cpus, err := processors(machine, node)
	if err != nil {
		return nil, fmt.Errorf("numa: pin to node %d: %w", node, err)
	}
	runtime.LockOSThread()
	tid := unix.Gettid()
	old := unix.NewCPUSet(mostCPUs)
	if err := unix.SchedGetaffinityDynamic(tid, old); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("numa: pin to node %d: %w", node, refused("sched_getaffinity", err))
	}
	now := unix.NewCPUSet(mostCPUs)
	n := 0
	for c := range cpus.All() {
		if c < mostCPUs && old.IsSet(c) {
			now.Set(c)
			n++
		}
	}
	if n == 0 {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("numa: pin to node %d: it has processors %s, and this thread may use none of them: %w", node, cpus, ErrNoProcessor)
	}
	if err := unix.SchedSetaffinityDynamic(tid, now); err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("numa: pin to node %d: %w", node, refused("sched_setaffinity", err))
	}
	return sync.OnceFunc(func() { restore(tid, old) }), nil
}

// refused is why a call about processors failed: seccomp profiles give EPERM, and kernels that are not Linux's ENOSYS.
func refused(call string, err error) error {
	if errno := unix.Errno(0); errors.As(err, &errno) {
		return mempolicy.Means(call, errno)
	}
	return fmt.Errorf("%s: %w", call, err)
}

// restore gives a thread the processors that it had, and lets the goroutine leave it if they are exactly those.
func restore(tid int, old unix.CPUSetDynamic) {
	if unix.SchedSetaffinityDynamic(tid, old) != nil {
		return
	}
	got := unix.NewCPUSet(mostCPUs)
	if unix.SchedGetaffinityDynamic(tid, got) == nil && slices.Equal(got, old) && unix.Gettid() == tid {
		runtime.UnlockOSThread()
	}
}
