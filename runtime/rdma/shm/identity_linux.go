package shm

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

var (
	_ rdma.Identified  = (*queue)(nil)
	_ rdma.Introducing = (*listener)(nil)
)

// Process is what the kernel says of the peer (unix(7), SO_PEERCRED): of who dialled when it did, and of who
// listens when it began to.
func (q *queue) Process() *rdma.Process { return processOf(q.sock) }

func processOf(s *socket) *rdma.Process {
	cred := s.cred
	return &rdma.Process{PID: int(cred.Pid), UID: int(cred.Uid), GID: int(cred.Gid)}
}
