//go:build amd64 && !race

package release

import (
	"sync/atomic"
	"unsafe"
)

// Store stores what is seen by whoever sees it after all that was stored before.
// Unlike its own Store this does not wait for that: a later load may come first. On this
// processor a plain store is that (Intel SDM, volume 3, "Memory ordering"), and much
// cheaper than the exchange that Store is.
func Store(p *atomic.Uint64, v uint64) { *(*uint64)(unsafe.Pointer(p)) = v }
