package shm

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

var _ rdma.Identified = (*queue)(nil)

// Process is what the kernel says of the peer (unix(7), SO_PEERCRED): of who dialled when it did, and of who
// listens when it began to.
func (q *queue) Process() *rdma.Process {
	cred := q.sock.cred
	return &rdma.Process{PID: int(cred.Pid), UID: int(cred.Uid), GID: int(cred.Gid)}
}
