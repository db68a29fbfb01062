package rdma

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/internal/ctl"
)

// refTo is a reference as the message that answers an import has it.
func refTo(r barewire.Ref) ctl.Reference {
	return ctl.Reference{
		Addr: r.Addr, Count: r.Count, Size: r.Size, Key: r.Key,
		Hash: r.Hash, Epoch: r.Epoch, Rights: uint16(r.Rights), Version: r.Version,
	}
}

// refFrom is what such a message says. It comes from outside: see [checkRef].
func refFrom(w *ctl.Reference) barewire.Ref {
	return barewire.Ref{
		Addr: w.Addr, Count: w.Count, Size: w.Size, Key: w.Key,
		Hash: w.Hash, Epoch: w.Epoch, Rights: barewire.Rights(w.Rights), Version: w.Version,
	}
}
