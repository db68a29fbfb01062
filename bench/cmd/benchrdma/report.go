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

// table prints the rows with their figure and its proportion to ours.
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
func wanted(w io.Writer, all []*result, quick bool) {
	l := figures.NewWanted(w, "differences within 15 % count as none where equality is wanted", 60)
	for _, g := range verbs.Goals() {
		of, ran := passes.Fastest(all, g.Table, g.Of, (*result).best)
		to, ranToo := passes.Fastest(all, g.Table, g.To, (*result).best)
		if !ran || !ranToo {
			continue
		}
		if g.Least > 0 {
			x := to.best() / of.best()
			l.Line(x >= g.Least, g.What, fmt.Sprintf("%.1f, wanted at least %.0f (%s)", x, g.Least, to.Name))
			continue
		}
		x, most := of.best()/to.best(), g.Most
		if most == 1 {
			most = figures.Equal
		}
		l.Line(x <= most, g.What, fmt.Sprintf("%.2f, wanted at most %.2f", x, g.Most))
	}
	for _, r := range all {
		if r.NoAlloc && r.allocs >= 0.01 && !quick { // what the Go runtime itself allocates now and then is less
			l.Line(false, r.Table+": "+r.Name+": no allocation", fmt.Sprintf("%.2f an operation", r.allocs))
		}
	}
	l.End()
}
