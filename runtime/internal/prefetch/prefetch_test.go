package prefetch

import (
	"testing"
	"unsafe"
)

// TestNothingThere has lines fetched that are not there: no fault comes of it.
func TestNothingThere(t *testing.T) {
	var x [64]byte
	Read(unsafe.Pointer(&x))
	Read(nil)
	Write(uintptr(unsafe.Pointer(&x)))
	Write(0)
	Write(^uintptr(0))
	Read(unsafe.Add(unsafe.Pointer(&x), 1<<30))
}
