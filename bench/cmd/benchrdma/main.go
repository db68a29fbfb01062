// Command benchrdma measures regions and verbs beside what is bare: another process's
// memory without us, sockets, gRPC, and hand-written code. It runs the rows in
// interleaved passes and prints a table for each thing done, and which of the wanted
// proportions are met.
//
// A pass of a row is many short windows, of which the median counts. Of the passes one
// of the best counts, the tenth percentile, as others use the machine; the median of the passes is shown beside
// it. Rows of two processes are wall time, the others CPU time. Nothing is asserted.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

func main() {
	verbs.Peer()
	o := options{}
	flag.IntVar(&o.passes, "passes", 40, "passes over all rows")
	flag.DurationVar(&o.time, "time", 15*time.Millisecond, "time for a row in a pass")
	flag.StringVar(&o.only, "only", "", "rows to run: a regular expression on table/row")
	flag.BoolVar(&o.quick, "quick", false, "one short pass: to see that it works, not to judge")
	flag.Parse()
	if o.quick {
		o.passes, o.time = 1, 5*time.Millisecond
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "benchrdma:", err)
		os.Exit(1)
	}
}

type options struct {
	passes int
	time   time.Duration
	only   string
	quick  bool
}

func run(o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	var list []*result
	for _, r := range verbs.All() {
		if only.MatchString(r.Table + "/" + r.Name) {
			list = append(list, &result{Row: r})
		}
	}
	start := time.Now()
	for pass := range o.passes {
		for _, r := range list {
			if err := r.pass(o.time); err != nil {
				return fmt.Errorf("%s: %s: %w", r.Table, r.Name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "pass %d of %d, %s\n", pass+1, o.passes, time.Since(start).Round(time.Second))
	}
	report(os.Stdout, list, o)
	return nil
}
