// Command benchgpu measures copies between host and GPU by package gpu, posted and waited for, beside calls of the same library alone, in one run: OpenCL
// on the first device that it has, which is PoCL's processor where there is no GPU, and CUDA on the stand-in for its library that the tests compile. What is
// measured is what our path costs; the stand-in's copies say nothing about a GPU's.
//
// Rows take turns in passes; figures are medians of wall time, proportions are made within each pass.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
)

// copies is a way to copy from the host to the device, or back.
type copies struct {
	name  string
	run   func(n int) error // n copies, one after the other
	times []float64         // of one, ns, by pass
}

// table is copies of one size. The first row is ours.
type table struct {
	title string
	rows  []*copies
}

// library is what has tables. Its close ends what they use.
type library struct {
	name  string
	open  func() (tables []*table, device string, close func() error, err error)
	needs string
}

// sizes are how many pages of 4 KiB are copied.
var sizes = []int{1, 16, 256}

func main() {
	passes := flag.Int("passes", 25, "passes in which all rows take turns")
	span := flag.Duration("time", 15*time.Millisecond, "time for a row in a pass")
	only := flag.String("only", "", "libraries to run: a part of the name")
	quick := flag.Bool("quick", false, "one short pass: that it works")
	flag.Parse()
	if *quick {
		*passes, *span = 1, time.Millisecond
	}
	if err := run(*passes, *span, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchgpu:", err)
		os.Exit(1)
	}
}

func run(passes int, span time.Duration, only string) error {
	fmt.Printf("%s; %d passes of %s a row, medians of wall time, proportions within passes\n", figures.Machine(), passes, span)
	for _, l := range libraries {
		if !strings.Contains(l.name, only) {
			continue
		}
		tables, device, end, err := l.open()
		if err != nil {
			return fmt.Errorf("%s (%s): %w", l.name, l.needs, err)
		}
		fmt.Printf("\n%s: %s\n", l.name, device)
		for _, t := range tables {
			if err := t.measure(passes, span); err != nil {
				return errors.Join(fmt.Errorf("%s: %s: %w", l.name, t.title, err), end())
			}
			t.print()
		}
		if err := end(); err != nil {
			return fmt.Errorf("%s: %w", l.name, err)
		}
	}
	return nil
}

// measure runs the rows in turn, every second pass backwards.
func (t *table) measure(passes int, span time.Duration) error {
	counts := map[*copies]int{}
	for _, c := range t.rows {
		n := 1
		for {
			took, err := c.once(n)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			if took*float64(n) > float64(span)/4 {
				counts[c] = max(int(float64(span)/took), 1)
				break
			}
			n *= 2
		}
	}
	for pass := range passes {
		order := slices.Clone(t.rows)
		if pass%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			took, err := c.once(counts[c])
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.times = append(c.times, took)
		}
	}
	return nil
}

// once runs a row n times and says how long one took.
func (c *copies) once(n int) (float64, error) {
	start := time.Now()
	err := c.run(n)
	return float64(time.Since(start)) / float64(n), err
}

// print prints the rows, and how much of the fastest other one's time ours takes.
func (t *table) print() {
	fmt.Printf("  %s\n", t.title)
	ours := t.rows[0]
	fastest := t.rows[1]
	for _, c := range t.rows {
		if c != ours && figures.Median(c.times) < figures.Median(fastest.times) {
			fastest = c
		}
		fmt.Printf("    %-34s %9.2f us\n", c.name, figures.Median(c.times)/1e3)
	}
	var parts []float64
	for i := range ours.times {
		parts = append(parts, ours.times[i]/fastest.times[i])
	}
	slices.Sort(parts)
	fmt.Printf("    ours to the fastest other: %.2f; quartiles %.2f-%.2f\n", figures.Median(parts), parts[len(parts)/4], parts[len(parts)*3/4])
}
