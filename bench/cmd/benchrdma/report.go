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

// equal is the difference that counts as none, as in cmd/bench.
const equal = 1.15

// report prints the tables and the wanted proportions.
func report(w io.Writer, all []*result, o options) {
	fmt.Fprintf(w, "%s, %s/%s, %s, %d CPUs%s; %d passes of %s a row, medians of windows, the tenth percentile of passes\n",
		figures.CPU(), runtime.GOOS, runtime.GOARCH, runtime.Version(), runtime.NumCPU(), figures.Load(), o.passes, o.time)
	for _, t := range verbs.Tables {
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

func table(w io.Writer, title string, list []*result) {
	slices.SortStableFunc(list, func(a, b *result) int {
		if a.best() < b.best() {
			return -1
		}
		return 1
	})
	clock := "cpu"
	if list[0].Wall {
		clock = "wall"
	}
	var mine *result
	for _, r := range list {
		if r.Class == rows.Ours {
			mine = r
			break
		}
	}
	fmt.Fprintf(w, "\n%s\n", title)
	fmt.Fprintf(w, "  %-30s %-8s %11s %11s %8s %7s\n", "row", "class", clock+" ns", "median", "x ours", "allocs")
	for _, r := range list {
		times := ""
		if mine != nil {
			times = fmt.Sprintf("%.2f", r.best()/mine.best())
		}
		line := fmt.Sprintf("  %-30s %-8s %11s %11s %8s %7.2f  %s", r.Name, r.Class, figures.Number(r.best()), figures.Number(figures.Median(r.passes)), times, r.allocs, r.Note)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// wanted says which proportions are met.
func wanted(w io.Writer, all []*result, o options) {
	fmt.Fprintf(w, "\nWanted (differences within 15 %% count as none where equality is wanted):\n")
	met, n := 0, 0
	for _, g := range verbs.Goals() {
		of, to := fastest(all, g.Table, g.Of), fastest(all, g.Table, g.To)
		if of == nil || to == nil {
			continue
		}
		var ok bool
		var text string
		if g.Least > 0 {
			x := to.best() / of.best()
			ok, text = x >= g.Least, fmt.Sprintf("%.1f, wanted at least %.0f (%s)", x, g.Least, to.Name)
		} else {
			x, most := of.best()/to.best(), g.Most
			if most == 1 {
				most = equal
			}
			ok, text = x <= most, fmt.Sprintf("%.2f, wanted at most %.2f", x, g.Most)
		}
		n++
		verdict := "NOT MET"
		if ok {
			verdict = "met"
			met++
		}
		fmt.Fprintf(w, "  %-8s %-60s %s\n", verdict, g.What, text)
	}
	for _, r := range all {
		if r.NoAlloc && r.allocs >= 0.01 && !o.quick { // what the Go runtime itself allocates now and then is less
			fmt.Fprintf(w, "  %-8s %-60s %.2f an operation\n", "NOT MET", r.Table+": "+r.Name+": no allocation", r.allocs)
			n++
		}
	}
	fmt.Fprintf(w, "%d of %d met.\n", met, n)
}

// fastest is the fastest of the rows with these names, nil if none was run.
func fastest(all []*result, table string, names []string) *result {
	var best *result
	for _, r := range all {
		if r.Table == table && slices.Contains(names, r.Name) && (best == nil || r.best() < best.best()) {
			best = r
		}
	}
	return best
}
