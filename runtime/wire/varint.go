package wire

import "math/bits"

// MaxVarint is the greatest size of a uint or int in bytes.
const MaxVarint = 10

// SizeUint returns the size of a uint in bytes.
func SizeUint(x uint64) int { return int(uint(bits.Len64(x|1))*9+64) >> 6 }

// SizeInt returns the size of an int in bytes.
func SizeInt(x int64) int { return SizeUint(ZigZag(x)) }

// SizeLen returns the size of n bytes with their length before them: of a str or data.
func SizeLen(n int) int { return n + SizeUint(uint64(n)) }

// ZigZag maps an int to the uint that is its encoding.
func ZigZag(x int64) uint64 { return uint64(x)<<1 ^ uint64(x>>63) }

// UnZigZag is the inverse of ZigZag.
func UnZigZag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

// AppendUint appends a uint.
func AppendUint(b []byte, x uint64) []byte {
	if x < 0x80 {
		return append(b, byte(x))
	}
	return appendLong(b, x)
}

//go:noinline
func appendLong(b []byte, x uint64) []byte {
	for x >= 0x80 {
		b = append(b, byte(x)|0x80)
		x >>= 7
	}
	return append(b, byte(x))
}

// AppendInt appends an int.
func AppendInt(b []byte, x int64) []byte { return AppendUint(b, ZigZag(x)) }

// PutUint writes a uint at p, which must have room for it, and returns its end.
func PutUint(b []byte, p int, x uint64) int {
	for x >= 0x80 {
		b[p] = byte(x) | 0x80
		x >>= 7
		p++
	}
	b[p] = byte(x)
	return p + 1
}

// Uint reads the uint at p and returns it and its end. The end is -1 where the
// bytes are no minimal varint of at most 64 bits, or end too early.
func Uint(b []byte, p int) (x uint64, end int) {
	if uint(p) < uint(len(b)) && b[p] < 0x80 {
		return uint64(b[p]), p + 1
	}
	return longUint(b, p)
}

//go:noinline
func longUint(b []byte, p int) (x uint64, end int) {
	x, end, _ = readUint(b, p)
	return x, end
}

// readUint is Uint with the reason: nil, ErrShort or ErrVarint.
func readUint(b []byte, p int) (x uint64, end int, why error) {
	for i := 0; i < MaxVarint; i++ {
		if uint(p+i) >= uint(len(b)) {
			return 0, -1, ErrShort
		}
		c := b[p+i]
		if c < 0x80 {
			// A last byte of 0 adds nothing: the varint is not minimal. The
			// tenth has one bit of the 64.
			if c == 0 && i > 0 || c > 1 && i == MaxVarint-1 {
				return 0, -1, ErrVarint
			}
			return x | uint64(c)<<(7*i), p + i + 1, nil
		}
		x |= uint64(c&0x7f) << (7 * i)
	}
	return 0, -1, ErrVarint
}

// Int reads the int at p, as Uint does.
func Int(b []byte, p int) (x int64, end int) {
	u, end := Uint(b, p)
	return UnZigZag(u), end
}

// Len reads the length at p of bytes that follow it and returns it and its
// end. The end is -1 where it is no length, or exceeds the bytes left.
// Generated code takes a length of one byte itself and comes here for others.
//
//go:noinline
func Len(b []byte, p int) (n, end int) {
	x, end, _ := readUint(b, p)
	if end < 0 || x > uint64(len(b)-end) {
		return 0, -1
	}
	return int(x), end
}
