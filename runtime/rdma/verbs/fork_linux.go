//go:build amd64 || arm64

package verbs

import (
	"fmt"

	"github.com/fidelityframework/barewire-gen/runtime/internal/dl"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs/internal/abi"
)

// forkSafe sees to it that a child does not share pinned pages that either side then writes to. Linux 5.12 and later copy
// them at fork, and the library knows; else it marks registered pages so that children do not have them, which must
// begin before the first registration of the process. Whole pages are marked, and regions have their pages to themselves.
// Source: ibv_fork_init(3), ibv_is_fork_initialized(3).
func (lib *library) forkSafe() error {
	lib.fork.Do(func() {
		if lib.isForkInitialized != 0 {
			if r, _ := dl.Call(lib.isForkInitialized); r == abi.ForkUnneeded {
				return
			}
		}
		if err := lib.do("ibv_fork_init", lib.forkInit); err != nil {
			lib.safe = fmt.Errorf("the program could not start others safely (it must not register memory before it opens the device): %w", err)
		}
	})
	return lib.safe
}
