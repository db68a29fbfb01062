//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/fidelityframework/barewire-gen/lab/internal/debian"
)

// lock makes the lab ours: what is fetched, the directory of the run, and the processors, of which a guest takes all.
// The kernel gives it back should this process die.
func (l *lab) lock() (unlock func(), err error) {
	if err := os.MkdirAll(l.cache, 0o755); err != nil {
		return nil, err
	}
	f, err := os.Create(filepath.Join(l.cache, "lock"))
	if err != nil {
		return nil, err
	}
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		fmt.Fprintln(os.Stderr, "lab: waiting for another lab to end")
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name(), err)
		}
	}
	if err := debian.Tidy(l.cache); err != nil {
		_ = f.Close()
		return nil, err
	}
	return func() { _ = f.Close() }, nil
}
