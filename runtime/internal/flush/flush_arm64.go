//go:build linux && !purego

package flush

import "unsafe"

// detect asks the processor how long the lines are that these instructions are about: CTR_EL0, DminLine, in words of 4 bytes.
// Steps of lines that are smaller are made by what they are.
func detect() how {
	if step = 4 << (cacheType() >> 16 & 15); step > Line {
		return none
	}
	return dcache
}

// step is the length of this processor's smallest line, bytes.
var step uintptr

func clean(p unsafe.Pointer, n uintptr) { cleanLines(p, n*Line/step, step) }

func drop(p unsafe.Pointer, n uintptr) { dropLines(p, n*Line/step, step) }

//go:noescape
func cacheType() uint64

// cleanLines is DC CVAC of n lines from p on, each so many bytes behind the other, and DSB SY.
//
//go:noescape
func cleanLines(p unsafe.Pointer, n, step uintptr)

// dropLines is DSB SY, DC CIVAC of n lines, DSB SY.
//
//go:noescape
func dropLines(p unsafe.Pointer, n, step uintptr)
