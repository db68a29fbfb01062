package soft

import (
	"os"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

var (
	_ rdma.Identified  = (*queue)(nil)
	_ rdma.Introducing = (*acceptor)(nil)
)

// Process is this one: all peers are in it.
func (q *queue) Process() *rdma.Process { return self() }

func self() *rdma.Process {
	return &rdma.Process{PID: os.Getpid(), UID: os.Getuid(), GID: os.Getgid()}
}
