//go:build !purego

#include "textflag.h"

// A Go function's frame pointer points to its caller's, with the return address
// behind it. This function has no frame: its own return address is where SP points,
// and BP is its caller's frame. What is
// not within the goroutine's stack (its bounds are g's first two words), and
// not above the frame before, is no frame: C code that called Go may leave anything in BP.

// func walk(pcs *uintptr, n int)
TEXT ·walk(SB), NOSPLIT|NOFRAME, $0-16
	MOVQ pcs+0(FP), DI
	MOVQ n+8(FP), CX
	MOVQ (TLS), R8
	MOVQ 8(R8), R9   // the stack's end
	SUBQ $16, R9     // a frame has two words
	MOVQ SP, R10
	MOVQ BP, AX
	MOVQ 0(SP), DX
	JMP  store

next:
	CMPQ AX, R10
	JLS  done
	CMPQ AX, R9
	JHI  done
	MOVQ 8(AX), DX
	MOVQ AX, R10
	MOVQ (AX), AX

store:
	MOVQ DX, (DI)
	ADDQ $8, DI
	DECQ CX
	JNZ  next
	RET

done:
	MOVQ $0, (DI) // DI is within pcs: the loop would have ended else
	RET
