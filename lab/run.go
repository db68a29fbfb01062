package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
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
	root   string // directory of the module that is tested
	sum    *summary.Summary

	programs map[string]string // test binaries by package, once they are built
	several  bool              // boots
}

// open looks whether the lab can run, and installs the tools.
func open(o *options) (*lab, error) {
	l := &lab{options: o, debian: &debian.Machine{Log: os.Stderr}, sum: summary.New(os.Stdout)}
	if err := l.debian.Check(); err != nil {
		return nil, err
	}
	user, err := os.UserCacheDir()
	if err != nil {
		return nil, fmt.Errorf("no place for what is fetched: %w", err)
	}
	l.cache = filepath.Join(user, "barewire-lab")
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

// errInterrupted is that somebody wanted it to end.
var errInterrupted = errors.New("interrupted: what was not told to have passed was not tested")

// all does boots, l.lanes at a time, and sums up. A guest that dies fails what it was to run; the others go on.
func (l *lab) all(ctx context.Context, boots []boot) error {
	unlock, err := l.lock()
	if err != nil {
		return err
	}
	defer unlock()
	have := make([]files, len(boots))
	for i, b := range boots {
		if have[i], err = l.kernel(b); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	dir := filepath.Join(l.cache, "run")
	if err := os.RemoveAll(dir); err != nil { // of a lab that was killed
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if l.programs, err = l.build(ctx, boots, dir); err != nil {
		if ctx.Err() != nil {
			return errInterrupted
		}
		return err
	}
	l.several = len(boots) > 1
	err = l.inLanes(ctx, boots, func(ctx context.Context, i int) error {
		return l.boot(ctx, boots[i], have[i], filepath.Join(dir, fmt.Sprint("boot", i)))
	})
	fine := l.sum.End()
	switch {
	case ctx.Err() != nil:
		return errInterrupted
	case err != nil:
		return err
	case !fine:
		return errFailed
	}
	return nil
}

// inLanes does boots side by side, those that report figures alone. It ends with the first error of the lab's.
func (l *lab) inLanes(ctx context.Context, boots []boot, do func(ctx context.Context, i int) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var quiet sync.RWMutex
	var lanes sync.WaitGroup
	errs := make([]error, len(boots))
	next := make(chan int)
	for range min(l.lanes, len(boots)) {
		lanes.Go(func() {
			for i := range next {
				if boots[i].figures() {
					quiet.Lock()
				} else {
					quiet.RLock()
				}
				if ctx.Err() == nil {
					errs[i] = do(ctx, i)
				}
				if boots[i].figures() {
					quiet.Unlock()
				} else {
					quiet.RUnlock()
				}
				if errs[i] != nil {
					stop()
				}
			}
		})
	}
	for i := range boots {
		next <- i
	}
	close(next)
	lanes.Wait()
	return errors.Join(errs...)
}

// boot does one, in a directory of its own. Its error is of the lab; what tests and guests have done is in the summary.
func (l *lab) boot(ctx context.Context, b boot, have files, dir string) error {
	began := time.Now()
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	over := l.overlay(b)
	if have.driver != "" {
		over.Programs["/lab/"+filepath.Base(have.driver)] = have.driver
	}
	stopped := func() bool { return ctx.Err() != nil }
	within, stop := context.WithTimeoutCause(ctx, l.most(b), fmt.Errorf("it was not done after %v", l.most(b)))
	defer stop()
	within, cancel := context.WithCancelCause(within)
	defer cancel(nil)
	var guests sync.WaitGroup
	reports := make([]*report, b.preset.Guests)
	for n := range reports {
		g := &machine.Guest{Preset: b.preset, Number: n + 1, Kernel: have.kernel, Dir: dir, Nonce: "@@" + rand.Text()}
		g.Initrd = filepath.Join(dir, fmt.Sprintf("initrd%d", g.Number))
		over.Plan = l.plan(b, g)
		if err := over.Write(g.Initrd, have.base); err != nil {
			return err
		}
		reports[n] = &report{l: l, b: b, g: g, prefix: l.prefix(b, g), stopped: stopped}
	}
	for _, r := range reports {
		guests.Go(func() {
			if err := r.follow(within); err != nil {
				cancel(fmt.Errorf("guest %d died", r.g.Number)) // what the others do, they do with it
			}
		})
	}
	guests.Wait()
	setup := ""
	if !reports[0].first.IsZero() {
		setup = fmt.Sprintf(", until its first test %.1f s", reports[0].first.Sub(began).Seconds())
	}
	fmt.Printf("# %s, kernel %s: %.1f s%s\n", b.preset.Name, have.kernel.Release, time.Since(began).Seconds(), setup)
	return nil
}

// prefix is of the lines of a guest that are printed as they come, if there is more than one.
func (l *lab) prefix(b boot, g *machine.Guest) string {
	prefix := ""
	if l.several {
		prefix = fmt.Sprintf("[%s %s] ", b.preset.Name, b.kernel)
	}
	if b.preset.Guests > 1 {
		prefix += fmt.Sprintf("[%d] ", g.Number)
	}
	return prefix
}

// most is how long a boot may take: what its tests may, and what it takes under software emulation on a busy machine.
func (l *lab) most(b boot) time.Duration {
	return 3*time.Minute + time.Duration(len(b.jobs))*(l.timeout+grace)
}

// grace is what a test binary has, beyond its timeout, to say that it timed out.
const grace = 20 * time.Second

// place is where tests of a package run in the guest.
func place(j job) string { return filepath.Join("/src", j.pkg) }

// plan is what a guest does, for init.sh.
func (l *lab) plan(b boot, g *machine.Guest) string {
	var p strings.Builder
	fmt.Fprintf(&p, "nonce=%s\nguest=%d\n", g.Nonce, g.Number)
	fmt.Fprintf(&p, "export CI=true GOTRACEBACK=all BAREWIRE_LAB=%s BAREWIRE_LAB_KERNEL=%s BAREWIRE_LAB_GUEST=%d\n", b.preset.Name, b.kernel, g.Number)
	fmt.Fprintf(&p, "setup() {\n%s\n}\nprepare setup\n", b.preset.Setup)
	for _, j := range b.jobs {
		words := j.command
		if j.pkg != "" {
			words = append([]string{program(j.pkg), "-test.v=test2json", "-test.timeout=" + l.timeout.String()}, j.args...)
		}
		fmt.Fprintf(&p, "mkdir -p %s\nrun %d %s", place(j), int((l.timeout + grace).Seconds()), place(j))
		for _, w := range words {
			p.WriteString(" '" + strings.ReplaceAll(w, "'", `'\''`) + "'")
		}
		p.WriteString("\n")
	}
	return p.String()
}
