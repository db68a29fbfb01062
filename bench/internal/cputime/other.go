//go:build !linux

package cputime

import (
	"os"
	"time"
)

var start = time.Now()

// Self returns wall time: this system's CPU clock is not read here, so its
// figures are good only if nothing else runs.
func Self() time.Duration { return time.Since(start) }

func peakOf(*os.ProcessState) int64 { return 0 }
