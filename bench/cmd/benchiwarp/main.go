// Command benchiwarp measures verbs over iWARP beside TCP as one uses it by hand, and
// beside gRPC: two processes on the loopback interface. It runs the rows in interleaved
// passes and prints a table for each thing done, and which of the wanted proportions are met.
//
// A pass of a row starts a peer, connects, warms up, and runs whole windows of operations: their
// median is the pass's wall time, and the processor time of both processes, all threads, is over
// all windows together. Proportions are made within each pass, so that what else the machine does
// meets both sides; the median of the passes counts, and half of them are between the
// quartiles. Nothing is asserted.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

func main() {
	verbs.Peer()
	o := options{}
	flag.IntVar(&o.passes, "passes", 30, "passes over all rows")
	flag.DurationVar(&o.time, "time", 60*time.Millisecond, "time for a row in a pass")
	flag.StringVar(&o.only, "only", "", "rows to run: a regular expression on table/row")
	flag.BoolVar(&o.quick, "quick", false, "one short pass: to see that it works, not to judge")
	flag.Parse()
	if o.quick {
		o.passes, o.time = 1, 20*time.Millisecond
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "benchiwarp:", err)
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
	for _, r := range verbs.OverTCP() {
		if only.MatchString(r.Table + "/" + r.Name) {
			list = append(list, &result{Row: r})
		}
	}
	start := time.Now()
	for pass := range o.passes {
		order := slices.Clone(list)
		if pass%2 == 1 {
			slices.Reverse(order) // so that nobody is always first
		}
		for _, r := range order {
			if err := r.pass(o.time); err != nil {
				return fmt.Errorf("%s: %s: %w", r.Table, r.Name, err)
			}
		}
		fmt.Fprintf(os.Stderr, "pass %d of %d, %s\n", pass+1, o.passes, time.Since(start).Round(time.Second))
	}
	report(os.Stdout, list, o)
	return nil
}
