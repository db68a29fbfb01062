//go:build linux && !purego

#include "textflag.h"

// func cacheType() uint64
TEXT ·cacheType(SB), NOSPLIT, $0-8
	MRS  CTR_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func cleanLines(p unsafe.Pointer, n, step uintptr)
TEXT ·cleanLines(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	MOVD step+16(FP), R2

line:
	DC   CVAC, R0
	ADD  R2, R0
	SUBS $1, R1
	BNE  line
	DSB  $15
	RET

// func dropLines(p unsafe.Pointer, n, step uintptr)
TEXT ·dropLines(SB), NOSPLIT, $0-24
	MOVD p+0(FP), R0
	MOVD n+8(FP), R1
	MOVD step+16(FP), R2
	DSB  $15

line:
	DC   CIVAC, R0
	ADD  R2, R0
	SUBS $1, R1
	BNE  line
	DSB  $15
	RET
