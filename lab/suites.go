package main

import (
	"path"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

// kernels are the series that everything is tested with: Debian 12's own, and the newer one that it has for it.
var kernels = []string{"6.1", "6.12"}

// job is a program that a guest runs: the tests of a package, or a command.
type job struct {
	pkg     string   // directory below the module's root, "./lab/guest"
	args    []string // of the test binary
	command []string // instead of a package
}

// boot is a machine, a kernel, and what is done there.
type boot struct {
	preset *machine.Preset
	kernel string
	jobs   []job
}

// suite is what runs where. What compiles C, on this machine, is left out: guests have no compiler.
var suite = []struct {
	presets string
	job     job
}{
	{"rdma", job{pkg: "./lab/guest", args: []string{"-test.run=^TestRDMA"}}},
	{"pair", job{pkg: "./lab/guest", args: []string{"-test.run=^TestPair"}}},
	{"numa", job{pkg: "./lab/guest", args: []string{"-test.run=^TestNUMA"}}},
	{"hmem", job{pkg: "./lab/guest", args: []string{"-test.run=^TestHmem"}}},
	{"cxl", job{pkg: "./lab/guest", args: []string{"-test.run=^TestCXL"}}},
	{"rdma", job{pkg: "./runtime/rdma/iwarp", args: []string{"-test.short", "-test.run=^(TestNetem|TestNetworks)$"}}},
	{"rdma", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.short", "-test.skip=^(TestDax|TestPlacement|TestConformanceFake|TestAllocations)$"}}},
	{"rdma", job{pkg: "./runtime/rdma", args: []string{"-test.run=^TestMisuse$/^[0-9]+$/^verbs$"}}},
	{"hmem", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.run=^(TestDax|TestPlacement)$"}}},
	{"cxl", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.run=^TestDax$"}}},
	{"pair", job{pkg: "./runtime/rdma/iwarp", args: []string{"-test.run=^TestGuests$"}}},
	{"siw rdma", job{pkg: "./runtime/rdma", args: []string{"-test.run=^TestRping"}}},
}

// suites are the boots that all of it takes.
func suites() (all []boot) {
	for _, p := range machine.Presets {
		for _, k := range kernels {
			b := boot{preset: p, kernel: k}
			for _, s := range suite {
				if slices.Contains(strings.Fields(s.presets), p.Name) {
					b.jobs = append(b.jobs, s.job)
				}
			}
			if len(b.jobs) > 0 {
				all = append(all, b)
			}
		}
	}
	return all
}

// choose returns the boots and jobs that words select. Words of one kind widen the choice, kinds narrow it: "rdma numa 6.1"
// is two presets with one kernel.
func choose(words []string) ([]boot, error) {
	var presets, series, packages []string
	for _, w := range words {
		_, err := machine.ByName(w)
		switch {
		case err == nil:
			presets = append(presets, w)
		case slices.Contains(kernels, w):
			series = append(series, w)
		default:
			packages = append(packages, w)
		}
	}
	fits := func(among []string, name string) bool { return len(among) == 0 || slices.Contains(among, name) }
	var chosen []boot
	for _, b := range suites() {
		b.jobs = slices.DeleteFunc(b.jobs, func(j job) bool { return !fits(packages, j.pkg) && !fits(packages, path.Base(j.pkg)) })
		if len(b.jobs) > 0 && fits(presets, b.preset.Name) && fits(series, b.kernel) {
			chosen = append(chosen, b)
		}
	}
	if len(chosen) == 0 {
		return nil, usageError("no suite has all of: " + strings.Join(words, " ") + " (lab list has them)")
	}
	return chosen, nil
}
