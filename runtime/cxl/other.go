//go:build !linux

package cxl

import (
	"fmt"
	"runtime"

	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

func openDevice(*config, *platform.Dax) (*Pool, error) {
	return nil, fmt.Errorf("%s: %w", runtime.GOOS, ErrNoCXL)
}

func openNode(*config, int) (*Pool, error) {
	return nil, fmt.Errorf("%s: %w", runtime.GOOS, ErrNoCXL)
}

func openShared(*config, uint64, Role, uint64) (backing, error) {
	return nil, fmt.Errorf("%s: %w", runtime.GOOS, ErrNoCXL)
}
