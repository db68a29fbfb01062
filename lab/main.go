// Lab boots stock kernels in virtual machines and runs tests there, against drivers and devices that are not on this
// machine: RDMA in software, memory without a processor, device-dax, CXL. It takes Debian and root, and no KVM.
//
//	lab [test] [FLAGS] [WORD...]           all suites, or those of the presets, kernels, packages and names given
//	lab run [FLAGS] PACKAGE... [-test.X]   the tests of packages
//	lab exec [FLAGS] COMMAND [ARGS]        a program of the guest's
//	lab fetch [WORD...]                    install and fetch what it takes, and no more
//	lab list [WORD...]                     presets, and suites
//
// The exit status is 0 if tests ran and none failed, 1 if one did or does not build, 2 for wrong usage, 3 if the lab failed
// before it knew, and 4 where it cannot run: another system, not root, or packages that cannot be had.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
	"github.com/fidelityframework/barewire-gen/lab/internal/machine"
)

// Exit statuses.
const (
	statusFailed = 1
	statusUsage  = 2
	statusBroken = 3
	statusCannot = 4
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // once more ends it at once
	err := command(ctx, os.Args[1:])
	if err == nil {
		return
	}
	if err != errFailed {
		fmt.Fprintf(os.Stderr, "lab: %v\n", err)
	}
	os.Exit(statusOf(err))
}

const usage = `Lab boots stock kernels in virtual machines and runs tests there. It takes Debian and root, and no KVM.

  lab [test] [FLAGS] [WORD...]           all suites, or those of the presets, kernels, packages and names given
  lab run [FLAGS] PACKAGE... [-test.X]   the tests of packages, in the module of the directory it is run in
  lab exec [FLAGS] COMMAND [ARGS]        a program of the guest's
  lab fetch [WORD...]                    install and fetch what it takes, and no more
  lab list [WORD...]                     presets, and suites

Exit status: 0 tests ran and none failed, 1 one failed or does not build, 2 wrong usage, 3 the lab failed before it
knew, 4 it cannot run here. docs/hardware.md has more. Flags:
`

// errFailed is that tests failed, which has been told.
var errFailed = errors.New("tests failed")

// usageError is about what was asked for.
type usageError string

func (e usageError) Error() string { return string(e) }

func statusOf(err error) int {
	var usage usageError
	switch {
	case errors.Is(err, errFailed):
		return statusFailed
	case errors.As(err, &usage):
		return statusUsage
	case errors.Is(err, debian.ErrCannot):
		return statusCannot
	}
	return statusBroken
}

// options are what the flags say.
type options struct {
	preset, kernel string
	verbose, race  bool
	lanes          int
	timeout        time.Duration
}

func command(ctx context.Context, args []string) error {
	name := "test"
	if len(args) > 0 && args[0] == "help" {
		args = []string{"-h"}
	}
	if len(args) > 0 && slices.Contains([]string{"test", "run", "exec", "fetch", "list"}, args[0]) {
		name, args = args[0], args[1:]
	}
	var o options
	flags := flag.NewFlagSet("lab "+name, flag.ContinueOnError)
	flags.Usage = func() {
		fmt.Fprint(flags.Output(), usage)
		flags.PrintDefaults()
	}
	flags.BoolVar(&o.verbose, "v", name == "run" || name == "exec", "print what tests say as it comes")
	flags.BoolVar(&o.race, "race", false, "build tests with the race detector")
	flags.IntVar(&o.lanes, "j", 2, "boots side by side")
	flags.DurationVar(&o.timeout, "timeout", 0, "for each test binary (default 10m, with -race 40m)")
	if name == "run" || name == "exec" {
		flags.StringVar(&o.preset, "preset", "rdma", "machine: see lab list")
		flags.StringVar(&o.kernel, "kernel", "6.12", "series of the kernel: "+strings.Join(kernels, ", "))
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return usageError("that is no way to call lab " + name)
	}
	if o.timeout == 0 {
		if o.timeout = 10 * time.Minute; o.race {
			o.timeout *= 4
		}
	}
	if o.lanes < 1 {
		return usageError(fmt.Sprintf("-j %d: want 1 or more", o.lanes))
	}
	args = flags.Args()
	switch name {
	case "list":
		boots, err := choose(args)
		if err == nil {
			list(os.Stdout, boots)
		}
		return err
	case "run", "exec":
		return one(ctx, &o, name, args)
	}
	boots, err := choose(args)
	if err != nil {
		return err
	}
	l, err := open(&o)
	if err != nil {
		return err
	}
	if name == "fetch" {
		return l.fetch(boots)
	}
	if err := l.suitesHere(ctx); err != nil {
		return err
	}
	return l.all(ctx, boots)
}

// one does a single boot.
func one(ctx context.Context, o *options, name string, args []string) error {
	p, err := machine.ByName(o.preset)
	if err != nil {
		return usageError(err.Error())
	}
	if !slices.Contains(kernels, o.kernel) {
		return usageError("there is no kernel " + o.kernel)
	}
	if len(args) == 0 {
		return usageError("nothing to run")
	}
	l, err := open(o)
	if err != nil {
		return err
	}
	b := boot{preset: p, kernel: o.kernel}
	if name == "exec" {
		b.jobs = []job{{command: args}}
		return l.all(ctx, []boot{b})
	}
	if b.jobs, err = l.packages(ctx, args); err != nil {
		return err
	}
	return l.all(ctx, []boot{b})
}

func list(w io.Writer, boots []boot) {
	fmt.Fprintln(w, "presets:")
	for _, p := range machine.Presets {
		fmt.Fprintf(w, "  %-6s %s\n", p.Name, p.About)
	}
	fmt.Fprintln(w, "\nsuites:")
	for _, b := range boots {
		for _, j := range b.jobs {
			fmt.Fprintf(w, "  %-6s %-5s %-4s %s %s\n", b.preset.Name, b.kernel, j.name, j.pkg, strings.Join(j.args, " "))
		}
	}
}
