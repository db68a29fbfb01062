//go:build amd64 || arm64

package verbs

import (
	"bufio"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// capIPCLock is CAP_IPC_LOCK, which lifts the limit. Source: capabilities(7), setrlimit(2).
const capIPCLock = 14

// memlock is the error of memory that could not be locked, if the process' limit is why.
func memlock(need uint64) *MemlockError {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_MEMLOCK, &limit); err != nil || limit.Cur == unix.RLIM_INFINITY {
		return nil
	}
	f, err := os.Open("/proc/self/status")
	if err != nil {
		return nil
	}
	defer f.Close()
	e := &MemlockError{Need: need, Limit: limit.Cur}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value, _, _ = strings.Cut(strings.TrimSpace(value), " ")
		switch name {
		case "VmPin":
			n, _ := strconv.ParseUint(value, 10, 64)
			e.Used = n << 10
		case "CapEff":
			if caps, _ := strconv.ParseUint(value, 16, 64); caps&(1<<capIPCLock) != 0 {
				return nil
			}
		}
	}
	if e.Used+e.Need <= e.Limit {
		return nil
	}
	return e
}
