package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/fidelityframework/barewire-gen/bench/internal/cputime"
)

// wanted is how long a function with ten handles may take.
const wanted = 5.0 // ms

// growth vets packages of functions that have several regions each, all alive at once, with an error path for each call. What is
// counted is the one process that looks at the package, over what the empty analyzer takes for it.
func (b bench) growth(runs int) error {
	fmt.Printf("| functions | handles in each | CPU of a function | an empty analyzer | memory |\n|---|---|---|---|---|\n")
	met := "not met"
	for _, n := range [][2]int{{200, 5}, {200, 10}, {200, 20}, {100, 10}, {400, 10}} {
		o, e, err := b.synthetic(runs, n[0], n[1])
		if err != nil {
			return err
		}
		each := 1000 * (o.cpu - e.cpu).Seconds() / float64(n[0])
		fmt.Printf("| %d | %d | %.2f ms | %.2f ms | %d MiB |\n", n[0], n[1], each, 1000*e.cpu.Seconds()/float64(n[0]), o.peak>>20)
		if n == [2]int{200, 10} && each < wanted {
			met = "met"
		}
	}
	fmt.Printf("\nwanted: a function with 10 handles under %.0f ms: %s\n\n", wanted, met)
	return nil
}

// synthetic makes such a package and runs both tools over it, as the go command does.
func (b bench) synthetic(runs, functions, handles int) (o, e cost, err error) {
	dir, err := os.MkdirTemp(filepath.Join(b.root, "analyzers", "testdata"), "synthetic")
	if err != nil {
		return o, e, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "s.go"), []byte(source(functions, handles)), 0o644); err != nil {
		return o, e, err
	}
	var all [2][]cost
	for range runs {
		for i, name := range []string{ours, empty} {
			c, err := b.one(name, "./"+strings.TrimPrefix(dir, b.root+"/"))
			if err != nil {
				return o, e, err
			}
			all[i] = append(all[i], c)
		}
	}
	return median(all[0]), median(all[1]), nil
}

// one runs a tool over a package as the go command does: with the description of it that the go command wrote, which a tool
// put in between has kept.
func (b bench) one(name, pkg string) (cost, error) {
	keep, tool := filepath.Join(b.dir, "kept.cfg"), filepath.Join(b.dir, "keeper")
	script := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\ncase $last in *.cfg) cp \"$last\" '%s';; esac\nexec '%s' \"$@\"\n", keep, b.tools[name])
	if err := os.WriteFile(tool, []byte(script), 0o755); err != nil {
		return cost{}, err
	}
	// A comment more, so that the package is not in the cache; what it imports may be.
	file := filepath.Join(b.root, pkg, "s.go")
	text, err := os.ReadFile(file)
	if err != nil {
		return cost{}, err
	}
	if err := os.WriteFile(file, append(text, "//\n"...), 0o644); err != nil {
		return cost{}, err
	}
	vet := exec.Command("go", "vet", "-work", "-vettool="+tool, pkg)
	vet.Dir = b.root
	out, err := vet.CombinedOutput()
	if err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", vet, err, out)
	}
	if _, work, ok := strings.Cut(string(out), "WORK="); ok {
		work, _, _ = strings.Cut(work, "\n")
		defer os.RemoveAll(work)
	}
	cmd := exec.Command(b.tools[name], keep)
	cmd.Dir = b.root
	if out, err := cmd.CombinedOutput(); err != nil {
		return cost{}, fmt.Errorf("%s: %w\n%s", cmd, err, out)
	}
	cpu, peak := cputime.Of(cmd.ProcessState)
	return cost{cpu, peak}, nil
}

// source is a package of functions with handles: each is made, closed by defer, and has an operation that is waited for.
func source(functions, handles int) string {
	var b strings.Builder
	b.WriteString("package synthetic\n\nimport (\n\t\"context\"\n\t\"errors\"\n\n\t\"github.com/fidelityframework/barewire-gen/runtime/rdma\"\n\n" +
		"\t\"github.com/fidelityframework/barewire-gen/analyzers/testdata/life/help\"\n)\n")
	for f := range functions {
		fmt.Fprintf(&b, "\nfunc F%d(ctx context.Context, dom *rdma.Domain, c *rdma.Conn, rem help.Rem, flag bool) (err error) {\n", f)
		for h := range handles {
			fmt.Fprintf(&b, "\tm%d, err := help.Open(dom)\n\tif err != nil {\n\t\treturn err\n\t}\n\tdefer func() { err = errors.Join(err, m%d.Close()) }()\n", h, h)
		}
		for h := range handles {
			fmt.Fprintf(&b, "\tif flag {\n\t\top, err := help.Start(c, m%d, rem)\n\t\tif err != nil {\n\t\t\treturn err\n\t\t}\n"+
				"\t\tif err := op.Wait(ctx); err != nil {\n\t\t\treturn err\n\t\t}\n\t}\n", h)
		}
		b.WriteString("\treturn nil\n}\n")
	}
	return b.String()
}
