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
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/passes"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

func main() {
	c := passes.Command[*result]{
		Name: "benchrdma", Rows: verbs.All(), Tables: verbs.Tables,
		New:    func(r verbs.Row) *result { return &result{Row: r} },
		Passes: 40, Time: 15 * time.Millisecond, Quick: 5 * time.Millisecond,
		How: ", medians of windows, the tenth percentile of passes", Table: table, Wanted: wanted,
	}
	c.Main()
}
