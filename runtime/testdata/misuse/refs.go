package misuse

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

// A reference in a message is good for what its schema says, and for nothing else.
func refs(conn *rdma.Conn, lease *sample.Lease, view sample.LeaseView, span barewire.Span[sample.Tick, barewire.Local],
	wr sample.TickRemote[barewire.RemoteWrite], rw sample.TickRemote[barewire.RemoteReadWrite], se barewire.Remote[sample.Sensor, barewire.RemoteRead],
) {
	_ = lease.SetTicksRef(wr) // want "RemoteRead"
	_ = lease.SetTicksRef(rw) // want "RemoteRead"
	_ = view.SetTicksRef(rw)  // want "RemoteRead"
	_ = lease.SetTicksRef(se) // want "Sensor"

	rd, _ := lease.TicksRef()
	var _ sample.TickRemote[barewire.RemoteReadWrite] = rd                             // want "RemoteReadWrite"
	_ = sample.TickRemote[barewire.RemoteWrite](rd)                                    // want "RemoteWrite"
	_, _ = rdma.Write(conn, rd, span)                                                  // want "CanRemoteWrite"
	_, _ = rdma.FetchAdd(conn, sample.TickSeqOf(rd, 0), 1)                             // want "CanRemoteAtomic"
	_, _ = barewire.RemoteFrom[sample.Sensor](lease.Ticks[:], sample.TickRemoteRead()) // want "Sensor"
	_, _ = barewire.RemoteFrom(lease.Ticks[:], sample.TickLocal())                     // want "RemoteAccess"
	rd.Rights |= barewire.WriteRight                                                   // want "Rights"
}
