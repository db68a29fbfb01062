package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

// report prints the tables and the wanted proportions.
func report(w io.Writer, all []*result, o options) {
	fmt.Fprintf(w, "%s, %s/%s, %s, %d CPUs%s; %d passes of %s a row; medians of passes\n",
		figures.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), figures.Load(), o.passes, o.time)
	for _, t := range verbs.TCPTables {
		var list []*result
		for _, r := range all {
			if r.Table == t {
				list = append(list, r)
			}
		}
		if len(list) > 0 {
			table(w, t, list)
		}
	}
	wanted(w, all, o)
}

// table prints the rows with their wall time, or processor time where that is what
// the table is about, beside the fastest row of what the machine allows.
func table(w io.Writer, title string, list []*result) {
	byCPU := title == verbs.Processor
	slices.SortStableFunc(list, func(a, b *result) int {
		if figures.Median(a.of(byCPU)) < figures.Median(b.of(byCPU)) {
			return -1
		}
		return 1
	})
	var limit *result
	for _, r := range list {
		if r.Class == rows.Limit {
			limit = r
			break
		}
	}
	fmt.Fprintf(w, "\n%s\n", title)
	fmt.Fprintf(w, "  %-24s %-8s %10s %10s %18s %8s %16s\n", "row", "class", "wall ns", "cpu ns", "x tcp", "allocs", each(list[0]))
	for _, r := range list {
		times := ""
		if limit != nil {
			times = proportion(r, limit, byCPU).String()
		}
		line := fmt.Sprintf("  %-24s %-8s %10s %10s %18s %8.2f %16s  %s", r.Name, r.Class,
			figures.Number(figures.Median(r.wall)), figures.Number(figures.Median(r.cpu)), times, figures.Median(r.allocs), r.rate(), r.Note)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// each says what rate reports of the rows of a table.
func each(r *result) string {
	if r.Bytes > 0 {
		return "GiB/s, cpu s/GiB"
	}
	return "ops/cpu s"
}

// rate is the throughput and what it takes, or how many operations a second of one processor does.
func (r *result) rate() string {
	if r.Bytes > 0 {
		const gib = 1 << 30
		perGiB := gib / float64(r.Bytes) / 1e9
		return fmt.Sprintf("%.2f, %.3f", 1/(figures.Median(r.wall)*perGiB), figures.Median(r.cpu)*perGiB)
	}
	return figures.Number(1e9 / figures.Median(r.cpu))
}

func (r *result) of(cpu bool) []float64 {
	if cpu {
		return r.cpu
	}
	return r.wall
}

// spread is a median and the quartiles around it.
type spread struct{ low, median, high float64 }

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f-%.2f)", s.median, s.low, s.high) }

// proportion is how many times longer a row takes than another, of each pass.
func proportion(a, b *result, cpu bool) spread {
	var v []float64
	for i := range a.wall {
		v = append(v, a.of(cpu)[i]/b.of(cpu)[i])
	}
	return spread{figures.Quantile(v, 0.25), figures.Median(v), figures.Quantile(v, 0.75)}
}

// wanted says which proportions are met.
func wanted(w io.Writer, all []*result, o options) {
	fmt.Fprintf(w, "\nWanted (of the median; quartiles beside it):\n")
	met, n := 0, 0
	verdict := func(ok bool, what, text string) {
		n++
		v := "NOT MET"
		if ok {
			v = "met"
			met++
		}
		fmt.Fprintf(w, "  %-8s %-86s %s\n", v, what, text)
	}
	for _, g := range verbs.TCPGoals() {
		of, to := fastest(all, g.Table, g.Of, g.CPU), fastest(all, g.Table, g.To, g.CPU)
		if of == nil || to == nil {
			continue
		}
		if g.Least > 0 {
			s := proportion(to, of, g.CPU)
			verdict(s.median >= g.Least, g.What, fmt.Sprintf("%s, wanted at least %g; processor time %.2f (%s)", s, g.Least, proportion(to, of, true).median, to.Name))
			continue
		}
		s := proportion(of, to, g.CPU)
		verdict(s.median <= g.Most, g.What, fmt.Sprintf("%s, wanted at most %g; processor time %.2f", s, g.Most, proportion(of, to, true).median))
	}
	for _, r := range all {
		if r.NoAlloc && !o.quick { // what the Go runtime itself allocates now and then is less
			if got := figures.Median(r.allocs); got >= 0.01 {
				verdict(false, r.Table+": "+r.Name+": no allocation", fmt.Sprintf("%.2f each", got))
			}
		}
	}
	fmt.Fprintf(w, "%d of %d met.\n", met, n)
}

// fastest is the fastest of the rows with these names, nil if none was run.
func fastest(all []*result, table string, names []string, cpu bool) *result {
	var best *result
	for _, r := range all {
		if r.Table == table && slices.Contains(names, r.Name) && (best == nil || figures.Median(r.of(cpu)) < figures.Median(best.of(cpu))) {
			best = r
		}
	}
	return best
}
