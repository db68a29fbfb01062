package wire

import (
	"encoding/binary"
	"unicode/utf8"
	"unsafe"
)

const high = 0x8080808080808080 // the bits that no ASCII byte has

// validUTF8 is utf8.Valid, faster where all is ASCII: names, keys and
// numbers of 10 to 30 bytes are what most strings are.
func validUTF8(b []byte) bool {
	le := binary.LittleEndian
	n := len(b)
	switch {
	case n > 16:
		i := 0
		for ; i < n-16; i += 16 {
			if (le.Uint64(b[i:])|le.Uint64(b[i+8:]))&high != 0 {
				return utf8.Valid(b[i:])
			}
		}
		// The last 16 bytes, some of which may have been seen. If one
		// of them is not ASCII, start where a character surely starts.
		t := b[n-16:]
		return (le.Uint64(t)|le.Uint64(t[8:]))&high == 0 || utf8.Valid(b[i:])
	case n >= 8:
		return (le.Uint64(b)|le.Uint64(b[n-8:]))&high == 0 || utf8.Valid(b)
	case n >= 4:
		return (le.Uint32(b)|le.Uint32(b[n-4:]))&(high>>32) == 0 || utf8.Valid(b)
	case n > 0:
		// The first, the middle and the last byte are all there are.
		return b[0]|b[n>>1]|b[n-1] < 0x80 || utf8.Valid(b)
	}
	return true
}

// ValidUTF8 reports whether b is UTF-8, as utf8.Valid does.
func ValidUTF8(b []byte) bool { return validUTF8(b) }

// ValidString reports whether s is UTF-8, as utf8.ValidString does.
func ValidString(s string) bool { return validUTF8(stringBytes(s)) }

// ascii reports that b, of 8 to 16 bytes, is ASCII: the lengths of most names and
// keys. False means nothing: ask validUTF8. It is small enough to be inlined.
func ascii(b []byte) bool {
	n := len(b)
	return n <= 16 && n >= 8 && (load64(b, 0)|load64(b, n-8))&high == 0
}

func stringBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func bytesString(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
