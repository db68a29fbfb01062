package wire

import "encoding/binary"

// The helpers below are the rare half of what the pass over a message does:
// generated code takes a varint of one byte itself and comes here for the rest.

// ScanUint returns the end of the varint at p, or -1 if there is none, or one
// that is not minimal or does not fit 64 bits. It is for generated code.
func ScanUint(b []byte, p int) int {
	_, p = scanUvarint(b, p)
	return p
}

// ScanLen reads the length or count at p and returns it and its end. The end
// is -1 if there is no minimal varint or the number exceeds the bytes that
// follow it. It is for generated code.
func ScanLen(b []byte, p int) (n, end int) {
	v, p := scanUvarint(b, p)
	if p < 0 || v > uint64(len(b)-p) {
		return 0, -1
	}
	return int(v), p
}

// ScanTag reads the value of an enum or the tag of a union at p and returns it
// and its end, -1 if there is no minimal varint. It is for generated code.
func ScanTag(b []byte, p int) (tag uint64, end int) { return scanUvarint(b, p) }

func scanUvarint(b []byte, p int) (v uint64, end int) {
	if uint(p) > uint(len(b)) {
		return 0, -1
	}
	v, n := binary.Uvarint(b[p:])
	// A last byte of 0 adds nothing, so the varint would have been shorter without it.
	if n <= 0 || n > 1 && b[p+n-1] == 0 {
		return 0, -1
	}
	return v, p + n
}
