//go:build linux && (amd64 || arm64)

package dl

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"unsafe"

	"github.com/ebitengine/purego"
)

// ErrAbsent is why a library or a function of it cannot be used: it is not on this machine.
var ErrAbsent = errors.New("not on this machine")

// Lib is an open library. It stays open: what it started may run until the process ends.
type Lib struct {
	name   string
	handle uintptr
}

// Open opens a library by its name, or path. The error is [ErrAbsent] and what the dynamic linker says.
func Open(name string) (*Lib, error) {
	if _, err := errnoPlace(); err != nil {
		return nil, err
	}
	// The linker's own last error is one of the thread's.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", name, ErrAbsent, err)
	}
	return &Lib{name, handle}, nil
}

// Func is the address of a function in the version that is wanted, as "IBVERBS_1.1": a library may have several by
// one name, whose structures differ. A library without versions gives the only one that it has. Source: dlsym(3).
func (l *Lib) Func(name, version string) (uintptr, error) {
	if vsym := libc().dlvsym; vsym != 0 && version != "" {
		n, v := cstring(name), cstring(version)
		fn, _, _ := purego.SyscallN(vsym, l.handle, uintptr(unsafe.Pointer(n)), uintptr(unsafe.Pointer(v)))
		if fn != 0 {
			return fn, nil
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	fn, err := purego.Dlsym(l.handle, name)
	if err != nil {
		return 0, fmt.Errorf("%s has no %s: %w: %w", l.name, name, ErrAbsent, err)
	}
	return fn, nil
}

// Call calls a function and gives what it returned, and errno as the function left it: 0 where it did not set it.
func Call(fn uintptr, args ...uintptr) (r uintptr, errno syscall.Errno) {
	place := libc().errno
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	at, _, _ := purego.SyscallN(place)
	p := (*int32)(*(*unsafe.Pointer)(unsafe.Pointer(&at)))
	*p = 0
	r, _, _ = purego.SyscallN(fn, args...)
	return r, syscall.Errno(*p)
}

// Fast calls a function with arguments that stand in memory of the caller's, which a call by name would allocate.
func Fast(fn uintptr, args []uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// places are the addresses of two functions of the C library.
type places struct{ errno, dlvsym uintptr }

var libc = sync.OnceValue(func() places {
	var p places
	for _, name := range []string{"libc.so.6", "libdl.so.2"} {
		h, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		if fn, err := purego.Dlsym(h, "__errno_location"); err == nil && p.errno == 0 {
			p.errno = fn
		}
		if fn, err := purego.Dlsym(h, "dlvsym"); err == nil && p.dlvsym == 0 {
			p.dlvsym = fn
		}
	}
	return p
})

func errnoPlace() (uintptr, error) {
	if fn := libc().errno; fn != 0 {
		return fn, nil
	}
	return 0, fmt.Errorf("libc.so.6: no __errno_location: %w", ErrAbsent)
}

// cstring is a text with a zero at its end.
func cstring(s string) *byte {
	b := append([]byte(s), 0)
	return &b[0]
}
