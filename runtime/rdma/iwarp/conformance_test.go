package iwarp_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/iwarp"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
)

func TestConformance(t *testing.T) {
	rdmatest.Run(t, rdmatest.Factory{Provider: iwarp.New(iwarp.Options{}), Device: "tcp", Loose: true, Eager: true})
}
