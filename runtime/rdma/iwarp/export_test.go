package iwarp

import (
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// set makes it another, and returns what it was.
func (s *span) set(d time.Duration) (was time.Duration) { return time.Duration(s.ns.Swap(int64(d))) }

// CountLoopback has a domain treat the addresses of this host as sources like others.
func CountLoopback(pd rdma.ProtectionDomain) { pd.(*domain).guard.exact = true }

// ShortWaits makes what waits for a peer, or for a receive, wait less. It returns what undoes that.
func ShortWaits(d time.Duration) (undo func()) {
	ready, stay := notReady.set(d), linger.set(d)
	return func() { notReady.set(ready); linger.set(stay) }
}

// LongWaits makes a message wait longer for its receive: a machine that is busy with other things may run nobody for a
// second. It returns what undoes that.
func LongWaits(d time.Duration) (undo func()) {
	ready := notReady.set(d)
	return func() { notReady.set(ready) }
}
