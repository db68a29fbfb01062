//go:build !amd64 || race

package release

import "sync/atomic"

// Store stores what is seen by whoever sees it after all that was stored before.
// A later load may come first.
func Store(p *atomic.Uint64, v uint64) { p.Store(v) }
