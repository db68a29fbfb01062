package rdmatest

import (
	"bufio"
	"bytes"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// counts is what a process has that can be left behind.
type counts struct {
	goroutines  int
	descriptors int // -1 where the system does not tell
	mappings    int // of files, memfds among them; -1 likewise
}

func count() counts {
	c := counts{goroutines: runtime.NumGoroutine(), descriptors: -1, mappings: -1}
	if fds, err := os.ReadDir("/proc/self/fd"); err == nil {
		c.descriptors = len(fds)
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		c.mappings = 0
		for lines := bufio.NewScanner(bytes.NewReader(maps)); lines.Scan(); {
			// address perms offset dev inode pathname; without a path it is no file's
			if f := strings.Fields(lines.Text()); len(f) > 5 && strings.HasPrefix(f[5], "/") {
				c.mappings++
			}
		}
	}
	return c
}

// check wants no more than there was before, after a while for what is on its way out.
func (before counts) check(t *testing.T) {
	t.Helper()
	var now counts
	for end := time.Now().Add(patience / 3); ; time.Sleep(time.Millisecond) {
		now = count()
		if now.goroutines <= before.goroutines && now.descriptors <= before.descriptors && now.mappings <= before.mappings {
			return
		}
		if time.Now().After(end) {
			break
		}
	}
	stacks := make([]byte, 64<<10)
	stacks = stacks[:runtime.Stack(stacks, true)]
	t.Errorf("left behind: before it were %+v, now %+v\n%s", before, now, stacks)
}
