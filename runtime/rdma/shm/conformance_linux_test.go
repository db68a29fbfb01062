package shm

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

func TestConformance(t *testing.T) {
	rdmatest.Run(t, rdmatest.Factory{
		Provider: Provider(), Device: deviceName,
		Address:  func(testing.TB) string { return address() },
		NotReady: maxNotReady,
	})
}
