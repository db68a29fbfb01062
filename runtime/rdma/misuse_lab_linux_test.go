//go:build lab && (amd64 || arm64)

package rdma_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/rdmatest"
	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// In the lab the catalogue is tried on a device, too: what the errors say is the witness', and not the device's. Over iWARP no atomics are granted,
// since there are none.
func init() {
	otherWorlds["verbs"] = func(t *testing.T) *world {
		var p rdma.Provider = verbs.New(verbs.Options{OpenSinks: true})
		lacks := ""
		for _, d := range must(p.Devices(t.Context()))(t) {
			if d.Transport == "iWARP" {
				p, lacks = rdmatest.WithoutAtomics(p), "an iWARP device of Linux has no atomic operations"
				break
			}
		}
		return &world{T: t, provider: p, address: func() string { return "" }, lacks: lacks}
	}
}
