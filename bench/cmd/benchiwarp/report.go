package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/passes"
	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
	"github.com/fidelityframework/barewire-gen/bench/internal/verbs"
)

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
func wanted(w io.Writer, all []*result, quick bool) {
	l := figures.NewWanted(w, "of the median; quartiles beside it", 86)
	for _, g := range verbs.TCPGoals() {
		clock := func(r *result) float64 { return figures.Median(r.of(g.CPU)) }
		of, ran := passes.Fastest(all, g.Table, g.Of, clock)
		to, ranToo := passes.Fastest(all, g.Table, g.To, clock)
		if !ran || !ranToo {
			continue
		}
		if g.Least > 0 {
			s := proportion(to, of, g.CPU)
			l.Line(s.median >= g.Least, g.What, fmt.Sprintf("%s, wanted at least %g; processor time %.2f (%s)", s, g.Least, proportion(to, of, true).median, to.Name))
			continue
		}
		s := proportion(of, to, g.CPU)
		l.Line(s.median <= g.Most, g.What, fmt.Sprintf("%s, wanted at most %g; processor time %.2f", s, g.Most, proportion(of, to, true).median))
	}
	for _, r := range all {
		if got := figures.Median(r.allocs); r.NoAlloc && !quick && got >= 0.01 { // what the Go runtime itself allocates now and then is less
			l.Line(false, r.Table+": "+r.Name+": no allocation", fmt.Sprintf("%.2f each", got))
		}
	}
	l.End()
}
