//go:build linux && (amd64 || arm64)

package abi

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Block is memory outside the Go heap, for structures that C code reads and writes: zeroed, page-aligned, and at the
// same address until Free. Offsets are not checked: they are this package's constants, and the block's maker
// knows its size.
type Block struct {
	p    unsafe.Pointer
	size uintptr
}

// NewBlock maps a block of at least n bytes.
func NewBlock(n int) (Block, error) {
	size := (uintptr(n) + 4095) &^ 4095
	p, err := unix.MmapPtr(-1, 0, nil, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return Block{}, fmt.Errorf("mapping %d bytes: %w", size, err)
	}
	return Block{p, size}, nil
}

// Free unmaps the block. The library must not have it in use.
func (b Block) Free() {
	if b.p != nil {
		_ = unix.MunmapPtr(b.p, b.size)
	}
}

// Addr is the address of an offset.
func (b Block) Addr(off int) uintptr { return uintptr(b.p) + uintptr(off) }

// Ptr is the same as a pointer.
func (b Block) Ptr(off int) unsafe.Pointer { return unsafe.Add(b.p, off) }

// Len is the bytes of the block.
func (b Block) Len() int { return int(b.size) }

// Clear zeroes n bytes.
func (b Block) Clear(off, n int) { clear(unsafe.Slice((*byte)(unsafe.Add(b.p, off)), n)) }

// Bytes are n bytes at an offset. They are the block's.
func (b Block) Bytes(off, n int) []byte { return unsafe.Slice((*byte)(unsafe.Add(b.p, off)), n) }

// Put8, Put16, Put32 and Put64 store a number in the host's order, and U8, U16, U32 and U64 load one.
func (b Block) Put8(off int, v uint8) { *(*uint8)(unsafe.Add(b.p, off)) = v }

func (b Block) Put16(off int, v uint16) { *(*uint16)(unsafe.Add(b.p, off)) = v }

func (b Block) Put32(off int, v uint32) { *(*uint32)(unsafe.Add(b.p, off)) = v }

func (b Block) Put64(off int, v uint64) { *(*uint64)(unsafe.Add(b.p, off)) = v }

func (b Block) U8(off int) uint8 { return *(*uint8)(unsafe.Add(b.p, off)) }

func (b Block) U16(off int) uint16 { return *(*uint16)(unsafe.Add(b.p, off)) }

func (b Block) U32(off int) uint32 { return *(*uint32)(unsafe.Add(b.p, off)) }

func (b Block) U64(off int) uint64 { return *(*uint64)(unsafe.Add(b.p, off)) }

// At is a structure of the library's, at an address that it gave, to be looked at. 0 gives a Block that must not be used.
func At(addr uintptr) Block { return Block{p: pointer(addr)} }

// pointer is an address of C memory as a pointer: the Go heap has no part in it.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// PutText stores a text with a zero at its end.
func (b Block) PutText(off int, s string) {
	copy(b.Bytes(off, len(s)+1), s)
	b.Put8(off+len(s), 0)
}

// Text is what stands at an offset before the first zero, at most n bytes.
func (b Block) Text(off, n int) string {
	s := b.Bytes(off, n)
	for i, c := range s {
		if c == 0 {
			return string(s[:i])
		}
	}
	return string(s)
}
