package gpu

import (
	"time"

	"golang.org/x/sys/unix"
)

// nap has the thread sleep: the scheduler's own timers are no finer than a millisecond where nothing else runs.
func nap(d time.Duration) {
	t := unix.NsecToTimespec(int64(d))
	_ = unix.Nanosleep(&t, nil) // a signal ends it early: then there is another look
}
