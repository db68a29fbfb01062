//go:build unix && !linux

package region

import (
	"errors"
	"unsafe"
)

// obtainHuge maps memory of huge pages, on Linux.
func obtainHuge(ask) (memory, error) { return memory{}, errors.ErrUnsupported }

// advise asks for huge pages, on Linux.
func advise(unsafe.Pointer, uintptr, bool) bool { return false }
