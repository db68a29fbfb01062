package soft_test

import (
	"testing"
	"time"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/soft"
)

func TestConformance(t *testing.T) {
	const notReady = time.Second // a goroutine may take its time under load
	t.Run("at-once", func(t *testing.T) {
		rdmatest.Run(t, rdmatest.Factory{Provider: soft.New(soft.Config{NotReady: notReady}), Device: "soft0", NotReady: notReady, AtOnce: true})
	})
	t.Run("reorder", func(t *testing.T) {
		rdmatest.Run(t, rdmatest.Factory{
			Provider: soft.New(soft.Config{NotReady: notReady, Seed: 1, Reorder: true}),
			Device:   "soft0", NotReady: notReady, Loose: true,
		})
	})
}
