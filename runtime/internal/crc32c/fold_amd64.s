#include "textflag.h"

// What a vector amounts to a block later: its low halves times the first power, its
// high halves times the second one, and the vector of the next block, all without carry.
#define WORK(acc, next, t) \
	VPCLMULQDQ $0x00, Z8, acc, t;   \
	VPCLMULQDQ $0x11, Z8, acc, acc; \
	VPTERNLOGQ $0x96, next, t, acc

// func foldBlocks(dst, p *byte, n int, state uint32, powers *[2]uint64) uint32
TEXT ·foldBlocks(SB), NOSPLIT, $256-44
	MOVQ dst+0(FP), DX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
	MOVL state+24(FP), AX
	MOVQ powers+32(FP), BX
	VBROADCASTI32X4 (BX), Z8
	VMOVDQU64 (SI), Z0
	VMOVDQU64 64(SI), Z1
	VMOVDQU64 128(SI), Z2
	VMOVDQU64 192(SI), Z3
	TESTQ DX, DX
	JZ    begin
	VMOVDQU64 Z0, (DX)
	VMOVDQU64 Z1, 64(DX)
	VMOVDQU64 Z2, 128(DX)
	VMOVDQU64 Z3, 192(DX)
begin:
	VMOVD  AX, X9 // and zeroes above it
	VPXORQ Z9, Z0, Z0
	JMP    next
round:
	VMOVDQU64 (SI), Z4
	VMOVDQU64 64(SI), Z5
	VMOVDQU64 128(SI), Z6
	VMOVDQU64 192(SI), Z7
	TESTQ DX, DX
	JZ    work
	VMOVDQU64 Z4, (DX)
	VMOVDQU64 Z5, 64(DX)
	VMOVDQU64 Z6, 128(DX)
	VMOVDQU64 Z7, 192(DX)
work:
	WORK(Z0, Z4, Z10)
	WORK(Z1, Z5, Z11)
	WORK(Z2, Z6, Z12)
	WORK(Z3, Z7, Z13)
next:
	ADDQ $256, SI
	TESTQ DX, DX
	JZ   count
	ADDQ $256, DX
count:
	SUBQ $256, CX
	JNZ  round
	VMOVDQU64 Z0, last-256(SP)
	VMOVDQU64 Z1, last-192(SP)
	VMOVDQU64 Z2, last-128(SP)
	VMOVDQU64 Z3, last-64(SP)
	VZEROUPPER
	XORL AX, AX
	LEAQ last-256(SP), SI
	MOVL $32, CX
sum:
	CRC32Q (SI), AX
	ADDQ   $8, SI
	DECL   CX
	JNZ    sum
	MOVL AX, ret+40(FP)
	RET

// func sumShort(state uint32, p *byte, n int) uint32
TEXT ·sumShort(SB), NOSPLIT, $0-28
	MOVL state+0(FP), AX
	MOVQ p+8(FP), SI
	MOVQ n+16(FP), CX
words:
	SUBQ $8, CX
	JLT  octets
	CRC32Q (SI), AX
	ADDQ   $8, SI
	JMP    words
octets:
	ADDQ $8, CX
	JZ   done
octet:
	CRC32B (SI), AX
	INCQ   SI
	DECQ   CX
	JNZ    octet
done:
	MOVL AX, ret+24(FP)
	RET
