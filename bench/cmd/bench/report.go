package main

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
	"github.com/fidelityframework/barewire-gen/bench/internal/rows"
)

// results are the figures of each row, one for each pass.
type results map[string]*samples

type samples struct{ cpu, bytes, allocs []float64 }

var resultLine = regexp.MustCompile(`^BenchmarkRows/(\S+?)(?:-\d+)?\s+\d+\s+(.*)$`)

// parse adds what a run of the benchmarks printed.
func (r results) parse(out string) {
	for _, l := range strings.Split(out, "\n") {
		m := resultLine.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		s := r[m[1]]
		if s == nil {
			s = &samples{}
			r[m[1]] = s
		}
		f := strings.Fields(m[2])
		for i := 0; i+1 < len(f); i += 2 {
			v, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				continue
			}
			switch f[i+1] {
			case "cpu-ns/op":
				s.cpu = append(s.cpu, v)
			case "B/op":
				s.bytes = append(s.bytes, v)
			case "allocs/op":
				s.allocs = append(s.allocs, v)
			}
		}
	}
}

// entry is a row with its figures.
type entry struct {
	rows.Row
	cpu, best     float64 // ns for one operation: median and least
	bytes, allocs float64
}

// cell is the entries of one shape and operation, fastest first.
type cell []entry

func (r results) cell(shape, op string) cell {
	var c cell
	for _, x := range rows.All() {
		if x.Shape != shape || x.Op != op {
			continue
		}
		if s := r[x.Shape+"/"+x.Op+"/"+x.Name]; s != nil && len(s.cpu) > 0 {
			c = append(c, entry{x, figures.Median(s.cpu), slices.Min(s.cpu), figures.Median(s.bytes), figures.Median(s.allocs)})
		}
	}
	slices.SortStableFunc(c, func(a, b entry) int {
		switch {
		case a.cpu < b.cpu:
			return -1
		case a.cpu > b.cpu:
			return 1
		}
		return 0
	})
	return c
}

// fastest returns the fastest entry of a class, or nil.
func (c cell) fastest(class rows.Class) *entry {
	for i := range c {
		if c[i].Class == class {
			return &c[i]
		}
	}
	return nil
}

// named returns the entry of that name, or nil.
func (c cell) named(name string) *entry {
	for i := range c {
		if c[i].Name == name {
			return &c[i]
		}
	}
	return nil
}

// ratio is a's time over b's, or NaN where one is missing.
func ratio(a, b *entry) float64 {
	if a == nil || b == nil {
		return math.NaN()
	}
	return a.cpu / b.cpu
}

// report prints all.
func report(w io.Writer, r results, how string) {
	fmt.Fprintf(w, "%s\n", how)
	for _, shape := range []string{"A", "B", "C", "D"} {
		for _, op := range rows.Ops {
			if c := r.cell(shape, op); len(c) > 0 {
				c.print(w, shape, op)
			}
		}
	}
	summary(w, r)
}

func (c cell) print(w io.Writer, shape, op string) {
	fmt.Fprintf(w, "\n%s: %s\n", rows.ShapeNames[shape], op)
	fmt.Fprintf(w, "  %-24s %-8s %11s %11s %8s %9s %7s\n", "row", "class", "cpu ns/op", "best", "x ours", "B/op", "allocs")
	mine := c.fastest(rows.Ours)
	for i := range c {
		e := &c[i]
		times := ""
		if x := ratio(e, mine); !math.IsNaN(x) {
			times = fmt.Sprintf("%.2f", x)
		}
		line := fmt.Sprintf("  %-24s %-8s %11s %11s %8s %9.0f %7.0f  %s", e.Name, e.Class, figures.Number(e.cpu), figures.Number(e.best), times, e.bytes, e.allocs, e.Note)
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
	var parts []string
	for _, x := range []struct {
		what  string
		class rows.Class
	}{{"fastest peer", rows.Peer}, {"hand", rows.Hand}, {"limit", rows.Limit}} {
		if e := c.fastest(x.class); e != nil && mine != nil {
			parts = append(parts, fmt.Sprintf("%.2f x %s (%s)", ratio(mine, e), x.what, e.Name))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(w, "  ours: %s\n", strings.Join(parts, ", "))
	}
}
