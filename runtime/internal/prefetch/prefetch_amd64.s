//go:build !purego

#include "textflag.h"

// func Read(p unsafe.Pointer)
TEXT ·Read(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ p+0(FP), AX
	PREFETCHT0 (AX)
	RET

// func Write(at uintptr)
// PREFETCHW, which processors without it take for a NOP (Intel SDM, volume 2, PREFETCHW; the assembler has no name for it).
TEXT ·Write(SB), NOSPLIT|NOFRAME, $0-8
	MOVQ at+0(FP), AX
	BYTE $0x0f; BYTE $0x0d; BYTE $0x08 // PREFETCHW (AX)
	RET
