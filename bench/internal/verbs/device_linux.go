//go:build amd64 || arm64

package verbs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/ebitengine/purego"

	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	device "github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// instant is the device that completes at once, compiled from the stand-in of package verbs' tests.
var instant = sync.OnceValues(func() (string, error) {
	_, here, _, _ := runtime.Caller(0)
	source := filepath.Join(filepath.Dir(here), "../../../runtime/rdma/verbs/testdata/fake.c")
	dir, err := os.MkdirTemp("", "barewire-instant")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "libinstant.so")
	out, err := exec.Command("cc", "-shared", "-fPIC", "-O2", "-Wl,-Bsymbolic", "-DINSTANT", "-o", path, source).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("this row needs a C compiler and the headers of rdma-core (Debian: gcc, libibverbs-dev): %w: %s", err, out)
	}
	// Who opens it again by this name gets what is open already, so that the file can go.
	defer os.RemoveAll(dir)
	if _, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL); err != nil {
		return "", err
	}
	_, err = device.New(device.Options{Library: path}).Devices(context.Background())
	return path, err
})

// overInstant is package verbs over it.
func overInstant() (rdma.Provider, error) {
	path, err := instant()
	return device.New(device.Options{Library: path}), err
}

// bareCalls calls a C function that does nothing, some times in each operation, as package verbs calls the device's.
func bareCalls(some int) func() (*Loop, error) {
	return opener(func(l *Loop) error {
		path, err := instant()
		if err != nil {
			return err
		}
		lib, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			return err
		}
		nothing, err := purego.Dlsym(lib, "fake_nothing")
		if err != nil {
			return err
		}
		args := []uintptr{1, 2, 3}
		l.Run = func(n int) error {
			for range n * some {
				if r, _, _ := purego.SyscallN(nothing, args...); r != 0 {
					return errLost
				}
			}
			return nil
		}
		return nil
	})
}

// devices are the rows of package verbs over a device that takes no time.
func devices() []Row {
	return []Row{
		{Table: Device, Name: "two bare calls", Class: rows.Limit, NoAlloc: true, Note: "of C functions that do nothing, by the same loader", Open: bareCalls(2)},
		{Table: Device, Name: "verbs, provider", Class: rows.Ours, NoAlloc: true, Note: "Post and Poll", Open: rawWritesBy(overInstant, 1)},
		{Table: DeviceBatch, Name: "a bare call", Class: rows.Limit, NoAlloc: true, Open: bareCalls(1)},
		{Table: DeviceBatch, Name: "verbs, provider", Class: rows.Ours, Per: batch, NoAlloc: true, Note: "one Post, one Poll", Open: rawWritesBy(overInstant, batch)},
	}
}

// deviceGoals are the wanted proportions of these rows.
func deviceGoals() []Wanted {
	return []Wanted{
		{Table: Device, What: "verbs, one posted and polled: two bare calls", Of: []string{"verbs, provider"}, To: []string{"two bare calls"}, Most: 2},
		{Table: DeviceBatch, What: "verbs, 32 posted and polled, each: a bare call", Of: []string{"verbs, provider"}, To: []string{"a bare call"}, Most: 0.5},
	}
}
