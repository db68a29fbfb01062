package wire

import (
	"slices"
	"unsafe"
)

// Number is the Go types of the numbers of fixed size.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// AppendNumbers appends numbers, without a count: one copy on a little-endian machine.
func AppendNumbers[T Number](b []byte, s []T) []byte {
	n := len(b)
	b = append(b, memory(s)...)
	if !littleEndian {
		swap(b[n:], int(unsafe.Sizeof(*new(T))))
	}
	return b
}

// PutNumbers writes numbers over b, which has exactly their bytes.
func PutNumbers[T Number](b []byte, s []T) {
	copy(b, memory(s))
	if !littleEndian {
		swap(b, int(unsafe.Sizeof(*new(T))))
	}
}

// LoadNumbers reads numbers from b, which has exactly their bytes.
func LoadNumbers[T Number](s []T, b []byte) {
	copy(memory(s), b)
	if !littleEndian {
		swap(memory(s), int(unsafe.Sizeof(*new(T))))
	}
}

// Memory returns the memory of values as bytes. It is for generated code, which
// uses it only where LittleEndian is true and T's memory is its message, and
// never keeps it.
func Memory[T any](s []T) []byte { return memory(s) }

// MemoryOf is Memory of one value.
func MemoryOf[T any](v *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(v)), unsafe.Sizeof(*v))
}

func memory[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(*new(T)))
}

// swap reverses the bytes of each element of size bytes.
func swap(b []byte, size int) {
	for ; len(b) >= size && size > 1; b = b[size:] {
		slices.Reverse(b[:size])
	}
}

// Extend returns b with n more bytes, whose content is not defined: generated
// code writes all of them.
func Extend(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b[:len(b)+n]
	}
	return grow(b, n)
}

// Grow returns b with room for n more bytes behind its length.
func Grow(b []byte, n int) []byte {
	if n <= cap(b)-len(b) {
		return b
	}
	return grow(b, n)[:len(b)]
}

//go:noinline
func grow(b []byte, n int) []byte {
	return slices.Grow(b, n)[:len(b)+n]
}
