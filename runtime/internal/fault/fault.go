// Package fault touches memory that may fail under the hand: it is poisoned, has gone offline, or is a mapping of a file that was cut
// short. The processor then says SIGBUS, which ends a Go program as a rule; here it is an error.
//
// What can be caught is a fault of a load or a store that the goroutine itself makes, within these functions. A fault within a
// system call is an error of the call (EFAULT, EHWPOISON); one elsewhere in the program ends it, unless it has
// debug.SetPanicOnFault on. So does a signal that comes before anybody touches the memory: to programs that want to know early (prctl(2), PR_MCE_KILL;
// vm.memory_failure_early_kill), which Go programs must not. Source: runtime/debug; the kernel's Documentation/mm/hwpoison.rst.
package fault

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"unsafe"
)

// Error is an access that failed: to one of Len bytes from Off on. The system tells one byte, or the first of a page; of device-dax a page is as large as
// what it maps at once, as a rule 2 MiB. Source: sigaction(2), si_addr_lsb, which Go does not show; the kernel's mm/memory-failure.c.
type Error struct {
	Off int // bytes from the beginning of the range that failed; -1 where the system does not tell
	Len int // bytes, at least 1, of the range
}

func (e *Error) Error() string {
	const why = "the memory is poisoned, has gone offline, or its file was cut short"
	switch {
	case e.Off < 0:
		return "an access failed: " + why
	case e.Len > 1:
		return fmt.Sprintf("an access to one of %d bytes, %d from its beginning on, failed: %s", e.Len, e.Off, why)
	}
	return fmt.Sprintf("the access %d bytes from its beginning failed: %s", e.Off, why)
}

// pages are the sizes that pages have, from small to large.
var pages = []uintptr{uintptr(os.Getpagesize()), 2 << 20, 1 << 30}

// of is the error of an address in mem, or of the page that mem begins in.
func of(mem []byte, addr uintptr) (e *Error, ok bool) {
	base, n := uintptr(unsafe.Pointer(unsafe.SliceData(mem))), uintptr(len(mem))
	if addr == 0 {
		return &Error{Off: -1}, true
	}
	e = &Error{Off: int(addr - base), Len: 1}
	for _, page := range pages {
		switch {
		case addr >= base && addr-base < n && addr%page == 0:
			e.Len = int(min(page, n-(addr-base)))
		case addr < base && addr == base&^(page-1):
			return &Error{Len: int(min(page-(base-addr), n))}, true
		}
	}
	return e, addr >= base && addr-base < n
}

// Read copies from memory that may fail. What dst has after an error is not known.
func Read(dst, mem []byte) error { return try(mem, func() { copy(dst, mem) }) }

// Write copies to memory that may fail. What mem has after an error is not known.
func Write(mem, src []byte) error { return try(mem, func() { copy(mem, src) }) }

// Clear makes memory zero that may fail.
func Clear(mem []byte) error { return try(mem, func() { clear(mem) }) }

// Try calls a function that touches mem, and nothing else that may fail.
func Try(mem []byte, touch func()) error { return try(mem, touch) }

// try turns faults in mem into an error; others go on as panics.
func try(mem []byte, touch func()) (err error) {
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() {
		switch e := recover().(type) {
		case nil:
		case interface {
			runtime.Error
			Addr() uintptr
		}:
			f, ok := of(mem, e.Addr())
			if !ok {
				panic(e)
			}
			err = f
		default:
			panic(e)
		}
	}()
	touch()
	return nil
}
