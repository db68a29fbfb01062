// Package govet has `go vet` run a tool over packages, and makes diagnostics of what it writes. The go command
// keeps what was found in its cache, so what did not change costs next to nothing.
package govet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/analyzers/vettool"
	"github.com/fidelityframework/barewire-gen/schema/diag"
)

// Options is what is run, and where.
type Options struct {
	Tool     string // the vettool's file
	Dir      string // where the packages are looked for; empty: the current directory
	Flags    []string
	Packages []string // as the go command takes them; none: the package in Dir
}

// Result is what came of a run.
type Result struct {
	Found  diag.List // sorted
	Said   string    // what else the go command wrote: what it downloads, or why it failed
	Failed bool      // packages were not looked at: they do not build, or are not there
	Bug    string    // what an analyzer died of

	scopes map[*diag.Diagnostic]string
}

// Scope is the package and the function that a finding is in.
func (r *Result) Scope(d *diag.Diagnostic) string { return r.scopes[d] }

// Run runs `go vet -json`. The error is that of a go command which cannot be started, or of ctx.
func Run(ctx context.Context, o Options) (*Result, error) {
	out, errs, failed, err := run(ctx, o, "-json")
	if err != nil {
		return nil, err
	}
	r := &Result{Failed: failed, scopes: map[*diag.Diagnostic]string{}}
	c := &converter{dir: o.Dir, result: r, files: map[string]*file{}}
	// Before Go 1.26 the go command wrote what the tool does to its standard error, under a line for each package.
	for _, stream := range [][]byte{out, errs} {
		rest, err := c.stream(stream)
		if err != nil {
			return nil, fmt.Errorf("go vet -json: %w", err)
		}
		r.Said += rest
	}
	if crashed(r.Said) {
		r.Bug, r.Said = r.Bug+r.Said, ""
	}
	c.sort()
	return r, nil
}

// crashed reports whether the tool died in the text.
func crashed(text string) bool {
	return strings.Contains(text, vettool.Bug) || strings.Contains(text, "panic: ") && strings.Contains(text, "\ngoroutine ")
}

// Fix runs `go vet -fix`, or with diff shows what that would change. It returns the diff, and of a Result what the go command said,
// whether it failed, and what an analyzer died of.
func Fix(ctx context.Context, o Options, diff bool) (shown []byte, r *Result, err error) {
	flags := []string{"-fix"}
	if diff {
		flags = append(flags, "-diff")
	}
	out, errs, failed, err := run(ctx, o, flags...)
	if err != nil {
		return nil, nil, err
	}
	// With a difference it ends as if it had failed, and says nothing.
	if failed && len(out) > 0 && len(errs) == 0 {
		failed = false
	}
	r = &Result{Said: string(errs), Failed: failed}
	if crashed(r.Said) {
		r.Bug, r.Said = r.Said, ""
	}
	return out, r, nil
}

// run runs go vet. That it ends with another code than 0 is no error here: it wrote why.
func run(ctx context.Context, o Options, flags ...string) (out, errs []byte, failed bool, err error) {
	args := append([]string{"vet", "-vettool=" + o.Tool}, flags...)
	args = append(append(args, o.Flags...), "--")
	args = append(args, o.Packages...)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = o.Dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second // then it is killed: not every system has interrupts
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, nil, false, ctx.Err()
	case errors.As(err, &exit):
		if stderr.Len() == 0 && stdout.Len() == 0 {
			return nil, nil, false, fmt.Errorf("go vet: %w", err)
		}
		failed = true
	case err != nil:
		return nil, nil, false, fmt.Errorf("go vet cannot be run: %w", err)
	}
	return stdout.Bytes(), stderr.Bytes(), failed, nil
}
