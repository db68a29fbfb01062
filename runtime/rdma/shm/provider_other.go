//go:build !linux

package shm

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/rdma"
)

// ErrNotHere is why the device cannot be used: it needs Linux's memfd_create(2) and seals.
var ErrNotHere = fmt.Errorf("shm: not on this system: it needs memfds, which Linux has: %w", errors.ErrUnsupported)

// Devices lists the device as one that cannot be used.
func (provider) Devices(context.Context) ([]rdma.DeviceInfo, error) {
	return []rdma.DeviceInfo{{
		Provider: "shm", Name: deviceName, Transport: "SoftRDMA",
		State:  "not on this system: " + runtime.GOOS + " has no memfds",
		Detail: "processes of one host",
	}}, nil
}

// Open fails with [ErrNotHere].
func (provider) Open(context.Context, string, *rdma.Config) (rdma.Adapter, error) {
	return nil, ErrNotHere
}
