package rdma_test

import (
	"fmt"
	"os"
	"sync/atomic"
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/shm"
)

var sockets atomic.Int64

func init() {
	otherWorlds["shm"] = func(t *testing.T) *world {
		return &world{T: t, provider: shm.Provider(), address: func() string {
			return fmt.Sprintf("@barewire-misuse-%d-%d", os.Getpid(), sockets.Add(1))
		}}
	}
}
