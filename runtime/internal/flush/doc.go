// Package flush has what processors need to share memory without coherence: lines of the cache are written back to memory, and
// given up, so that the next load comes from memory. The caches of this machine are coherent; it is for memory that another machine
// changes, too.
//
// On amd64 it is CLWB, CLFLUSHOPT or CLFLUSH, the best that the processor has, with fences (Intel SDM, volume 2; "CLFLUSH is weakly
// ordered"); on arm64 DC CVAC and DC CIVAC with DSB (Arm ARM, "cache maintenance to the point of coherency"), which Linux lets programs
// use. No processor lets a program drop a line without writing it back: who only reads must never write to the line. Elsewhere there is none:
// [Supported] says so.
package flush

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// Line is what memory that is shared is divided by, bytes. Lines of the processor are no larger.
const Line = 64

// ErrUnsupported is what processors give that have no such instructions, or whose lines are larger than [Line].
var ErrUnsupported = errors.New("this processor has no instructions by which a program gives lines of its cache up")

// Supported says why it cannot be done here; nil: it can.
func Supported() error {
	if method == none {
		return fmt.Errorf("%s: %w", runtime.GOARCH, ErrUnsupported)
	}
	return nil
}

// Method is the instruction that is used.
func Method() string { return method.String() }

// how is an instruction.
type how uint8

const (
	none how = iota
	clflush
	clflushopt
	clwb
	dcache
)

func (h how) String() string {
	return [...]string{"none", "CLFLUSH", "CLFLUSHOPT", "CLWB", "DC CVAC, DC CIVAC"}[h]
}

// method is this processor's.
var method = detect()

// lines is the range of lines that n bytes at p touch.
func lines(p unsafe.Pointer, n int) (first unsafe.Pointer, count uintptr) {
	skip := uintptr(p) & (Line - 1)
	return unsafe.Add(p, -int(skip)), (skip + uintptr(n) + Line - 1) / Line
}

// Clean writes the lines of n bytes at p back to memory, and returns when whoever looks there after stores that come later sees them. n is
// above 0.
func Clean(p unsafe.Pointer, n int) {
	if n <= 0 || method == none {
		return
	}
	first, count := lines(p, n)
	clean(first, count)
}

// Drop has the next loads of n bytes at p come from memory. Lines that were written are written back.
func Drop(p unsafe.Pointer, n int) {
	if n <= 0 || method == none {
		return
	}
	first, count := lines(p, n)
	drop(first, count)
}
