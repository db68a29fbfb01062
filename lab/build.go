package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/fidelityframework/barewire-gen/lab/internal/initramfs"
)

// raceTools are what the race detector needs to link: it is written in C++.
var raceTools = []string{"gcc", "libc6-dev"}

// build makes the test binaries of all boots in a directory, each once, and returns them by package.
func (l *lab) build(ctx context.Context, boots []boot, dir string) (map[string]string, error) {
	if l.race {
		if err := l.debian.Install(raceTools...); err != nil {
			return nil, err
		}
	}
	began := time.Now()
	built := map[string]string{}
	for _, b := range boots {
		for _, j := range b.jobs {
			if j.pkg == "" || built[j.pkg] != "" {
				continue
			}
			file := filepath.Join(dir, fmt.Sprintf("test%d", len(built)))
			if err := l.compile(ctx, j.pkg, file); err != nil {
				return nil, err
			}
			built[j.pkg] = file
		}
	}
	if len(built) > 0 {
		fmt.Printf("# %d test binaries built: %.1f s\n", len(built), time.Since(began).Seconds())
	}
	return built, nil
}

// compile makes the test binary of one package.
func (l *lab) compile(ctx context.Context, pkg, file string) error {
	args := []string{"test", "-c", "-tags=lab", "-o", file}
	env := os.Environ()
	if l.race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	} else if os.Getenv("CGO_ENABLED") == "" {
		env = append(env, "CGO_ENABLED=0")
	}
	cmd := exec.CommandContext(ctx, "go", append(args, pkg)...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = l.root, env, os.Stderr, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && ctx.Err() == nil:
		return fmt.Errorf("%w: %s does not build", errFailed, pkg)
	case err != nil:
		return fmt.Errorf("go test -c %s: %w", pkg, err)
	}
	if _, err := os.Stat(file); err != nil {
		return usageError(pkg + " has no tests")
	}
	return nil
}

// overlay is what guests of a boot have beside the base: test binaries, and the testdata of their packages.
func (l *lab) overlay(b boot) initramfs.Overlay {
	over := initramfs.Overlay{Programs: map[string]string{}, Trees: map[string]string{}}
	for _, j := range b.jobs {
		if j.pkg == "" {
			continue
		}
		over.Programs[program(j.pkg)] = l.programs[j.pkg]
		data := filepath.Join(l.root, j.pkg, "testdata")
		if _, err := os.Stat(data); err == nil {
			over.Trees[filepath.Join(place(j), "testdata")] = data
		}
	}
	return over
}

// program is where the tests of a package are in the guest.
func program(pkg string) string {
	return "/lab/" + strings.ReplaceAll(path.Clean(pkg), "/", "-") + ".test"
}
