//go:build !linux || !(amd64 || arm64)

package cuda

import (
	"context"
	"errors"

	"github.com/fidelityframework/barewire-gen/runtime/gpu"
)

const needs = "this provider is for Linux on amd64 and arm64"

// Devices has one, which cannot be used.
func (p *Provider) Devices(context.Context) ([]gpu.DeviceInfo, error) {
	return []gpu.DeviceInfo{{Name: "0", State: needs}}, nil
}

// Open fails.
func (p *Provider) Open(context.Context, string) (gpu.Adapter, error) { return nil, errors.New(needs) }
