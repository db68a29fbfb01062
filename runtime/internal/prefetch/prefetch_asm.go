//go:build (amd64 || arm64) && !purego

package prefetch

import "unsafe"

// Read says that the cache line at p will be read soon. It is no access: nothing has to be there.
//
//go:noescape
func Read(p unsafe.Pointer)

// Write says that the cache line at an address will be written soon: other processors give it up. It is no access: nothing has
// to be there.
//
//go:noescape
func Write(at uintptr)
