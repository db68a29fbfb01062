package wire

import (
	"errors"
	"fmt"
	"unsafe"
)

// ErrBigEndian is what a cast gives on a machine that stores the high byte
// first: memory that holds a message is not a Go value there. Views and the
// codec work on every machine.
var ErrBigEndian = errors.New("wire: this machine is big-endian: a message's bytes are no Go value here; use the view or the codec")

// ErrAlign is what an AlignError is, for errors.Is.
var ErrAlign = errors.New("wire: memory is not aligned for the type")

// AlignError says that memory does not begin where the type may: the cast is
// refused, and nothing was read.
type AlignError struct {
	Align     int // the alignment that the type needs, in bytes
	Remainder int // the address modulo Align
}

func (e *AlignError) Error() string {
	return fmt.Sprintf("wire: memory is not aligned for the type: it needs a multiple of %d bytes and the address is %d past one", e.Align, e.Remainder)
}

// Is makes an AlignError an ErrAlign.
func (e *AlignError) Is(target error) bool { return target == ErrAlign }

// ErrCastSize is what a cast of too few bytes gives, or to a slice, of bytes
// that are no whole number of elements.
var ErrCastSize = errors.New("wire: memory has the wrong size for the type")

// LittleEndian reports whether this machine stores the low byte first.
const LittleEndian = littleEndian

// Over returns b as a value of T, which must be a type whose memory is its
// message; generated code proves that when it is compiled, and is what this is
// for. The value is b's memory: no copy. More bytes than T needs are ignored.
func Over[T any](b []byte) (*T, error) {
	// All checks in one expression and the reasons elsewhere, so that this is
	// inlined: three comparisons and the pointer. It becomes a *T only behind
	// them: a *T to less memory than a T is a fault to the race detector.
	var p *T
	at := unsafe.Pointer(unsafe.SliceData(b))
	if littleEndian && len(b) >= int(unsafe.Sizeof(*p)) && uintptr(at)%unsafe.Alignof(*p) == 0 {
		return (*T)(at), nil
	}
	return nil, notOver(b, unsafe.Sizeof(*p), unsafe.Alignof(*p))
}

// notOver says why b cannot be a value of this size and alignment.
//
//go:noinline
func notOver(b []byte, size, align uintptr) error {
	if len(b) < int(size) {
		return fmt.Errorf("%w: %d bytes, needs %d", ErrCastSize, len(b), size)
	}
	return castable(b, align)
}

// SliceOver returns b as a slice of T; as Over, but b must be a whole number of
// values. Its capacity is its length.
func SliceOver[T any](b []byte) ([]T, error) {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if size == 0 || len(b)%size != 0 {
		return nil, fmt.Errorf("%w: %d bytes, needs a multiple of %d", ErrCastSize, len(b), size)
	}
	if err := castable(b, unsafe.Alignof(zero)); err != nil {
		return nil, err
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/size), nil
}

// castable says why b's memory cannot be a value with this alignment.
func castable(b []byte, align uintptr) error {
	if !littleEndian {
		return ErrBigEndian
	}
	if r := uintptr(unsafe.Pointer(unsafe.SliceData(b))) % align; r != 0 {
		return &AlignError{Align: int(align), Remainder: int(r)}
	}
	return nil
}
