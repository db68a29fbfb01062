package wire

import "encoding/binary"

// AppendStr appends a str, and reports whether it is UTF-8.
func AppendStr(b []byte, s string) (_ []byte, ok bool) {
	p := len(b)
	b = Grow(b, SizeLen(len(s)))
	end := PutStr(b[:cap(b)], p, s)
	if end < 0 {
		return b, false
	}
	return b[:end], true
}

// PutStr writes a str at p, where there is room for it, and returns its end,
// or -1 where it is not UTF-8.
func PutStr(b []byte, p int, s string) int {
	n := len(s)
	if n >= 0x80 || n < 8 {
		return putStr(b, p, s)
	}
	// To look at the words while they are copied costs next to nothing, and
	// saves the call of memmove.
	le := binary.LittleEndian
	w := b[p : p+1+n]
	w[0] = byte(n)
	w = w[1:]
	t := stringBytes(s)
	var or uint64
	for len(t) > 16 {
		x, y := le.Uint64(t), le.Uint64(t[8:])
		le.PutUint64(w, x)
		le.PutUint64(w[8:], y)
		or |= x | y
		t, w = t[16:], w[16:]
	}
	if len(t) < 8 { // the last 8 bytes, some of them again
		t, w = stringBytes(s)[n-8:], b[p+1+n-8:p+1+n]
	}
	x, y := le.Uint64(t), le.Uint64(t[len(t)-8:])
	le.PutUint64(w, x)
	le.PutUint64(w[len(w)-8:], y)
	if (or|x|y)&high != 0 && !validUTF8(stringBytes(s)) {
		return -1
	}
	return p + 1 + n
}

func putStr(b []byte, p int, s string) int {
	p = PutUint(b, p, uint64(len(s)))
	p += copy(b[p:], s)
	if !validUTF8(stringBytes(s)) {
		return -1
	}
	return p
}

// PutData writes a data at p, where there is room for it, and returns its end.
func PutData[S ~[]byte | ~string](b []byte, p int, s S) int {
	p = PutUint(b, p, uint64(len(s)))
	return p + copy(b[p:], s)
}

// AppendData appends a data, or one that is a map's key.
func AppendData[S ~[]byte | ~string](b []byte, s S) []byte {
	return append(AppendUint(b, uint64(len(s))), s...)
}
