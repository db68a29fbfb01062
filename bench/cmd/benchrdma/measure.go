package main

import (
	"errors"
	"runtime"
	"slices"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

// result is a row with the figure of each pass: ns for one unit.
type result struct {
	verbs.Row
	passes []float64
	allocs float64 // for one operation, in the last pass
}

// window is how long a window lasts, about: shorter than the time slice that the
// system gives, so that most are not interrupted.
const window = 400 * time.Microsecond

// Pass opens the row, runs it for some time and takes the median of its windows.
func (r *result) Pass(d time.Duration) error {
	l, err := r.Open()
	if err != nil {
		return err
	}
	return errors.Join(r.measure(l, d), l.Close())
}

func (r *result) measure(l *verbs.Loop, d time.Duration) error {
	now := cputime.Self
	if r.Wall {
		start := time.Now()
		now = func() time.Duration { return time.Since(start) }
	}
	n, err := l.Calibrate(d/4, window)
	if err != nil {
		return err
	}
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	windows := make([]float64, 0, 4096)
	for end := time.Now().Add(d); len(windows) < 3 || time.Now().Before(end) && len(windows) < cap(windows); {
		start := now()
		if err := l.Run(n); err != nil {
			return err
		}
		windows = append(windows, float64(now()-start)/float64(n*max(r.Per, 1)))
	}
	runtime.ReadMemStats(&after)
	r.allocs = float64(after.Mallocs-before.Mallocs) / float64(n*len(windows))
	r.passes = append(r.passes, figures.Median(windows))
	return nil
}

// best is the figure that a tenth of the passes are below: what the machine does when
// it is left alone, and not what it did once.
func (r *result) best() float64 {
	v := slices.Sorted(slices.Values(r.passes))
	return v[len(v)/10]
}
