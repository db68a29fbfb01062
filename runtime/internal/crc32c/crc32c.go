// Package crc32c sums with CRC32C, the checksum of RFC 5044, and copies what it sums:
// with hash/crc32, or faster: short ones by the processor's instruction for it, long ones where it multiplies without carry in vectors
// of 64 bytes.
package crc32c

import (
	"hash/crc32"
	"unsafe"
)

var table = crc32.MakeTable(crc32.Castagnoli)

// Update is the checksum of what has the checksum sum, 0 if it is nothing, with p
// behind it. It is hash/crc32's number.
func Update(sum uint32, p []byte) uint32 {
	if n := long(len(p)); n > 0 {
		sum, p = fold(nil, p[:n], sum), p[n:]
	}
	if brief(len(p)) {
		return ^sumShort(^sum, unsafe.SliceData(p), len(p))
	}
	return crc32.Update(sum, table, p)
}

// Copy copies p to dst, which is as long at least and does not overlap it, and is
// [Update] of what was copied: where p changes meanwhile, of the bytes that are in dst.
func Copy(dst, p []byte, sum uint32) uint32 {
	dst = dst[:len(p)]
	if n := long(len(p)); n > 0 {
		sum = fold(dst[:n], p[:n], sum)
		dst, p = dst[n:], p[n:]
	}
	for len(p) > 0 {
		n := min(len(p), step)
		copy(dst[:n], p)
		sum = Update(sum, dst[:n])
		dst, p = dst[n:], p[n:]
	}
	return sum
}

// step is how much is copied before it is summed: it is in the nearest cache then still.
const step = 8 << 10
