package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/fidelityframework/barewire-gen/internal/testsum/summary"
	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
	"github.com/fidelityframework/barewire-gen/lab/internal/initramfs"
	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

// lab is one run of the program.
type lab struct {
	*options
	debian *debian.Machine
	cache  string // directory: what was fetched, and what the present boot uses
	root   string // directory of the module
	sum    *summary.Summary
}

// open looks whether the lab can run, and installs the tools.
func open(ctx context.Context, o *options) (*lab, error) {
	l := &lab{options: o, debian: &debian.Machine{Log: os.Stderr}, sum: summary.New(os.Stdout)}
	if err := l.debian.Check(); err != nil {
		return nil, err
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no place for what is fetched: %w", err)
	}
	l.cache = filepath.Join(user, "barewire-lab")
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	l.root = strings.TrimSpace(string(out))
	return l, nil
}

// fetch gets everything that boots take.
func (l *lab) fetch(boots []boot) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	for _, b := range boots {
		if _, err := l.kernel(b); err != nil {
			return err
		}
	}
	return nil
}

// kernel gets tools, kernel, base and driver.
func (l *lab) kernel(b boot) (f files, err error) {
	if err = l.debian.Install(initramfs.Packages...); err != nil {
		return f, err
	}
	if f.kernel, err = l.debian.Kernel(l.cache, b.kernel); err != nil {
		return f, err
	}
	if b.preset.Driver != nil {
		if f.driver, err = l.debian.Module(l.cache, f.kernel, *b.preset.Driver); err != nil {
			return f, err
		}
	}
	f.base, err = initramfs.Base(l.debian, l.cache, f.kernel)
	return f, err
}

// files are what boots have in common.
type files struct {
	kernel *debian.Kernel
	base   string // of the archive
	driver string // empty: none
}

// all does boots, one after the other, and sums up. A guest that dies fails what it was to run; the others go on.
func (l *lab) all(ctx context.Context, boots []boot) error {
	for _, b := range boots {
		if err := l.boot(ctx, b); err != nil {
			return err
		}
	}
	if !l.sum.End() {
		return errFailed
	}
	return nil
}

// boot does one. Its error is of the lab; what tests and guests have done is in the summary.
func (l *lab) boot(ctx context.Context, b boot) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	began := time.Now()
	have, err := l.kernel(b)
	if err != nil {
		return err
	}
	dir := filepath.Join(l.cache, "run")
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	over := initramfs.Overlay{Programs: map[string]string{}, Trees: map[string]string{}}
	if have.driver != "" {
		over.Programs["/lab/"+filepath.Base(have.driver)] = have.driver
	}
	if err := l.build(ctx, b, dir, &over); err != nil {
		return err
	}
	ctx, stop := context.WithTimeoutCause(ctx, l.most(b), fmt.Errorf("it was not done after %v", l.most(b)))
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var guests sync.WaitGroup
	for n := 1; n <= b.preset.Guests; n++ {
		g := &machine.Guest{Preset: b.preset, Number: n, Kernel: have.kernel, Dir: dir, Nonce: "@@" + rand.Text()}
		g.Initrd = filepath.Join(dir, fmt.Sprintf("initrd%d", n))
		over.Plan = l.plan(b, g)
		if err := over.Write(g.Initrd, have.base); err != nil {
			return err
		}
		guests.Go(func() {
			if err := l.follow(ctx, b, g); err != nil {
				cancel(fmt.Errorf("guest %d died", g.Number)) // what the others do, they do with it
			}
		})
	}
	guests.Wait()
	fmt.Printf("# %s, kernel %s: %.1f s\n", b.preset.Name, have.kernel.Release, time.Since(began).Seconds())
	return nil
}

// most is how long a boot may take: what its tests may, and what it takes under software emulation on a busy machine.
func (l *lab) most(b boot) time.Duration {
	return 3*time.Minute + time.Duration(len(b.jobs))*(l.timeout+grace)
}

// grace is what a test binary has, beyond its timeout, to say that it timed out.
const grace = 20 * time.Second

// build makes the test binaries.
func (l *lab) build(ctx context.Context, b boot, dir string, over *initramfs.Overlay) error {
	for i, j := range b.jobs {
		if j.pkg == "" {
			continue
		}
		file := filepath.Join(dir, fmt.Sprintf("test%d", i))
		args := []string{"test", "-c", "-tags=lab", "-o", file}
		env := os.Environ()
		if l.race {
			args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
		} else if os.Getenv("CGO_ENABLED") == "" {
			env = append(env, "CGO_ENABLED=0")
		}
		cmd := exec.CommandContext(ctx, "go", append(args, j.pkg)...)
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.root, env, os.Stderr, os.Stderr
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("go test -c %s: %w", j.pkg, err)
		}
		if _, err := os.Stat(file); err != nil {
			return fmt.Errorf("%s has no tests", j.pkg)
		}
		over.Programs[program(i)] = file
		data := filepath.Join(l.root, j.pkg, "testdata")
		if _, err := os.Stat(data); err == nil {
			over.Trees[filepath.Join(place(j), "testdata")] = data
		}
	}
	return nil
}

func program(i int) string { return fmt.Sprintf("/lab/test%d", i) }

// place is where tests of a package run in the guest.
func place(j job) string { return filepath.Join("/src", j.pkg) }

// plan is what a guest does, for init.sh.
func (l *lab) plan(b boot, g *machine.Guest) string {
	var p strings.Builder
	fmt.Fprintf(&p, "nonce=%s\nguest=%d\n", g.Nonce, g.Number)
	fmt.Fprintf(&p, "export CI=true GOTRACEBACK=all BAREWIRE_LAB=%s BAREWIRE_LAB_KERNEL=%s BAREWIRE_LAB_GUEST=%d\n", b.preset.Name, b.kernel, g.Number)
	fmt.Fprintf(&p, "setup() {\n%s\n}\nprepare setup\n", b.preset.Setup)
	for i, j := range b.jobs {
		words := j.command
		if j.pkg != "" {
			words = append([]string{program(i), "-test.v=test2json", "-test.timeout=" + l.timeout.String()}, j.args...)
		}
		fmt.Fprintf(&p, "mkdir -p %s\nrun %d %s", place(j), int((l.timeout + grace).Seconds()), place(j))
		for _, w := range words {
			p.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		}
		p.WriteString("\n")
	}
	return p.String()
}
