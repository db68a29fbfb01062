//go:build !purego

#include "textflag.h"

// See walk_amd64.s. Here the return address is in R30, the frame pointer is R29, and
// g has a register.

// func walk(pcs *uintptr, n int)
TEXT ·walk(SB), NOSPLIT|NOFRAME, $0-16
	MOVD pcs+0(FP), R0
	MOVD n+8(FP), R1
	MOVD 8(g), R2    // the stack's end
	SUB  $16, R2, R2 // a frame has two words
	SUB  $16, RSP, R3 // a function's frame pointer is the word below its frame
	MOVD R29, R4
	MOVD R30, R5
	JMP  store

next:
	CMP  R3, R4
	BLS  done
	CMP  R2, R4
	BHI  done
	MOVD 8(R4), R5
	MOVD R4, R3
	MOVD (R4), R4

store:
	MOVD R5, (R0)
	ADD  $8, R0
	SUBS $1, R1, R1
	BNE  next
	RET

done:
	MOVD ZR, (R0) // within pcs: the loop would have ended else
	RET
