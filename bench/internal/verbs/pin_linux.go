package verbs

import (
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// pin keeps all threads of this process on one of the processors that it may use, until
// undo is called, and says which is for the peer, -1 if there is none. Where two processes
// spin they need one each, and a system that is busy with others puts them on the same one for long.
func pin(where placing) (peer int, undo func() error, err error) {
	var may unix.CPUSet
	if err := unix.SchedGetaffinity(0, &may); err != nil {
		return -1, nil, fmt.Errorf("which processors there are: %w", err)
	}
	var own int
	own, peer = -1, -1
	for cpu := range len(may) * 64 {
		switch {
		case !may.IsSet(cpu):
		case own < 0:
			own = cpu
		case peer < 0:
			peer = cpu
		}
	}
	if where == together {
		peer = own
	}
	if peer < 0 {
		return -1, func() error { return nil }, nil
	}
	return peer, func() error { return threads(&may) }, pinTo(own)
}

// pinTo keeps all threads of this process on a processor.
func pinTo(cpu int) error {
	var one unix.CPUSet
	one.Set(cpu)
	return threads(&one)
}

// threads sets where all threads of the process may run.
func threads(set *unix.CPUSet) error {
	// No thread is made meanwhile by one that has not been told.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	list, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range list {
		if id, err := strconv.Atoi(t.Name()); err == nil {
			// A thread may have ended since.
			if err := unix.SchedSetaffinity(id, set); err != nil && err != unix.ESRCH {
				return fmt.Errorf("choosing a processor: %w", err)
			}
		}
	}
	return nil
}
