//go:build lab && (amd64 || arm64)

package rdma_test

import (
	"testing"

	"github.com/fidelityframework/barewire-gen/runtime/rdma/verbs"
)

// In the lab the catalogue is tried on a device, too: what the errors say is the witness', and not the device's.
func init() {
	otherWorlds["verbs"] = func(t *testing.T) *world {
		return &world{T: t, provider: verbs.New(verbs.Options{}), address: func() string { return "" }}
	}
}
