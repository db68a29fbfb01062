package iwarp

import (
	"testing"
	"unsafe"
)

// TestPlacingStaysWithin: after the last byte of a payload no pointer is kept that points behind its memory. Where
// that ends the collector's memory may end, and a pointer to nowhere ends the program.
func TestPlacingStaysWithin(t *testing.T) {
	memory := make([]byte, 64)
	first := unsafe.Pointer(unsafe.SliceData(memory))
	for _, kind := range []destination{toRegion, toReceive} {
		to := placing{kind: kind, p: first}
		for range 4 {
			p, _, _ := to.next()
			*(*byte)(p) = 1
			to.passed(16)
		}
		if to.p != first || to.off != len(memory) {
			t.Errorf("%d: it points %d bytes behind its beginning, and %d more", kind, uintptr(to.p)-uintptr(first), to.off)
		}
	}
	for i, b := range memory {
		if want := i%16 == 0; want != (b == 1) {
			t.Errorf("byte %d is %d", i, b)
		}
	}
}
