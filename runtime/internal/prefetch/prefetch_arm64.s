//go:build !purego

#include "textflag.h"

// func Read(p unsafe.Pointer)
TEXT ·Read(SB), NOSPLIT|NOFRAME, $0-8
	MOVD p+0(FP), R0
	PRFM (R0), PLDL1KEEP
	RET

// func Write(at uintptr)
TEXT ·Write(SB), NOSPLIT|NOFRAME, $0-8
	MOVD at+0(FP), R0
	PRFM (R0), PSTL1KEEP
	RET
