// Package passes is what the commands share that measure rows of package verbs: they run
// them in interleaved passes and report them table by table.
package passes

import (
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

// Result is a row with the figures of its passes so far.
type Result interface {
	Place() (table, name string)
	Pass(d time.Duration) error // runs the row for that long, about, and adds figures
}

// Command is a command that measures rows.
type Command[R Result] struct {
	Name   string
	Rows   []verbs.Row
	Tables []string // in the order of the report
	New    func(verbs.Row) R

	Passes int           // how many, if nothing is said
	Time   time.Duration // for a row in a pass
	Quick  time.Duration // the same in the one pass of -quick
	Turn   bool          // every second pass goes backwards, so that nobody is always first

	How    string // figures are made of passes, for the report's first line
	Table  func(w io.Writer, title string, list []R)
	Wanted func(w io.Writer, all []R, quick bool)
}

// Main is the command's main. It ends the process where that is a peer, or fails.
func (c *Command[R]) Main() {
	verbs.Peer()
	only := flag.String("only", "", "rows to run: a regular expression on table/row")
	quick := flag.Bool("quick", false, "one short pass: to see that it works, not to judge")
	flag.IntVar(&c.Passes, "passes", c.Passes, "passes over all rows")
	flag.DurationVar(&c.Time, "time", c.Time, "time for a row in a pass")
	flag.Parse()
	if *quick {
		c.Passes, c.Time = 1, c.Quick
	}
	all, err := c.run(*only)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", c.Name, err)
		os.Exit(1)
	}
	c.report(os.Stdout, all)
	c.Wanted(os.Stdout, all, *quick)
}

// run runs the rows that only names.
func (c *Command[R]) run(only string) ([]R, error) {
	names, err := regexp.Compile(only)
	if err != nil {
		return nil, err
	}
	var all []R
	for _, r := range c.Rows {
		if names.MatchString(r.Table + "/" + r.Name) {
			all = append(all, c.New(r))
		}
	}
	start := time.Now()
	for pass := range c.Passes {
		order := slices.Clone(all)
		if c.Turn && pass%2 == 1 {
			slices.Reverse(order)
		}
		for _, r := range order {
			if err := r.Pass(c.Time); err != nil {
				table, name := r.Place()
				return nil, fmt.Errorf("%s: %s: %w", table, name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "pass %d of %d, %s\n", pass+1, c.Passes, time.Since(start).Round(time.Second))
	}
	return all, nil
}

// report prints the tables.
func (c *Command[R]) report(w io.Writer, all []R) {
	fmt.Fprintf(w, "%s; %d passes of %s a row%s\n", figures.Machine(), c.Passes, c.Time, c.How)
	for _, t := range c.Tables {
		list := slices.DeleteFunc(slices.Clone(all), func(r R) bool { table, _ := r.Place(); return table != t })
		if len(list) > 0 {
			c.Table(w, t, list)
		}
	}
}

// Fastest is the row of a table with one of these names of which the figure is the least, if any was run.
func Fastest[R Result](all []R, table string, names []string, figure func(R) float64) (best R, ok bool) {
	for _, r := range all {
		t, name := r.Place()
		if t == table && slices.Contains(names, name) && (!ok || figure(r) < figure(best)) {
			best, ok = r, true
		}
	}
	return best, ok
}
