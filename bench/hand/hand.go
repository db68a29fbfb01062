// Package hand is hand-written BARE code for the benchmark's shapes: what
// generated code should equal.
//
// Functions whose names end in Plain leave out checks that BARE asks for
// (UTF-8, map keys in order and without duplicates). The others check the same
// as generated code does, and with the same function for UTF-8, since anybody can
// call it; those whose names end in Std have the standard library's. All of them
// write and read the same bytes.
package hand

import (
	"encoding/binary"
	"errors"
	"unicode/utf8"
	"unsafe"

	"github.com/fidelityframework/barewire-gen/runtime/wire"
)

var le = binary.LittleEndian

// What hand-written decoders and encoders refuse. There is no path and no
// offset: hand-written code rarely has them.
var (
	ErrShort     = errors.New("hand: input ends early")
	ErrTrailing  = errors.New("hand: bytes after the message")
	ErrBool      = errors.New("hand: a bool that is neither 0 nor 1")
	ErrUTF8      = errors.New("hand: a str that is not UTF-8")
	ErrTag       = errors.New("hand: an unknown tag of a union")
	ErrDuplicate = errors.New("hand: a key twice in a map")
	ErrNil       = errors.New("hand: a union without a value")
)

// checks says what is checked beyond what a decoder needs to go on.
type checks uint8

const (
	plain checks = iota // nothing
	std                 // UTF-8 with the standard library; a map's keys
	full                // UTF-8 with our runtime; a map's keys
)

// utf8 reports whether s is UTF-8, or need not be.
func (c checks) utf8(s []byte) bool {
	switch c {
	case full:
		return wire.ValidUTF8(s)
	case std:
		return utf8.Valid(s)
	}
	return true
}

func b2u(v bool) byte {
	if v {
		return 1
	}
	return 0
}

func zigzag(i int64) uint64   { return uint64(i)<<1 ^ uint64(i>>63) }
func unzigzag(u uint64) int64 { return int64(u>>1) ^ -int64(u&1) }

func alias(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// putUint writes x at the beginning of b, which is large enough.
func putUint(b []byte, x uint64) int {
	if x < 0x80 {
		b[0] = byte(x)
		return 1
	}
	return binary.PutUvarint(b, x)
}

// readUint reads a uint at n and returns it with its end, or -1.
func readUint(b []byte, n int) (uint64, int) {
	if uint(n) < uint(len(b)) && b[n] < 0x80 {
		return uint64(b[n]), n + 1
	}
	return readUintSlow(b, n)
}

// readUintSlow is kept out of readUint, so that the common case is inlined.
//
//go:noinline
func readUintSlow(b []byte, n int) (uint64, int) {
	if n > len(b) {
		return 0, -1
	}
	x, k := binary.Uvarint(b[n:])
	if k <= 0 || k > 1 && b[n+k-1] == 0 { // the last byte of a longer one is not 0
		return 0, -1
	}
	return x, n + k
}

// readBytes returns what stands behind the length at n, and its end, or -1.
func readBytes(b []byte, n int) ([]byte, int) {
	l, n := readUint(b, n)
	if n < 0 || l > uint64(len(b)-n) {
		return nil, -1
	}
	return b[n : n+int(l)], n + int(l)
}

// readStr is readBytes for a str: the end is -1 too where it is not UTF-8.
func readStr(b []byte, n int, check checks) ([]byte, int) {
	s, n := readBytes(b, n)
	if n < 0 || !check.utf8(s) {
		return nil, -1
	}
	return s, n
}

func appendStr(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}
