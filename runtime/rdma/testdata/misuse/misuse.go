// Package misuse has what must not compile: the entries of the catalogue in
// misuse_table_test.go, by number. Behind each is the word that the compiler's message must have.
package misuse

import (
	"context"

	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"

	"github.com/fidelityframework/barewire-gen/scratch/sample"
)

type (
	ctx  = context.Context
	tick = sample.Tick
)

func memory(
	dom *rdma.Domain, conn *rdma.Conn, b []byte,
	plain *sample.TickCPU[barewire.Unregistered],
	everything sample.TickRemote[barewire.RemoteReadWriteAtomic],
) {
	_, _ = rdma.Write(conn, everything, plain.Span(0, 1))       // 1: want "Registered"
	_, _ = rdma.Write(conn, everything, b)                      // 1: want "Span"
	_, _ = rdma.RemoteOf(plain)                                 // 5: want "RemoteAccess"
	_, _ = rdma.Register(dom, b, sample.TickRemoteRead())       // 8: want "Region"
	_, _ = rdma.Register(dom, &b[0], sample.TickLocal())        // 20: want "Region"
	_, _ = rdma.Register(dom, new([8]tick), sample.TickLocal()) // 20: want "Region"
}

func keys(l rdma.LKey, k rdma.Keys) {
	var r rdma.RKey = l          // 6: want "RKey"
	k.R = k.L                    // 6: want "RKey"
	_ = rdma.WorkRequest{Key: l} // 6: want "RKey"
	_ = r
}

func rights(
	c ctx, conn *rdma.Conn,
	local *sample.TickCPU[barewire.Local],
	readable sample.TickRemote[barewire.RemoteRead],
	writable sample.TickRemote[barewire.RemoteWrite],
	both sample.TickRemote[barewire.RemoteReadWrite],
) {
	_, _ = rdma.RemoteOf(local)                                                                       // 9: want "RemoteAccess"
	_ = rdma.Offer(c, conn, "ticks", local)                                                           // 9: want "RemoteAccess"
	_, _ = rdma.Import(c, conn, "ticks", sample.TickLocal())                                          // 9: want "RemoteAccess"
	_, _ = rdma.Write(conn, readable, local.Span(0, 1))                                               // 10: want "CanRemoteWrite"
	_, _ = rdma.WriteNotify(conn, readable, local.Span(0, 1), 1)                                      // 10: want "CanRemoteWrite"
	_, _ = rdma.Read(conn, local.Span(0, 1), writable)                                                // 10: want "CanRemoteRead"
	_, _ = rdma.ReadField(conn, sample.TickQtyIn(local.Span(0, 1), 0), sample.TickQtyOf(writable, 0)) // 10: want "CanRemoteRead"
	_, _ = rdma.FetchAdd(conn, sample.TickSeqOf(both, 0), 1)                                          // 11: want "CanRemoteAtomic"
	_, _ = rdma.CompareAndSwap(conn, sample.TickSeqOf(readable, 0), 1, 2)                             // 11: want "CanRemoteAtomic"
}

func fields(
	conn *rdma.Conn, local *sample.TickCPU[barewire.Local],
	atomic sample.TickRemote[barewire.RemoteReadWriteAtomic],
) {
	_, _ = rdma.ReadField(conn, sample.TickQtyIn(local.Span(0, 1), 0), sample.TickSeqOf(atomic, 0)) // 19: want "uint64"
	_, _ = rdma.FetchAdd(conn, sample.TickPriceOf(atomic, 0), 1)                                    // 36: want "float64"
	_, _ = rdma.FetchAdd(conn, sample.TickHitsOf(atomic, 0), 1)                                     // 36: want "uint32"
	_ = sample.SensorRemoteAtomic()                                                                 // 36: want "SensorRemoteAtomic"
}

func transports() {
	_ = rdma.InfiniBand{DSCP: 26} // 32: want "DSCP"
	_ = rdma.RoCEv1{DSCP: 26}     // 32: want "DSCP"
}

func places(
	dom *rdma.Domain,
	gpu *barewire.Region[tick, barewire.GPU, barewire.Local],
	managed *barewire.Region[tick, barewire.Managed, barewire.Unregistered],
	shared *barewire.Region[tick, barewire.CXLShared, barewire.Unregistered],
	gpuPlace barewire.Place[tick, barewire.GPU],
) {
	_, _ = barewire.New(gpuPlace, 8)                            // 40: want "hostMemory"
	_, _ = barewire.Open(gpu)                                   // 40: want "HostAddressable"
	_, _ = rdma.Register(dom, managed, sample.TickRemoteRead()) // 40: want "Registrable"
	_, _ = rdma.Register(dom, shared, sample.TickRemoteRead())  // 40: want "Registrable"
}

func polling(
	written sample.TickWindow[barewire.RemoteReadWrite],
	counted sample.TickWindow[barewire.RemoteReadAtomic],
) {
	_, _ = barewire.Slice(written)        // 44: want "CanExclusive"
	_ = sample.TickHitsAtomic(counted, 0) // 44: want "CanLocalAtomic"
}

func wholes(
	c ctx, conn *rdma.Conn,
	local *sample.TickCPU[barewire.Local],
	writable sample.TickRemote[barewire.RemoteWrite],
	word *sample.WordCPU[barewire.Local],
	words sample.WordRemote[barewire.RemoteReadWrite],
) {
	_ = rdma.ReadWhole(c, conn, word.Span(0, 1), words)      // 51: want "Sequenced"
	_ = rdma.WriteWhole(c, conn, words, word.Span(0, 1))     // 51: want "Sequenced"
	_ = rdma.WriteWhole(c, conn, writable, local.Span(0, 1)) // 51: want "CanRemoteReadWrite"
}
