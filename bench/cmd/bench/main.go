// Command bench runs the benchmarks in interleaved passes and prints a table for
// each shape and operation, with what ours takes in proportion to the fastest peer, to
// hand-written code and to the limit, and which of the wanted proportions are met.
//
// Times are CPU time, medians over the passes. Nothing is asserted.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/bench/internal/figures"
)

func main() {
	o := options{}
	flag.IntVar(&o.passes, "passes", 8, "passes over all rows")
	flag.StringVar(&o.time, "time", "50ms", "time for a row in a pass")
	flag.StringVar(&o.only, "only", "", "rows to run: a regular expression on shape/operation/row")
	flag.BoolVar(&o.quick, "quick", false, "two short passes: to see that it works, not to judge")
	flag.StringVar(&o.keep, "keep", "", "file to add the raw results to, for benchstat")
	flag.StringVar(&o.read, "read", "", "file with raw results to report instead of running anything")
	flag.Parse()
	if o.quick {
		o.passes, o.time = 2, "5ms"
	}
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

type options struct {
	passes     int
	time, only string
	keep, read string
	quick      bool
	bin        string
}

func run(o options) error {
	if o.read != "" {
		b, err := os.ReadFile(o.read)
		if err != nil {
			return err
		}
		res := results{}
		res.parse(string(b))
		report(os.Stdout, res, "results of "+o.read)
		return nil
	}
	dir, err := os.MkdirTemp("", "barewire-bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	o.bin = filepath.Join(dir, "bench.test")
	build := exec.Command("go", "test", "-c", "-o", o.bin, "github.com/fidelityframework/barewire-gen/bench")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building the benchmarks: %w", err)
	}
	res := results{}
	start := time.Now()
	for pass := range o.passes {
		out, err := o.pass()
		if err != nil {
			return err
		}
		res.parse(out)
		fmt.Fprintf(os.Stderr, "pass %d of %d, %s\n", pass+1, o.passes, time.Since(start).Round(time.Second))
	}
	report(os.Stdout, res, fmt.Sprintf("%s; %d passes of %s a row, medians of CPU time", figures.Machine(), o.passes, o.time))
	return nil
}

// pass runs all rows once.
func (o options) pass() (string, error) {
	pattern := "^BenchmarkRows$"
	if o.only != "" {
		// Each element of the pattern is for one level; rows have four.
		parts := append(strings.Split(o.only, "/"), "", "", "")
		pattern += "/" + strings.Join(parts[:3], "/")
		pattern = strings.TrimRight(pattern, "/")
	}
	cmd := exec.Command(o.bin, "-test.run=^$", "-test.bench="+pattern, "-test.benchtime="+o.time)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("a pass failed: %w\n%s", err, out)
	}
	if o.keep != "" {
		f, err := os.OpenFile(o.keep, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666)
		if err != nil {
			return "", err
		}
		defer f.Close()
		if _, err := f.Write(out); err != nil {
			return "", err
		}
	}
	return string(out), nil
}
