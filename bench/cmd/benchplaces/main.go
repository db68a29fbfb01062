// Command benchplaces measures regions by where they lie, in one run: allocating and freeing them beside mmap alone and Go's make; taking them out
// of a pool, as it fills, beside make; and loops over their elements beside a plain slice.
//
// The pool is on the node of this machine's own memory, which is taken to be CXL's: what is measured is our code, not the memory. Rows are run in
// interleaved passes; figures are medians of CPU time, the garbage collector's included. A row that is touched writes to each page.
package main

import (
	"flag"
	"fmt"
	"iter"
	"math"
	"os"
	"runtime"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
)

// row is one way to do what a table is about.
type row struct {
	name string
	to   *row // the row that it is held to, if to any
	ways []*way
}

// way is code for a row. Where a row has several, they are the same code in several places, and the fastest counts.
type way struct {
	run   func(n int) error
	times []float64 // ns of CPU for one
}

// by is a row of such code.
func by(name string, runs ...func(int) error) *row {
	r := &row{name: name}
	for _, run := range runs {
		r.ways = append(r.ways, &way{run: run})
	}
	return r
}

// table is rows that do the same. The first of those that are ours is compared with the others.
type table struct {
	title string
	rows  []*row
	ours  int     // of rows
	most  float64 // of the time of the row that each is held to; 0: nothing is wanted
	close []func() error
}

func main() {
	passes := flag.Int("passes", 7, "interleaved passes")
	only := flag.String("only", "", "tables to run: a part of the title")
	quick := flag.Bool("quick", false, "small sizes, one pass: that it works")
	flag.Parse()
	if *quick {
		*passes = 1
	}
	if err := run(*passes, *quick, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchplaces:", err)
		os.Exit(1)
	}
}

func run(passes int, quick bool, only string) error {
	fmt.Printf("%s; %d passes, medians of CPU time\n", figures.Machine(), passes)
	for _, make := range []func(bool) ([]*table, error){allocations, pools, loops} {
		tables, err := make(quick)
		if err != nil {
			return err
		}
		for _, t := range tables {
			if strings.Contains(t.title, only) {
				n := passes
				if t.most > 0 { // short, and judged: others on the machine must not decide it
					n *= 5
				}
				if err := t.measure(n); err != nil {
					return fmt.Errorf("%s: %w", t.title, err)
				}
				t.print()
			}
			for _, c := range t.close {
				if err := c(); err != nil {
					return err
				}
			}
			runtime.GC()
		}
	}
	return nil
}

// slot is how long code runs in a pass, ns; once at least.
const slot = 10e6

// measure runs the rows in turn.
func (t *table) measure(passes int) error {
	counts := map[*way]int{}
	for w, r := range t.all() {
		n, err := w.enough()
		if err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
		counts[w] = n
	}
	for range passes {
		for w, r := range t.all() {
			took, err := w.once(counts[w])
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			w.times = append(w.times, took)
		}
	}
	return nil
}

// all is each way of each row.
func (t *table) all() iter.Seq2[*way, *row] {
	return func(yield func(*way, *row) bool) {
		for _, r := range t.rows {
			for _, w := range r.ways {
				if !yield(w, r) {
					return
				}
			}
		}
	}
}

// enough is how often the code runs in a slot.
func (w *way) enough() (int, error) {
	if _, err := w.once(1); err != nil { // what is made once only
		return 0, err
	}
	for n := 1; ; n *= 4 {
		took, err := w.once(n)
		if err != nil {
			return 0, err
		}
		if took*float64(n) > slot/4 {
			return max(int(slot/took), 1), nil
		}
	}
}

// once runs the code n times and says how long one took.
func (w *way) once(n int) (float64, error) {
	start := cputime.Self()
	err := w.run(n)
	return float64(cputime.Self()-start) / float64(n), err
}

// median is that of the fastest way.
func (r *row) median() float64 {
	least := math.Inf(1)
	for _, w := range r.ways {
		least = min(least, figures.Median(w.times))
	}
	return least
}

// print prints the table, each row's time over ours, and whether what is wanted is met.
func (t *table) print() {
	fmt.Printf("\n%s\n", t.title)
	ours, worst := t.rows[t.ours].median(), 0.0
	for _, r := range t.rows {
		fmt.Printf("  %-28s %14s ns %8.2f\n", r.name, figures.Number(r.median()), r.median()/ours)
		if r.to != nil {
			worst = max(worst, r.median()/r.to.median())
		}
	}
	if t.most > 0 {
		met := "met"
		if worst > t.most {
			met = "NOT met"
		}
		fmt.Printf("  wanted: at most %.2f of a slice over the same memory; the slowest of ours takes %.2f: %s\n", t.most, worst, met)
	}
}
