package main

import (
	"errors"
	"runtime"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

// result is a row with the figures of each pass.
type result struct {
	verbs.Row
	wall, cpu []float64 // ns for one unit; cpu is of both processes
	allocs    []float64 // for one operation, of both processes
}

// window is how long a window lasts, about.
const window = 5 * time.Millisecond

// Pass opens the row, runs it for some time and notes what it took.
func (r *result) Pass(d time.Duration) error {
	l, err := r.Open()
	if err != nil {
		return err
	}
	return errors.Join(r.measure(l, d), l.Close())
}

func (r *result) measure(l *verbs.Loop, d time.Duration) error {
	n, err := l.Calibrate(d/3, window)
	if err != nil {
		return err
	}
	runtime.GC()
	own, err := l.Usage() // asking allocates, too
	if err != nil {
		return err
	}
	before, err := l.Usage()
	if err != nil {
		return err
	}
	windows := make([]float64, 0, 1024)
	for end := time.Now().Add(d); len(windows) < 3 || time.Now().Before(end) && len(windows) < cap(windows); {
		start := time.Now()
		if err := l.Run(n); err != nil {
			return err
		}
		windows = append(windows, float64(time.Since(start))/float64(n*max(r.Per, 1)))
	}
	after, err := l.Usage()
	if err != nil {
		return err
	}
	units := float64(n * max(r.Per, 1) * len(windows))
	r.wall = append(r.wall, figures.Median(windows))
	r.cpu = append(r.cpu, float64(after.CPU-before.CPU)/units)
	r.allocs = append(r.allocs, max(0, float64(after.Mallocs-before.Mallocs)-float64(before.Mallocs-own.Mallocs))/units)
	return nil
}
