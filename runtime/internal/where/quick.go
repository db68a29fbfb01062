//go:build (amd64 || arm64) && !purego

package where

// Quick is as Here, for paths where time counts: it follows frame pointers, which
// takes two loads for each call, and leaves the rest to String.
func Quick() (m Mark) {
	walk(&m[0], len(m))
	return m
}

// Fill is Quick without a copy of the mark.
func (m *Mark) Fill() { walk(&m[0], len(m)) }

// walk stores the return addresses of the calls that led to its caller, innermost
// first, until n are there or the frame pointers leave the goroutine's stack, and zero
// behind the last.
//
//go:noescape
func walk(pcs *uintptr, n int)
