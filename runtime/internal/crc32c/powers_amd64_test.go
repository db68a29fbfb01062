package crc32c

import (
	"hash/crc32"
	"testing"
)

// TestPowers computes the powers.
func TestPowers(t *testing.T) {
	power := func(n int) uint64 {
		// Reverse order: the highest bit is x^0, and times x is a shift down.
		v := uint32(1 << 31)
		for range n {
			low := v & 1
			v >>= 1
			if low != 0 {
				v ^= crc32.Castagnoli
			}
		}
		return uint64(v) << 1
	}
	if want := [2]uint64{power(8*block + 32), power(8*block - 32)}; powers != want {
		t.Errorf("powers are %#x, want %#x", powers, want)
	}
}
