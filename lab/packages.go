package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// here is the directory of the module that the command is run in.
func here(ctx context.Context) (string, error) {
	out, err := goSays(ctx, "env", "GOMOD")
	if err != nil {
		return "", err
	}
	mod := strings.TrimSpace(out)
	if mod == "" || mod == os.DevNull {
		return "", usageError("this is in no module: run it where the packages are")
	}
	return filepath.Dir(mod), nil
}

// suitesHere wants the module to be the one whose suites these are.
func (l *lab) suitesHere(ctx context.Context) (err error) {
	if l.root, err = here(ctx); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(l.root, "lab", "suites.go")); err != nil {
		return usageError("suites are of the module barewire-gen, and this is " + l.root + "; for packages of another one there is lab run")
	}
	return nil
}

// packages finds what patterns stand for, as go list does, and makes a job of each that has tests.
func (l *lab) packages(ctx context.Context, args []string) (jobs []job, err error) {
	patterns, rest, err := split(args)
	if err != nil {
		return nil, err
	}
	if l.root, err = here(ctx); err != nil {
		return nil, err
	}
	list := append([]string{"list", "-tags=lab", "-f", "{{.Dir}}\t{{len .TestGoFiles}}{{len .XTestGoFiles}}"}, patterns...)
	out, err := goSays(ctx, list...)
	if err != nil {
		return nil, usageError(err.Error())
	}
	for line := range strings.Lines(out) {
		dir, tests, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if strings.Trim(tests, "0") == "" {
			continue
		}
		pkg, err := filepath.Rel(l.root, dir)
		if err != nil || !filepath.IsLocal(pkg) {
			return nil, usageError(fmt.Sprintf("%s is not in the module %s", dir, l.root))
		}
		jobs = append(jobs, job{pkg: "./" + filepath.ToSlash(pkg), args: rest})
	}
	if len(jobs) == 0 {
		return nil, usageError("no tests in " + strings.Join(patterns, " "))
	}
	return jobs, nil
}

// testFlags are flags of go test that a test binary has, with test. before them.
var testFlags = []string{"run", "skip", "bench", "benchtime", "benchmem", "count", "short", "cpu", "parallel", "failfast", "shuffle", "list"}

// split takes packages and what is for their test binaries apart. It takes flags as go test has them, too. Flags of the lab's
// own stand before the packages: here they are a mistake.
func split(args []string) (patterns, rest []string, err error) {
	at := slices.IndexFunc(args, func(a string) bool { return strings.HasPrefix(a, "-") })
	if at < 0 {
		return args, nil, nil
	}
	for _, a := range args[at:] {
		name, _, _ := strings.Cut(strings.TrimLeft(a, "-"), "=")
		switch {
		case !strings.HasPrefix(a, "-"):
		case slices.Contains(testFlags, name):
			a = "-test." + strings.TrimLeft(a, "-")
		case slices.Contains([]string{"preset", "kernel", "v", "race", "timeout", "j"}, name):
			return nil, nil, usageError("-" + name + " is a flag of the lab's: those stand before the packages")
		}
		rest = append(rest, a)
	}
	return args[:at], rest, nil
}

// goSays runs the go command in the directory that the lab is run in.
func goSays(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil && said.Len() > 0 {
		return "", errors.New(strings.TrimSpace(said.String()))
	}
	if err != nil {
		return "", fmt.Errorf("go %s: %w", args[0], err)
	}
	return string(out), nil
}
