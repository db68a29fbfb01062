//go:build 386 || amd64 || arm64 || loong64 || ppc64 || ppc64le || s390x || wasm

package wire

import "unsafe"

// load64 reads 8 bytes at i, in the machine's order; the caller knows that they
// are there. These machines read them at any address, and written like this it
// is cheap enough for its callers to be inlined.
func load64(b []byte, i int) uint64 {
	return *(*uint64)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(b)), i))
}
