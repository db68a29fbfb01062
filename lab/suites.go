package main

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

// kernels are the series that everything is tested with: Debian 12's own, and the newer one that it has for it.
var kernels = []string{"6.1", "6.12"}

// job is a program that a guest runs: the tests of a package, or a command.
type job struct {
	name    string   // a word that chooses it, beside those of its package; most have none
	pkg     string   // directory below the module's root, "./lab/guest"
	args    []string // of the test binary
	command []string // instead of a package
	figures bool     // it measures: what it has to tell, on lines that begin with #, is printed, and no other guest runs beside it
}

// words are those that choose a job.
func (j *job) words() []string {
	words := []string{j.pkg, path.Base(j.pkg)}
	if j.name != "" {
		words = append(words, j.name)
	}
	return words
}

// isFigure reports whether a line is for whoever reads figures.
func (j *job) isFigure(line []byte) bool {
	return j.figures && bytes.HasPrefix(bytes.TrimLeft(line, " "), []byte("# "))
}

// boot is a machine, a kernel, and what is done there.
type boot struct {
	preset *machine.Preset
	kernel string
	jobs   []job
}

// figures reports whether a boot measures.
func (b *boot) figures() bool {
	return slices.ContainsFunc(b.jobs, func(j job) bool { return j.figures })
}

// suite is what runs where. What compiles C, on this machine, is left out: guests have no compiler. So is TestLabMachineCheck of runtime/cxl, whose machine check may
// hit the kernel, which ends the guest then: it is for lab run.
var suite = []struct {
	presets string
	job     job
}{
	{"rdma", job{pkg: "./lab/guest", args: []string{"-test.run=^TestRDMA"}}},
	{"pair", job{pkg: "./lab/guest", args: []string{"-test.run=^TestPair"}}},
	{"numa", job{pkg: "./lab/guest", args: []string{"-test.run=^TestNUMA"}}},
	{"numa", job{pkg: "./runtime/numa", args: []string{"-test.short"}}},
	{"numa", job{pkg: "./runtime/gpu", args: []string{"-test.run=^TestNewHostAt$"}}},
	{"hmem", job{pkg: "./lab/guest", args: []string{"-test.run=^TestHmem"}}},
	{"cxl", job{pkg: "./lab/guest", args: []string{"-test.run=^TestCXL"}}},
	{"rdma", job{pkg: "./runtime/rdma/iwarp", args: []string{"-test.short", "-test.run=^(TestNetem|TestNetworks)$"}}},
	{"rdma", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.short", "-test.skip=^(TestDax|TestPlacement|TestConformanceFake|TestAllocations|TestPerf|TestIWARP.*)$"}}},
	{"rdma", job{pkg: "./runtime/rdma", args: []string{"-test.run=^TestMisuse$/^[0-9]+$/^verbs$"}}},
	{"hmem cxl", job{pkg: "./runtime/cxl", args: []string{"-test.skip=^(TestLabStays.*|TestLabOffline|TestLabPoisonNode|TestLabMachineCheck|TestLabGuests|TestLabInterleave|TestMisuse)$"}}},
	{"poison", job{pkg: "./runtime/cxl", args: []string{"-test.run=^(TestLabPoison.*|TestLabOffline)$"}}},
	{"siw", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.short", "-test.run=^(TestIWARP.*|TestKill)$"}}},
	{"siw", job{pkg: "./runtime/rdma", args: []string{"-test.run=^TestMisuse$/^[0-9]+$/^verbs$"}}},
	{"hmem", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.run=^(TestDax|TestPlacement)$"}}},
	{"cxl", job{pkg: "./runtime/rdma/verbs", args: []string{"-test.run=^TestDax$"}}},
	{"hmem cxl", job{pkg: "./runtime/cxl", args: []string{"-test.run=^TestLabStays"}}},
	{"pair", job{pkg: "./runtime/rdma/iwarp", args: []string{"-test.run=^TestGuests$"}}},
	{"share", job{pkg: "./runtime/cxl", args: []string{"-test.run=^TestLabGuests$"}}},
	{"interleave", job{pkg: "./runtime/cxl", args: []string{"-test.run=^TestLabInterleave$"}}},
	{"rdma", job{name: "perf", figures: true, pkg: "./runtime/rdma/verbs", args: []string{"-test.run=^TestPerf$"}}},
	{"siw rdma", job{pkg: "./runtime/rdma", args: []string{"-test.run=^TestRping"}}},
}

// suites are the boots that all of it takes. Those that measure are boots of their own, and the last.
func suites() []boot {
	var all, measuring []boot
	for _, p := range machine.Presets {
		for _, k := range kernels {
			b, m := boot{preset: p, kernel: k}, boot{preset: p, kernel: k}
			for _, s := range suite {
				switch {
				case !slices.Contains(strings.Fields(s.presets), p.Name):
				case s.job.figures:
					m.jobs = append(m.jobs, s.job)
				default:
					b.jobs = append(b.jobs, s.job)
				}
			}
			if len(b.jobs) > 0 {
				all = append(all, b)
			}
			if len(m.jobs) > 0 {
				measuring = append(measuring, m)
			}
		}
	}
	return append(all, measuring...)
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
		b.jobs = slices.DeleteFunc(b.jobs, func(j job) bool {
			return !slices.ContainsFunc(j.words(), func(w string) bool { return fits(packages, w) })
		})
		if len(b.jobs) > 0 && fits(presets, b.preset.Name) && fits(series, b.kernel) {
			chosen = append(chosen, b)
		}
	}
	if len(chosen) == 0 {
		return nil, usageError("no suite has all of: " + strings.Join(words, " ") + " (lab list has them)")
	}
	return chosen, nil
}
