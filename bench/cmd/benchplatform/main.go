// Benchplatform measures platform.DetectFS on captured machines beside a plain walk that reads the same files, in one run.
//
// The captured trees have what the detector reads and nothing else, so the walk of a tree reads the same files. Both read
// the same file system, an os.DirFS of an unpacked tree.
package main

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
	"github.com/fidelityframework/barewire-gen/internal/machines"
	"github.com/fidelityframework/barewire-gen/runtime/platform"
)

// wanted is what detecting may take, of the walk's time.
const wanted = 1.2

func main() {
	passes := flag.Int("passes", 20, "interleaved passes")
	runs := flag.Int("runs", 5, "runs of a row in a pass")
	only := flag.String("only", "", "one machine; empty: the largest")
	flag.Parse()
	if err := run(*passes, *runs, *only); err != nil {
		fmt.Fprintln(os.Stderr, "benchplatform:", err)
		os.Exit(1)
	}
}

// largest is the machines with most of something: nodes, files in the whole capture, files that are read, CXL devices.
var largest = []string{"256ia64-64n2s2c", "nri-sample2-4dram4pmem", "32em64t-2n8c+dax+nvme+mic+dimms", "cxl-stageB-sysram"}

// tree is an unpacked machine.
type tree struct {
	name  string
	fsys  fs.FS
	files int
	bytes int
}

func run(passes, runs int, only string) error {
	dir, err := os.MkdirTemp("", "benchplatform")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	trees, err := unpack(dir, only)
	if err != nil {
		return err
	}
	fmt.Println("| machine | files | bytes | a plain walk, us | `DetectFS`, us | of the walk's | quartiles | |")
	fmt.Println("|---|--:|--:|--:|--:|--:|--:|---|")
	for _, t := range trees {
		if err := measure(t, passes, runs); err != nil {
			return err
		}
	}
	return nil
}

// unpack writes the machines to a directory: one, or the largest.
func unpack(dir, only string) (trees []tree, err error) {
	names := largest
	if only != "" {
		names = []string{only}
	}
	for _, name := range names {
		at := dir + "/" + name
		if err := os.Mkdir(at, 0o755); err != nil {
			return nil, err
		}
		if err := machines.Unpack(name, at); err != nil {
			return nil, err
		}
		t := tree{name: name, fsys: os.DirFS(at)}
		if t.files, t.bytes, err = walk(t.fsys); err != nil {
			return nil, err
		}
		trees = append(trees, t)
	}
	return trees, nil
}

// walk is what is compared with: each directory is listed, and each file read.
func walk(fsys fs.FS) (files, bytes int, err error) {
	err = fs.WalkDir(fsys, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := fs.ReadFile(fsys, path)
		files, bytes = files+1, bytes+len(b)
		return err
	})
	return files, bytes, err
}

func measure(t tree, passes, runs int) error {
	var walks, detects, ratios []float64
	for range passes {
		w, err := cpu(runs, func() error { _, _, err := walk(t.fsys); return err })
		if err != nil {
			return err
		}
		d, err := cpu(runs, func() error { _, err := platform.DetectFS(context.Background(), t.fsys); return err })
		if err != nil {
			return err
		}
		walks, detects, ratios = append(walks, w), append(detects, d), append(ratios, d/w)
	}
	verdict := "met"
	if median(ratios) > wanted {
		verdict = "not met"
	}
	fmt.Printf("| %s | %d | %d | %.0f | %.0f | **%.2f** | %.2f-%.2f | wanted <= %.1f: %s |\n", t.name, t.files, t.bytes,
		median(walks), median(detects), median(ratios), quantile(ratios, 1, 4), quantile(ratios, 3, 4), wanted, verdict)
	return nil
}

// cpu is the processor time of a run in microseconds: user and system, of the whole process.
func cpu(runs int, f func() error) (float64, error) {
	start := cputime.Self()
	for range runs {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(cputime.Self()-start) / 1e3 / float64(runs), nil
}

func median(v []float64) float64 { return quantile(v, 1, 2) }

func quantile(v []float64, num, den int) float64 {
	s := slices.Sorted(slices.Values(v))
	return s[min(len(s)*num/den, len(s)-1)]
}
