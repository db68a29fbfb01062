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
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/passes"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

func main() {
	c := passes.Command[*result]{
		Name: "benchiwarp", Rows: verbs.OverTCP(), Tables: verbs.TCPTables,
		New:    func(r verbs.Row) *result { return &result{Row: r} },
		Passes: 30, Time: 60 * time.Millisecond, Quick: 20 * time.Millisecond, Turn: true,
		How: "; medians of passes", Table: table, Wanted: wanted,
	}
	c.Main()
}
