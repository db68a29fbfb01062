// What does not compile beside the demo, and what the compiler says to it: the test
// TestMistakes adds this file to the program.
package main

import (
	barewire "github.com/fidelityframework/barewire-gen/runtime"
	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

func writeModels(conn *rdma.Conn, models ModelRemote[barewire.RemoteRead], src barewire.Span[Model, barewire.Local]) {
	_, _ = rdma.Write(conn, models, src) // want RemoteRead does not satisfy barewire.CanRemoteWrite
}

func offerToWrite(dom *rdma.Domain, r *ModelCPU[barewire.Unregistered]) {
	_, _ = rdma.Register(dom, r, ModelRemoteWrite()) // want undefined: ModelRemoteWrite
}

func slicePeersWrite(w BlockWindow[barewire.RemoteReadWrite]) {
	_, _ = barewire.Slice(w) // want RemoteReadWrite does not satisfy barewire.CanExclusive
}

func readUnregistered(conn *rdma.Conn, here *ModelCPU[barewire.Unregistered], models ModelRemote[barewire.RemoteRead]) {
	_, _ = rdma.Read(conn, here.Span(0, 1), models) // want Unregistered does not satisfy barewire.Registered
}

func countAlone(w BlockWindow[barewire.RemoteReadAtomic]) {
	BlockUsesAtomic(w, 0).Add(1) // want RemoteReadAtomic does not satisfy barewire.CanLocalAtomic
}

func readAnother(conn *rdma.Conn, here barewire.Span[Block, barewire.Local], models ModelRemote[barewire.RemoteRead]) {
	_, _ = rdma.Read(conn, here, models) // want does not match
}
