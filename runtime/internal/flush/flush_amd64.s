//go:build !purego

#include "textflag.h"

// func cpuid(leaf, sub uint32) (eax, ebx, edx uint32)
TEXT ·cpuid(SB), NOSPLIT, $0-20
	MOVL leaf+0(FP), AX
	MOVL sub+4(FP), CX
	CPUID
	MOVL AX, eax+8(FP)
	MOVL BX, ebx+12(FP)
	MOVL DX, edx+16(FP)
	RET

// func writeBack(p unsafe.Pointer, n uintptr)
TEXT ·writeBack(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX

line:
	CLWB (AX)
	ADDQ $64, AX
	DECQ CX
	JNZ  line
	SFENCE
	RET

// func flushOpt(p unsafe.Pointer, n uintptr)
TEXT ·flushOpt(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
	MFENCE

line:
	CLFLUSHOPT (AX)
	ADDQ $64, AX
	DECQ CX
	JNZ  line
	MFENCE
	RET

// func flushPlain(p unsafe.Pointer, n uintptr)
TEXT ·flushPlain(SB), NOSPLIT, $0-16
	MOVQ p+0(FP), AX
	MOVQ n+8(FP), CX
	MFENCE

line:
	CLFLUSH (AX)
	ADDQ $64, AX
	DECQ CX
	JNZ  line
	MFENCE
	RET
