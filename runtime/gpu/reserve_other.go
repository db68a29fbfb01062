//go:build !linux

package gpu

import (
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/internal/mempolicy"
)

// reserved is memory at a node, which there is on Linux only.
type reserved struct {
	base unsafe.Pointer
	size uintptr
}

func reserve(_, _ uintptr) (reserved, error) { return reserved{}, mempolicy.ErrNoNUMA }

func (reserved) free() error { return nil }
