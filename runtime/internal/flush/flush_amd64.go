//go:build !purego

package flush

import "unsafe"

// detect asks the processor: CPUID, leaf 1 EDX bit 19, leaf 7 EBX bits 23 and 24. Source: Intel SDM, volume 2, "CPUID".
func detect() how {
	most, _, _ := cpuid(0, 0)
	if _, _, edx := cpuid(1, 0); edx>>19&1 == 0 {
		return none
	}
	if most < 7 {
		return clflush
	}
	_, ebx, _ := cpuid(7, 0)
	switch {
	case ebx>>24&1 == 1 && ebx>>23&1 == 1:
		return clwb
	case ebx>>23&1 == 1:
		return clflushopt
	}
	return clflush
}

func clean(p unsafe.Pointer, n uintptr) {
	switch method {
	case clwb:
		writeBack(p, n)
	case clflushopt:
		flushOpt(p, n)
	default:
		flushPlain(p, n)
	}
}

func drop(p unsafe.Pointer, n uintptr) {
	if method == clflush {
		flushPlain(p, n)
		return
	}
	flushOpt(p, n)
}

//go:noescape
func cpuid(leaf, sub uint32) (eax, ebx, edx uint32)

// writeBack is CLWB of n lines from p on, and SFENCE.
//
//go:noescape
func writeBack(p unsafe.Pointer, n uintptr)

// flushOpt is MFENCE, CLFLUSHOPT of n lines, MFENCE: it is weakly ordered with loads on both sides.
//
//go:noescape
func flushOpt(p unsafe.Pointer, n uintptr)

// flushPlain is the same with CLFLUSH.
//
//go:noescape
func flushPlain(p unsafe.Pointer, n uintptr)
