// Package where remembers places in a program cheaply and names them when an
// error needs it.
package where

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
)

// Mark is a place: the return addresses of the innermost calls there. The zero
// value is an unknown place.
type Mark [6]uintptr

// Here is the place that called the runtime, however deep in it this call stands.
//
//go:noinline
func Here() (m Mark) {
	runtime.Callers(2, m[:])
	return m
}

// String is "dir/file.go:12", the innermost line outside the runtime, or
// "an unknown place".
func (m Mark) String() string {
	n := 0
	for n < len(m) && m[n] != 0 {
		n++
	}
	frames := runtime.CallersFrames(m[:n])
	for n > 0 {
		f, more := frames.Next()
		if f.File != "" && !ours(f) {
			return fmt.Sprintf("%s:%d", filepath.Join(filepath.Base(filepath.Dir(f.File)), filepath.Base(f.File)), f.Line)
		}
		if !more {
			break
		}
	}
	return "an unknown place"
}

// ours reports whether a frame is the runtime's own: its callers are what a user knows.
func ours(f runtime.Frame) bool {
	const runtimes = "github.com/fidelityframework/barewire-gen/runtime"
	rest, ok := strings.CutPrefix(f.Function, runtimes)
	return ok && (rest[0] == '.' || rest[0] == '/') && !strings.HasSuffix(f.File, "_test.go")
}
