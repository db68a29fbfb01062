//go:build linux && (amd64 || arm64)

package dl

import (
	"errors"
	"sync"
	"syscall"
	"testing"
)

func TestAbsent(t *testing.T) {
	if _, err := Open("libno-such-library.so.1"); !errors.Is(err, ErrAbsent) {
		t.Errorf("a library that is not there: got %v, want %v", err, ErrAbsent)
	}
	l, err := Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Func("no_such_function", "GLIBC_2.2.5"); !errors.Is(err, ErrAbsent) {
		t.Errorf("a function that is not there: got %v, want %v", err, ErrAbsent)
	}
}

// TestErrno makes calls that fail, from many goroutines: each must see its own errno.
func TestErrno(t *testing.T) {
	l, err := Open("libc.so.6")
	if err != nil {
		t.Fatal(err)
	}
	closeFn, err := l.Func("close", "")
	if err != nil {
		t.Fatal(err)
	}
	getpid, err := l.Func("getpid", "")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 200 {
				if r, errno := Call(closeFn, ^uintptr(0)); int32(r) != -1 || errno != syscall.EBADF {
					t.Errorf("close(-1) gave %d and errno %v", int32(r), errno)
					return
				}
				if r, errno := Call(getpid); int(r) != syscall.Getpid() || errno != 0 {
					t.Errorf("getpid gave %d and errno %v", r, errno)
					return
				}
			}
		})
	}
	wg.Wait()
	args := []uintptr{^uintptr(0)}
	if n := testing.AllocsPerRun(100, func() { Fast(closeFn, args) }); n != 0 {
		t.Errorf("a call of the data path allocates %v times", n)
	}
}

func BenchmarkFast(b *testing.B) {
	l, err := Open("libc.so.6")
	if err != nil {
		b.Fatal(err)
	}
	fn, err := l.Func("labs", "")
	if err != nil {
		b.Fatal(err)
	}
	args := []uintptr{5}
	for b.Loop() {
		Fast(fn, args)
	}
}
