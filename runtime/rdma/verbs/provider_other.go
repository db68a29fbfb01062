//go:build !linux || !(amd64 || arm64)

package verbs

import (
	"context"
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// Devices lists one that cannot be used, which says why.
func (*Provider) Devices(context.Context) ([]rdma.DeviceInfo, error) {
	return []rdma.DeviceInfo{{
		Provider: providerName, Name: "none", Transport: "RoCEv2",
		State:  "not on this system: " + ErrNoVerbs.Error() + ", it needs Linux on amd64 or arm64",
		Detail: runtime.GOOS + "/" + runtime.GOARCH,
	}}, nil
}

// Open fails with [ErrNoVerbs].
func (*Provider) Open(context.Context, string, *rdma.Config) (rdma.Adapter, error) {
	return nil, fmt.Errorf("verbs: %w: it needs Linux on amd64 or arm64, and this is %s/%s", ErrNoVerbs, runtime.GOOS, runtime.GOARCH)
}
