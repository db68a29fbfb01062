// Package cputime reads how much CPU time processes took. On a machine that is
// shared it leaves out the time in which others had the cores.
package cputime

import (
	"os"
	"time"
)

// Of returns the CPU time of a child that has ended, in user and system mode,
// and its greatest resident memory in bytes (0 where the system does not tell).
func Of(p *os.ProcessState) (cpu time.Duration, peak int64) {
	return p.UserTime() + p.SystemTime(), peakOf(p)
}
