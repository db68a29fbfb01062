//go:build !linux

package gpu

import "time"

// nap sleeps.
func nap(d time.Duration) { time.Sleep(d) }
