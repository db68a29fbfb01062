package prefetch

import (
	"testing"
	"unsafe"
)

// TestNothingThere has lines read that are not there: no fault comes of it.
func TestNothingThere(t *testing.T) {
	var x [64]byte
	Read(unsafe.Pointer(&x))
	Read(nil)
	Read(unsafe.Add(unsafe.Pointer(&x), 1<<30))
}
