//go:build !(386 || amd64 || arm64 || loong64 || ppc64 || ppc64le || s390x || wasm)

package wire

import "encoding/binary"

// load64 reads 8 bytes at i.
func load64(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
