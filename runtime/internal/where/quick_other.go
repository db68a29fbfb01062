//go:build !(amd64 || arm64) || purego

package where

import "runtime"

// Quick is as Here: frame pointers are kept on amd64 and arm64 only.
//
//go:noinline
func Quick() Mark {
	var m Mark
	runtime.Callers(2, m[:])
	return m
}

// Fill is Quick without a copy of the mark.
//
//go:noinline
func (m *Mark) Fill() {
	*m = Mark{}
	runtime.Callers(2, m[:])
}
