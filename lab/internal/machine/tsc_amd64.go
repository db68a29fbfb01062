package machine

import "time"

// rdtsc is the processor's time-stamp counter (Intel SDM, volume 2, RDTSC).
func rdtsc() uint64

// tscKHz is the rate of the host's time-stamp counter, which guests have as it is: what they measure is the same. It is 0 where
// it could not be told. On a busy host the clock of a guest of 6.1 went five times too fast, twice, and tests timed out that had hardly begun; that it had measured the
// rate wrong is the likely reason, and not proved. Told it, it does not depend on that (tsc_early_khz, kernel-parameters.txt).
func tscKHz() int {
	for range 3 {
		t0, c0 := stamp()
		time.Sleep(50 * time.Millisecond)
		t1, c1 := stamp()
		if !t0.IsZero() && !t1.IsZero() && c1 > c0 {
			return int(float64(c1-c0) / (float64(t1.Sub(t0)) / float64(time.Millisecond)))
		}
	}
	return 0
}

// stamp is the time and the counter at it; no time where something came between them.
func stamp() (time.Time, uint64) {
	for range 1000 {
		before := time.Now()
		c := rdtsc()
		if after := time.Now(); after.Sub(before) < 10*time.Microsecond {
			return before.Add(after.Sub(before) / 2), c
		}
	}
	return time.Time{}, 0
}
