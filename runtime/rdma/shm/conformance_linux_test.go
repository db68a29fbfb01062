package shm

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

func TestConformance(t *testing.T) {
	t.Run("first", func(t *testing.T) { pair(t, nil, 4096) }) // what a process opens once is no leak
	rdmatest.Run(t, rdmatest.Factory{
		Provider: Provider(), Device: deviceName,
		Address:  func(testing.TB) string { return address() },
		NotReady: maxNotReady, AtOnce: true,
	})
}

// TestConformanceTwoProcesses runs the suite with the two sides of each connection in two processes.
func TestConformanceTwoProcesses(t *testing.T) {
	p := startFar(t)
	f := rdmatest.Factory{
		Provider: p, Device: deviceName,
		Address:  func(testing.TB) string { return address() },
		NotReady: maxNotReady, AtOnce: true,
	}
	before := p.left(t)
	t.Run("suite", func(t *testing.T) { rdmatest.Run(t, f) })
	p.noMore(t, before)
}
