package iwarp

import "github.com/fidelityframework/barewire-gen/runtime/rdma"

// CountLoopback has a domain treat the addresses of this host as sources like others.
func CountLoopback(pd rdma.ProtectionDomain) { pd.(*domain).guard.exact = true }
