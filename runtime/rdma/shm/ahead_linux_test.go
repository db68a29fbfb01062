package shm

import (
	"testing"
	"unsafe"
)

// TestAhead: after two accesses the guess is that the next is to the same place, or as far on.
func TestAhead(t *testing.T) {
	var mem [512]byte
	base := unsafe.Pointer(&mem)
	for _, c := range []struct{ first, second, next uintptr }{
		{64, 64, 64},
		{64, 128, 192},
		{192, 128, 64},
	} {
		var a ahead
		a.wrote(base, uint64(c.first))
		a.wrote(base, uint64(c.second))
		if got := uintptr(a.next.Load()) - uintptr(base); got != c.next {
			t.Errorf("after %d and %d: %d, want %d", c.first, c.second, got, c.next)
		}
		a.fetch()
	}
	var none ahead
	none.fetch()
}
