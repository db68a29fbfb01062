//go:build !amd64 || race

package shm

import "sync/atomic"

// release stores what is seen by whoever sees it after all that was stored before.
// A later load may come first.
func release(p *atomic.Uint64, v uint64) { p.Store(v) }
