package crc32c

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// block is what one round takes: four vectors.
const block = 256

// shortest is from which length on vectors are faster.
const shortest = 4 * block

// wide reports whether the processor has what foldBlocks uses.
var wide = cpu.X86.HasAVX512F && cpu.X86.HasAVX512VPCLMULQDQ

// brief reports whether n bytes are so few that hash/crc32 takes longer to begin with them than one instruction
// after the other takes for all.
func brief(n int) bool { return cpu.X86.HasSSE42 && n <= 256 }

// sumShort works n bytes into the state of a sum, eight by eight.
//
//go:noescape
func sumShort(state uint32, p *byte, n int) uint32

// powers are x^(8·block+32) and x^(8·block-32) modulo the polynomial of CRC32C, bits in reverse
// order and moved up by one, as the product of two such numbers is one bit lower than it should be. A
// vector times them is what it amounts to a block later. Source: Gopal et al., Fast CRC Computation
// for Generic Polynomials Using PCLMULQDQ Instruction, Intel, 2009.
var powers = [2]uint64{0x0dcb17aa4, 0x0b9e02b86}

// long is how many of n bytes vectors are good for: whole blocks, 0 if there are too few.
func long(n int) int {
	if !wide || n < shortest {
		return 0
	}
	return n &^ (block - 1)
}

// fold sums p, which is of whole blocks, and copies it to dst where that is not nil.
func fold(dst, p []byte, sum uint32) uint32 {
	return ^foldBlocks(unsafe.SliceData(dst), unsafe.SliceData(p), len(p), ^sum, &powers)
}

// foldBlocks works each block of the n bytes at p into the next one, the first with state in its
// first four bytes. The last then has the same remainder as all of them, and is summed as usual from a
// state of zero. If dst is not nil they are copied to it.
//
//go:noescape
func foldBlocks(dst, p *byte, n int, state uint32, powers *[2]uint64) uint32
